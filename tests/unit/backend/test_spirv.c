// SPDX-License-Identifier: Apache-2.0
// What tare reads from SPIR-V: modules written by hand for each kind of parameter, and for each
// kind of damage.
#include "backend/spirv.h"

#include "spirv_rig.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { KERNEL = 90, FUNCTION_TYPE = 91, PARAMETER = 92, LABEL = 93 };

// A module of one kernel "k" with a parameter "p" of the type, decorated so.
static void put_kernel(struct assembly *to, const uint32_t *decorations, size_t decoration_count,
                       const uint32_t *types, size_t type_count, uint32_t parameter_type,
                       const char *noted)
{
	put_head(to);
	ENTRY(to, KERNEL, "k");
	if (noted)
		STRING(to, 100, noted);
	NAME(to, PARAMETER, "p");
	NAME(to, 21, "struct.Pair");
	put_words(to, decorations, decoration_count);
	put_types(to);
	put_words(to, types, type_count);
	PUT(to, I(SPIRV_TYPE_FUNCTION, 4), FUNCTION_TYPE, VOID, parameter_type,
	    I(SPIRV_FUNCTION, 5), VOID, KERNEL, 0, FUNCTION_TYPE, I(SPIRV_PARAMETER, 3),
	    parameter_type, PARAMETER, I(SPIRV_LABEL, 2), LABEL, I(253, 1),
	    I(SPIRV_FUNCTION_END, 1));
}

static struct tare_spirv *read_back(const struct assembly *from)
{
	struct tare_spirv *module = NULL;
	struct tare_error error = { 0 };

	if (tare_spirv_read(from->words, from->count * 4, &module, &error) < 0)
		fail_msg("%s", error.message);
	return module;
}

#define WORDS(...) { __VA_ARGS__ }
#define ATTRIBUTE(id, what) I(SPIRV_DECORATE, 4), id, SPIRV_PARAMETER_ATTRIBUTE, what
#define POINTER(storage, to) I(SPIRV_TYPE_POINTER, 4), 20, storage, to

