/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracee's memory. No watchpoint sees these accesses.
 *
 * If a page is not in memory, a process may have to provide it, and that may be
 * the tracee, which is held: by userfaultfd(2), or because the page is of a
 * file on a FUSE or network file system. We never cause such a page fault; the
 * access fails with EFAULT or EIO, as where nothing is mapped. A page may
 * disappear after it was checked. Even then we cannot wait for userfaultfd; but
 * only SIGKILL ends a wait for a file (guardian.h).
 *
 * Text is written through /proc/PID/mem, or by ptrace where that is refused
 * (proc_mem.force_override, proc_pid_mem(5)).
 */
#ifndef SYS_MEMORY_H
#define SYS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct backing;
struct error;

struct memory {
	pid_t pid;
	/* of /proc/PID/mem and pagemap; stale after exec: memory_reopen() */
	int fd, pages;
	struct backing *backing;
	/* the owner notes here that writes need a stopped thread */
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
 * What one learns of file systems is known to the other, too: to look for one in
 * the list of mounts takes some 100 us.
 */
void memory_share(struct memory *memory, const struct memory *other);
/* As if /proc/PID/mem could not be opened. */
void memory_close_file(struct memory *memory);

/*
 * Read up to size bytes; *ret_size is what could be read from the start of
 * the range (less at the end of a mapping). Error only when nothing could.
 */
struct error *memory_read(const struct memory *memory, uint64_t address,
			  void *bytes, size_t size, size_t *ret_size);

/* A page for memory_read_pages(). */
struct memory_page {
	uint64_t address; /* of its first byte */
	uint8_t *bytes; /* of the caller: room for the whole page */
	bool looked; /* the next three are set */
	bool nothing; /* is mapped there: it cannot be read */
	bool absent; /* it was not in memory: to be read by itself */
	/* it was, and is of no file; or it is private memory and may be absent */
	bool private;
	bool read; /* bytes are set */
	bool leave_absent; /* of the caller: do not read it where it is absent */
};

/*
 * Read whole pages: ask first what they are, by one system call for each mapping of
 * private memory or gap between mappings, and by one for others that are near each
 * other. Then read by one for up to 64 those in memory for which nobody could have to
 * wait: those of files. The others take a system call for those that follow each other,
 * in the tracee and in `bytes', and are so in the list; it takes 1 us for the first
 * page, and a half for each further one. If a page cannot be read, its `read' is false.
 */
void memory_read_pages(const struct memory *memory, struct memory_page *pages,
		       size_t count);

/*
 * A read at the address has failed: is it known that its page holds nothing that
 * was written to it? False too where the files of the process could not be opened
 * (it is not dumpable, or we have too many files): then any read fails.
 */
bool memory_holds_nothing(const struct memory *memory, uint64_t address);

/* Is a page of the range not in memory, and would have to be served? */
bool memory_is_served(const struct memory *memory, uint64_t address,
		      size_t size);

/*
 * Write text, all or nothing, even where the mapping is read-only. The caller
 * has just read these bytes: whether their pages may be touched is not asked
 * again.
 * stopped_tid: a thread in ptrace-stop for the fall-back; 0: there is none.
 * ERROR_REFUSED: the bytes can be read, but not written without such a thread.
 */
struct error *memory_write_text(const struct memory *memory, pid_t stopped_tid,
				uint64_t address, const void *bytes,
				size_t size);

#endif
