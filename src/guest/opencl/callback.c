// SPDX-License-Identifier: Apache-2.0
// The program's callbacks go through ours, which times them. When there is no room for one more,
// the driver is given the program's own.
#include "guest/opencl/wrap.h"

enum { PART = 64, MOST_PARTS = 1024 };

// What the driver is given as user data in place of the program's.
struct trampoline {
	union {
		void(CL_CALLBACK *event)(cl_event, cl_int, void *);
		void(CL_CALLBACK *program)(cl_program, void *);
		void(CL_CALLBACK *memory)(cl_mem, void *);
		void(CL_CALLBACK *context)(cl_context, void *);
		void(CL_CALLBACK *error)(const char *, const void *, size_t, void *);
	} own;
	void *data;
	uint32_t function;
	struct trampoline *following;
};

static guest_lock lock;
static struct trampoline *spare;
static uint32_t part_count;
static _Atomic bool told;

void layer_callbacks_begin(void)
{
	guest_lock_register(&lock);
}

static void add_part(void)
{
	struct trampoline *part = guest_memory(PART * sizeof *part);
	layer_lock(&lock);
	for (int i = 0; part != NULL && i < PART; i++) {
		part[i].following = spare;
		spare = &part[i];
	}
	part_count++;
	layer_unlock(&lock);
}

static struct trampoline *take_spare(bool *may_grow)
{
	layer_lock(&lock);
	struct trampoline *trampoline = spare;
	if (trampoline != NULL)
		spare = trampoline->following;
	*may_grow = part_count < MOST_PARTS;
	layer_unlock(&lock);
	return trampoline;
}

// One for `function`; NULL when nothing is recorded or there is none.
static struct trampoline *take(uint32_t function, void *data)
{
	bool may_grow;
	if (layer_thread() == NULL || guest_options.strict)
		return NULL;
	struct trampoline *trampoline = take_spare(&may_grow);
	if (trampoline == NULL && may_grow) {
		add_part();
		trampoline = take_spare(&may_grow);
	}
	if (trampoline == NULL)
		return NULL;
	trampoline->data = data;
	trampoline->function = function;
	if (!atomic_exchange(&told, true))
		layer_change(TARE_CHANGE_CALLBACK, NULL, 0, 1);
	return trampoline;
}

static void give(struct trampoline *trampoline)
{
	if (trampoline == NULL)
		return;
	layer_lock(&lock);
	trampoline->following = spare;
	spare = trampoline;
	layer_unlock(&lock);
}

// ---- while the program's callback runs

static struct guest_thread *begin(uint64_t *enter)
{
	struct guest_thread *thread = layer_thread();
	if (thread != NULL && layer_of(thread) == NULL && !layer_thread_make(thread))
		thread = NULL;
	if (thread != NULL)
		layer_of(thread)->callbacks++;
	*enter = guest_ticks();
	return thread;
}

static void end(struct guest_thread *thread, uint64_t enter, uint32_t function, const void *object,
                int64_t status)
{
	uint64_t exit = guest_ticks();
	if (thread == NULL)
		return;
	struct layer_thread *mine = layer_of(thread);
	mine->callbacks -= mine->callbacks != 0; // none in the child of a fork from within it
	layer_know_function(thread, function);
	union tare_trace_record *record = guest_event(thread);
	if (record == NULL)
		return;
	record->callback = (struct tare_trace_callback){
		.enter = enter, .exit = exit, .object = (uintptr_t)object, .status = status
	};
	guest_commit(record,
	             tare_trace_head(TARE_TRACE_CALLBACK, 0, (uint16_t)function, thread->track));
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
	struct trampoline own = *(struct trampoline *)data;
	uint64_t enter;
	give(data);
	struct guest_thread *thread = begin(&enter);
	own.own.event(event, status, own.data);
	end(thread, enter, own.function, event, status);
}

static void CL_CALLBACK on_program(cl_program program, void *data)
{
	struct trampoline own = *(struct trampoline *)data;
	uint64_t enter;
	give(data);
	struct guest_thread *thread = begin(&enter);
	own.own.program(program, own.data);
	end(thread, enter, own.function, program, 0);
}

static void CL_CALLBACK on_memory(cl_mem memory, void *data)
{
	struct trampoline own = *(struct trampoline *)data;
	uint64_t enter;
	give(data);
	struct guest_thread *thread = begin(&enter);
	own.own.memory(memory, own.data);
	end(thread, enter, own.function, memory, 0);
}

static void CL_CALLBACK on_context(cl_context context, void *data)
{
	struct trampoline own = *(struct trampoline *)data;
	uint64_t enter;
	give(data);
	struct guest_thread *thread = begin(&enter);
	own.own.context(context, own.data);
	end(thread, enter, own.function, context, 0);
}

// May be called any number of times, so that it is never given back.
static void CL_CALLBACK on_error(const char *text, const void *private, size_t bytes, void *data)
{
	const struct trampoline *own = data;
	uint64_t enter;
	struct guest_thread *thread = begin(&enter);
	own->own.error(text, private, bytes, own->data);
	end(thread, enter, own->function, NULL, 0);
}

