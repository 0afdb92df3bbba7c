/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes a trace: its header, and chunks through a buffer. The file is
 * DIR/trace.PID, or with .2, .3 behind it where that exists: a process that
 * calls execve(2) writes one for each program.
 */
#ifndef RECORDER_WRITER_H
#define RECORDER_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WRITER_BUFFER = 1 << 16, WRITER_PATH = 4096 };

struct writer {
	int fd; /* -1: none */
	bool failed; /* some bytes could not be written */
	size_t used;
	uint64_t written; /* bytes in all */
	uint64_t whole; /* and in the buffer, up to the end of a chunk */
	char path[WRITER_PATH];
	unsigned char *buffer;
};

/* What the header says (trace-format.h). */
struct writer_process {
	uint32_t recorder; /* enum trace_recorder */
	uint32_t promises; /* bits of enum trace_promise */
	int32_t pid, ppid;
};

/*
 * Create the file in folder and write the header. False: the path is too long, or
 * the file cannot be created; path says which.
 */
bool writer_open(struct writer *writer, const char *folder,
		 const struct writer_process *process);
void writer_close(struct writer *writer);
/* Free the buffer of one that is closed. */
void writer_deinit(struct writer *writer);
/* The buffer to the file. */
void writer_flush(struct writer *writer);

/* A chunk of enum trace_type: a structure and what is behind it. */
void writer_chunk(struct writer *writer, uint32_t type, const void *payload,
		  size_t size, const void *behind, size_t more);

#endif
