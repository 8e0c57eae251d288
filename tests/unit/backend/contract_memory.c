// SPDX-License-Identifier: Apache-2.0
// The contract's promises about memory, copies, rectangles, fills, mappings and migration.
#include "contract.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *const kind_names[] = {
	"pageable", "pinned", "write-combined", "registered", "device", "shared", "mapped",
};

void pageable_memory_is_reserved_but_not_resident(void **state)
{
	enum { PAGES = 64 };
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct tare_memory *memory = new_memory(TARE_MEMORY_PAGEABLE, PAGES * page);
	unsigned char resident[PAGES];
	(void)state;
	assert_int_equal((uintptr_t)memory->host % page, 0);
	assert_int_equal(mincore(memory->host, PAGES * page, resident), 0);
	for (int i = 0; i < PAGES; i++)
		assert_int_equal(resident[i] & 1, 0);
	tare_memory_free(memory);
}

void absurd_allocations_are_refused(void **state)
{
	struct tare_memory *memory = NULL;
	(void)state;
	assert_int_equal(
	    tare_memory_create(device, TARE_MEMORY_DEVICE, UINT64_C(1) << 60, &memory, &error),
	    -ENOMEM);
	assert_true(error.message[0]);
	assert_int_equal(tare_memory_create(device, TARE_MEMORY_DEVICE, 0, &memory, &error),
	                 -EINVAL);
	assert_null(memory);
}

// Odd offsets and an odd length between any two kinds; what lies around the destination stays.
static void copy_pair(struct tare_queue *queue, enum tare_memory_kind a, enum tare_memory_kind b,
                      bool blocking, int *copied)
{
	enum { BYTES = 20000, FROM = 3, TO = 65, LENGTH = 10007 };
	struct tare_memory *from = new_memory(a, BYTES), *to = new_memory(b, BYTES);

	if (from && to) {
		put(queue, from, 1);
		put(queue, to, 100);
		struct tare_operation operation =
		    copy(span(from, FROM, LENGTH), span(to, TO, LENGTH));
		struct tare_event *event = NULL;
		operation.blocking = blocking;
		int rc = tare_append(queue, &operation, &event, &error);
		if (!cannot(rc)) {
			must(rc);
			if (blocking)
				assert_int_equal(tare_event_done(event, &error), 1);
			must(tare_finish(queue, LIMIT, &error));
			tare_event_free(event);
			uint8_t *bytes = get(queue, to);
			for (uint64_t i = 0; i < BYTES; i++) {
				uint8_t want = i < TO || i >= TO + LENGTH
				                   ? pattern(i, 100)
				                   : pattern(i - TO + FROM, 1);
				if (bytes[i] != want)
					fail_msg("%s to %s: byte %d is wrong", kind_names[a],
					         kind_names[b], (int)i);
			}
			free(bytes);
			(*copied)++;
		} else if (a == TARE_MEMORY_PAGEABLE && b == TARE_MEMORY_DEVICE) {
			fail_msg("%s", error.message);
		}
	}
	tare_memory_free(from);
	tare_memory_free(to);
}

void bytes_survive_a_copy_between_any_two_kinds(void **state)
{
	struct tare_queue *queue = new_queue(false);
	int copied = 0;
	(void)state;
	for (int a = 0; a < TARE_MEMORY_KIND_COUNT; a++)
		for (int b = 0; b < TARE_MEMORY_KIND_COUNT; b++)
			for (int blocking = 0; blocking < 2; blocking++)
				copy_pair(queue, (enum tare_memory_kind)a, (enum tare_memory_kind)b,
				          blocking, &copied);
	// To the device, from it and on it, each blocking or not.
	assert_true(copied >= 6);
	tare_queue_free(queue);
}

void a_blocking_copy_is_done_when_it_returns(void **state)
{
	enum { BYTES = 1 << 20 };
	struct tare_queue *queue = new_queue(false);
	struct tare_memory *from = new_memory(TARE_MEMORY_PAGEABLE, BYTES);
	struct tare_memory *to = new_memory(TARE_MEMORY_DEVICE, BYTES);
	struct tare_operation write = copy(span(from, 0, BYTES), span(to, 0, BYTES));
	struct tare_operation read = copy(span(to, 0, BYTES), span(from, 0, BYTES));
	(void)state;
	write.blocking = read.blocking = true;
	for (uint8_t seed = 1; seed < 20; seed++) {
		put(queue, from, seed);
		must(tare_append(queue, &write, NULL, &error));
		memset(from->host, 0, BYTES);
		must(tare_append(queue, &read, NULL, &error));
		for (uint64_t i = 0; i < BYTES; i += 997)
			assert_int_equal(((uint8_t *)from->host)[i], pattern(i, seed));
	}
	tare_memory_free(from);
	tare_memory_free(to);
	tare_queue_free(queue);
}

