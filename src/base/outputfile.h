/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Opening a file that the user names for output (-o and the like), without
 * waiting for ever, and without writing where somebody else wants it.
 */
#ifndef BASE_OUTPUTFILE_H
#define BASE_OUTPUTFILE_H

#include <stdio.h>

struct error;

enum outputfile_mode {
	OUTPUTFILE_NEW, /* a regular file is emptied */
	OUTPUTFILE_APPEND,
};

/*
 * Open the file for writing; a new one gets the mode 0666 less the umask. *ret
 * is closed on exec and the caller's. Errors name the path:
 * - a FIFO that nobody reads, after two seconds;
 * - where the folder is another user's, or anybody may write to it (/tmp): a
 *   symbolic link, and a file that is neither ours nor the folder's owner's.
 *   They may be a trap for those who have more rights.
 * What is refused has not been written to, nor emptied.
 */
struct error *outputfile_open(const char *path, enum outputfile_mode mode,
			      FILE **ret);

#endif
