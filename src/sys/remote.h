/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Making a stopped thread execute a system call for us. Its registers, signal
 * mask and the scratch bytes are as before afterwards. Used to restore what we
 * changed, or the kernel because of our traps; and for memory that programs which
 * are recorded execute single instructions in.
 */
#ifndef SYS_REMOTE_H
#define SYS_REMOTE_H

#include <stdint.h>
#include <sys/types.h>

struct error;
struct memory;

/*
 * The address of a syscall instruction in the vDSO of the process, which is
 * there whatever else is mapped (getauxval(3), AT_SYSINFO_EHDR).
 */
struct error *remote_syscall_address(const struct memory *memory,
				     uint64_t *ret);

/* The first instruction of its program, behind the loader (AT_ENTRY). */
struct error *remote_entry(pid_t pid, uint64_t *ret);

/* Where its program headers are, and how many (AT_PHDR, AT_PHNUM). */
struct error *remote_headers(pid_t pid, uint64_t *ret, uint64_t *ret_count);

/*
 * rt_sigaction(2) in the stopped thread. set and old are the kernel's
 * struct sigaction of 32 bytes on x86-64; either may be NULL.
 */
struct error *remote_sigaction(pid_t tid, const struct memory *memory,
			       uint64_t syscall_address, int signal,
			       const uint8_t *set, uint8_t *old);

/*
 * prctl(2) in the stopped thread: is its process dumpable (PR_GET_DUMPABLE), and
 * make it so or not. Neither its memory nor its files in /proc are needed.
 */
struct error *remote_dumpable(pid_t tid, uint64_t syscall_address, int *ret);
struct error *remote_set_dumpable(pid_t tid, uint64_t syscall_address,
				  int dumpable);

/*
 * mmap(2) in the stopped thread: private memory at that address, which can be
 * executed and read. EEXIST: something else is there, and stays.
 */
struct error *remote_map_text(pid_t tid, uint64_t syscall_address,
			      uint64_t address, uint64_t size);

#endif
