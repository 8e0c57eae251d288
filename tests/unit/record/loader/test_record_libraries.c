// SPDX-License-Identifier: Apache-2.0
// What is read of libraries without running them: any bytes at all may be in the files.
#include "tests/unit/record/record_folder.h"

#include "base/other_api.h"
#include "record/loader/closure.h"
#include "record/loader/cupti.h"
#include "record/loader/loader.h"

#include <stdint.h>

// ---- the cache

struct paths {
	char all[256];
	int most;
};

static bool gather(const char *path, void *context)
{
	struct paths *paths = context;
	size_t used = strlen(paths->all);
	snprintf(paths->all + used, sizeof paths->all - used, "%s ", path);
	return --paths->most == 0;
}

// A cache of three entries, behind some bytes of the older form.
static size_t make_cache(char *bytes, size_t size)
{
	static const char texts[] = "libb.so\0liba.so\0/first/liba.so\0/second/liba.so\0/libb.so";
	const struct {
		uint32_t flags, name, path, version;
		uint64_t capabilities;
	} entries[] = {
		{ 0, 0, 48, 0, 0 },
		{ 0, 8, 16, 0, 0 },
		{ 0, 8, 31, 0, 0 },
	};
	const size_t before = 16, texts_at = 48 + sizeof entries;
	char *at = bytes + before;
	uint32_t count = 3;
	memset(bytes, 0, size);
	memcpy(bytes, "ld.so-1.7.0", 11);
	memcpy(at, "glibc-ld.so.cache1.1", 20);
	memcpy(at + 20, &count, sizeof count);
	for (size_t i = 0; i < 3; i++) {
		uint32_t name = entries[i].name + (uint32_t)texts_at;
		uint32_t path = entries[i].path + (uint32_t)texts_at;
		memcpy(at + 48 + 24 * i + 4, &name, 4);
		memcpy(at + 48 + 24 * i + 8, &path, 4);
	}
	memcpy(at + texts_at, texts, sizeof texts);
	return before + texts_at + sizeof texts;
}

static void the_cache_is_read_in_its_order(void **state)
{
	char bytes[512];
	size_t size = make_cache(bytes, sizeof bytes);
	struct paths all = { .most = 9 }, one = { .most = 1 }, none = { .most = 9 };
	(void)state;
	put("cache", bytes, size);
	tare_cache_look("cache", "liba.so", gather, &all);
	assert_string_equal(all.all, "/first/liba.so /second/liba.so ");
	tare_cache_look("cache", "liba.so", gather, &one);
	assert_string_equal(one.all, "/first/liba.so ");
	tare_cache_look("cache", "lib", gather, &none);
	tare_cache_look("absent", "liba.so", gather, &none);
	assert_string_equal(none.all, "");
}

static void a_damaged_cache_does_no_harm(void **state)
{
	char bytes[512];
	size_t size = make_cache(bytes, sizeof bytes);
	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		struct paths found = { .most = 9 };
		put("cut", bytes, cut);
		tare_cache_look("cut", "liba.so", gather, &found);
	}
	for (size_t at = 0; at < size; at++) {
		struct paths found = { .most = 9 };
		char before = bytes[at];
		bytes[at] = (char)0xff;
		put("cut", bytes, size);
		tare_cache_look("cut", "liba.so", gather, &found);
		bytes[at] = before;
	}
}

// ---- objects

static void this_test_needs_the_c_library(void **state)
{
	struct tare_closure closure;
	bool found = false;
	(void)state;
	tare_closure_find("/proc/self/exe", NULL, &closure);
	assert_true(closure.count > 1);
	assert_non_null(closure.objects[0].interpreter);
	for (size_t i = 1; i < closure.count; i++)
		found |= closure.objects[i].soname &&
		         strncmp(closure.objects[i].soname, "libc.so", 7) == 0;
	assert_true(found);
	tare_closure_free(&closure);
}

// Each byte of the tables at its beginning, and each length of a file, may be anything.
static void a_damaged_object_does_no_harm(void **state)
{
	enum { LOOKED_AT = 1024 };
	struct tare_object object;
	static char bytes[1 << 22];
	FILE *file = fopen("/proc/self/exe", "rb");
	size_t size;
	(void)state;
	assert_non_null(file);
	size = fread(bytes, 1, sizeof bytes, file);
	fclose(file);
	for (size_t at = 0; at < LOOKED_AT && at < size; at++) {
		char before = bytes[at];
		bytes[at] = (char)~before;
		put("object", bytes, size < 1 << 16 ? size : 1 << 16);
		tare_object_read("object", &object);
		tare_object_free(&object);
		bytes[at] = before;
		put("object", bytes, at);
		tare_object_read("object", &object);
		tare_object_free(&object);
	}
	tare_object_read("absent", &object);
	assert_false(object.readable);
	tare_object_free(&object);
}

