/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reading a mapped file that somebody truncates. A read of a page past the new
 * end is the signal SIGBUS (mmap(2)), whatever was checked before: libelf and
 * libdw map files of others, and read them at any time. The handler of that
 * signal puts zeros in place of what is no more, and the read goes on.
 */
#ifndef BASE_TRUNCATED_H
#define BASE_TRUNCATED_H

#include <signal.h>
#include <stdbool.h>

/*
 * In a handler of SIGBUS (SA_SIGINFO): if the fault was one in a private
 * mapping of a file, replace the mapping from that page to its end by zeros and
 * return true: returning from the handler repeats the access. False: it was
 * something else; nothing was changed. A mapping of the program's own code or
 * of a library is something else: with zeros in it nothing can be relied on.
 *
 * errno stays as it was. Takes no lock but the loader's, which the thread may
 * take again; needs a file descriptor.
 */
bool truncated_fill(const siginfo_t *info);

/* How often that was done in this process. */
unsigned int truncated_fills(void);

#endif
