/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sampling set of this very process: one function of assembly for each
 * exclusion rule with the instruction that it leaves out, and near misses that
 * must stay; which parts of which modules; libc's variants; what is drawn.
 */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include <cmocka.h>

#include "base/error.h"
#include "image/debuginfo.h"
#include "image/elftext.h"
#include "image/image.h"
#include "sample.h"
#include "sampling/inventory.h"
#include "sampling/names.h"
#include "sampling/rules.h"
#include "sampling/sampleset.h"
#include "wire/message.h"

/* What the probes touch; their names are in this file's debug information. */
extern int plain_word;
extern const int constant_word;
extern volatile int volatile_word;
extern _Atomic int atomic_word;
extern char guard_byte, other_byte;
int plain_word;
volatile int volatile_word;
_Atomic int atomic_word;
char guard_byte, other_byte;
const int constant_word = 7;

#define PROBE(name, text)                                      \
	void probe_##name(void);                               \
	__asm__(".pushsection .text\n"                         \
		".globl probe_" #name "\n"                     \
		".type probe_" #name ", @function\n"           \
		"probe_" #name ":\n" text "\nret\n"            \
		".size probe_" #name ", . - probe_" #name "\n" \
		".popsection\n")

PROBE(load, "movq (%rdi), %rax");
PROBE(store, "movl %eax, 8(%rbx,%rcx,4)");
PROBE(global, "movl plain_word(%rip), %eax");
PROBE(lea, "leaq 8(%rdi), %rax");
PROBE(nop, "nopw 8(%rax)");
PROBE(prefetch, "prefetcht0 (%rdi)");
PROBE(push, "pushq %rbx");
PROBE(push_memory, "pushq (%rdi)");
PROBE(stack, "movq %rax, 16(%rsp)");
PROBE(rbp_free, "movq %rax, 16(%rbp)");
PROBE(rbp_frame,
      "pushq %rbp\nmovq %rsp, %rbp\nmovq %rax, -16(%rbp)\npopq %rbp");
PROBE(rbp_copied, "movq %rsp, %rbp\nmovq %rax, -16(%rbp)");
PROBE(segment, "movq %fs:0x28, %rax");
PROBE(constant, "movl constant_word(%rip), %eax");
PROBE(locked, "lock incl (%rdi)");
PROBE(exchanged, "xchgl %eax, (%rdi)");
PROBE(incremented, "incl (%rdi)");
PROBE(volatile, "movl volatile_word(%rip), %eax");
PROBE(volatile_set, "movl %eax, volatile_word(%rip)");
PROBE(atomic, "movl atomic_word(%rip), %eax");
PROBE(gather, "vpgatherdd %ymm1, (%rax,%ymm2,4), %ymm0");
PROBE(nil_check, "testb %al, (%rdi)");
PROBE(stack_check, "cmpq 0x10(%r14), %rsp");
PROBE(no_stack_check, "cmpq 0x18(%r14), %rsp");
PROBE(no_nil_check, "testb %al, (%rdi)\nje 1f\nnop\n1:");
PROBE(guarded, "cmpb $0, guard_byte(%rip)\n"
	       "jne 1f\n"
	       "leaq guard_byte(%rip), %rdi\n"
	       "call probe_nop\n"
	       "testl %eax, %eax\n"
	       "1:");
PROBE(passed_on, "cmpb $0, other_byte(%rip)\n"
		 "jne 1f\n"
		 "leaq other_byte(%rip), %rdi\n"
		 "call probe_nop\n"
		 "movl %eax, %ebx\n"
		 "1:");
/* after a byte that is no instruction only a branch's target is trusted */
PROBE(broken, "je 1f\n"
	      ".byte 0x06\n"
	      "movq (%rdi), %rax\n"
	      "movq (%rdi), %rax\n"
	      "1: movq (%rsi), %rax");

struct fixture {
	struct image *image;
	struct rules rules;
	struct sampleset set;
	struct vec gone;
};

