/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which memory an instruction may access, by its bytes. VEX tells what an address was
 * computed from since its superblock began; that the same instruction is given another
 * address when it is come to on another way, it does not.
 */
#ifndef RECORDER_VALGRIND_OPERANDS_H
#define RECORDER_VALGRIND_OPERANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Are all addresses that the instruction accesses the stack pointer plus a constant,
 * whenever it is executed? False if it is not known.
 */
bool operands_on_stack(const uint8_t *bytes, size_t size);

#endif
