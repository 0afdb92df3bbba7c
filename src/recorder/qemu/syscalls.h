/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * System calls: threads that begin and end, mappings that change, data that the
 * kernel reads and writes, and what QEMU cannot run as the kernel does.
 */
#ifndef RECORDER_QEMU_SYSCALLS_H
#define RECORDER_QEMU_SYSCALLS_H

#include "recorder/qemu/api.h"

void syscalls_before(qemu_plugin_id_t id, unsigned int vcpu, int64_t number,
		     uint64_t a1, uint64_t a2, uint64_t a3, uint64_t a4,
		     uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8);
void syscalls_after(qemu_plugin_id_t id, unsigned int vcpu, int64_t number,
		    int64_t result);

/* A processor comes: in the thread that creates it, in its clone(2). */
void syscalls_create(qemu_plugin_id_t id, unsigned int vcpu);

/* The trace ends, with the program's status as of a shell. Once. */
void syscalls_end(int status);

#endif