static const struct parameter_row {
	const char *title;
	uint32_t types[40], decorations[24], type;
	enum tare_parameter_kind kind;
	int64_t bytes;
	const char *name;
	bool read_only;
	const char *noted;
} rows[] = {
	{ "a global pointer",
	  WORDS(POINTER(5, FLOAT)),
	  { 0 },
	  20,
	  TARE_PARAMETER_MEMORY,
	  -1,
	  "float*",
	  false,
	  NULL },
	{ "a constant pointer",
	  WORDS(POINTER(0, DOUBLE)),
	  { 0 },
	  20,
	  TARE_PARAMETER_MEMORY,
	  -1,
	  "double*",
	  true,
	  NULL },
	{ "a generic pointer",
	  WORDS(POINTER(8, FLOAT)),
	  { 0 },
	  20,
	  TARE_PARAMETER_MEMORY,
	  -1,
	  "float*",
	  false,
	  NULL },
	{ "a pointer to numbers without a sign",
	  WORDS(POINTER(5, UINT)),
	  { 0 },
	  20,
	  TARE_PARAMETER_MEMORY,
	  -1,
	  "",
	  false,
	  NULL },
	{ "a local pointer",
	  WORDS(POINTER(4, FLOAT)),
	  { 0 },
	  20,
	  TARE_PARAMETER_LOCAL,
	  -1,
	  "float*",
	  false,
	  NULL },
	{ "an untyped pointer",
	  WORDS(I(4417, 3), 20, 5),
	  { 0 },
	  20,
	  TARE_PARAMETER_MEMORY,
	  -1,
	  "",
	  false,
	  NULL },
	{ "nothing is written", WORDS(POINTER(5, FLOAT)),
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_NO_WRITE)), 20, TARE_PARAMETER_MEMORY, -1, "float*",
	  true, NULL },
	{ "no alias is not read-only", WORDS(POINTER(5, FLOAT)), WORDS(ATTRIBUTE(PARAMETER, 4)), 20,
	  TARE_PARAMETER_MEMORY, -1, "float*", false, NULL },
	{ "the second of two attributes", WORDS(POINTER(5, FLOAT)),
	  WORDS(ATTRIBUTE(PARAMETER, 4), ATTRIBUTE(PARAMETER, SPIRV_NO_WRITE)), 20,
	  TARE_PARAMETER_MEMORY, -1, "float*", true, NULL },
	{ "by a group of decorations", WORDS(POINTER(5, FLOAT)),
	  WORDS(ATTRIBUTE(80, SPIRV_NO_WRITE), I(SPIRV_GROUP, 2), 80, I(SPIRV_GROUP_DECORATE, 3),
	        80, PARAMETER),
	  20, TARE_PARAMETER_MEMORY, -1, "float*", true, NULL },
	{ "a uint", { 0 }, { 0 }, UINT, TARE_PARAMETER_VALUE, 4, "int or uint", false, NULL },
	{ "a noted uint",
	  { 0 },
	  { 0 },
	  UINT,
	  TARE_PARAMETER_VALUE,
	  4,
	  "uint",
	  false,
	  "kernel_arg_type.k.uint," },
	{ "noted of another kernel",
	  { 0 },
	  { 0 },
	  UINT,
	  TARE_PARAMETER_VALUE,
	  4,
	  "int or uint",
	  false,
	  "kernel_arg_type.kk.uint," },
	{ "noted const",
	  WORDS(POINTER(5, FLOAT)),
	  { 0 },
	  20,
	  TARE_PARAMETER_MEMORY,
	  -1,
	  "float*",
	  true,
	  "kernel_arg_type_qual.k.const," },
	{ "a zero-extended byte",
	  { 0 },
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_ZEXT)),
	  UCHAR,
	  TARE_PARAMETER_VALUE,
	  1,
	  "uchar",
	  false,
	  NULL },
	{ "a sign-extended byte",
	  { 0 },
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_SEXT)),
	  UCHAR,
	  TARE_PARAMETER_VALUE,
	  1,
	  "char",
	  false,
	  NULL },
	{ "an integer with a sign",
	  WORDS(I(21, 4), 20, 16, 1),
	  { 0 },
	  20,
	  TARE_PARAMETER_VALUE,
	  2,
	  "short",
	  false,
	  NULL },
	{ "half",
	  WORDS(I(22, 3), 20, 16),
	  { 0 },
	  20,
	  TARE_PARAMETER_VALUE,
	  2,
	  "half",
	  false,
	  NULL },
	{ "double", { 0 }, { 0 }, DOUBLE, TARE_PARAMETER_VALUE, 8, "double", false, NULL },
	{ "float4",
	  WORDS(I(23, 4), 20, FLOAT, 4),
	  { 0 },
	  20,
	  TARE_PARAMETER_VALUE,
	  16,
	  "float4",
	  false,
	  NULL },
	{ "float3 takes the room of four",
	  WORDS(I(23, 4), 20, FLOAT, 3),
	  { 0 },
	  20,
	  TARE_PARAMETER_VALUE,
	  16,
	  "float3",
	  false,
	  NULL },
	{ "double16",
	  WORDS(I(23, 4), 20, DOUBLE, 16),
	  { 0 },
	  20,
	  TARE_PARAMETER_VALUE,
	  128,
	  "double16",
	  false,
	  NULL },
	{ "a structure by value", WORDS(I(30, 5), 21, UCHAR, ULONG, UINT, POINTER(7, 21)),
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_BY_VALUE)), 20, TARE_PARAMETER_VALUE, 24, "Pair", false,
	  NULL },
	{ "a packed structure by value", WORDS(I(30, 5), 21, UCHAR, ULONG, UINT, POINTER(7, 21)),
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_BY_VALUE), I(SPIRV_DECORATE, 3), 21, SPIRV_PACKED), 20,
	  TARE_PARAMETER_VALUE, 13, "Pair", false, NULL },
	{ "with an array and a vector in it",
	  WORDS(I(28, 4), 22, UCHAR, THREE, I(23, 4), 23, FLOAT, 3, I(30, 4), 21, 22, 23,
	        POINTER(7, 21)),
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_BY_VALUE)), 20, TARE_PARAMETER_VALUE, 32, "Pair", false,
	  NULL },
	{ "a structure in a structure",
	  WORDS(I(30, 4), 22, ULONG, UCHAR, I(30, 4), 21, UCHAR, 22, POINTER(7, 21)),
	  WORDS(ATTRIBUTE(PARAMETER, SPIRV_BY_VALUE)), 20, TARE_PARAMETER_VALUE, 24, "Pair", false,
	  NULL },
	{ "a structure as itself",
	  WORDS(I(30, 4), 21, UINT, UINT),
	  { 0 },
	  21,
	  TARE_PARAMETER_VALUE,
	  8,
	  "Pair",
	  false,
	  NULL },
	{ "a private pointer",
	  WORDS(POINTER(7, FLOAT)),
	  { 0 },
	  20,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "float*",
	  false,
	  NULL },
	{ "an image",
	  WORDS(I(25, 9), 20, VOID, 1, 0, 0, 0, 0, 0),
	  { 0 },
	  20,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "image2d_t",
	  false,
	  NULL },
	{ "an array of images",
	  WORDS(I(25, 9), 20, VOID, 0, 0, 1, 0, 0, 0),
	  { 0 },
	  20,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "image1d_array_t",
	  false,
	  NULL },
	{ "a sampler",
	  WORDS(I(26, 2), 20),
	  { 0 },
	  20,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "sampler_t",
	  false,
	  NULL },
	{ "an old compiler's image",
	  WORDS(I(31, 3), 21, 'x', POINTER(5, 21)),
	  { 0 },
	  20,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "",
	  false,
	  NULL },
	{ "a number of 7 bits",
	  WORDS(I(21, 4), 20, 7, 0),
	  { 0 },
	  20,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "",
	  false,
	  NULL },
	{ "a structure of itself",
	  WORDS(I(30, 3), 21, 21),
	  { 0 },
	  21,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "Pair",
	  false,
	  NULL },
	{ "two structures of each other",
	  WORDS(I(30, 3), 21, 22, I(30, 3), 22, 21),
	  { 0 },
	  21,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "Pair",
	  false,
	  NULL },
	{ "an array longer than memory",
	  WORDS(I(43, 5), ULONG, 22, 0, 0x80000000, I(28, 4), 21, ULONG, 22),
	  { 0 },
	  21,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "",
	  false,
	  NULL },
	{ "an array whose length is still to be given",
	  WORDS(I(50, 5), ULONG, 22, 4, 0, I(28, 4), 21, ULONG, 22),
	  { 0 },
	  21,
	  TARE_PARAMETER_UNKNOWN,
	  -1,
	  "",
	  false,
	  NULL },
	{ "a type that is none", { 0 }, { 0 }, 77, TARE_PARAMETER_UNKNOWN, -1, "", false, NULL },
};

