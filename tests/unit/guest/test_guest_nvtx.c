// SPDX-License-Identifier: Apache-2.0
// Phases by NVTX. argv[1] is the module.
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "phase_rig.h"

static int mark_nvtx(void *argument)
{
	struct nvtx_client_attributes ascii = {
		.version = 3, .size = sizeof ascii, .message_type = 1, .message.ascii = "ascii"
	};
	struct nvtx_client_attributes wide = { .version = 3,
		                               .size = sizeof wide,
		                               .message_type = 2,
		                               .message.wide = L"a\u00e4\u20ac\U0001f600\xd800" };
	struct nvtx_client_attributes kept = { .version = 3,
		                               .size = sizeof kept,
		                               .message_type = 3 };
	struct nvtx_client_attributes none = { .version = 3, .size = sizeof none };
	struct nvtx_client_attributes cut = {
		.version = 3, .size = 24, .message_type = 1, .message.ascii = (const char *)1
	};
	(void)argument;
	open_module();
	errno = 79;
	EXPECT(nvtx_client_attach(module, "InitializeInjectionNvtx2") == 1);
	void *domain = nvtx.create_a("dom");
	EXPECT(domain && domain == nvtx.create_w(L"dom") && domain != nvtx.create_a("other"));
	kept.message.registered = nvtx.register_a(domain, "kept");
	EXPECT(kept.message.registered && !nvtx.register_a(domain, NULL));
	EXPECT(nvtx.pop() < 0);
	EXPECT(nvtx.push_a("a") == 0);
	EXPECT(nvtx.push_w(L"b") == 1);
	EXPECT(nvtx.domain_push_ex(domain, &kept) == 0);
	EXPECT(nvtx.push_ex(&wide) == 2);
	EXPECT(nvtx.domain_pop(domain) == 0);
	EXPECT(nvtx.domain_pop(domain) < 0);
	EXPECT(nvtx.pop() == 2 && nvtx.pop() == 1 && nvtx.pop() == 0 && nvtx.pop() < 0);
	uint64_t one = nvtx.start_a("one"), two = nvtx.domain_start_ex(domain, &ascii);
	EXPECT(one && two && one != two);
	nvtx.domain_end(domain, two);
	nvtx.end(one);
	nvtx.end(0);
	nvtx.end(nvtx.start_w(L"w"));
	nvtx.mark_a("m");
	nvtx.mark_w(L"n");
	nvtx.mark_ex(&none);
	nvtx.domain_mark_ex(domain, &cut);
	nvtx.mark_ex(NULL);
	EXPECT(!nvtx.name_category_a);
	EXPECT(errno == 79);
	return 0;
}

static void nvtx_marks_are_recorded(void **state)
{
	(void)state;
	expect_marks(mark_nvtx, NULL,
	             "<Na <Nb <Nkept@dom <Na\u00e4\u20ac\U0001f600\ufffd >N@dom >N >N >N <None# "
	             "<Nascii@dom# >N@dom# >N# <Nw# >N# !Nm !Nn !N(unnamed) !N(unnamed)@dom "
	             "!N(unnamed)");
}

// An extension's table: the functions themselves.
static void *payload_functions[8];

static int attach_extension(uint16_t number, size_t count)
{
	struct {
		size_t id, count;
		void **functions;
	} segment = { 0, count, payload_functions };
	struct {
		uint16_t version, bytes, module, compatible;
		size_t segment_count;
		void *segments, *export, *information;
	} extension = { 3, sizeof extension, number, 0x0103, 1, &segment, NULL, NULL };
	int (*init)(void *);
	void *found = dlsym(module, "InitializeInjectionNvtxExtension");
	memcpy(&init, &found, sizeof init);
	return init(&extension);
}

// As NCCL does: it begins by a call of the library's, and ends by one of the extension's.
static int mark_nvtx_payloads(void *argument)
{
	static const char data[40];
	int (*push)(void *, const void *, size_t), (*pop)(void *, const void *, size_t);
	uint64_t (*start)(void *, const void *, size_t);
	void (*mark)(void *, const void *, size_t), (*end)(void *, uint64_t, const void *, size_t);
	struct nvtx_client_attributes attributes = {
		.version = 3, .size = sizeof attributes, .message_type = 1, .message.ascii = "init"
	};
	(void)argument;
	open_module();
	EXPECT(nvtx_client_attach(module, "InitializeInjectionNvtx2") == 1);
	void *domain = nvtx.create_a("NCCL");
	EXPECT(attach_extension(1, 8) == 0 && !payload_functions[4]);
	EXPECT(attach_extension(2, 4) == 1 && payload_functions[3] && !payload_functions[4]);
	EXPECT(attach_extension(2, 8) == 1);
	EXPECT(!payload_functions[0] && !payload_functions[1] && !payload_functions[7]);
	memcpy(&mark, &payload_functions[2], sizeof mark);
	memcpy(&push, &payload_functions[3], sizeof push);
	memcpy(&pop, &payload_functions[4], sizeof pop);
	memcpy(&start, &payload_functions[5], sizeof start);
	memcpy(&end, &payload_functions[6], sizeof end);
	EXPECT(nvtx.domain_push_ex(domain, &attributes) == 0);
	EXPECT(push(domain, data, 1) == 1);
	EXPECT(pop(domain, data, 1) == 1 && pop(domain, data, 1) == 0 && pop(domain, data, 1) < 0);
	end(domain, nvtx.domain_start_ex(domain, &attributes), data, 1);
	nvtx.domain_end(domain, start(domain, data, 1));
	mark(domain, data, 1);
	return 0;
}

static void nvtx_phases_end_by_the_extension_for_payloads_too(void **state)
{
	(void)state;
	expect_marks(mark_nvtx_payloads, NULL,
	             "<Ninit@NCCL <N(unnamed)@NCCL >N@NCCL >N@NCCL <Ninit@NCCL# >N@NCCL# "
	             "<N(unnamed)@NCCL# >N@NCCL# !N(unnamed)@NCCL");
}

static int offer_short_tables(void *argument)
{
	(void)argument;
	open_module();
	nvtx_client_core2_count = 6;
	nvtx_client_core[2] = NULL;
	EXPECT(nvtx_client_attach(module, "InitializeInjectionNvtx") == 1);
	EXPECT(nvtx.domain_pop && !nvtx.register_a && !nvtx.create_w && !nvtx.mark_a &&
	       nvtx.mark_w);
	nvtx_client_callbacks.size = 8;
	EXPECT(nvtx_client_attach(module, "InitializeInjectionNvtx2") == 0);
	return 0;
}

static void tables_of_another_length_are_respected(void **state)
{
	(void)state;
	assert_int_equal(run_recorded(folder, NULL, offer_short_tables, NULL), 0);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nvtx_marks_are_recorded, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nvtx_phases_end_by_the_extension_for_payloads_too,
		                                set_up, tear_down),
		cmocka_unit_test_setup_teardown(tables_of_another_length_are_respected, set_up,
		                                tear_down),
	};
	module_path = count > 1 ? arguments[1] : "";
	return cmocka_run_group_tests(tests, NULL, NULL);
}