static int setup(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));
	bool changed;

	if (!fixture || image_create(getpid(), &fixture->image) ||
	    image_refresh(fixture->image, &changed))
		return -1;
	globs_init(&fixture->rules.globs);
	fixture->gone = (struct vec)VEC_INIT(struct wire_range);
	if (sampleset_init(&fixture->set, fixture->image, &fixture->rules,
			   getpid(), 1))
		return -1;
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *fixture = *state;

	sampleset_deinit(&fixture->set);
	globs_deinit(&fixture->rules.globs);
	vec_deinit(&fixture->gone);
	image_destroy(fixture->image);
	free(fixture);
	return 0;
}

static const struct elf_function *
function_of(struct fixture *fixture, const void *address, struct module **ret)
{
	struct module *module =
		image_module_at(fixture->image, (uintptr_t)address);

	assert_non_null(module);
	assert_non_null(module->text);
	*ret = module;
	return elftext_function_at(module->text,
				   (uintptr_t)address - module->bias);
}

static struct scan_counts scan(struct fixture *fixture, void (*probe)(void),
			       enum rule whole)
{
	struct scan_counts counts = { .functions = 0 };
	struct vec sites = VEC_INIT(struct scan_site);
	struct module *module;
	const struct elf_function *function =
		function_of(fixture, (const void *)probe, &module);

	assert_non_null(function);
	assert_null(scan_function(&fixture->set.scanner, module, function,
				  whole, &sites, &counts));
	assert_int_equal(sites.count, counts.rules[RULE_SITE]);
	assert_int_equal(counts.functions, 1);
	vec_deinit(&sites);
	return counts;
}

/* The probe has one instruction of that rule besides its ret. */
static void expect(struct fixture *fixture, void (*probe)(void), enum rule rule)
{
	struct scan_counts counts = scan(fixture, probe, RULE_SITE);
	unsigned int want = rule == RULE_IMPLICIT_STACK ? 2 : 1;

	if (counts.rules[rule] == want && counts.instructions == 2)
		return;
	for (int i = 0; i < RULES; i++) {
		if (counts.rules[i])
			print_error("%s: %u\n", rule_name(i),
				    (unsigned int)counts.rules[i]);
	}
	fail_msg("not %s", rule_name(rule));
}

static void plain_accesses_are_sites(void **state)
{
	expect(*state, probe_load, RULE_SITE);
	expect(*state, probe_store, RULE_SITE);
	expect(*state, probe_global, RULE_SITE);
	expect(*state, probe_incremented, RULE_SITE);
}

static void what_touches_no_memory_is_none(void **state)
{
	expect(*state, probe_lea, RULE_NO_ACCESS);
	expect(*state, probe_nop, RULE_NO_ACCESS);
	expect(*state, probe_prefetch, RULE_NO_ACCESS);
}

static void implicit_stack_is_left_out_its_memory_operand_not(void **state)
{
	expect(*state, probe_push, RULE_IMPLICIT_STACK);
	expect(*state, probe_push_memory, RULE_SITE);
}

static void the_stack_is_left_out_unless_asked_for(void **state)
{
	struct fixture *fixture = *state;

	expect(fixture, probe_stack, RULE_STACK);
	fixture->rules.include_stack = true;
	expect(fixture, probe_stack, RULE_SITE);
	expect(fixture, probe_push, RULE_IMPLICIT_STACK);
}

static void rbp_counts_as_stack_only_as_frame_pointer(void **state)
{
	struct fixture *fixture = *state;
	struct scan_counts counts;

	expect(fixture, probe_rbp_free, RULE_SITE);
	counts = scan(fixture, probe_rbp_frame, RULE_SITE);
	assert_int_equal(counts.rules[RULE_FRAME_POINTER], 1);
	assert_int_equal(counts.rules[RULE_SITE], 0);
	/* copied, but not saved: not a prologue */
	counts = scan(fixture, probe_rbp_copied, RULE_SITE);
	assert_int_equal(counts.rules[RULE_SITE], 1);
	fixture->rules.include_stack = true;
	counts = scan(fixture, probe_rbp_frame, RULE_SITE);
	assert_int_equal(counts.rules[RULE_SITE], 1);
}

static void thread_local_and_constant_memory_is_left_out(void **state)
{
	expect(*state, probe_segment, RULE_SEGMENT);
	expect(*state, probe_constant, RULE_READ_ONLY);
}

static void synchronization_is_left_out(void **state)
{
	expect(*state, probe_locked, RULE_SYNCHRONIZING);
	expect(*state, probe_exchanged, RULE_SYNCHRONIZING);
}

