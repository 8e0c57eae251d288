// SPDX-License-Identifier: Apache-2.0
// What the recorder's core is made of, under threads: map, memory, lock. Built a second time for
// ThreadSanitizer.
#include "guest/contents.h"
#include "guest/internal.h"
#include "guest_trace.h"
#include "tare_config.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>

#include <cmocka.h>

enum { KEYS = 20000 };

struct user {
	struct guest_map *map;
	uintptr_t base;
	_Atomic bool *over;
	int wrong;
};

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
		               (i % 9 == 0   ? i + 1
		                : i % 3 == 0 ? 7
		                             : i);
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

struct counter {
	guest_lock lock;
	uint64_t count;
};

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

// ---- hashes of what transfers carry

#if TARE_HAVE_CONTENTS
enum { BIG = 4 << 20, PAGE = 4096 };

// A run that is old enough for hashing to take what it needs, unless it is `young`.
static struct guest_thread *begin_contents(struct tare_trace_header *header, bool young)
{
	static struct guest_thread thread;
	guest_contents_forget();
	header->start_ticks =
	    guest_ticks() - (young ? 0 : guest_ticks_of_ns(INT64_C(100000000000)));
	guest_header = header;
	return &thread;
}

static char *map_pages(size_t bytes)
{
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(pages != MAP_FAILED);
	return pages;
}

static void one_byte_makes_another_hash(void **state)
{
	static const size_t sizes[] = { 1, 100, PAGE, 32768, 32769, 65536, 65537, 1000000, BIG };
	struct tare_trace_header header = { 0 }, *before = guest_header;
	struct guest_thread *thread = begin_contents(&header, false);
	char *bytes = map_pages(BIG);
	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		size_t size = sizes[i];
		memset(bytes, 3, BIG);
		errno = ERANGE;
		struct guest_contents first = guest_contents_take(thread, bytes, size);
		struct guest_contents again = guest_contents_take(thread, bytes, size);
		assert_int_equal(first.of, TARE_CONTENTS_WHOLE);
		assert_int_equal(first.bytes, size);
		assert_true(first.to > first.from);
		assert_true(first.whole == again.whole && first.sample == again.sample);
		assert_true((first.whole == first.sample) == (size <= 32768));
		for (size_t at = 0; at < size; at += size / 7 + 1) {
			bytes[at]++;
			assert_true(guest_contents_take(thread, bytes, size).whole != first.whole);
			bytes[at]--;
		}
		// The first block and the last are of the sample.
		bytes[0]++;
		assert_true(guest_contents_take(thread, bytes, size).sample != first.sample);
		bytes[0]--;
		bytes[size - 1]++;
		assert_true(guest_contents_take(thread, bytes, size).sample != first.sample);
		assert_int_equal(errno, ERANGE);
	}
	munmap(bytes, BIG);
	guest_header = before;
}

static void memory_that_is_gone_is_no_fault(void **state)
{
	struct tare_trace_header header = { 0 }, *before = guest_header;
	struct guest_thread *thread = begin_contents(&header, false);
	char *bytes = map_pages(BIG);
	(void)state;
	mprotect(bytes + BIG / 2, PAGE, PROT_NONE);
	struct guest_contents contents = guest_contents_take(thread, bytes, BIG);
	assert_int_equal(contents.of, TARE_CONTENTS_UNREADABLE);
	assert_int_equal(contents.whole, EFAULT);
	assert_int_equal(guest_contents_take(thread, bytes, BIG / 2).of, TARE_CONTENTS_WHOLE);
	munmap(bytes, BIG);
	assert_int_equal(guest_contents_take(thread, bytes, 8).of, TARE_CONTENTS_UNREADABLE);
	assert_int_equal(guest_contents_take(thread, bytes, BIG).of, TARE_CONTENTS_UNREADABLE);
	assert_int_equal(guest_contents_take(thread, (void *)1, 8).of, TARE_CONTENTS_UNREADABLE);
	assert_int_equal(guest_contents_take(thread, NULL, 8).of, TARE_CONTENTS_SKIPPED);
	guest_header = before;
}

// It is for the program's time that hashing may take a share: in a run that has just begun there is
// none.
static void hashing_keeps_to_its_share(void **state)
{
	// A thread that waits for a processor most of the time spends little of it on hashing.
	enum { TIMES = 200, MOST = 100 * TIMES };
	struct tare_trace_header header = { 0 }, *before = guest_header;
	struct guest_thread *thread = begin_contents(&header, true);
	char *bytes = map_pages(BIG);
	uint64_t counts[TARE_CONTENTS_NO_ROW + 1] = { 0 }, spent = 0, longest = 0, times = 0,
	                                       from = header.start_ticks;
	(void)state;
	memset(bytes, 1, BIG);
	for (; times < TIMES || (times < MOST && !counts[TARE_CONTENTS_SKIPPED]); times++) {
		struct guest_contents contents = guest_contents_take(thread, bytes, BIG);
		counts[contents.of]++;
		spent += contents.to - contents.from;
		longest =
		    contents.to - contents.from > longest ? contents.to - contents.from : longest;
	}
	assert_true(counts[TARE_CONTENTS_SKIPPED] > 0);
	assert_true(counts[TARE_CONTENTS_WHOLE] < times);
	assert_true(spent <= (guest_ticks() - from) / 3 + longest);
	munmap(bytes, BIG);
	guest_header = before;
}
#endif

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_serves_threads),
		cmocka_unit_test(memory_is_aligned_and_zero),
		cmocka_unit_test(lock_lets_one_in),
#if TARE_HAVE_CONTENTS
		cmocka_unit_test(one_byte_makes_another_hash),
		cmocka_unit_test(memory_that_is_gone_is_no_fault),
		cmocka_unit_test(hashing_keeps_to_its_share),
#endif
	};
	if (argc == 2 && !strcmp(argv[1], "--probe"))
		return 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