static size_t used(const uint32_t *words, size_t capacity)
{
	while (capacity && !words[capacity - 1])
		capacity--;
	return capacity;
}

// Trailing zeros of a row's last instruction are its own.
static size_t whole(const uint32_t *words, size_t capacity)
{
	size_t count = 0, filled = used(words, capacity);

	while (count < filled)
		count += words[count] >> 16;
	return count;
}

static void each_kind_of_parameter(void **state)
{
	struct assembly assembly;
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct parameter_row *row = &rows[i];
		put_kernel(&assembly, row->decorations, whole(row->decorations, 24), row->types,
		           whole(row->types, 40), row->type, row->noted);
		struct tare_spirv *module = read_back(&assembly);
		const struct tare_parameter *parameter = module->kernels[0].parameters;
		if (module->kernel_count != 1 || strcmp(module->kernels[0].name, "k") != 0 ||
		    module->kernels[0].parameter_count != 1 || parameter->kind != row->kind ||
		    parameter->bytes != row->bytes || strcmp(parameter->type, row->name) != 0 ||
		    strcmp(parameter->name, "p") != 0 || parameter->read_only != row->read_only)
			fail_msg("%s: kind %d, %lld bytes, type '%s', name '%s'%s", row->title,
			         parameter->kind, (long long)parameter->bytes, parameter->type,
			         parameter->name, parameter->read_only ? ", read-only" : "");
		tare_spirv_free(module);
	}
}

