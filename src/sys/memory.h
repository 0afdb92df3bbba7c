/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracee's memory. Reads go through process_vm_readv(2), which no
 * watchpoint sees; text is written through /proc/PID/mem, or by ptrace where
 * that is refused (proc_mem.force_override, proc_pid_mem(5)).
 */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;

struct memory {
	pid_t pid;
	/* of /proc/PID/mem; goes stale at exec: memory_reopen() */
	int fd;
	/* the owner's note that writes need a stopped thread */
	bool refused;
};

/*
 * A failure to open is not one: writes then go through ptrace. The first
 * thread of the process may have exited before the others.
 */
void memory_init(struct memory *memory, pid_t pid);
void memory_deinit(struct memory *memory);
void memory_reopen(struct memory *memory, pid_t pid);

/*
 * Read up to size bytes; *ret_size is what could be read from the start of
 * the range (less at the end of a mapping). Error only when nothing could.
 */
struct error *memory_read(const struct memory *memory, uint64_t address,
			  void *bytes, size_t size, size_t *ret_size);

/*
 * Write text, all or nothing, even where the mapping is read-only.
 * stopped_tid: a thread in ptrace-stop for the fall-back; 0: there is none.
 * ERROR_REFUSED: the bytes can be read, but not written without such a thread.
 */
struct error *memory_write_text(const struct memory *memory, pid_t stopped_tid,
				uint64_t address, const void *bytes,
				size_t size);

#endif