static void atomic_variables_are_left_out(void **state)
{
	expect(*state, probe_atomic, RULE_ATOMIC_TYPE);
}

static void volatile_variables_are_left_in(void **state)
{
	expect(*state, probe_volatile, RULE_SITE);
	expect(*state, probe_volatile_set, RULE_SITE);
}

static void checks_of_gos_are_left_out(void **state)
{
	struct scan_counts counts;

	expect(*state, probe_nil_check, RULE_GO_CHECK);
	expect(*state, probe_stack_check, RULE_GO_CHECK);
	expect(*state, probe_no_stack_check, RULE_SITE);
	counts = scan(*state, probe_no_nil_check, RULE_SITE);
	assert_int_equal(counts.rules[RULE_SITE], 1);
}

static void refusals_have_names(void **state)
{
	expect(*state, probe_gather, RULE_REFUSED + X86_REFUSED_GATHER);
	assert_string_equal(rule_name(RULE_REFUSED + X86_REFUSED_GATHER),
			    "refused-gather");
	for (int i = 0; i < RULES; i++)
		assert_string_not_equal(rule_name(i), "unknown");
}

static void a_guard_is_known_by_its_use(void **state)
{
	struct scan_counts counts = scan(*state, probe_guarded, RULE_SITE);

	assert_int_equal(counts.rules[RULE_GUARD], 1);
	assert_int_equal(counts.rules[RULE_SITE], 0);
	counts = scan(*state, probe_passed_on, RULE_SITE);
	assert_int_equal(counts.rules[RULE_GUARD], 0);
	assert_int_equal(counts.rules[RULE_SITE], 1);
}

static void nothing_is_trusted_after_an_undecodable_byte(void **state)
{
	struct scan_counts counts = scan(*state, probe_broken, RULE_SITE);

	assert_int_equal(counts.rules[RULE_REFUSED + X86_REFUSED_UNDECODABLE],
			 1);
	assert_int_equal(counts.rules[RULE_AFTER_UNDECODABLE], 6);
	assert_int_equal(counts.rules[RULE_SITE], 1);
}

static void a_function_left_out_counts_under_its_rule(void **state)
{
	struct scan_counts counts = scan(*state, probe_load, RULE_GLOB);

	assert_int_equal(counts.rules[RULE_GLOB], 1);
	assert_int_equal(counts.rules[RULE_SITE], 0);
}

static bool sampled(struct fixture *fixture, const void *address)
{
	struct module *module;
	const struct elf_function *function =
		function_of(fixture, address, &module);
	size_t count;

	assert_non_null(function);
	return sampleset_samples(
		&fixture->set, module,
		(size_t)(function - elftext_functions(module->text, &count)));
}

/* libc's own, whatever a sanitizer puts before it. */
static void *libc_function(const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *address;

	assert_non_null(libc);
	address = dlsym(libc, name);
	dlclose(libc);
	return address;
}

static void of_libc_only_string_functions_are_sampled(void **state)
{
	struct fixture *fixture = *state;
	/* as the loader resolved it: a variant without a name of its own */
	void *memcpy_variant = libc_function("memcpy");

	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_true(sampled(fixture, (const void *)sampled));
	assert_true(sampled(fixture, memcpy_variant));
	assert_true(sampled(fixture, libc_function("strtok")));
	assert_false(sampled(fixture, libc_function("malloc")));
	assert_false(sampled(fixture, libc_function("qsort")));
	assert_false(sampled(fixture, libc_function("memalign")));
	assert_false(sampled(fixture, libc_function("pthread_mutex_lock")));
	assert_int_equal(fixture->gone.count, 0);
}

static void globs_change_what_is_sampled(void **state)
{
	struct fixture *fixture = *state;

	assert_true(globs_add(&fixture->rules.globs, "libc.so*", true));
	assert_true(globs_add(&fixture->rules.globs, "malloc", false));
	assert_true(globs_add(&fixture->rules.globs, "probe_l*", false));
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_true(sampled(fixture, libc_function("qsort")));
	assert_false(sampled(fixture, libc_function("malloc")));
	assert_false(sampled(fixture, (const void *)probe_load));
	assert_true(sampled(fixture, (const void *)probe_store));
}