static void either_byte_order(void **state)
{
	struct assembly assembly;
	(void)state;
	put_kernel(&assembly, NULL, 0, NULL, 0, FLOAT, NULL);
	for (size_t i = 0; i < assembly.count; i++)
		assembly.words[i] = __builtin_bswap32(assembly.words[i]);
	struct tare_spirv *module = read_back(&assembly);
	assert_int_equal(module->version, 0x00010200);
	assert_int_equal(module->address_bits, 64);
	assert_string_equal(module->kernels[0].name, "k");
	assert_string_equal(module->kernels[0].parameters[0].type, "float");
	tare_spirv_free(module);
}

// The entry point has no names of its own; what it calls has.
static void an_entry_point_that_only_calls(void **state)
{
	static const struct {
		uint32_t argument;
		const char *name;
	} calls[] = {
		{ 111, "x" }, { 110, "" }, // 110 is no parameter: it does more than call
	};
	struct assembly assembly;
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		put_head(&assembly);
		ENTRY(&assembly, 100, "k");
		NAME(&assembly, 92, "x");
		LINKAGE(&assembly, KERNEL, "k", 0);
		put_types(&assembly);
		PUT(&assembly, I(1, 3), UINT, 110, I(33, 4), FUNCTION_TYPE, VOID, UINT, I(54, 5),
		    VOID, KERNEL, 0, FUNCTION_TYPE, I(55, 3), UINT, 92, I(248, 2), LABEL, I(253, 1),
		    I(56, 1), I(54, 5), VOID, 100, 0, FUNCTION_TYPE, I(55, 3), UINT, 111, I(248, 2),
		    112, I(57, 5), VOID, 113, KERNEL, calls[i].argument, I(253, 1), I(56, 1));
		struct tare_spirv *module = read_back(&assembly);
		assert_string_equal(module->kernels[0].parameters[0].name, calls[i].name);
		// The function behind the entry point is no second one.
		assert_int_equal(module->function_count, 0);
		tare_spirv_free(module);
	}
}

static void required_sizes(void **state)
{
	struct assembly assembly;
	(void)state;
	put_head(&assembly);
	ENTRY(&assembly, 90, "literal");
	ENTRY(&assembly, 94, "by_id");
	PUT(&assembly, I(16, 6), 90, 17, 8, 4, 2, I(16, 4), 90, 35, 16, I(331, 6), 94, 38, 50, 51,
	    THREE);
	put_types(&assembly);
	PUT(&assembly, I(43, 4), UINT, 50, 9, I(43, 4), UINT, 51, 5, I(33, 3), 91, VOID, I(54, 5),
	    VOID, 90, 0, 91, I(248, 2), 92, I(253, 1), I(56, 1), I(54, 5), VOID, 94, 0, 91,
	    I(248, 2), 95, I(253, 1), I(56, 1));
	struct tare_spirv *module = read_back(&assembly);
	const struct tare_spirv_kernel *literal = tare_spirv_kernel(module, "literal");
	const struct tare_spirv_kernel *by_id = tare_spirv_kernel(module, "by_id");
	assert_memory_equal(literal->required_group_size, ((uint32_t[]){ 8, 4, 2 }), 12);
	assert_int_equal(literal->required_sub_group_size, 16);
	assert_memory_equal(by_id->required_group_size, ((uint32_t[]){ 9, 5, 3 }), 12);
	assert_int_equal(by_id->required_sub_group_size, 0);
	assert_null(tare_spirv_kernel(module, "absent"));
	tare_spirv_free(module);
}

