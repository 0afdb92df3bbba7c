/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages with a descriptor, over a socket between two of our processes.
 */
#ifndef BASE_PASSFD_H
#define BASE_PASSFD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Send the bytes, and the descriptor unless it is -1, which stays the caller's.
 * False, with errno: it was not sent. May be called between fork(2) and the end
 * of the child.
 */
bool passfd_send(int socket, const void *bytes, size_t size, int fd);

/*
 * Receive a message of that size; *ret_fd is closed on exec and the caller's, or
 * -1: none came. flags are of recvmsg(2). False: what came is no such message, the
 * other side has gone, or an error.
 */
bool passfd_receive(int socket, int flags, void *bytes, size_t size,
		    int *ret_fd);

#endif
