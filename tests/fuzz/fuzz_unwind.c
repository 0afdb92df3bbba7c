/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinding by damaged call frame information. The input is an .eh_frame; an
 * executable is made of it, with and without .eh_frame_hdr, and stacks are
 * unwound from many places of its code. They end, with as many frames as there
 * is room for at most, and no frame's pc is 0.
 */
#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "image/image.h"
#include "image/unwind.h"

enum {
	FRAMES_MAX = 32,
	STACK_WORDS = 64,
	STACK = 0x7000000,
	/* the file, loaded there as it is: headers, code, tables */
	LOADED = 0x400000,
	CODE = 0x1000,
	CODE_SIZE = 0x1000,
	TABLE = 0x2000, /* .eh_frame_hdr */
	FRAMES = 0x2100, /* .eh_frame */
	FRAMES_SIZE_MAX = 0x10000,
};

struct file {
	Elf64_Ehdr header;
	Elf64_Phdr segments[2];
	Elf64_Shdr sections[3]; /* none, .eh_frame, names */
	char names[32];
};

static const char section_names[] = "\0.eh_frame";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

static void fill_headers(struct file *file, size_t size, int with_table)
{
	Elf64_Ehdr *header = &file->header;

	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = ET_EXEC;
	header->e_machine = EM_X86_64;
	header->e_version = EV_CURRENT;
	header->e_ehsize = sizeof(*header);
	header->e_phoff = offsetof(struct file, segments);
	header->e_phentsize = sizeof(Elf64_Phdr);
	header->e_phnum = with_table ? 2 : 1;
	header->e_shoff = offsetof(struct file, sections);
	header->e_shentsize = sizeof(Elf64_Shdr);
	header->e_shnum = 3;
	header->e_shstrndx = 2;
	file->segments[0] = (Elf64_Phdr){
		.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = LOADED,
		.p_filesz = FRAMES + size,
		.p_memsz = FRAMES + size,
	};
	file->segments[1] = (Elf64_Phdr){
		.p_type = PT_GNU_EH_FRAME,
		.p_flags = PF_R,
		.p_offset = TABLE,
		.p_vaddr = LOADED + TABLE,
		.p_filesz = FRAMES - TABLE,
		.p_memsz = FRAMES - TABLE,
	};
}

static void fill_sections(struct file *file, size_t size)
{
	memcpy(file->names, section_names, sizeof(section_names));
	file->sections[1] = (Elf64_Shdr){
		.sh_name = 1,
		.sh_type = SHT_PROGBITS,
		.sh_flags = SHF_ALLOC,
		.sh_addr = LOADED + FRAMES,
		.sh_offset = FRAMES,
		.sh_size = size,
	};
	file->sections[2] = (Elf64_Shdr){
		.sh_type = SHT_STRTAB,
		.sh_offset = offsetof(struct file, names),
		.sh_size = sizeof(file->names),
	};
}

/* Up to 16 entries as in the input, at 256 bytes of code each. */
static void fill_table(uint8_t *table, const uint8_t *data, size_t size)
{
	static const uint8_t head[] = { 1, 0x1b, 0x03, 0x3b };
	int32_t words[2 + 2 * 16] = { FRAMES - TABLE - 4, 0 };
	uint32_t length = 0;
	size_t at = 0;

	while (words[1] < 16 && size - at >= 4) {
		memcpy(&length, data + at, sizeof(length));
		words[2 + 2 * words[1]] = CODE - TABLE + 256 * words[1];
		words[3 + 2 * words[1]] = (int32_t)(FRAMES - TABLE + at);
		words[1]++;
		if (length > size - at - 4)
			break;
		at += 4 + length;
	}
	memcpy(table, head, sizeof(head));
	memcpy(table + sizeof(head), words, sizeof(words));
}

static int make_file(const uint8_t *data, size_t size, int with_table)
{
	uint8_t *bytes = calloc(1, FRAMES + size);
	struct file *file = (struct file *)bytes;
	int fd = memfd_create("unwind", MFD_CLOEXEC);

	require(bytes && fd >= 0);
	fill_headers(file, size, with_table);
	fill_sections(file, size);
	memset(bytes + CODE, 0x90, CODE_SIZE);
	fill_table(bytes + TABLE, data, size);
	memcpy(bytes + FRAMES, data, size);
	require(write(fd, bytes, FRAMES + size) == (ssize_t)(FRAMES + size));
	free(bytes);
	return fd;
}

/* Every word looks like a return address or like an address of the stack. */
static void fill_stack(uint64_t *stack)
{
	for (size_t i = 0; i < STACK_WORDS; i++)
		stack[i] = i % 4 == 3 ? STACK + 8 * (i * 7 % STACK_WORDS)
				      : LOADED + CODE + i * 61 % CODE_SIZE;
}

static void unwind_from(struct image *image, uint64_t pc, const uint64_t *stack)
{
	struct unwind_frame frames[FRAMES_MAX];
	struct unwind_input input = {
		.tid = 1,
		.regs = { .rip = pc },
		.stack_address = STACK,
		.stack = (const uint8_t *)stack,
		.stack_size = STACK_WORDS * sizeof(*stack),
	};
	size_t count = 0;
	struct error *err;

	for (int i = 0; i < 16; i++)
		input.regs.gpr[i] = STACK + 8 * (uint64_t)i;
	err = unwind_frames(image, &input, frames, FRAMES_MAX, &count);
	require(!err);
	require(count >= 1 && count <= FRAMES_MAX && frames[0].pc == pc);
	for (size_t i = 1; i < count; i++)
		require(frames[i].pc != 0);
}

static void unwind_all(const uint8_t *data, size_t size, int with_table)
{
	int fd = make_file(data, size, with_table);
	uint64_t stack[STACK_WORDS];
	struct image *image;
	struct error *err;
	char path[64];

	fill_stack(stack);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = image_create_file(path, &image);
	require(!err);
	for (uint64_t at = 0; at < CODE_SIZE; at += 64 + 7)
		unwind_from(image, LOADED + CODE + at, stack);
	image_destroy(image);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > FRAMES_SIZE_MAX)
		return 0;
	unwind_all(data, size, 0);
	unwind_all(data, size, 1);
	return 0;
}