static void variables_constants_and_linkage(void **state)
{
	struct assembly assembly;
	(void)state;
	put_head(&assembly);
	NAME(&assembly, 40, "debug");
	LINKAGE(&assembly, 41, "exported", 0);
	LINKAGE(&assembly, 43, "elsewhere", 1);
	LINKAGE(&assembly, 60, "needed", 1);
	LINKAGE(&assembly, 61, "given", 0);
	PUT(&assembly, I(71, 4), 50, SPIRV_SPEC_ID, 7, I(71, 4), 51, SPIRV_SPEC_ID, 9);
	put_types(&assembly);
	PUT(&assembly, I(50, 5), ULONG, 50, 1, 0, I(48, 3), BOOL, 51, I(50, 4), UINT, 52, 3,
	    I(28, 4), 30, FLOAT, THREE, I(32, 4), 31, 5, 30, I(32, 4), 32, 0, UINT, I(32, 4), 33, 4,
	    UINT, I(26, 2), 34, I(32, 4), 35, 0, 34, I(32, 4), 36, 5, 32, I(59, 4), 31, 40, 5,
	    I(59, 4), 32, 41, 0, I(59, 4), 33, 42, 4, I(59, 4), 31, 43, 5, I(59, 4), 35, 44, 0,
	    I(59, 5), 36, 45, 5, 41, I(33, 3), 91, VOID, I(54, 5), VOID, 60, 0, 91, I(56, 1),
	    I(54, 5), VOID, 61, 0, 91, I(248, 2), 92, I(253, 1), I(56, 1));
	struct tare_spirv *module = read_back(&assembly);
	assert_int_equal(module->variable_count, 3);
	const struct tare_spirv_variable *variables = module->variables;
	assert_string_equal(variables[0].name, "debug");
	assert_int_equal(variables[0].id, 40);
	assert_int_equal(variables[0].bytes, 12);
	assert_false(variables[0].constant || variables[0].exported || variables[0].addressed);
	assert_string_equal(variables[1].name, "exported");
	assert_true(variables[1].constant && variables[1].exported && variables[1].addressed);
	assert_string_equal(variables[2].name, "");
	assert_int_equal(module->constant_count, 2);
	assert_int_equal(module->constants[0].id, 7);
	assert_int_equal(module->constants[0].bytes, 8);
	assert_int_equal(module->constants[1].id, 9);
	assert_int_equal(module->constants[1].bytes, 1);
	assert_int_equal(module->import_count, 1);
	assert_string_equal(module->imports[0], "needed");
	assert_int_equal(module->function_count, 1);
	assert_string_equal(module->functions[0], "given");
	tare_spirv_free(module);
}

// ---- damage

static const struct damage_row {
	const char *title, *says;
	uint32_t op;   // the first instruction of this kind (0: the module's words)
	uint32_t word; // in it, becomes `value`
	uint32_t value;
	size_t cut; // bytes are left away at the end
} damages[] = {
	{ "nothing at all", "this is no SPIR-V: 0 bytes", 0, 0, 0, SIZE_MAX },
	{ "less than a header", "this is no SPIR-V: 19 bytes", 0, 0, 0, SIZE_MAX - 19 },
	{ "another file", "it begins with 0x464c457f", 0, 0, 0x464c457f, 0 },
	{ "cut within a word", "it ends within a word", 0, 0, SPIRV_MAGIC, 1 },
	{ "cut within an instruction", "goes beyond its end", 0, 0, SPIRV_MAGIC, 4 * 6 },
	{ "no words", "an instruction of no words, at word 5", SPIRV_CAPABILITY, 0,
	  SPIRV_CAPABILITY, 0 },
	{ "more words than there are", "goes beyond its end", SPIRV_FUNCTION_END, 0,
	  I(SPIRV_FUNCTION_END, 9), 0 },
	{ "fewer words than it means", "shorter than it can be", SPIRV_TYPE_VOID, 0,
	  I(SPIRV_TYPE_VOID, 1), 0 },
	{ "a text without an end", "a text without an end", SPIRV_ENTRY_POINT, 3, 0x6b6b6b6b, 0 },
	{ "an id of 0", "beyond the bound", SPIRV_TYPE_VOID, 1, 0, 0 },
	{ "an id at the bound", "beyond the bound", SPIRV_TYPE_VOID, 1, 200, 0 },
	{ "an id twice", "an id is defined twice", SPIRV_TYPE_VOID, 1, UINT, 0 },
	{ "an entry point of no function", "an entry point is no function", SPIRV_ENTRY_POINT, 2,
	  UINT, 0 },
	{ "a kernel of no type", "kernel 'k' has 1 parameters", SPIRV_FUNCTION, 4, UINT, 0 },
	{ "a parameter too many", "kernel 'k' has 1 parameters, and its type 2",
	  SPIRV_TYPE_FUNCTION, 0, I(SPIRV_TYPE_FUNCTION, 5), 0 },
};

