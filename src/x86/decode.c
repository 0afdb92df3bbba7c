/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The decoder's outside: its life, tables first and then Capstone, and text.
 */
#include "x86/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "x86/decode-capstone.h"

#include "base/error.h"
#include "x86/decode-parts.h"

/*
 * Operand details are always on: without them Capstone takes as long, since it
 * writes the text of each instruction, which cannot be turned off.
 */
static struct error *open_capstone(struct decoder *decoder)
{
	cs_err status = cs_open(CS_ARCH_X86, CS_MODE_64, &decoder->capstone);

	if (status == CS_ERR_OK)
		status = cs_option(decoder->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	if (status == CS_ERR_MEM)
		return error_nomem;
	if (status != CS_ERR_OK)
		return error_create(ERROR_UNSUPPORTED, "Capstone: %s",
				    cs_strerror(status));
	decoder->insn = cs_malloc(decoder->capstone);
	return decoder->insn ? NULL : error_nomem;
}

struct error *decoder_create(struct decoder **ret)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	struct error *err;

	if (!decoder)
		return error_nomem;
	err = open_capstone(decoder);
	if (err) {
		decoder_destroy(decoder);
		return err;
	}
	*ret = decoder;
	return NULL;
}

void decoder_destroy(struct decoder *decoder)
{
	if (!decoder)
		return;
	if (decoder->insn)
		cs_free(decoder->insn, 1);
	if (decoder->capstone)
		cs_close(&decoder->capstone);
	free(decoder->marks);
	free(decoder);
}

/* By the tables; what *ret is if there is no entry, their headers say. */
static bool decode_tables(const struct prefixes *prefixes, const uint8_t *bytes,
			  size_t size, uint64_t address,
			  struct insn_access *ret)
{
	switch (bytes[prefixes->length]) {
	case BYTE_VEX2:
	case BYTE_VEX3:
	case BYTE_EVEX:
		return decode_vector(prefixes, bytes, size, ret);
	default:
		return decode_plain(prefixes, bytes, size, address, ret);
	}
}

void decoder_decode(struct decoder *decoder, const uint8_t *bytes, size_t size,
		    uint64_t address, struct insn_access *ret)
{
	struct prefixes prefixes;
	uint8_t length;

	if (size > X86_INSN_MAX)
		size = X86_INSN_MAX;
	memset(ret, 0, sizeof(*ret));
	decode_prefixes(bytes, size, &prefixes);
	if (prefixes.length < size) {
		if (decode_tables(&prefixes, bytes, size, address, ret))
			return;
		length = ret->length;
		memset(ret, 0, sizeof(*ret));
		if (bytes[prefixes.length] != BYTE_EVEX &&
		    decode_library(decoder, &prefixes, bytes, size, address,
				   ret))
			return;
		memset(ret, 0, sizeof(*ret));
		ret->length = length;
	}
	if (ret->length == 0)
		ret->length = 1;
	ret->refusal = X86_REFUSED_UNDECODABLE;
}

/* What the library cannot print but we can decode: its bytes. */
static void print_bytes(struct decoder *decoder, const uint8_t *bytes,
			size_t size, char *text, size_t text_size)
{
	struct insn_access insn;
	size_t used;

	decoder_decode(decoder, bytes, size, 0, &insn);
	if (insn.length == 1) {
		snprintf(text, text_size, "(bad)");
		return;
	}
	used = (size_t)snprintf(text, text_size, ".byte");
	for (size_t i = 0; i < insn.length && used < text_size; i++)
		used += (size_t)snprintf(text + used, text_size - used,
					 "%s 0x%02x", i ? "," : "", bytes[i]);
}

void decoder_text(struct decoder *decoder, const uint8_t *bytes, size_t size,
		  uint64_t address, char *text, size_t text_size)
{
	struct cs_insn *insn = decoder->insn;
	const uint8_t *at = bytes;
	size_t left = size < X86_INSN_MAX ? size : X86_INSN_MAX;
	bool known;

	/* the details of operands are in Intel's order, and then by default */
	cs_option(decoder->capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	known = cs_disasm_iter(decoder->capstone, &at, &left, &address, insn);
	cs_option(decoder->capstone, CS_OPT_SYNTAX, CS_OPT_SYNTAX_INTEL);
	if (!known)
		print_bytes(decoder, bytes, size, text, text_size);
	else if (insn->op_str[0] == '\0')
		snprintf(text, text_size, "%s", insn->mnemonic);
	else
		snprintf(text, text_size, "%s %s", insn->mnemonic,
			 insn->op_str);
}
