// SPDX-License-Identifier: Apache-2.0
// tare/time.h for C++11 and later: spans that end with their scope.
//
//	tare::timer timer = tare::timer::opencl(queue);
//	{
//		tare::span span(timer, "solve");
//		...                                  // enqueue one command or many
//		span.end();
//		std::puts(span.result(1000000000).line().c_str());
//	}
//
// Errors are exceptions (tare::time_error), but for destructors, which drop them.
#ifndef TARE_TIME_HPP
#define TARE_TIME_HPP
#include <tare/time.h>
#include <tare/time_series.h>

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace tare
{

// What tare/time.h says of an error; what() is its sentence.
class time_error : public std::runtime_error
{
      public:
	explicit time_error(const tare_time_error &error)
	    : std::runtime_error(error.message), error_(error)
	{
	}
	const tare_time_error &error() const noexcept
	{
		return error_;
	}

      private:
	tare_time_error error_;
};

// Throws when a call did not go well.
inline void time_check(int status, const tare_time_error &error)
{
	if (status < 0)
		throw time_error(error);
}

struct time_result : tare_time_result {
	// The result in one line.
	std::string line() const
	{
		char text[TARE_TIME_LINE];
		tare_time_line(this, text, sizeof text);
		return text;
	}
	bool ok() const noexcept
	{
		return state == TARE_TIME_OK;
	}
};

// A timer of one queue, list or stream; see tare_time_open_opencl and its like in tare/time.h.
// `spans`: 0 for 64. Copies are the same timer, which is closed when the last copy and the last
// span are gone.
class timer
{
      public:
	static timer opencl(void *queue, uint32_t spans = 0)
	{
		const tare_time_options options = { spans, 0 };
		tare_time_error error = tare_time_error();
		tare_timer *made = nullptr;
		time_check(tare_time_open_opencl(&made, queue, &options, &error), error);
		return timer(made);
	}
	static timer levelzero(void *context, void *device, void *list, tare_time_list kind,
	                       uint32_t spans = 0)
	{
		const tare_time_options options = { spans, 0 };
		tare_time_error error = tare_time_error();
		tare_timer *made = nullptr;
		time_check(
		    tare_time_open_levelzero(&made, context, device, list, kind, &options, &error),
		    error);
		return timer(made);
	}
	// engines: the times of the commands themselves, from CUPTI.
	static timer cuda(void *stream, uint32_t spans = 0, bool engines = false)
	{
		const tare_time_options options = { spans, engines ? 1u : 0u };
		tare_time_error error = tare_time_error();
		tare_timer *made = nullptr;
		time_check(tare_time_open_cuda(&made, stream, &options, &error), error);
		return timer(made);
	}
	tare_timer *get() const noexcept
	{
		return timer_.get();
	}
	// tare_time_event: one command's own times.
	time_result event(void *native, int64_t limit_ns, const char *name = nullptr) const
	{
		time_result result = time_result();
		tare_time_error error = tare_time_error();
		time_check(tare_time_event(get(), name, native, limit_ns, &result, &error), error);
		return result;
	}

      private:
	friend class span;
	// Where tare_time_close refuses, the timer is left behind rather than taken from under the
	// device.
	explicit timer(tare_timer *made)
	    : timer_(made, [](tare_timer *old) { tare_time_close(old, nullptr); })
	{
	}
	std::shared_ptr<tare_timer> timer_;
};

// Begins where it is made, ends with end() or its scope, and is released with its scope. On a
// regular list of Level Zero it must therefore live as long as the list can be executed.
class span
{
      public:
	span(const timer &of, const char *name) : timer_(of.timer_), open_(true)
	{
		tare_time_error error = tare_time_error();
		time_check(tare_time_begin(timer_.get(), name, &span_, &error), error);
	}
	span(const span &) = delete;
	span &operator=(const span &) = delete;
	~span()
	{
		if (open_)
			tare_time_end(timer_.get(), span_, nullptr);
		tare_time_release(timer_.get(), span_, nullptr);
	}
	void end()
	{
		tare_time_error error = tare_time_error();
		int status = tare_time_end(timer_.get(), span_, &error);
		open_ = false;
		time_check(status, error);
	}
	time_result result(int64_t limit_ns) const
	{
		time_result result = time_result();
		tare_time_error error = tare_time_error();
		time_check(tare_time_read(timer_.get(), span_, limit_ns, &result, &error), error);
		return result;
	}

      private:
	std::shared_ptr<tare_timer> timer_;
	tare_time_span span_;
	bool open_;
};

// Results of one span that is repeated until it is known (tare/time_series.h):
//
//	tare::series solve("solve");
//	solve.repeat(timer, 1000000000, [&] { ... });  // enqueues what is to be timed
//	std::fputs(tare::series::table({ &solve }).c_str(), stdout);
class series
{
      public:
	explicit series(const char *name,
	                const tare_time_series_options &options = tare_time_series_options())
	{
		tare_time_error error = tare_time_error();
		time_check(tare_time_series_open(&series_, name, &options, &error), error);
	}
	series(const series &) = delete;
	series &operator=(const series &) = delete;
	~series()
	{
		tare_time_series_close(series_);
	}
	// Whether more results are wanted.
	bool add(const tare_time_result &result)
	{
		tare_time_error error = tare_time_error();
		int status = tare_time_series_add(series_, &result, &error);
		time_check(status, error);
		return status > 0;
	}
	// Calls `work` in a span, and waits for it, until its time is known or given up.
	template <class Work> tare_time_figure repeat(const timer &of, int64_t limit_ns, Work work)
	{
		int status = 1;
		while (status > 0) {
			span each(of, nullptr);
			work();
			each.end();
			status = add(each.result(limit_ns));
		}
		return figure();
	}
	tare_time_figure figure() const
	{
		tare_time_figure figure = tare_time_figure();
		tare_time_error error = tare_time_error();
		time_check(tare_time_series_figure(series_, &figure, &error), error);
		return figure;
	}
	static std::string table(std::initializer_list<const series *> of)
	{
		const std::vector<tare_time_series *> native = natives(of);
		int length = tare_time_table(native.data(), native.size(), nullptr, 0);
		std::string text(length > 0 ? static_cast<size_t>(length) + 1 : 1, '\0');
		tare_time_table(native.data(), native.size(), &text[0], text.size());
		text.resize(text.size() - 1);
		return text;
	}
	// A document for `tare render`.
	static void write(std::initializer_list<const series *> of, const std::string &path)
	{
		const std::vector<tare_time_series *> native = natives(of);
		tare_time_error error = tare_time_error();
		time_check(tare_time_write(native.data(), native.size(), path.c_str(), &error),
		           error);
	}

      private:
	static std::vector<tare_time_series *> natives(std::initializer_list<const series *> of)
	{
		std::vector<tare_time_series *> native;
		for (const series *each : of)
			native.push_back(each->series_);
		return native;
	}
	tare_time_series *series_ = nullptr;
};

} // namespace tare
#endif
