/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The ELF reader on damaged files: it gives an error, or functions that are in
 * order, do not overlap and whose bytes are there to be decoded.
 */
#include <stdint.h>
#include <stdlib.h>

#include "base/error.h"
#include "image/elftext.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int fact)
{
	if (!fact)
		abort();
}

/* Reads every byte, so that ASan sees those that are not there. */
static void touch(const uint8_t *bytes, size_t size)
{
	static volatile uint8_t last;

	for (size_t i = 0; i < size; i++)
		last = bytes[i];
	(void)last;
}

static void check_functions(const struct elftext *text)
{
	const struct elf_function *functions;
	uint64_t end = 0;
	size_t count;

	functions = elftext_functions(text, &count);
	for (size_t i = 0; i < count; i++) {
		size_t there;
		const uint8_t *bytes =
			elftext_bytes(text, functions[i].start, &there);

		require(functions[i].start >= end);
		require(functions[i].size > 0);
		require(bytes != NULL && there >= functions[i].size);
		touch(bytes, functions[i].size);
		end = functions[i].start + functions[i].size;
		require(elftext_function_at(text, end - 1) == &functions[i]);
	}
}

static void ask_the_rest(const struct elftext *text, uint64_t address)
{
	uint64_t start, size;

	elftext_readonly(text, address, 8);
	elftext_in_plt(text, address);
	elftext_in_rseq(text, address);
	elftext_data_symbol(text, address, &start, &size);
	elftext_bias(text, address, 0, &start);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 0x1000, 0x4010, UINT64_MAX };
	struct elftext *text;
	struct error *err = elftext_create_copy(data, size, "input", &text);

	if (err) {
		require(err->kind == ERROR_FORMAT ||
			err->kind == ERROR_UNSUPPORTED ||
			err->kind == ERROR_NOMEM);
		error_free(err);
		return 0;
	}
	check_functions(text);
	for (size_t i = 0; i < sizeof(addresses) / sizeof(addresses[0]); i++)
		ask_the_rest(text, addresses[i]);
	elftext_build_id(text);
	elftext_soname(text);
	elftext_close(text);
	return 0;
}
