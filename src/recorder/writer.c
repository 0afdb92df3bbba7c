/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A chunk larger than the buffer goes to the file directly. After an error,
 * nothing more is written: what the file has is then a trace that was cut off.
 */
#include "recorder/writer.h"

#include "hunt/trace-format.h"
#include "recorder/os.h"

enum { SAME_PID_MAX = 1000 };

static size_t put_number(char *text, uint32_t number)
{
	char digits[10];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	for (size_t i = 0; i < n; i++)
		text[i] = digits[n - 1 - i];
	text[n] = '\0';
	return n;
}

/* FOLDER/trace.PID, or FOLDER/trace.PID.nth; false: too long. */
static bool make_path(struct writer *writer, const char *folder, int32_t pid,
		      uint32_t nth)
{
	static const char name[] = "/trace.";
	size_t at = os_length(folder);

	if (at + sizeof(name) + 24 > sizeof(writer->path))
		return false;
	os_copy(writer->path, folder, at);
	os_copy(writer->path + at, name, sizeof(name));
	at += sizeof(name) - 1;
	at += put_number(writer->path + at, (uint32_t)pid);
	if (nth > 1) {
		writer->path[at++] = '.';
		put_number(writer->path + at, nth);
	}
	return true;
}

static void write_header(struct writer *writer,
			 const struct writer_process *process)
{
	struct trace_header header = {
		.magic = TRACE_MAGIC,
		.version = TRACE_VERSION,
		.recorder = process->recorder,
		.promises = process->promises,
		.pid = process->pid,
		.ppid = process->ppid,
		.start = os_realtime(),
	};

	os_copy(writer->buffer, &header, sizeof(header));
	writer->used = sizeof(header);
	writer->whole = sizeof(header);
}

bool writer_open(struct writer *writer, const char *folder,
		 const struct writer_process *process)
{
	writer->fd = -1;
	writer->failed = false;
	writer->written = 0;
	for (uint32_t nth = 1; nth <= SAME_PID_MAX && writer->fd == -1; nth++) {
		if (!make_path(writer, folder, process->pid, nth))
			return false;
		writer->fd = os_create(writer->path);
	}
	if (writer->fd < 0)
		return false;
	if (!writer->buffer)
		writer->buffer = os_map(WRITER_BUFFER);
	write_header(writer, process);
	return true;
}

void writer_flush(struct writer *writer)
{
	if (writer->fd >= 0 && !writer->failed && writer->used > 0)
		writer->failed =
			!os_write(writer->fd, writer->buffer, writer->used);
	writer->written += writer->used;
	writer->used = 0;
}

void writer_close(struct writer *writer)
{
	writer_flush(writer);
	if (writer->fd >= 0)
		os_close(writer->fd);
	writer->fd = -1;
}

void writer_deinit(struct writer *writer)
{
	if (writer->buffer)
		os_unmap(writer->buffer, WRITER_BUFFER);
	writer->buffer = NULL;
}

static void append(struct writer *writer, const void *bytes, size_t size)
{
	const unsigned char *from = bytes;

	while (size > 0) {
		size_t room = WRITER_BUFFER - writer->used;
		size_t now = size < room ? size : room;

		os_copy(writer->buffer + writer->used, from, now);
		writer->used += now;
		from += now;
		size -= now;
		if (writer->used == WRITER_BUFFER)
			writer_flush(writer);
	}
}

void writer_chunk(struct writer *writer, uint32_t type, const void *payload,
		  size_t size, const void *behind, size_t more)
{
	static const unsigned char zeros[8];
	struct trace_chunk chunk = { type, (uint32_t)(size + more) };

	if (writer->fd < 0)
		return;
	append(writer, &chunk, sizeof(chunk));
	append(writer, payload, size);
	append(writer, behind, more);
	append(writer, zeros, -(size + more) & 7);
	writer->whole = writer->written + writer->used;
}
