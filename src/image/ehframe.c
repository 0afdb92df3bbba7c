/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code ranges from .eh_frame; see ehframe.h. Decoded here and not by libdw
 * because a large library has more than 100 000 entries, of which only the
 * two or three numbers of each are wanted.
 */
#include "image/ehframe.h"

#include <string.h>

#include "image/elffile.h"

/* Pointer encodings, LSB Core 5.0 section 10.5.1. */
enum {
	PE_ABSPTR = 0x00,
	PE_ULEB128 = 0x01,
	PE_UDATA2 = 0x02,
	PE_UDATA4 = 0x03,
	PE_UDATA8 = 0x04,
	PE_SLEB128 = 0x09,
	PE_SDATA2 = 0x0a,
	PE_SDATA4 = 0x0b,
	PE_SDATA8 = 0x0c,
	PE_FORMAT = 0x0f,
	PE_PCREL = 0x10,
	PE_DATAREL = 0x30,
	PE_ALIGNED = 0x50,
	PE_INDIRECT = 0x80,
	PE_APPLICATION = 0x70,
	PE_OMIT = 0xff,
};

/* A place in the table; ok turns false at the first read past its end. */
struct reader {
	struct elf_span span;
	uint64_t at;
	uint64_t end;
	bool ok;
};

static uint64_t read_fixed(struct reader *reader, unsigned int size)
{
	uint64_t value = 0;

	if (!reader->ok || reader->end - reader->at < size) {
		reader->ok = false;
		return 0;
	}
	memcpy(&value, reader->span.bytes + reader->at, size);
	reader->at += size;
	return value;
}

static uint64_t read_leb128(struct reader *reader, bool is_signed)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)read_fixed(reader, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (reader->ok && (byte & 0x80));
	if (is_signed && shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return value;
}

static uint64_t read_format(struct reader *reader, uint8_t encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return read_fixed(reader, 8);
	case PE_UDATA2:
		return read_fixed(reader, 2);
	case PE_SDATA2:
		return (uint64_t)(int16_t)read_fixed(reader, 2);
	case PE_UDATA4:
		return read_fixed(reader, 4);
	case PE_SDATA4:
		return (uint64_t)(int32_t)read_fixed(reader, 4);
	case PE_ULEB128:
		return read_leb128(reader, false);
	case PE_SLEB128:
		return read_leb128(reader, true);
	default:
		reader->ok = false;
		return 0;
	}
}

/* data is what DATAREL counts from: the address of .eh_frame_hdr. */
static uint64_t read_pointer(struct reader *reader, uint8_t encoding,
			     uint64_t data)
{
	uint64_t here = reader->span.address + reader->at;
	uint64_t value;

	if (encoding == PE_OMIT) {
		reader->ok = false;
		return 0;
	}
	value = read_format(reader, encoding);
	switch (encoding & PE_APPLICATION) {
	case 0:
		return value;
	case PE_PCREL:
		return value + here;
	case PE_DATAREL:
		return value + data;
	default:
		reader->ok = false;
		return 0;
	}
}

enum { AUGMENTATION_MAX = 4 }; /* libunwind reads no more of it */

struct cie {
	uint8_t encoding; /* of the pointers in its FDEs */
	bool sized; /* its FDEs have augmentation data */
	bool ordinary; /* nothing in it is unknown */
	uint64_t return_register;
	uint64_t instructions; /* where they start */
};

/* What follows the 'z' of an augmentation; reader stands at its data. */
static bool parse_augmentation(struct reader *reader, const char *augmentation,
			       struct cie *cie)
{
	bool has_encoding = false;

	for (const char *p = augmentation; *p && reader->ok; p++) {
		uint8_t encoding;

		if (*p == 'R') {
			cie->encoding = (uint8_t)read_fixed(reader, 1);
			has_encoding = reader->ok;
		} else if (*p == 'P') {
			encoding = (uint8_t)read_fixed(reader, 1);
			read_format(reader, encoding);
			cie->ordinary &= (encoding & PE_APPLICATION) !=
					 PE_ALIGNED;
		} else if (*p == 'L') {
			read_fixed(reader, 1);
		} else if (*p != 'S') {
			cie->ordinary = false;
			return has_encoding;
		}
	}
	cie->ordinary &= reader->at == cie->instructions &&
			 strlen(augmentation) < AUGMENTATION_MAX;
	return has_encoding || reader->ok;
}