static void a_source_file_can_be_left_out(void **state)
{
	struct fixture *fixture = *state;

	assert_true(
		globs_add(&fixture->rules.globs, "*test_sampleset.c", false));
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_false(sampled(fixture, (const void *)sampled));
	assert_true(sampled(fixture, (const void *)rule_name));
}

/* Has the debug information of the module been read, or looked for? */
static bool was_read(struct fixture *fixture, struct module *module)
{
	struct debug_module *debug;

	assert_null(debuginfo_unread(fixture->image, module, &debug));
	return debug->loaded;
}

static void scan_module_of(struct fixture *fixture, const void *address,
			   struct module **ret)
{
	const struct elf_function *functions;
	size_t count;

	function_of(fixture, address, ret);
	functions = elftext_functions((*ret)->text, &count);
	for (size_t i = 0; i < count; i++)
		assert_null(scan_function(&fixture->set.scanner, *ret,
					  &functions[i], RULE_SITE, NULL,
					  NULL));
}

static void marks_of_libraries_may_be_left_to_conflicts(void **state)
{
	struct fixture *fixture = *state;
	struct module *library, *own;

	fixture->set.scanner.own_marks = true;
	scan_module_of(fixture, (const void *)(uintptr_t)_assert_true,
		       &library);
	assert_false(was_read(fixture, library));
	scan_module_of(fixture, (const void *)(uintptr_t)was_read, &own);
	assert_true(was_read(fixture, own));
	fixture->set.scanner.own_marks = false;
	scan_module_of(fixture, (const void *)(uintptr_t)_assert_true,
		       &library);
	assert_true(was_read(fixture, library));
}

static void loader_and_vdso_are_left_out(void **state)
{
	struct fixture *fixture = *state;
	const struct vec *modules = image_modules(fixture->image);
	unsigned int none = 0, strings = 0, mains = 0;

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);
		enum module_part part = rules_module_part(module);

		if (module->vdso || module->loader) {
			assert_int_equal(part, PART_NONE);
			none++;
		}
		strings += part == PART_STRINGS;
		if (module->main) {
			assert_int_equal(part, PART_ALL);
			mains++;
		}
	}
	assert_true(none >= 1);
	assert_int_equal(strings, 1);
	assert_int_equal(mains, 1);
}

/* Sites of the program itself can be drawn before others are looked at. */
static void modules_join_one_by_one_when_time_is_short(void **state)
{
	struct fixture *fixture = *state;
	struct wire_site site;
	size_t calls = 0;

	do {
		assert_null(sampleset_sync(&fixture->set, 0, &fixture->gone));
		calls++;
		assert_int_equal(fixture->set.modules.count, calls);
		assert_null(sampleset_draw(&fixture->set, &site));
		assert_int_not_equal(site.id, 0);
		assert_true(!fixture->set.behind ||
			    !sampleset_complete(&fixture->set));
	} while (fixture->set.behind);
	assert_int_equal(calls, image_modules(fixture->image)->count);
	assert_true(sampled(fixture, (const void *)sampled));
	assert_true(sampled(fixture, libc_function("strtok")));
}

static void every_draw_is_an_instruction_of_the_live_text(void **state)
{
	struct fixture *fixture = *state;
	unsigned int on_stack = 0;

	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	for (int i = 0; i < 3000; i++) {
		struct wire_site site;
		struct mem_operand *operand = &site.insn.operands[0];

		assert_null(sampleset_draw(&fixture->set, &site));
		assert_int_not_equal(site.id, 0);
		assert_in_range(site.insn.length, 1, X86_INSN_MAX);
		assert_memory_equal((const void *)(uintptr_t)site.address,
				    site.bytes, site.insn.length);
		assert_false(site.insn.synchronizes);
		assert_int_equal(site.insn.refusal, X86_OK);
		assert_in_range(site.insn.operand_count, 1, X86_OPERANDS_MAX);
		on_stack += operand->base == X86_RSP && !operand->stack &&
			    site.insn.operand_count == 1;
		assert_true(sampled(fixture,
				    (const void *)(uintptr_t)site.address));
	}
	/* only of locals that escape */
	assert_in_range(on_stack, 0, 300);
}

