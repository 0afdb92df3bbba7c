/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Dynamic section and relocations; see dynamic.h. The file is untrusted: tables
 * are read through elftext_bytes() with its length, and one that is cut short is
 * used as far as it goes. They are found by address, as the loader does; libelf
 * knows sections only, which a program may lack.
 */
#include "sampling/dynamic.h"

#include <elf.h>
#include <string.h>

#include "image/elftext.h"
#include "image/image.h"
#include "sampling/names.h"

/* Of the file, read once: each look at it costs a system call. */
struct dynamic_bytes {
	const uint8_t *bytes;
	size_t size;
};

struct dynamic_tables {
	struct dynamic_bytes symbols, strings;
};

/* Longer names are of none that is looked for. */
enum { DYNAMIC_NAME_MAX = 4096 };

/* The name of a relocation's symbol; NULL if there is none. */
static const char *dynamic_symbol_name(const struct dynamic_tables *tables,
				       uint64_t index)
{
	const char *name = (const char *)tables->strings.bytes;
	Elf64_Sym symbol;
	size_t have;

	if (index >= tables->symbols.size / sizeof(symbol))
		return NULL;
	memcpy(&symbol, tables->symbols.bytes + index * sizeof(symbol),
	       sizeof(symbol));
	if (symbol.st_name >= tables->strings.size)
		return NULL;
	have = tables->strings.size - symbol.st_name;
	/* not to the end of a large table for each of many entries */
	if (have > DYNAMIC_NAME_MAX)
		have = DYNAMIC_NAME_MAX;
	name += symbol.st_name;
	return memchr(name, 0, have) ? name : NULL;
}

static bool dynamic_is_string_slot(const struct module *module,
				   const struct dynamic_tables *tables,
				   const Elf64_Rela *rela)
{
	const struct elf_function *resolver;

	switch (ELF64_R_TYPE(rela->r_info)) {
	case R_X86_64_IRELATIVE:
		resolver = elftext_function_at(module->text,
					       (uint64_t)rela->r_addend);
		return resolver && rules_string_name(resolver->name);
	case R_X86_64_JUMP_SLOT:
	case R_X86_64_GLOB_DAT:
		return rules_string_name(
			dynamic_symbol_name(tables, ELF64_R_SYM(rela->r_info)));
	default:
		return false;
	}
}

/* The relocations a dynamic section tells of, by tag of address and size. */
static const int64_t relocation_tags[2][2] = {
	{ DT_JMPREL, DT_PLTRELSZ },
	{ DT_RELA, DT_RELASZ },
};

static bool dynamic_table(const struct module *module, int64_t tag,
			  struct dynamic_bytes *ret)
{
	uint64_t address;

	if (!elftext_dynamic(module->text, tag, &address))
		return false;
	ret->bytes = elftext_bytes(module->text, address, &ret->size);
	return ret->bytes;
}

static bool dynamic_symbols(const struct module *module,
			    struct dynamic_tables *ret)
{
	uint64_t size;

	if (!dynamic_table(module, DT_SYMTAB, &ret->symbols) ||
	    !dynamic_table(module, DT_STRTAB, &ret->strings) ||
	    !elftext_dynamic(module->text, DT_STRSZ, &size))
		return false;
	if (ret->strings.size > size)
		ret->strings.size = size;
	return true;
}

/* false: no more of them */
typedef bool dynamic_visitor(const struct module *module,
			     const struct dynamic_tables *tables,
			     const Elf64_Rela *rela, void *context);

static bool dynamic_visit_table(const struct module *module,
				const struct dynamic_tables *tables,
				uint64_t table, uint64_t size,
				dynamic_visitor *visit, void *context)
{
	Elf64_Rela rela;
	size_t have = 0;
	const uint8_t *bytes = elftext_bytes(module->text, table, &have);

	if (!bytes)
		return true;
	if (size > have)
		size = have;
	for (uint64_t at = 0; at + sizeof(rela) <= size; at += sizeof(rela)) {
		memcpy(&rela, bytes + at, sizeof(rela));
		if (!visit(module, tables, &rela, context))
			return false;
	}
	return true;
}

static void dynamic_visit(const struct module *module, dynamic_visitor *visit,
			  void *context)
{
	struct dynamic_tables tables = { 0 };
	bool more = true;

	if (!module->text || !dynamic_symbols(module, &tables))
		return;
	for (size_t i = 0; more && i < 2; i++) {
		const int64_t *tags = relocation_tags[i];
		uint64_t table, size;

		if (elftext_dynamic(module->text, tags[0], &table) &&
		    elftext_dynamic(module->text, tags[1], &size))
			more = dynamic_visit_table(module, &tables, table, size,
						   visit, context);
	}
}

struct slots_wanted {
	struct vec *slots;
	bool failed;
};

static bool slots_visit(const struct module *module,
			const struct dynamic_tables *tables,
			const Elf64_Rela *rela, void *context)
{
	struct slots_wanted *wanted = context;
	uint64_t slot = rela->r_offset + module->bias;

	wanted->failed = dynamic_is_string_slot(module, tables, rela) &&
			 !vec_push(wanted->slots, &slot);
	return !wanted->failed;
}

bool dynamic_string_slots(const struct module *module, struct vec *ret)
{
	struct slots_wanted wanted = { .slots = ret };

	dynamic_visit(module, slots_visit, &wanted);
	return !wanted.failed;
}

