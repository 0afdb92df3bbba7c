/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The instruction of a breakpoint, one byte (Intel SDM, volume 2, INT3). After it
 * has trapped, rip is behind it.
 */
#ifndef X86_INT3_H
#define X86_INT3_H

enum { X86_INT3 = 0xcc };

#endif