static void check_rectangle(struct tare_queue *queue, struct tare_memory *from,
                            struct tare_memory *to, const struct tare_rectangle *rectangle,
                            uint64_t from_offset, uint64_t to_offset)
{
	uint8_t *want = malloc(to->bytes), *bytes;
	uint64_t from_layer = rectangle->source_layer_pitch
	                          ? rectangle->source_layer_pitch
	                          : rectangle->rows * rectangle->source_row_pitch;
	uint64_t to_layer = rectangle->destination_layer_pitch
	                        ? rectangle->destination_layer_pitch
	                        : rectangle->rows * rectangle->destination_row_pitch;

	put(queue, from, 5);
	put(queue, to, 200);
	for (uint64_t i = 0; i < to->bytes; i++)
		want[i] = pattern(i, 200);
	for (uint64_t z = 0; z < rectangle->layers; z++)
		for (uint64_t y = 0; y < rectangle->rows; y++)
			for (uint64_t x = 0; x < rectangle->row_bytes; x++)
				want[to_offset + z * to_layer +
				     y * rectangle->destination_row_pitch + x] =
				    pattern(from_offset + z * from_layer +
				                y * rectangle->source_row_pitch + x,
				            5);
	must(run(queue, (struct tare_operation){
	                    .type = TARE_OPERATION_RECTANGLE,
	                    .source = span(from, from_offset, from->bytes - from_offset),
	                    .destination = span(to, to_offset, to->bytes - to_offset),
	                    .rectangle = *rectangle,
	                }));
	bytes = get(queue, to);
	assert_memory_equal(bytes, want, to->bytes);
	free(bytes);
	free(want);
}

void rectangles_land_where_they_should(void **state)
{
	static const struct {
		struct tare_rectangle rectangle;
		uint64_t from, to;
	} rows[] = {
		{ { 64, 16, 1, 256, 0, 128, 0 }, 0, 0 },
		{ { 33, 7, 3, 100, 1000, 50, 400 }, 0, 0 },
		{ { 33, 7, 3, 100, 1000, 50, 400 }, 1, 3 },
		{ { 33, 7, 3, 100, 1000, 50, 400 }, 1205, 457 }, // a row and a layer into both
		{ { 128, 10, 2, 128, 0, 128, 0 }, 0, 0 },        // no gaps at all
		// rows that begin near a pitch's end
		{ { 64, 16, 1, 256, 0, 128, 0 }, 200, 100 },
	};
	static const enum tare_memory_kind ends[][2] = {
		{ TARE_MEMORY_PAGEABLE, TARE_MEMORY_DEVICE },
		{ TARE_MEMORY_DEVICE, TARE_MEMORY_PAGEABLE },
		{ TARE_MEMORY_DEVICE, TARE_MEMORY_DEVICE },
		{ TARE_MEMORY_PINNED, TARE_MEMORY_DEVICE },
	};
	struct tare_queue *queue = new_queue(false);
	(void)state;
	for (size_t end = 0; end < sizeof ends / sizeof *ends; end++) {
		struct tare_memory *from = new_memory(ends[end][0], 16384);
		struct tare_memory *to = new_memory(ends[end][1], 16384);
		struct tare_operation probe = {
			.type = TARE_OPERATION_RECTANGLE,
			.source = span(from, 0, 16384),
			.destination = span(to, 0, 16384),
			.rectangle = rows[0].rectangle,
		};
		if (from && to && !cannot(run(queue, probe)))
			for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
				check_rectangle(queue, from, to, &rows[i].rectangle, rows[i].from,
				                rows[i].to);
		tare_memory_free(from);
		tare_memory_free(to);
	}
	tare_queue_free(queue);
}

void fills_repeat_their_pattern(void **state)
{
	enum { BYTES = 32768, FROM = 64, LENGTH = 20000 };
	static const uint8_t text[] = "0123456789abcdef";
	struct tare_queue *queue = new_queue(false);
	(void)state;
	for (uint32_t size = 1; size <= 16; size *= 2) {
		struct tare_memory *memory = new_memory(TARE_MEMORY_DEVICE, BYTES);
		struct tare_operation fill = {
			.type = TARE_OPERATION_FILL,
			.destination = span(memory, FROM, LENGTH),
		};
		uint8_t given[16];
		memcpy(given, text, 16);
		fill.fill.pattern = given;
		fill.fill.pattern_bytes = size;
		put(queue, memory, 9);
		int rc = tare_append(queue, &fill, NULL, &error);
		memset(given, 0, 16); // the pattern need not outlive the call
		if (cannot(rc)) {
			tare_memory_free(memory);
			tare_queue_free(queue);
			skip_test();
		}
		must(rc);
		must(tare_finish(queue, LIMIT, &error));
		uint8_t *bytes = get(queue, memory);
		for (uint64_t i = 0; i < BYTES; i++)
			assert_int_equal(bytes[i], i < FROM || i >= FROM + LENGTH
			                               ? pattern(i, 9)
			                               : text[(i - FROM) % size]);
		free(bytes);
		tare_memory_free(memory);
	}
	tare_queue_free(queue);
}

