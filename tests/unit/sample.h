/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sample programs below tests/unit/samples, for tests of src/image: where
 * they are built, where their symbols are, which line carries a mark. Include
 * after <cmocka.h>.
 */
#ifndef TESTS_UNIT_SAMPLE_H
#define TESTS_UNIT_SAMPLE_H

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline const char *sample_environment(const char *name)
{
	const char *value = getenv(name);

	return value ? value : ".";
}

/* A path below tests/unit/samples of the build. */
static inline char *sample_path(const char *name)
{
	char *path;

	assert_true(asprintf(&path, "%s/tests/unit/samples/%s",
			     sample_environment("abs_top_builddir"), name) > 0);
	return path;
}

/* The whole file, malloc'ed. */
static inline uint8_t *sample_read(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "r");
	uint8_t *bytes;
	long size;

	if (!file)
		fail_msg("%s does not open", path);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	size = ftell(file);
	assert_true(size > 0);
	rewind(file);
	bytes = malloc((size_t)size + 1);
	assert_non_null(bytes);
	assert_int_equal(fread(bytes, 1, (size_t)size, file), size);
	bytes[size] = '\0';
	fclose(file);
	*ret_size = (size_t)size;
	return bytes;
}

/* The number of the line of a sample's source that has "LINE: mark". */
static inline int sample_line(const char *source, const char *mark)
{
	char *path;
	char *text;
	char *found;
	char wanted[64];
	size_t size;
	int line = 1;

	snprintf(wanted, sizeof(wanted), "LINE: %s ", mark);
	assert_true(asprintf(&path, "%s/tests/unit/samples/%s",
			     sample_environment("abs_top_srcdir"), source) > 0);
	text = (char *)sample_read(path, &size);
	found = strstr(text, wanted);
	if (!found)
		fail_msg("%s: no line marked %s", path, mark);
	for (char *at = text; at < found; at++)
		line += *at == '\n';
	free(text);
	free(path);
	return line;
}

/* A symbol of .symtab. */
static inline Elf64_Sym sample_symbol(const char *path, const char *name)
{
	size_t size;
	uint8_t *bytes = sample_read(path, &size);
	const Elf64_Ehdr *header = (const void *)bytes;
	const Elf64_Shdr *sections = (const void *)(bytes + header->e_shoff);
	Elf64_Sym found = { 0 };

	for (int i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols =
			(const void *)(bytes + sections[i].sh_offset);
		const char *strings = (const char *)bytes +
				      sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (size_t k = 0; k < sections[i].sh_size / sizeof(found); k++)
			if (strcmp(strings + symbols[k].st_name, name) == 0)
				found = symbols[k];
	}
	free(bytes);
	if (found.st_value == 0)
		fail_msg("%s: no symbol %s", path, name);
	return found;
}

#endif