/*
 * Parse a CIE; reader stands after its id. False if it makes no sense, so that
 * nothing can be said of its FDEs.
 */
static bool parse_cie(struct reader *reader, struct cie *ret)
{
	uint8_t version = (uint8_t)read_fixed(reader, 1);
	const char *augmentation =
		(const char *)reader->span.bytes + reader->at;

	if (!reader->ok || (version != 1 && version != 3) ||
	    !memchr(augmentation, '\0', reader->end - reader->at))
		return false;
	reader->at += strlen(augmentation) + 1;
	read_leb128(reader, false); /* code alignment */
	read_leb128(reader, true); /* data alignment */
	*ret = (struct cie){ .encoding = PE_ABSPTR,
			     .sized = *augmentation == 'z' };
	if (version == 1)
		ret->return_register = read_fixed(reader, 1);
	else
		ret->return_register = read_leb128(reader, false);
	ret->ordinary = reader->ok;
	ret->instructions = reader->at;
	if (!ret->sized)
		return reader->ok && *augmentation == '\0';
	ret->instructions = read_leb128(reader, false);
	ret->instructions += reader->at;
	return parse_augmentation(reader, augmentation + 1, ret);
}

/* One length-delimited entry: where it is, its contents start and end. */
struct entry {
	uint64_t at;
	uint64_t start;
	uint64_t end;
};

/* False at the end of the table; a terminator gives start == end. */
static bool next_entry(struct reader *table, struct entry *ret)
{
	uint64_t length;

	ret->at = table->at;
	length = read_fixed(table, 4);
	if (length == 0xffffffff)
		length = read_fixed(table, 8);
	if (!table->ok || length > table->end - table->at)
		return false;
	ret->start = table->at;
	ret->end = table->at + length;
	table->at = ret->end;
	return true;
}

static struct reader entry_reader(const struct elf_span *table,
				  const struct entry *entry)
{
	struct reader reader = { *table, entry->start, entry->end, true };

	return reader;
}

enum { CIE_MAX = 1024 }; /* the part of it that is read */

/* The CIE at that offset of the table. */
static bool cie_at(const struct elf_span *span, uint64_t offset,
		   struct cie *ret, struct entry *ret_entry)
{
	struct reader table = { *span, offset, span->size, true };
	struct reader reader;
	struct entry entry;

	if (offset > span->size || !next_entry(&table, &entry))
		return false;
	*ret_entry = entry;
	/* a CIE is read again and again: a hostile one shall not be long */
	if (entry.end - entry.start > CIE_MAX)
		entry.end = entry.start + CIE_MAX;
	reader = entry_reader(span, &entry);
	if (read_fixed(&reader, 4) != 0 || !reader.ok)
		return false;
	return parse_cie(&reader, ret);
}

/* Neighbouring FDEs mostly share a CIE: the last one is remembered. */
struct cie_memo {
	uint64_t offset;
	struct cie cie;
	bool valid;
	bool known;
};

/* False only when out of memory. */
static bool add_fde(const struct elf_span *span, const struct entry *entry,
		    struct cie_memo *memo, struct vec *ranges)
{
	struct reader reader = entry_reader(span, entry);
	uint64_t id = read_fixed(&reader, 4);
	struct eh_entry found;
	struct entry ignored;

