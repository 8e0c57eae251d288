// SPDX-License-Identifier: Apache-2.0
// Commands whose lines are known, from C++: a template's method, and one that is inlined, in a
// lambda of another thread as well.
extern "C" {
#include "program.h"
}

#include <cstdio>
#include <thread>
#include <vector>

namespace solver
{

template <typename Number> class grid
{
      public:
	explicit grid(const struct program &with) : on(with), numbers(ITEMS)
	{
	}
	__attribute__((noinline)) void put()
	{
		// HERE: plus
		check(clEnqueueWriteBuffer(on.queue, on.memory, CL_TRUE, 0, BYTES, numbers.data(),
		                           0, nullptr, nullptr),
		      "write");
	}
	inline __attribute__((always_inline)) void step()
	{
		size_t items = ITEMS;
		// HERE: step
		check(clEnqueueNDRangeKernel(on.queue, on.kernel, 1, nullptr, &items, nullptr, 0,
		                             nullptr, nullptr),
		      "kernel");
	}
	inline __attribute__((always_inline)) void clear()
	{
		const int zero = 0;
		// HERE: clear
		check(clEnqueueFillBuffer(on.queue, on.memory, &zero, sizeof zero, 0, BYTES, 0,
		                          nullptr, nullptr),
		      "fill");
	}

      private:
	const struct program &on;
	std::vector<Number> numbers;
};

} // namespace solver

int main()
{
	struct program program = open_program(0);
	solver::grid<int> grid(program);

	grid.put();
	for (int i = 0; i < 3; i++)
		grid.step();
	std::thread([&grid] {
		grid.clear(); // HERE: lambda
	}).join();
	check(clFinish(program.queue), "finish");
	std::puts("done");
	close_program(&program);
	return 0;
}
