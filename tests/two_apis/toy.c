// SPDX-License-Identifier: Apache-2.0
#include "toy.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

enum { RUN_NS = 20000 };

struct toy_queue {
	uint64_t free_ns; // when its last command is done
};
struct toy_event {
	uint64_t start_ns, end_ns;
};

static pthread_mutex_t driver = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static _Atomic uint64_t polls;
static _Atomic int events;

static void enter(void)
{
	if (pthread_mutex_lock(&driver))
		abort(); // it is this thread's
}

static void leave(void)
{
	pthread_mutex_unlock(&driver);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int queue_create(toy_queue **queue)
{
	*queue = calloc(1, sizeof **queue);
	return *queue ? 0 : 1;
}

static int launch(toy_queue *queue, void (*inside)(void *), void *data, toy_event **event)
{
	uint64_t now;
	enter();
	if (inside)
		inside(data);
	now = now_ns();
	struct toy_event times = { now > queue->free_ns ? now : queue->free_ns, 0 };
	times.end_ns = queue->free_ns = times.start_ns + RUN_NS;
	if (event) {
		*event = malloc(sizeof **event);
		if (!*event)
			abort();
		**event = times;
		events++;
	}
	leave();
	return 0;
}

static int finish(toy_queue *queue)
{
	enter();
	while (now_ns() < queue->free_ns)
		;
	leave();
	return 0;
}

static int poll(toy_queue *queue)
{
	polls++;
	return now_ns() < queue->free_ns;
}

static int event_times(toy_event *event, uint64_t times[2])
{
	enter();
	times[0] = event->start_ns;
	times[1] = event->end_ns;
	leave();
	return now_ns() < times[1];
}

static int event_release(toy_event *event)
{
	enter();
	free(event);
	events--;
	leave();
	return 0;
}

static struct toy_table table = { queue_create, launch, finish, poll, event_times, event_release };

static void load_tool(void)
{
	const char *path = getenv("TOY_TOOL");
	void *tool = path ? dlopen(path, RTLD_NOW) : NULL;
	toy_start *start = tool ? (toy_start *)dlsym(tool, "toy_tool_start") : NULL;
	if (start)
		start(&table);
}

static struct toy_table *started(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, load_tool);
	return &table;
}

int toy_queue_create(toy_queue **queue)
{
	return started()->queue_create(queue);
}

int toy_launch(toy_queue *queue, void (*inside)(void *), void *data, toy_event **event)
{
	return started()->launch(queue, inside, data, event);
}

int toy_finish(toy_queue *queue)
{
	return started()->finish(queue);
}

int toy_poll(toy_queue *queue)
{
	return started()->poll(queue);
}

int toy_event_release(toy_event *event)
{
	return started()->event_release(event);
}

uint64_t toy_polls(void)
{
	return polls;
}

int toy_events(void)
{
	return events;
}