/* A place in a file leads back to the site, by build id and by path. */
static void a_site_is_found_by_its_place(void **state)
{
	struct fixture *fixture = *state;

	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	for (int i = 0; i < 300; i++) {
		struct wire_site site, again;
		struct sampleset_place place;
		uint64_t id = 0;

		assert_null(sampleset_draw(&fixture->set, &site));
		assert_true(sampleset_place(&fixture->set, site.id, &place));
		assert_null(sampleset_find_site(
			&fixture->set, place.module->path,
			elftext_build_id(place.module->text), place.offset,
			&id));
		assert_int_equal(id, site.id);
		assert_true(sampler_lives(&fixture->set.sampler, id));
		assert_true(sampleset_describe(&fixture->set, id, &again));
		assert_memory_equal(&site, &again, sizeof(site));
		assert_null(sampleset_find_site(&fixture->set,
						place.module->path, "none",
						place.offset, &id));
		assert_int_equal(id, 0);
		assert_null(sampleset_find_site(
			&fixture->set, place.module->path,
			elftext_build_id(place.module->text), UINT32_MAX, &id));
		assert_int_equal(id, 0);
	}
	assert_false(sampler_lives(&fixture->set.sampler, 77));
}

/* A library of many pages, at a path that is made up. */
static void *open_large(char *path)
{
	char *sample = sample_path("data.so");
	int fd = mkstemp(path);
	size_t size;
	uint8_t *bytes = sample_read(sample, &size);
	const Elf64_Ehdr *header = (const void *)bytes;
	Elf64_Phdr *segments = (void *)(bytes + header->e_phoff);
	void *library;

	for (unsigned int i = 0; i < header->e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD &&
		    (segments[i].p_flags & PF_W))
			segments[i].p_memsz += 64 << 20;
	}
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	library = dlopen(path, RTLD_NOW);
	assert_non_null(library);
	free(bytes);
	free(sample);
	return library;
}

/* One that takes long must not delay draws from what is there. */
static void a_large_module_joins_in_a_call_of_its_own(void **state)
{
	struct fixture *fixture = *state;
	char path[] = "/tmp/racewatch-test-XXXXXX";
	void *library = open_large(path);
	const struct module *large;
	struct wire_site site;
	bool changed;

	assert_null(image_refresh(fixture->image, &changed));
	large = image_module_at(fixture->image,
				(uintptr_t)dlsym(library, "next_id"));
	assert_non_null(large);
	assert_null(
		sampleset_sync(&fixture->set, UINT64_MAX - 1, &fixture->gone));
	assert_true(fixture->set.behind);
	assert_false(sampleset_complete(&fixture->set));
	assert_false(elftext_is_read(large->text));
	assert_true(sampled(fixture, libc_function("strtok")));
	assert_null(sampleset_draw(&fixture->set, &site));
	assert_int_not_equal(site.id, 0);
	while (fixture->set.behind)
		assert_null(sampleset_sync(&fixture->set, UINT64_MAX - 1,
					   &fixture->gone));
	assert_true(elftext_is_read(large->text));
	assert_int_equal(fixture->set.modules.count,
			 image_modules(fixture->image)->count);
	dlclose(library);
	unlink(path);
}

/* Those whose functions were read. */
static size_t modules_read(const struct fixture *fixture)
{
	const struct vec *modules = image_modules(fixture->image);
	size_t count = 0;

	for (size_t i = 0; i < modules->count; i++) {
		const struct module *module =
			*(struct module **)vec_at(modules, i);

		count += module->text && elftext_is_read(module->text);
	}
	return count;
}

static void a_module_is_read_when_it_joins(void **state)
{
	struct fixture *fixture = *state;
	const struct vec *modules = image_modules(fixture->image);
	const struct module *first = *(struct module **)vec_at(modules, 0);
	struct wire_site site;
	size_t read = 1;

	assert_int_equal(modules_read(fixture), 0);
	assert_null(sampleset_sync(&fixture->set, 0, &fixture->gone));
	assert_int_equal(modules_read(fixture), 1);
	assert_true(elftext_is_read(first->text));
	assert_null(sampleset_draw(&fixture->set, &site));
	assert_int_not_equal(site.id, 0);
	assert_int_equal(modules_read(fixture), 1);
	while (fixture->set.behind) {
		assert_null(sampleset_sync(&fixture->set, 0, &fixture->gone));
		assert_true(modules_read(fixture) <= ++read);
	}
	assert_int_equal(modules_read(fixture), modules->count);
}

