/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Symbols of an ELF file; see elfsyms.h.
 */
#include "image/elfsyms.h"

#include <string.h>

#include "image/elffile.h"

struct symbol_table {
	struct elf_span symbols;
	struct elf_span strings;
};

/* Public names over private ones, then strong over weak over local. */
static uint8_t symbol_rank(const Elf64_Sym *symbol, const char *name)
{
	uint8_t rank = name[0] == '_' && name[1] != 'Z' ? 0 : 4;

	switch (ELF64_ST_BIND(symbol->st_info)) {
	case STB_GLOBAL:
	case STB_GNU_UNIQUE:
		return rank + 2;
	case STB_WEAK:
		return rank + 1;
	default:
		return rank;
	}
}

static bool add_symbol(const struct symbol_table *table,
		       const Elf64_Sym *symbol, struct vec *code,
		       struct vec *data)
{
	uint8_t type = ELF64_ST_TYPE(symbol->st_info);
	struct elf_symbol found = {
		.start = symbol->st_value,
		.size = symbol->st_size,
		.type = type,
	};
	struct vec *list = data;

	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		list = code;
	else if (type != STT_OBJECT || symbol->st_size == 0)
		return true;
	if (!list || symbol->st_shndx == SHN_UNDEF ||
	    symbol->st_shndx == SHN_ABS ||
	    found.start + found.size < found.start)
		return true;
	found.name = elf_string(&table->strings, symbol->st_name);
	if (!found.name || !found.name[0])
		return true;
	found.rank = symbol_rank(symbol, found.name);
	found.initial = found.name[0];
	return vec_push(list, &found);
}

/* Cut what follows the last NUL, so that looking for one is never long. */
static void trim_strings(struct elf_span *strings)
{
	const uint8_t *last = memrchr(strings->bytes, '\0', strings->size);

	strings->size = last ? (uint64_t)(last - strings->bytes) + 1 : 0;
}

static bool walk(struct symbol_table *table, struct vec *code, struct vec *data)
{
	Elf64_Sym symbol;

	trim_strings(&table->strings);
	for (uint64_t at = 0; at + sizeof(symbol) <= table->symbols.size;
	     at += sizeof(symbol)) {
		memcpy(&symbol, table->symbols.bytes + at, sizeof(symbol));
		if (!add_symbol(table, &symbol, code, data))
			return false;
	}
	return true;
}

static bool walk_section(const struct elffile *file, uint32_t type,
			 bool *ret_found, struct vec *code, struct vec *data)
{
	Elf_Scn *section = elffile_section_type(file, type);
	struct symbol_table table;
	GElf_Shdr header;

	if (!gelf_getshdr(section, &header) ||
	    header.sh_entsize != sizeof(Elf64_Sym) ||
	    !elffile_contents(file, section, &table.symbols) ||
	    !elffile_contents(file, elf_getscn(file->elf, header.sh_link),
			      &table.strings))
		return true;
	*ret_found = true;
	return walk(&table, code, data);
}

static uint32_t word_at(const struct elf_span *span, uint64_t index)
{
	uint32_t word = 0;

	if (index < span->size / sizeof(word))
		memcpy(&word, span->bytes + index * sizeof(word), sizeof(word));
	return word;
}

/*
 * DT_GNU_HASH does not say how many symbols there are: follow the chain of
 * the highest bucket to its end mark, the lowest bit.
 */
static uint64_t gnu_hash_count(const struct elf_span *hash)
{
	uint64_t buckets = word_at(hash, 0);
	uint64_t first = word_at(hash, 1);
	uint64_t bucket_at = 4 + (uint64_t)word_at(hash, 2) * 2;
	uint64_t words = hash->size / sizeof(uint32_t);
	uint64_t last = 0;

	for (uint64_t i = 0; i < buckets && bucket_at + i < words; i++) {
		uint64_t symbol = word_at(hash, bucket_at + i);

		if (symbol > last)
			last = symbol;
	}
	if (last < first || last == 0)
		return first;
	for (;;) {
		uint64_t chain_at = bucket_at + buckets + (last - first);

		last++;
		if (chain_at >= words || (word_at(hash, chain_at) & 1))
			return last;
	}
}

static uint64_t dynamic_count(const struct elffile *file)
{
	struct elf_span hash;
	uint64_t address;

	if (elffile_dynamic(file, DT_HASH, &address) &&
	    elffile_at(file, address, &hash))
		return word_at(&hash, 1);
	if (elffile_dynamic(file, DT_GNU_HASH, &address) &&
	    elffile_at(file, address, &hash))
		return gnu_hash_count(&hash);
	return 0;
}

static bool walk_dynamic(const struct elffile *file, struct vec *code,
			 struct vec *data)
{
	struct symbol_table table;
	uint64_t symbols;
	uint64_t strings;
	uint64_t strings_size;
	uint64_t count;

	if (!elffile_dynamic(file, DT_SYMTAB, &symbols) ||
	    !elffile_dynamic(file, DT_STRTAB, &strings) ||
	    !elffile_dynamic(file, DT_STRSZ, &strings_size) ||
	    !elffile_at(file, symbols, &table.symbols) ||
	    !elffile_at(file, strings, &table.strings))
		return true;
	if (table.strings.size > strings_size)
		table.strings.size = strings_size;
	count = dynamic_count(file);
	if (table.symbols.size / sizeof(Elf64_Sym) > count)
		table.symbols.size = count * sizeof(Elf64_Sym);
	return walk(&table, code, data);
}

bool elfsyms_collect(const struct elffile *file, struct vec *code,
		     struct vec *data)
{
	bool found = false;

	if (!walk_section(file, SHT_SYMTAB, &found, code, data))
		return false;
	found = false;
	if (!walk_section(file, SHT_DYNSYM, &found, code, data))
		return false;
	return found || walk_dynamic(file, code, data);
}
