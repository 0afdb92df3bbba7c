/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Debug files from debuginfod servers, by build id, for those who ask for it.
 * The servers are those of DEBUGINFOD_URLS (debuginfod(8)); what they send is
 * kept in the cache of libdebuginfod, which is loaded by a child process when
 * needed: it may wait for the network as it likes and is killed after a while.
 * Private to src/image.
 */
#ifndef IMAGE_DEBUGSERVER_H
#define IMAGE_DEBUGSERVER_H

#include <stdint.h>

struct error;

/*
 * *ret_path (malloc'ed) is NULL when no server has the file, the library is
 * not installed, or nothing came within limit_ns.
 */
struct error *debugserver_fetch(const char *build_id, uint64_t limit_ns,
				char **ret_path);

#endif
