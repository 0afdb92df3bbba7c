/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Capstone's header, usable with ours: both have an enum x86_reg. Only for
 * src/x86/decode*.c.
 */
#ifndef X86_DECODE_CAPSTONE_H
#define X86_DECODE_CAPSTONE_H

#define x86_reg capstone_x86_reg
#include <capstone/capstone.h>
#undef x86_reg

#endif