/* Never called: the loader has not looked it up for us. */
static wchar_t *volatile nowhere;

static void call_nothing(void)
{
	if (nowhere)
		wcscpy(nowhere, nowhere + 1);
}

/* Has a walk over what did not run a site of the function of that address? */
static bool walked(struct fixture *fixture, const void *address)
{
	struct sampleset_walk walk = { .part = 0 };
	struct wire_site site;

	for (;;) {
		assert_null(sampleset_take_unrun(&fixture->set, UINT64_MAX,
						 &walk, &site));
		if (site.id == 0)
			return false;
		sampler_return(&fixture->set.sampler, site.id, SAMPLER_FREE);
		if (site.function == (uintptr_t)address)
			return true;
	}
}

/* libc does not: the program's string functions may be all that races. */
static void libraries_may_wait(void **state)
{
	struct fixture *fixture = *state;
	const struct vec *modules = image_modules(fixture->image);
	const struct module *first = *(struct module **)vec_at(modules, 0);

	call_nothing();
	fixture->set.libraries_wait = true;
	for (int i = 0; i < 3; i++) {
		assert_null(sampleset_sync(&fixture->set, UINT64_MAX,
					   &fixture->gone));
		assert_true(fixture->set.behind);
		assert_int_equal(modules_read(fixture), 2);
		assert_true(elftext_is_read(first->text));
		assert_true(sampled(fixture, libc_function("wcscpy")));
		assert_true(walked(fixture, libc_function("wcscpy")));
		/* which the program does not call */
		assert_false(sampled(fixture, libc_function("wmemchr")));
	}
	fixture->set.libraries_wait = false;
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_false(fixture->set.behind);
	assert_int_equal(modules_read(fixture), modules->count);
}

static void a_library_that_goes_leaves_and_is_reported(void **state)
{
	struct fixture *fixture = *state;
	void *library = dlopen("libanl.so.1", RTLD_NOW);
	uint64_t text = 0;
	bool changed, found = false;

	if (!library)
		skip();
	assert_null(image_refresh(fixture->image, &changed));
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_int_equal(fixture->gone.count, 0);
	for (size_t i = 0; i < image_modules(fixture->image)->count; i++) {
		const struct module *module = *(struct module **)vec_at(
			image_modules(fixture->image), i);

		if (strstr(module->path, "libanl"))
			text = module->start;
	}
	assert_int_not_equal(text, 0);
	dlclose(library);
	assert_null(image_refresh(fixture->image, &changed));
	assert_true(changed);
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	for (size_t i = 0; i < fixture->gone.count; i++) {
		const struct wire_range *range = vec_at(&fixture->gone, i);

		found |= text >= range->start && text < range->end;
	}
	assert_true(found);
	/* and once only */
	vec_clear(&fixture->gone);
	assert_null(sampleset_sync(&fixture->set, UINT64_MAX, &fixture->gone));
	assert_int_equal(fixture->gone.count, 0);
}

static void names_of_runtimes_and_of_string_functions(void **state)
{
	(void)state;
	assert_true(rules_string_name("__memmove_avx_unaligned_erms"));
	assert_true(rules_variant_name("__memmove_avx_unaligned_erms"));
	assert_true(rules_variant_name("__strchr_sse2"));
	assert_false(rules_variant_name("memmove"));
	assert_true(rules_string_name("strtok_r"));
	assert_true(rules_string_name("__GI___strtok_r"));
	assert_false(rules_string_name("strip_whitespace"));
	assert_true(rules_string_name("wcslen"));
	assert_false(rules_string_name("memfd_create"));
	assert_false(rules_string_name("malloc"));
	assert_false(rules_string_name(NULL));
	assert_true(rules_runtime_name("_int_malloc"));
	assert_true(rules_runtime_name("pthread_mutex_lock"));
	assert_true(rules_runtime_name("__tl_lock"));
	assert_true(rules_runtime_name("_IO_new_file_xsputn"));
	assert_false(rules_runtime_name("memcpy"));
	assert_false(rules_runtime_name("qsort"));
	/* where a pattern ends, and where the name does */
	assert_true(rules_runtime_name("exit"));
	assert_false(rules_runtime_name("exit_group"));
	assert_false(rules_runtime_name("exi"));
	assert_true(rules_runtime_name("malloc"));
	assert_true(rules_runtime_name("__vfprintf_internal"));
	assert_false(rules_runtime_name("vprintf"));
	assert_false(rules_string_name("mem"));
	assert_false(rules_runtime_name(""));
	assert_false(rules_runtime_name(NULL));
}

