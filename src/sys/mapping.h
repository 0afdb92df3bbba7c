/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The permissions of a process for the bytes at an address: one mapping of
 * /proc/PID/maps (proc(5)). The process is not stopped or changed.
 */
#ifndef SYS_MAPPING_H
#define SYS_MAPPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum mapping_access {
	MAPPING_READ = 1,
	MAPPING_WRITE = 2,
	MAPPING_EXECUTE = 4,
	/* other processes may see what is written, and write */
	MAPPING_SHARED = 8,
};

struct error;

struct mapping {
	uint64_t start, end; /* end is the first address behind it */
	unsigned int access; /* of enum mapping_access */
	bool stack; /* "[stack]": the kernel enlarges it downward */
	bool secret; /* of memfd_secret(2): no other process can read it */
	bool clock; /* "[vvar]" and the like: data of the vDSO, the same */
	/*
	 * The file, as the kernel numbers it, and the place in it of the first
	 * byte: of shared memory these are the same in all processes. 0: none.
	 */
	uint64_t device, inode, offset;
};

struct mappings {
	int fd; /* of /proc/PID/maps; -1: it could not be opened */
	bool no_query; /* this kernel has no PROCMAP_QUERY */
};

/*
 * If the file cannot be opened, mappings_find() returns the error. Open again
 * after exec. The first thread of the process may have ended before the others.
 */
void mappings_init(struct mappings *mappings, pid_t pid);
void mappings_deinit(struct mappings *mappings);

/*
 * The mapping that holds the address, or else the next one above it;
 * *ret_found is false when there is neither. Costs one system call on Linux
 * 6.11, and reading the file up to the address before.
 */
struct error *mappings_find(struct mappings *mappings, uint64_t address,
			    struct mapping *ret, bool *ret_found);

/* The same without what its name tells, which the kernel need not look up. */
struct error *mappings_find_place(struct mappings *mappings, uint64_t address,
				  struct mapping *ret, bool *ret_found);

/* False: no more of them are wanted. */
typedef bool mapping_each(void *data, const struct mapping *mapping);

/*
 * All mappings that have this access, by address, without what their names tell.
 * Costs one system call for each on Linux 6.11, and reading the file before.
 */
struct error *mappings_walk(struct mappings *mappings, unsigned int access,
			    mapping_each *each, void *data);

/*
 * May a process have to provide the pages of the mapping (userfaultfd(2))? So if it is
 * no private file, and one of the first descriptors of the process, some thousands,
 * is a userfaultfd. Which mappings are registered is in /proc/PID/smaps alone, to read which
 * stops the process's own mmap(2) for as long as the kernel walks all of its pages.
 */
bool mapping_may_be_userfaultfd(pid_t pid, const struct mapping *mapping);

/* One line of the file, without or with its newline; false: it is none. */
bool mapping_parse(const char *line, struct mapping *ret);

#endif
