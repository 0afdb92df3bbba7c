/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Call frame instructions looked at before a library runs them. libunwind
 * trusts register numbers, skips what it does not know as if that had no
 * operands, and divides the smallest number by -1; files are untrusted.
 * Private to src/image.
 */
#ifndef IMAGE_CFICHECK_H
#define IMAGE_CFICHECK_H

struct eh_program;

enum cfi_verdict {
	CFI_PLAIN, /* libunwind knows all of them */
	CFI_FOREIGN, /* it does not */
	CFI_HARMFUL, /* there is a division, which no compiler writes */
};

enum cfi_verdict cfi_check(const struct eh_program *program);

#endif