	/* the id of an FDE is the distance back to its CIE */
	if (!reader.ok || id == 0 || id > entry->start)
		return true;
	if (!memo->known || memo->offset != entry->start - id) {
		memo->known = true;
		memo->offset = entry->start - id;
		memo->valid = cie_at(span, memo->offset, &memo->cie, &ignored);
	}
	if (!memo->valid)
		return true;
	found.range.start = read_pointer(&reader, memo->cie.encoding, 0);
	found.range.size = read_format(&reader, memo->cie.encoding);
	found.fde = span->address + entry->at;
	if (!reader.ok || found.range.size == 0)
		return true;
	/* as much of it as an item of the vector has */
	return vec_push(ranges, &found);
}

/* bounded: the size is the table's own, so a terminator is not the end. */
static bool walk(const struct elf_span *span, bool bounded, struct vec *ranges)
{
	struct reader table = { *span, 0, span->size, true };
	struct cie_memo memo = { 0 };
	struct entry entry;

	while (table.at < table.end && next_entry(&table, &entry)) {
		if (entry.start == entry.end) {
			if (!bounded)
				break;
			continue;
		}
		if (!add_fde(span, &entry, &memo, ranges))
			return false;
	}
	return true;
}

static bool walk_by_header(const struct elffile *file, struct vec *ranges)
{
	const Elf64_Phdr *segment = elffile_segment_type(file, PT_GNU_EH_FRAME);
	struct reader reader = { .ok = true };
	struct elf_span span;
	uint8_t encoding;
	uint64_t address;

	if (!segment || !elffile_at(file, segment->p_vaddr, &reader.span))
		return true;
	reader.end = reader.span.size;
	if (read_fixed(&reader, 1) != 1)
		return true;
	encoding = (uint8_t)read_fixed(&reader, 1);
	read_fixed(&reader, 2); /* encodings of the search table */
	address = read_pointer(&reader, encoding, segment->p_vaddr);
	if (!reader.ok || !elffile_at(file, address, &span))
		return true;
	return walk(&span, false, ranges);
}

bool ehframe_collect(const struct elffile *file, struct vec *ranges)
{
	size_t found = ranges->count;
	Elf_Scn *section = NULL;
	uint64_t left = file->size;
	struct elf_span span;

	/* sections may overlap: in all, no more is read than the file has */
	while ((section = elffile_section(file, ".eh_frame", section))) {
		if (!elffile_contents(file, section, &span) || span.size > left)
			continue;
		left -= span.size;
		if (!walk(&span, true, ranges))
			return false;
	}
	if (ranges->count > found)
		return true;
	return walk_by_header(file, ranges);
}

/* The CIE of an FDE whose id is at that address. */
static bool program_cie(const struct elffile *file, uint64_t address,
			struct cie *ret, struct eh_program *program)
{
	struct elf_span span;
	struct entry entry;

	if (!elffile_at(file, address, &span) ||
	    !cie_at(&span, 0, ret, &entry) || !ret->ordinary ||
	    entry.start - entry.at != 4 || entry.end - entry.start > CIE_MAX ||
	    (ret->encoding & PE_INDIRECT) || ret->instructions > entry.end)
		return false;
	program->initial = span.bytes + ret->instructions;
	program->initial_size = entry.end - ret->instructions;
	program->return_register = ret->return_register;
	return true;
}

bool ehframe_program(const struct elffile *file, uint64_t fde,
		     struct eh_program *ret)
{
	struct reader table = { .ok = true };
	struct reader reader;
	struct entry entry;
	struct cie cie;
	uint64_t id, size;

	if (!elffile_at(file, fde, &table.span))
		return false;
	table.end = table.span.size;
	if (!next_entry(&table, &entry) || entry.start != 4)
		return false;
	reader = entry_reader(&table.span, &entry);
	id = read_fixed(&reader, 4);
	if (!reader.ok || id == 0 || id > fde + entry.start ||
	    !program_cie(file, fde + entry.start - id, &cie, ret))
		return false;
	read_pointer(&reader, cie.encoding, 0);
	read_format(&reader, cie.encoding);
	size = cie.sized ? read_leb128(&reader, false) : 0;
	if (!reader.ok || size > reader.end - reader.at)
		return false;
	ret->own = reader.span.bytes + reader.at + size;
	ret->own_size = reader.end - reader.at - size;
	return true;
}
