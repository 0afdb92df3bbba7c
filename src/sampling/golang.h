/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Accesses in code of the Go compiler that are not the program's own. Go's
 * runtime is in every program: a scheduler, a collector and an allocator that
 * share memory without locks. It preempts a goroutine by writing to memory that
 * each function reads at its beginning.
 */
#ifndef SAMPLING_GOLANG_H
#define SAMPLING_GOLANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Is it a function of Go's runtime or of package sync? False for those that
 * make the program's own accesses: maps, slices, strings, copies.
 */
bool go_runtime_name(const char *name);

/*
 * Does an instruction only check a pointer for nil: it reads a byte ("testb
 * %al, (%rax)"), and the flags are not used? The bytes are from that
 * instruction on.
 */
bool go_nil_check(const uint8_t *bytes, size_t size);

/*
 * Does it compare the stack pointer with the goroutine's limit, which another
 * thread changes to preempt it ("cmp 0x10(%r14), %rsp", or %r12 after "lea
 * -N(%rsp), %r12")? Of the size bytes the instruction begins at `at`.
 */
bool go_stack_check(const uint8_t *bytes, size_t size, size_t at);

#endif