// ---- APIs that are not recorded

#define NO_CUDA                                                                                    \
	"recorded no CUDA call: that takes CUPTI (libcupti.so), held by no other tool "            \
	"(--no-cupti: calls without device times)"

static void a_library_tells_its_api(void **state)
{
	static const struct {
		const char *linked, *loaded, *says;
	} rows[] = {
		{ "libm.so.6", "/lib/libOpenCL.so.1", "" },
		{ "libcuda.so.1", NULL,
		  "the program is linked with libcuda.so.1, and tare " NO_CUDA },
		{ "libcuda.so.1", "/opt/libcudart.so.12",
		  "the program loaded libcudart.so.12, and tare " NO_CUDA },
		{ "libcudart.so.12", "/opt/libze_loader.so.1.8.0",
		  "the program is linked with libcudart.so.12 and loaded libze_loader.so.1.8.0, "
		  "and tare " NO_CUDA ", and got in between it and no driver of Level Zero" },
		{ "libamdhip64.so.6", NULL,
		  "the program is linked with libamdhip64.so.6, and tare cannot record HIP" },
		{ "libm.so.6", "/opt/rocm/lib/libamdhip64.so.6.1.2",
		  "the program loaded libamdhip64.so.6.1.2, and tare cannot record HIP" },
		{ "libvulkan.so.1", "/opt/libze_loader.so.1",
		  "the program loaded libze_loader.so.1 and is linked with libvulkan.so.1, and "
		  "tare "
		  "got in between it and no driver of Level Zero, and cannot record Vulkan" },
		{ "my_libcuda.so.1", "/libcuda.so.1/libm.so", "" },
		{ "libvulkan_intel.so", "/opt/libhip.so", "" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_other_uses uses = { 0 };
		char text[512];
		tare_other_note(&uses, rows[i].linked, false);
		if (rows[i].loaded)
			tare_other_note(&uses, rows[i].loaded, true);
		tare_other_note(&uses, rows[i].linked, false); // what was loaded stays so
		tare_other_say(&uses, text, sizeof text);
		assert_string_equal(text, rows[i].says);
		assert_int_equal(tare_other_any(&uses), rows[i].says[0] != '\0');
	}
}

// What is beside the recorder, unless the program does not bear it.
static void a_front_is_for_programs_that_bear_it(void **state)
{
	static const struct {
		const char *interpreter, *needed;
		bool borne;
	} rows[] = {
		{ "/lib64/ld-linux-x86-64.so.2", "libc.so.6", true },
		{ "/lib64/ld-linux-x86-64.so.2", "libasan.so.8", false },
		{ "/lib64/ld-linux-x86-64.so.2", "libtsan.so.2", false },
		{ "/lib/ld-musl-x86_64.so.1", "libc.so.6", false },
		{ NULL, NULL, true },
	};
	char layer[300], front[300];
	(void)state;
	snprintf(layer, sizeof layer, "%s/libtare-recorder.so", folder);
	snprintf(front, sizeof front, "%s/libtare-cuda.so", folder);
	struct tare_closure none = { 0 };
	assert_null(tare_cuda_front_find(layer, &none, NULL, "/nowhere", true));
	FILE *file = fopen(front, "w");
	assert_non_null(file);
	fclose(file);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct tare_object object = { .interpreter = (char *)(uintptr_t)rows[i].interpreter,
			                      .needed = { (char *)(uintptr_t)rows[i].needed },
			                      .needed_count = rows[i].needed != NULL };
		struct tare_closure closure = { &object, 1 };
		char *found = tare_cuda_front_find(layer, &closure, NULL, "/nowhere", true);
		assert_int_equal(found != NULL, rows[i].borne);
		if (found)
			assert_string_equal(found, front);
		free(found);
	}
	unlink(front);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_A_FOLDER(the_cache_is_read_in_its_order),
		IN_A_FOLDER(a_damaged_cache_does_no_harm),
		cmocka_unit_test(this_test_needs_the_c_library),
		IN_A_FOLDER(a_damaged_object_does_no_harm),
		cmocka_unit_test(a_library_tells_its_api),
		IN_A_FOLDER(a_front_is_for_programs_that_bear_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