static void names_of_synchronization_anywhere(void **state)
{
	(void)state;
	assert_true(rules_synchronization_name("g_mutex_lock"));
	assert_true(rules_synchronization_name("urcu_memb_read_lock"));
	assert_true(rules_synchronization_name("_ZN6QMutex4lockEv"));
	assert_false(rules_synchronization_name("g_hash_table_insert"));
	assert_false(rules_synchronization_name("rcu_statistics_update"));
	assert_false(rules_synchronization_name("sem_table_add"));
	assert_false(rules_synchronization_name("_ZN7QStringC1EPKc"));
	assert_false(rules_synchronization_name(NULL));
}

static struct error *add_up(void *context, const struct module *module,
			    const struct scan_counts *counts)
{
	struct scan_counts *sum = context;

	(void)module;
	sum->instructions += counts->instructions;
	sum->rules[RULE_SITE] += counts->rules[RULE_SITE];
	return NULL;
}

static struct error *count_site(void *context, struct image *image,
				const struct module *module,
				const struct elf_function *function,
				const struct scan_site *site)
{
	struct scan_counts *sum = context;

	(void)image;
	(void)module;
	assert_true(site->address >= function->start &&
		    site->address < function->start + function->size);
	sum->functions++;
	return NULL;
}

static void the_inventory_adds_up(void **state)
{
	struct fixture *fixture = *state;
	struct scan_counts sum = { .functions = 0 }, total;
	struct inventory_visitor visitor = { &sum, count_site, add_up };
	uint64_t rules = 0;

	assert_null(inventory_take(fixture->image, &fixture->rules, getpid(),
				   &visitor, &total));
	assert_int_equal(sum.instructions, total.instructions);
	assert_int_equal(sum.rules[RULE_SITE], total.rules[RULE_SITE]);
	assert_int_equal(sum.functions, total.rules[RULE_SITE]);
	for (int i = 0; i < RULES; i++) {
		if (i != RULE_AFTER_UNDECODABLE)
			rules += total.rules[i];
	}
	assert_int_equal(rules, total.instructions);
	assert_true(total.rules[RULE_MODULE] > 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(plain_accesses_are_sites),
		TEST(what_touches_no_memory_is_none),
		TEST(implicit_stack_is_left_out_its_memory_operand_not),
		TEST(the_stack_is_left_out_unless_asked_for),
		TEST(rbp_counts_as_stack_only_as_frame_pointer),
		TEST(thread_local_and_constant_memory_is_left_out),
		TEST(synchronization_is_left_out),
		TEST(atomic_variables_are_left_out),
		TEST(volatile_variables_are_left_in),
		TEST(checks_of_gos_are_left_out),
		TEST(refusals_have_names),
		TEST(a_guard_is_known_by_its_use),
		TEST(nothing_is_trusted_after_an_undecodable_byte),
		TEST(a_function_left_out_counts_under_its_rule),
		TEST(of_libc_only_string_functions_are_sampled),
		TEST(globs_change_what_is_sampled),
		TEST(a_source_file_can_be_left_out),
		TEST(marks_of_libraries_may_be_left_to_conflicts),
		TEST(loader_and_vdso_are_left_out),
		TEST(modules_join_one_by_one_when_time_is_short),
		TEST(a_module_is_read_when_it_joins),
		TEST(libraries_may_wait),
		TEST(a_large_module_joins_in_a_call_of_its_own),
		TEST(every_draw_is_an_instruction_of_the_live_text),
		TEST(a_site_is_found_by_its_place),
		TEST(a_library_that_goes_leaves_and_is_reported),
		TEST(names_of_runtimes_and_of_string_functions),
		TEST(names_of_synchronization_anywhere),
		TEST(the_inventory_adds_up),
	};

	return cmocka_run_group_tests_name("sampleset", tests, NULL, NULL);
}
