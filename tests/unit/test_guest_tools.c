// SPDX-License-Identifier: Apache-2.0
// What the recorder's core is made of, under threads: map, memory, lock. Built a second time for ThreadSanitizer.
#include "guest_trace.h"
#include "guest/internal.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { KEYS = 20000 };

struct user { struct guest_map *map; uintptr_t base; _Atomic bool *over; int wrong; };

static void *use_map(void *argument)
{
	struct user *user = argument;
	for (uintptr_t i = 1; i <= KEYS; i++) {
		const void *key = (const void *)(user->base + i * 64);
		user->wrong += guest_map_find(user->map, key, 7) != 7;
		user->wrong += !guest_map_put(user->map, key, i);
		user->wrong += guest_map_find(user->map, key, 7) != i;
		if (i % 3 == 0)
			guest_map_remove(user->map, key);
		if (i % 9 == 0)
			user->wrong += !guest_map_put(user->map, key, i + 1);
	}
	for (uintptr_t i = 1; i <= KEYS; i++)
		user->wrong += guest_map_find(user->map, (const void *)(user->base + i * 64), 7) !=
			(i % 9 == 0 ? i + 1 : i % 3 == 0 ? 7 : i);
	return NULL;
}

// Values that belong to their key only, read while others write.
static void *look_up(void *argument)
{
	struct user *user = argument;
	while (!atomic_load(user->over))
		for (uintptr_t i = 1; i <= KEYS; i += 37) {
			const void *key = (const void *)(((uintptr_t)1 << 24) + i * 64);
			uint64_t value = guest_map_find(user->map, key, 0);
			user->wrong += value != 0 && value != i && value != i + 1;
		}
	return NULL;
}

static void map_serves_threads(void **state)
{
	_Atomic bool over = false;
	struct guest_map *map = guest_map_new();
	struct user users[5];
	pthread_t threads[5];
	(void)state;
	assert_non_null(map);
	assert_int_equal(guest_map_find(map, &over, 99), 99);
	assert_false(guest_map_put(map, NULL, 1));
	for (int i = 0; i < 5; i++) {
		users[i] = (struct user){ map, (uintptr_t)(i + 1) << 24, &over, 0 };
		pthread_create(&threads[i], NULL, i < 4 ? use_map : look_up, &users[i]);
	}
	for (int i = 0; i < 5; i++) {
		if (i == 4)
			atomic_store(&over, true);
		pthread_join(threads[i], NULL);
		assert_int_equal(users[i].wrong, 0);
	}
}

static void memory_is_aligned_and_zero(void **state)
{
	(void)state;
	for (size_t bytes = 1; bytes < 3000000; bytes = bytes * 3 + 1) {
		char *memory = guest_memory(bytes);
		assert_non_null(memory);
		assert_int_equal((uintptr_t)memory % 64, 0);
		for (size_t i = 0; i < bytes; i++)
			assert_int_equal(memory[i], 0);
		memset(memory, 1, bytes);
	}
}

struct counter { guest_lock lock; uint64_t count; };

static void *count_up(void *argument)
{
	struct counter *counter = argument;
	for (int i = 0; i < 20000; i++) {
		guest_acquire(&counter->lock);
		counter->count++;
		guest_release(&counter->lock);
	}
	return NULL;
}

static void lock_lets_one_in(void **state)
{
	struct counter counter = { 0 };
	pthread_t threads[4];
	(void)state;
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, count_up, &counter);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(counter.count, 80000);
	assert_true(guest_try(&counter.lock));
	assert_false(guest_try(&counter.lock));
}

// ---- how fast this host fills memory

static uint64_t best_fill_ns(unsigned char *room, size_t bytes)
{
	uint64_t best = UINT64_MAX;
	for (int i = 0; i < 5; i++) {
		uint64_t from = raw_ns(), ns;
		memset(room, i, bytes);
		__asm__ volatile("" : : "r"(room) : "memory");
		ns = raw_ns() - from;
		best = ns < best ? ns : best;
	}
	return best;
}

// What any thread does, the rate must allow: that of memory beyond the caches, and that of a part of them.
// It is the best of all measurements.
static void fill_rate_is_the_hosts_fastest(void **state)
{
	enum { BYTES = 16 << 20 };
	static unsigned char room[BYTES], small[GUEST_FILL_BYTES];
	struct tare_trace_header header = { 0 }, *before = guest_header;
	(void)state;
	guest_header = &header;
	guest_fill_measure(small);
	for (int i = 0; i < 20; i++)
		guest_fill_measure(small);
	double most = 0;
	for (size_t bytes = 1 << 20; bytes <= BYTES; bytes *= 4) {
		double rate = (double)bytes * 1e9 / (double)best_fill_ns(room, bytes);
		most = rate > most ? rate : most;
	}
	// Twice, as the rule about repeated copies has it.
	assert_true(2 * (double)header.fill_bytes_s > most);
	header.fill_bytes_s = UINT64_MAX;
	guest_fill_measure(small);
	assert_true(header.fill_bytes_s == UINT64_MAX);
	guest_header = before;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_serves_threads),
		cmocka_unit_test(memory_is_aligned_and_zero),
		cmocka_unit_test(lock_lets_one_in),
		cmocka_unit_test(fill_rate_is_the_hosts_fastest),
	};
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
