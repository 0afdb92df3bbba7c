/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads program headers, notes and symbol tables, each whole into memory, and
 * of no more than a sane size.
 */
#include "recorder/elf.h"

#include <elf.h>

#include "recorder/os.h"

enum { TABLE_MAX = 1 << 29, NOTES_MAX = 1 << 16 };

struct reader {
	int fd;
	uint64_t size;
	Elf64_Ehdr header;
};

static bool reader_open(struct reader *reader, const char *path)
{
	const Elf64_Ehdr *header = &reader->header;

	reader->fd = os_open(path);
	if (reader->fd < 0)
		return false;
	reader->size = os_size(reader->fd);
	if (os_read_at(reader->fd, 0, &reader->header, sizeof(*header)) &&
	    os_compare(header->e_ident, ELFMAG, SELFMAG) == 0 &&
	    header->e_ident[EI_CLASS] == ELFCLASS64 &&
	    header->e_machine == EM_X86_64 &&
	    header->e_phentsize == sizeof(Elf64_Phdr))
		return true;
	os_close(reader->fd);
	return false;
}

/* A part of the file; the caller unmaps `size' bytes. NULL: there is none. */
static void *read_part(const struct reader *reader, uint64_t offset,
		       uint64_t size)
{
	void *bytes;

	if (size == 0 || size > TABLE_MAX || offset > reader->size ||
	    size > reader->size - offset)
		return NULL;
	bytes = os_map(size);
	if (os_read_at(reader->fd, offset, bytes, size))
		return bytes;
	os_unmap(bytes, size);
	return NULL;
}

static void take_build_id(struct elf_file *file, const unsigned char *notes,
			  size_t size)
{
	size_t at = 0;

	while (at + sizeof(Elf64_Nhdr) <= size) {
		Elf64_Nhdr note;
		size_t name, text;

		os_copy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = name + (((size_t)note.n_namesz + 3) & ~(size_t)3);
		at = text + (((size_t)note.n_descsz + 3) & ~(size_t)3);
		if (at > size || text < name)
			return;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    os_compare(notes + name, "GNU", 4) != 0 ||
		    note.n_descsz > sizeof(file->build_id))
			continue;
		os_copy(file->build_id, notes + text, note.n_descsz);
		file->build_id_size = note.n_descsz;
		return;
	}
}

static void read_notes(const struct reader *reader, const Elf64_Phdr *segment,
		       struct elf_file *file)
{
	void *notes;

	if (segment->p_filesz > NOTES_MAX || file->build_id_size > 0)
		return;
	notes = read_part(reader, segment->p_offset, segment->p_filesz);
	if (!notes)
		return;
	take_build_id(file, notes, segment->p_filesz);
	os_unmap(notes, segment->p_filesz);
}

/* Whether the segment is the mapped one; if so, the bias. */
static bool take_bias(const Elf64_Phdr *segment, uint64_t address,
		      uint64_t offset, struct elf_file *file)
{
	uint64_t page = segment->p_offset & ~(uint64_t)4095;

	if (!(segment->p_flags & PF_X) || offset < page ||
	    offset >= segment->p_offset + segment->p_filesz)
		return false;
	file->bias = address - offset + segment->p_offset - segment->p_vaddr;
	return true;
}

static bool take_segments(const struct reader *reader,
			  const Elf64_Phdr *segments, uint64_t address,
			  uint64_t offset, struct elf_file *file)
{
	bool found = false;

	file->low = UINT64_MAX;
	for (size_t i = 0; i < reader->header.e_phnum; i++) {
		const Elf64_Phdr *segment = &segments[i];
		uint64_t end = segment->p_vaddr + segment->p_memsz;

		if (segment->p_type == PT_NOTE)
			read_notes(reader, segment, file);
		if (segment->p_type != PT_LOAD)
			continue;
		if (segment->p_vaddr < file->low)
			file->low = segment->p_vaddr;
		if (end > file->high)
			file->high = end;
		found |= take_bias(segment, address, offset, file);
	}
	return found;
}

bool elf_read(const char *path, uint64_t address, uint64_t offset,
	      struct elf_file *ret)
{
	struct elf_file file = { 0 };
	struct reader reader;
	uint64_t size;
	void *segments;
	bool found = false;

	if (!reader_open(&reader, path))
		return false;
	size = reader.header.e_phnum * sizeof(Elf64_Phdr);
	segments = read_part(&reader, reader.header.e_phoff, size);
	if (segments) {
		found = take_segments(&reader, segments, address, offset,
				      &file);
		os_unmap(segments, size);
	}
	os_close(reader.fd);
	if (found)
		*ret = file;
	return found;
}

struct symbols {
	const Elf64_Sym *table;
	size_t count;
	const char *names; /* ends with a zero */
	size_t names_size;
};

static void each_symbol(const struct symbols *symbols,
			void (*found)(void *data,
				      const struct elf_function *function),
			void *data)
{
	for (size_t i = 0; i < symbols->count; i++) {
		const Elf64_Sym *symbol = &symbols->table[i];
		unsigned int type = ELF64_ST_TYPE(symbol->st_info);
		struct elf_function function = {
			.value = symbol->st_value,
			.size = symbol->st_size,
			.resolver = type == STT_GNU_IFUNC,
		};

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0 ||
		    symbol->st_name >= symbols->names_size)
			continue;
		function.name = symbols->names + symbol->st_name;
		while (function.name[function.length] != '\0' &&
		       function.name[function.length] != '@')
			function.length++;
		found(data, &function);
	}
}

static void read_symbols(const struct reader *reader, const Elf64_Shdr *table,
			 const Elf64_Shdr *names,
			 void (*found)(void *data,
				       const struct elf_function *function),
			 void *data)
{
	struct symbols symbols = {
		.table = read_part(reader, table->sh_offset, table->sh_size),
		.count = table->sh_size / sizeof(Elf64_Sym),
		.names = read_part(reader, names->sh_offset, names->sh_size),
		.names_size = names->sh_size,
	};

	if (symbols.table && symbols.names &&
	    symbols.names[symbols.names_size - 1] == '\0')
		each_symbol(&symbols, found, data);
	if (symbols.table)
		os_unmap((void *)symbols.table, table->sh_size);
	if (symbols.names)
		os_unmap((void *)symbols.names, names->sh_size);
}

void elf_each_function(const char *path,
		       void (*found)(void *data,
				     const struct elf_function *function),
		       void *data)
{
	struct reader reader;
	Elf64_Shdr *sections;
	size_t count, size;

	if (!reader_open(&reader, path))
		return;
	count = reader.header.e_shnum;
	size = count * sizeof(*sections);
	sections = read_part(&reader, reader.header.e_shoff, size);
	for (size_t i = 0; sections && i < count; i++) {
		if ((sections[i].sh_type == SHT_SYMTAB ||
		     sections[i].sh_type == SHT_DYNSYM) &&
		    sections[i].sh_link < count)
			read_symbols(&reader, &sections[i],
				     &sections[sections[i].sh_link], found,
				     data);
	}
	if (sections)
		os_unmap(sections, size);
	os_close(reader.fd);
}
