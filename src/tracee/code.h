/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which addresses of a program hold code of a file. The kernel is asked, not the
 * front end: a breakpoint is set nowhere else (wire/sound.h says why).
 */
#ifndef TRACEE_CODE_H
#define TRACEE_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct addrspace;

/*
 * Are these bytes in one executable, private mapping of a file? False also where that cannot
 * be read. What was found is kept until code_forget(): it costs a system call a
 * mapping, or reading the maps where Linux is older than 6.11.
 */
bool code_is_mapped(struct addrspace *space, uint64_t address, size_t size);

/* Mappings of the program have changed. */
void code_forget(struct addrspace *space);

#endif
