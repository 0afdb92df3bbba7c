/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mangle-elf HOW IN OUT: copies an ELF file, damaged in a given way that
 * the kernel and the dynamic loader do not mind, since they look only at the
 * program headers; or, for the first, that they do.
 *
 *	arm64         the machine is AArch64: it cannot run here
 *	truncate      cut behind the last byte that is loaded
 *	no-sections   e_shoff, e_shnum and e_shstrndx are zero
 *	wild-sections e_shoff points far behind the end
 *	wild-names    every section's name and link is out of range
 *	wild-symbols  symbol tables are filled with 0xff
 *	wild-frames   .eh_frame and .eh_frame_hdr are filled with 0xff
 *	wild-debug    every .debug_ section is filled with 0xff
 */
#include <elf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static unsigned char *image;
static size_t size;

static Elf64_Ehdr *header(void)
{
	return (Elf64_Ehdr *)(void *)image;
}

static Elf64_Shdr *section(unsigned int i)
{
	return (Elf64_Shdr *)(void *)(image + header()->e_shoff) + i;
}

static const char *section_name(unsigned int i)
{
	return (const char *)image + section(header()->e_shstrndx)->sh_offset +
	       section(i)->sh_name;
}

/* What must stay: all segments that are loaded. */
static size_t loaded_end(void)
{
	const Elf64_Phdr *segment =
		(const Elf64_Phdr *)(const void *)(image + header()->e_phoff);
	size_t end = 0;

	for (unsigned int i = 0; i < header()->e_phnum; i++) {
		size_t last = segment[i].p_offset + segment[i].p_filesz;

		if (segment[i].p_type == PT_LOAD && last > end)
			end = last;
	}
	return end;
}

static void fill(unsigned int i)
{
	if (section(i)->sh_type != SHT_NOBITS)
		memset(image + section(i)->sh_offset, 0xff,
		       section(i)->sh_size);
}

/* .dynsym stays: the loader reads it. */
static int wild_symbols(const char *name)
{
	return !strcmp(name, ".symtab") || !strcmp(name, ".strtab");
}

static int wild_frames(const char *name)
{
	return !strncmp(name, ".eh_frame", 9);
}

static int wild_debug(const char *name)
{
	return !strncmp(name, ".debug_", 7);
}

static void fill_sections(int (*chosen)(const char *))
{
	for (unsigned int i = 1; i < header()->e_shnum; i++)
		if (chosen(section_name(i)))
			fill(i);
}

static void wild_names(void)
{
	for (unsigned int i = 1; i < header()->e_shnum; i++) {
		section(i)->sh_name = 0xfffffff0;
		section(i)->sh_link = 0xfff0;
	}
}

static int mangle(const char *how)
{
	if (!strcmp(how, "arm64")) {
		header()->e_machine = EM_AARCH64;
	} else if (!strcmp(how, "truncate")) {
		size = loaded_end();
	} else if (!strcmp(how, "no-sections")) {
		header()->e_shoff = 0;
		header()->e_shnum = 0;
		header()->e_shstrndx = 0;
	} else if (!strcmp(how, "wild-sections")) {
		header()->e_shoff = UINT64_C(0x7fffffffffff0000);
	} else if (!strcmp(how, "wild-names")) {
		wild_names();
	} else if (!strcmp(how, "wild-symbols")) {
		fill_sections(wild_symbols);
	} else if (!strcmp(how, "wild-frames")) {
		fill_sections(wild_frames);
	} else if (!strcmp(how, "wild-debug")) {
		fill_sections(wild_debug);
	} else {
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct stat status;
	FILE *in, *out;

	if (argc != 4 || !(in = fopen(argv[2], "re")) ||
	    fstat(fileno(in), &status)) {
		fputs("usage: mangle-elf HOW IN OUT\n", stderr);
		return 99;
	}
	size = (size_t)status.st_size;
	image = malloc(size);
	if (!image || fread(image, 1, size, in) != size ||
	    memcmp(image, ELFMAG, SELFMAG) || mangle(argv[1])) {
		fprintf(stderr, "mangle-elf: cannot %s %s\n", argv[1], argv[2]);
		return 99;
	}
	out = fopen(argv[3], "we");
	if (!out || fwrite(image, 1, size, out) != size || fclose(out) ||
	    chmod(argv[3], 0755)) {
		fprintf(stderr, "mangle-elf: %s: %s\n", argv[3],
			strerror(errno));
		return 99;
	}
	return 0;
}