/* The resolver of an IFUNC of that name that the module defines; 0: none. */
static uint64_t dynamic_resolver(const struct dynamic_tables *tables,
				 const char *name)
{
	size_t count = tables->symbols.size / sizeof(Elf64_Sym);
	Elf64_Sym symbol;

	for (size_t i = 0; i < count; i++) {
		const char *other;

		memcpy(&symbol, tables->symbols.bytes + i * sizeof(symbol),
		       sizeof(symbol));
		if (ELF64_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC ||
		    symbol.st_shndx == SHN_UNDEF)
			continue;
		other = dynamic_symbol_name(tables, i);
		if (other && strcmp(other, name) == 0)
			return symbol.st_value;
	}
	return 0;
}

/* The slots of the variants that these resolvers (uint64_t) choose. */
struct chosen_wanted {
	struct vec resolvers;
	const struct dynamic_tables *libc;
	struct vec *slots;
	bool failed;
};

static bool chosen_visit(const struct module *libc,
			 const struct dynamic_tables *tables,
			 const Elf64_Rela *rela, void *context)
{
	struct chosen_wanted *wanted = context;
	uint64_t slot = rela->r_offset + libc->bias;

	(void)tables;
	if (ELF64_R_TYPE(rela->r_info) != R_X86_64_IRELATIVE)
		return true;
	for (size_t i = 0; i < wanted->resolvers.count; i++) {
		if (*(uint64_t *)vec_at(&wanted->resolvers, i) ==
		    (uint64_t)rela->r_addend) {
			wanted->failed = !vec_push(wanted->slots, &slot);
			break;
		}
	}
	return !wanted->failed;
}

static bool resolvers_visit(const struct module *module,
			    const struct dynamic_tables *tables,
			    const Elf64_Rela *rela, void *context)
{
	struct chosen_wanted *wanted = context;
	unsigned int type = ELF64_R_TYPE(rela->r_info);
	uint64_t resolver;

	if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) ||
	    !dynamic_is_string_slot(module, tables, rela))
		return true;
	resolver = dynamic_resolver(
		wanted->libc,
		dynamic_symbol_name(tables, ELF64_R_SYM(rela->r_info)));
	wanted->failed = resolver != 0 &&
			 !vec_push(&wanted->resolvers, &resolver);
	return !wanted->failed;
}

bool dynamic_chosen_slots(const struct module *module,
			  const struct module *libc, struct vec *ret)
{
	struct dynamic_tables tables = { 0 };
	struct chosen_wanted wanted = { .resolvers = VEC_INIT(uint64_t),
					.libc = &tables,
					.slots = ret };

	if (!libc->text || !dynamic_symbols(libc, &tables))
		return true;
	dynamic_visit(module, resolvers_visit, &wanted);
	if (!wanted.failed && wanted.resolvers.count > 0)
		dynamic_visit(libc, chosen_visit, &wanted);
	vec_deinit(&wanted.resolvers);
	return !wanted.failed;
}

struct named_wanted {
	bool (*wanted)(const char *name);
	struct vec *slots;
	bool failed;
};

static bool named_visit(const struct module *module,
			const struct dynamic_tables *tables,
			const Elf64_Rela *rela, void *context)
{
	struct named_wanted *wanted = context;
	unsigned int type = ELF64_R_TYPE(rela->r_info);
	uint64_t slot = rela->r_offset;

	(void)module;
	if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT)
		return true;
	wanted->failed = wanted->wanted(dynamic_symbol_name(
				 tables, ELF64_R_SYM(rela->r_info))) &&
			 !vec_push(wanted->slots, &slot);
	return !wanted->failed;
}

bool dynamic_slots(const struct module *module,
		   bool (*wanted)(const char *name), struct vec *ret)
{
	struct named_wanted named = { .wanted = wanted, .slots = ret };

	dynamic_visit(module, named_visit, &named);
	return !named.failed;
}

struct name_wanted {
	uint64_t slot;
	const char *name;
};

static bool name_visit(const struct module *module,
		       const struct dynamic_tables *tables,
		       const Elf64_Rela *rela, void *context)
{
	struct name_wanted *wanted = context;
	unsigned int type = ELF64_R_TYPE(rela->r_info);

	(void)module;
	if (rela->r_offset != wanted->slot ||
	    (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT))
		return true;
	wanted->name = dynamic_symbol_name(tables, ELF64_R_SYM(rela->r_info));
	return false;
}

const char *dynamic_slot_name(const struct module *module, uint64_t slot)
{
	struct name_wanted wanted = { .slot = slot };

	dynamic_visit(module, name_visit, &wanted);
	return wanted.name;
}

struct initial_wanted {
	uint64_t address, value;
};

static bool initial_visit(const struct module *module,
			  const struct dynamic_tables *tables,
			  const Elf64_Rela *rela, void *context)
{
	struct initial_wanted *wanted = context;

	(void)module;
	(void)tables;
	if (rela->r_offset != wanted->address ||
	    ELF64_R_TYPE(rela->r_info) != R_X86_64_RELATIVE)
		return true;
	wanted->value = (uint64_t)rela->r_addend;
	return false;
}

uint64_t dynamic_initial(const struct module *module, uint64_t address)
{
	struct initial_wanted wanted = { .address = address };
	const uint8_t *bytes;
	size_t size;

	dynamic_visit(module, initial_visit, &wanted);
	if (wanted.value != 0 || !module->text ||
	    !elftext_is_fixed(module->text))
		return wanted.value;
	bytes = elftext_bytes(module->text, address, &size);
	if (bytes && size >= sizeof(wanted.value))
		memcpy(&wanted.value, bytes, sizeof(wanted.value));
	return wanted.value;
}
