// SPDX-License-Identifier: Apache-2.0
// In C++: objects that clean up after themselves, threads, an exception through the work, and a
// static object that still calls OpenCL when main has ended.
extern "C" {
#include "program.h"
}

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

namespace
{

struct whole {
	struct program program;
	whole() : program(open_program(0))
	{
	}
	~whole()
	{
		launch(&program, program.queue, 0, nullptr, nullptr);
		std::printf("%d at the end\n", first_number(&program, program.queue));
		close_program(&program);
	}
	whole(const whole &) = delete;
	whole &operator=(const whole &) = delete;
};

std::unique_ptr<whole> lasting;

void work(const whole *with)
{
	cl_command_queue queue = queue_of(&with->program, 0);
	for (int i = 0; i < 50; i++)
		launch(&with->program, queue, 0, nullptr, nullptr);
	check(clFinish(queue), "clFinish");
	clReleaseCommandQueue(queue);
}

} // namespace

int main()
{
	lasting = std::make_unique<whole>();
	work(lasting.get());
	try {
		whole inner;
		std::vector<std::thread> threads;
		for (int i = 0; i < 4; i++)
			threads.emplace_back(work, lasting.get());
		for (auto &thread : threads)
			thread.join();
		work(&inner);
		throw std::runtime_error("thrown");
	} catch (const std::exception &error) {
		std::puts(error.what());
	}
	return 0;
}
