/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the descriptors of the program are: pipes, sockets, files.
 */
#ifndef RECORDER_VALGRIND_ENDPOINTS_H
#define RECORDER_VALGRIND_ENDPOINTS_H

struct channels;
struct moves_host;

extern const struct moves_host endpoints;

/* The program has got these two from socketpair(2). */
void endpoints_pair(struct channels *channels, const int fds[2]);

#endif