void mapped_memory_is_the_hosts_until_unmapped(void **state)
{
	static const enum tare_memory_kind kinds[] = { TARE_MEMORY_DEVICE, TARE_MEMORY_MAPPED,
		                                       TARE_MEMORY_SHARED };
	struct tare_queue *queue = new_queue(false);
	int mapped = 0;
	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct tare_memory *memory = new_memory(kinds[k], 8192);
		struct tare_operation map = {
			.type = TARE_OPERATION_MAP,
			.access = TARE_MAP_READ | TARE_MAP_WRITE,
			.destination = span(memory, 512, 4096),
		};
		if (!memory)
			continue;
		const void *unmapped = memory->host;
		put(queue, memory, 3);
		if (!cannot(run(queue, map))) {
			assert_non_null(memory->host);
			for (uint64_t i = 512; i < 512 + 4096; i++) {
				assert_int_equal(((uint8_t *)memory->host)[i], pattern(i, 3));
				((uint8_t *)memory->host)[i] = pattern(i, 77);
			}
			map.type = TARE_OPERATION_UNMAP;
			must(run(queue, map));
			assert_ptr_equal(memory->host, unmapped);
			uint8_t *bytes = get(queue, memory);
			for (uint64_t i = 0; i < 8192; i++)
				assert_int_equal(bytes[i],
				                 pattern(i, i >= 512 && i < 4608 ? 77 : 3));
			free(bytes);
			mapped++;
		}
		tare_memory_free(memory);
	}
	tare_queue_free(queue);
	if (!mapped)
		skip_test();
}

static void through_an_image(struct tare_queue *queue, struct tare_image shape)
{
	uint64_t bytes = (uint64_t)shape.width * shape.height * shape.depth * 4;
	struct tare_memory *from = new_memory(TARE_MEMORY_PINNED, bytes + 64);
	struct tare_memory *to = new_memory(TARE_MEMORY_PINNED, bytes + 64), *image = NULL;
	int rc = tare_image_create(device, &shape, &image, &error);

	if (cannot(rc)) {
		tare_memory_free(from);
		tare_memory_free(to);
		skip_test();
	}
	must(rc);
	assert_int_equal(image->bytes, bytes);
	for (uint64_t i = 0; i < bytes + 64; i++) {
		((uint8_t *)from->host)[i] = pattern(i, 3);
		((uint8_t *)to->host)[i] = 0xee;
	}
	must(run(queue, copy(span(from, 8, bytes), span(image, 0, bytes))));
	must(run(queue, copy(span(image, 0, bytes), span(to, 16, bytes))));
	for (uint64_t i = 0; i < bytes + 64; i++)
		assert_int_equal(((uint8_t *)to->host)[i],
		                 i < 16 || i >= bytes + 16 ? 0xee : pattern(i - 8, 3));
	// A part of one is refused, not copied as something else.
	assert_true(run(queue, copy(span(from, 0, 64), span(image, 0, 64))) < 0);
	tare_memory_free(image);
	tare_memory_free(from);
	tare_memory_free(to);
}

void images_keep_the_bytes(void **state)
{
	struct tare_queue *queue = new_queue(false);
	(void)state;
	through_an_image(queue, (struct tare_image){ 128, 64, 1 });
	through_an_image(queue, (struct tare_image){ 32, 16, 8 });
	tare_queue_free(queue);
}

void migration_keeps_the_bytes(void **state)
{
	struct tare_queue *queue = new_queue(false);
	int moved = 0;
	(void)state;
	for (int kind = TARE_MEMORY_DEVICE; kind <= TARE_MEMORY_SHARED; kind++) {
		struct tare_memory *memory = new_memory((enum tare_memory_kind)kind, 65536);
		if (!memory)
			continue;
		put(queue, memory, 8);
		for (int to_host = 1; to_host >= 0; to_host--) {
			int rc = run(queue, (struct tare_operation){
			                        .type = TARE_OPERATION_MIGRATE,
			                        .to_host = to_host,
			                        .destination = span(memory, 0, memory->bytes),
			                    });
			if (cannot(rc))
				continue;
			must(rc);
			moved++;
		}
		uint8_t *bytes = get(queue, memory);
		for (uint64_t i = 0; i < memory->bytes; i++)
			assert_int_equal(bytes[i], pattern(i, 8));
		free(bytes);
		tare_memory_free(memory);
	}
	tare_queue_free(queue);
	if (!moved)
		skip_test();
}