// ---- registration

cl_int layer_do_clSetEventCallback(layer_next_clSetEventCallback next, cl_event event,
                                   cl_int status,
                                   void(CL_CALLBACK *notify)(cl_event, cl_int, void *), void *data)
{
	struct trampoline *ours = notify != NULL ? take(LAYER_clSetEventCallback, data) : NULL;
	if (ours == NULL)
		return next(event, status, notify, data);
	ours->own.event = notify;
	cl_int result = next(event, status, on_event, ours);
	if (result != CL_SUCCESS)
		give(ours);
	return result;
}

cl_int layer_do_clBuildProgram(layer_next_clBuildProgram next, cl_program program, cl_uint count,
                               const cl_device_id *devices, const char *options,
                               void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	struct trampoline *ours = notify != NULL ? take(LAYER_clBuildProgram, data) : NULL;
	if (ours == NULL)
		return next(program, count, devices, options, notify, data);
	ours->own.program = notify;
	// A build that fails calls it too: only arguments that are refused do not, and then it is
	// lost.
	return next(program, count, devices, options, on_program, ours);
}

cl_int layer_do_clCompileProgram(layer_next_clCompileProgram next, cl_program program,
                                 cl_uint count, const cl_device_id *devices, const char *options,
                                 cl_uint headers, const cl_program *header, const char **names,
                                 void(CL_CALLBACK *notify)(cl_program, void *), void *data)
{
	struct trampoline *ours = notify != NULL ? take(LAYER_clCompileProgram, data) : NULL;
	if (ours == NULL)
		return next(program, count, devices, options, headers, header, names, notify, data);
	ours->own.program = notify;
	return next(program, count, devices, options, headers, header, names, on_program, ours);
}

cl_program layer_do_clLinkProgram(layer_next_clLinkProgram next, cl_context context, cl_uint count,
                                  const cl_device_id *devices, const char *options,
                                  cl_uint programs, const cl_program *program,
                                  void(CL_CALLBACK *notify)(cl_program, void *), void *data,
                                  cl_int *error)
{
	struct trampoline *ours = notify != NULL ? take(LAYER_clLinkProgram, data) : NULL;
	if (ours == NULL)
		return next(context, count, devices, options, programs, program, notify, data,
		            error);
	ours->own.program = notify;
	return next(context, count, devices, options, programs, program, on_program, ours, error);
}

cl_int layer_do_clSetMemObjectDestructorCallback(layer_next_clSetMemObjectDestructorCallback next,
                                                 cl_mem memory,
                                                 void(CL_CALLBACK *notify)(cl_mem, void *),
                                                 void *data)
{
	struct trampoline *ours =
	    notify != NULL ? take(LAYER_clSetMemObjectDestructorCallback, data) : NULL;
	if (ours == NULL)
		return next(memory, notify, data);
	ours->own.memory = notify;
	cl_int result = next(memory, on_memory, ours);
	if (result != CL_SUCCESS)
		give(ours);
	return result;
}

cl_int layer_do_clSetProgramReleaseCallback(layer_next_clSetProgramReleaseCallback next,
                                            cl_program program,
                                            void(CL_CALLBACK *notify)(cl_program, void *),
                                            void *data)
{
	struct trampoline *ours =
	    notify != NULL ? take(LAYER_clSetProgramReleaseCallback, data) : NULL;
	if (ours == NULL)
		return next(program, notify, data);
	ours->own.program = notify;
	cl_int result = next(program, on_program, ours);
	if (result != CL_SUCCESS)
		give(ours);
	return result;
}

cl_int layer_do_clSetContextDestructorCallback(layer_next_clSetContextDestructorCallback next,
                                               cl_context context,
                                               void(CL_CALLBACK *notify)(cl_context, void *),
                                               void *data)
{
	struct trampoline *ours =
	    notify != NULL ? take(LAYER_clSetContextDestructorCallback, data) : NULL;
	if (ours == NULL)
		return next(context, notify, data);
	ours->own.context = notify;
	cl_int result = next(context, on_context, ours);
	if (result != CL_SUCCESS)
		give(ours);
	return result;
}

cl_context
layer_do_clCreateContext(layer_next_clCreateContext next, const cl_context_properties *properties,
                         cl_uint count, const cl_device_id *devices,
                         void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
                         void *data, cl_int *error)
{
	struct trampoline *ours = notify != NULL ? take(LAYER_clCreateContext, data) : NULL;
	if (ours == NULL)
		return next(properties, count, devices, notify, data, error);
	ours->own.error = notify;
	return next(properties, count, devices, on_error, ours, error);
}

cl_context layer_do_clCreateContextFromType(
    layer_next_clCreateContextFromType next, const cl_context_properties *properties,
    cl_device_type type, void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *),
    void *data, cl_int *error)
{
	struct trampoline *ours = notify != NULL ? take(LAYER_clCreateContextFromType, data) : NULL;
	if (ours == NULL)
		return next(properties, type, notify, data, error);
	ours->own.error = notify;
	return next(properties, type, on_error, ours, error);
}
