/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bounded output; see capture.h. The first half of the limit is written at
 * once, so that the output of a killed command is there; the end is kept in the
 * ring.
 */
#include "sweep/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void capture_open(struct capture *capture, const char *path, uint64_t limit)
{
	*capture = (struct capture){
		.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			   0666),
		.head = limit - limit / 2,
		.tail_room = limit / 2,
	};
	if (capture->fd < 0)
		capture->error = errno;
}

static void write_out(struct capture *capture, const char *bytes, size_t n)
{
	while (n > 0 && capture->fd >= 0 && !capture->error) {
		ssize_t done = write(capture->fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0) {
			capture->error = done < 0 ? errno : ENOSPC;
			break;
		}
		bytes += done;
		n -= (size_t)done;
	}
}

static void add_tail(struct capture *capture, const char *bytes, size_t n)
{
	size_t room = capture->tail_room, at, first;

	capture->tail_bytes += n;
	if (!capture->tail && room > 0)
		capture->tail = malloc(room);
	if (!capture->tail)
		return;
	if (n > room) {
		bytes += n - room;
		n = room;
	}
	at = (size_t)((capture->tail_bytes - n) % room);
	first = n < room - at ? n : room - at;
	memcpy(capture->tail + at, bytes, first);
	memcpy(capture->tail, bytes + first, n - first);
}

void capture_add(struct capture *capture, const char *bytes, size_t n)
{
	uint64_t room = capture->head - capture->written;
	size_t first = n < room ? n : (size_t)room;

	write_out(capture, bytes, first);
	capture->written += first;
	if (first < n)
		add_tail(capture, bytes + first, n - first);
}

static void write_tail(struct capture *capture, uint64_t cut)
{
	char note[96];
	uint64_t at = cut;
	uint64_t end = capture->tail_bytes;

	if (cut > 0) {
		snprintf(note, sizeof(note),
			 "\n[racewatch: %" PRIu64 " bytes were cut here]\n",
			 cut);
		write_out(capture, note, strlen(note));
	}
	while (capture->tail && at < end) {
		size_t from = (size_t)(at % capture->tail_room);
		size_t n = capture->tail_room - from;

		if (n > end - at)
			n = (size_t)(end - at);
		write_out(capture, capture->tail + from, n);
		at += n;
	}
}

uint64_t capture_close(struct capture *capture)
{
	uint64_t kept = capture->tail ? capture->tail_room : 0;
	uint64_t cut = capture->tail_bytes > kept ? capture->tail_bytes - kept
						  : 0;

	write_tail(capture, cut);
	if (capture->fd >= 0 && close(capture->fd) < 0 && !capture->error)
		capture->error = errno;
	capture->fd = -1;
	free(capture->tail);
	capture->tail = NULL;
	return cut;
}