static void each_kind_of_damage(void **state)
{
	struct assembly assembly;
	struct tare_spirv *module;
	(void)state;
	for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
		const struct damage_row *row = &damages[i];
		struct tare_error error = { 0 };
		put_kernel(&assembly, NULL, 0, NULL, 0, FLOAT, NULL);
		size_t at = row->op ? SPIRV_HEADER_WORDS : 0;
		while (row->op && (assembly.words[at] & 0xffff) != row->op)
			at += assembly.words[at] >> 16;
		assembly.words[at + row->word] = row->value;
		// What follows fills the longer function type up, so that only the parameters
		// differ.
		if (row->op == SPIRV_TYPE_FUNCTION) {
			memmove(assembly.words + at + 5, assembly.words + at + 4,
			        (assembly.count - at - 4) * 4);
			assembly.count++;
		}
		size_t bytes = row->cut > assembly.count * 4 ? SIZE_MAX - row->cut
		                                             : assembly.count * 4 - row->cut;
		// A block of the exact size: a read beyond it is seen.
		void *exact = malloc(bytes + 1);
		memcpy(exact, assembly.words, bytes);
		int status = tare_spirv_read(exact, bytes, &module, &error);
		if (status != -EINVAL || module || !strstr(error.message, row->says))
			fail_msg("%s: %d, '%s'", row->title, status, error.message);
		free(exact);
	}
}

// A bound is only a claim: it costs no memory.
static void a_bound_of_four_billion(void **state)
{
	struct assembly assembly;
	(void)state;
	put_kernel(&assembly, NULL, 0, NULL, 0, FLOAT, NULL);
	assembly.words[3] = UINT32_MAX;
	struct tare_spirv *module = read_back(&assembly);
	assert_int_equal(module->kernel_count, 1);
	tare_spirv_free(module);
	tare_spirv_free(NULL);
	assert_null(tare_spirv_kernel(NULL, "k"));
}

// A vector of structures without members has no size, and no alignment to divide by.
static void a_vector_of_nothing(void **state)
{
	struct assembly assembly;
	struct tare_error error = { 0 };
	struct tare_spirv *module = NULL;
	(void)state;
	put_head(&assembly);
	put_types(&assembly);
	PUT(&assembly, I(SPIRV_TYPE_STRUCT, 2), 20, I(SPIRV_TYPE_VECTOR, 4), 21, 20, 4,
	    I(SPIRV_TYPE_STRUCT, 4), 22, UINT, 21);
	assert_int_equal(tare_spirv_read(assembly.words, assembly.count * 4, &module, &error), 0);
	tare_spirv_free(module);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_of_parameter),
		cmocka_unit_test(either_byte_order),
		cmocka_unit_test(an_entry_point_that_only_calls),
		cmocka_unit_test(required_sizes),
		cmocka_unit_test(variables_constants_and_linkage),
		cmocka_unit_test(each_kind_of_damage),
		cmocka_unit_test(a_bound_of_four_billion),
		cmocka_unit_test(a_vector_of_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
