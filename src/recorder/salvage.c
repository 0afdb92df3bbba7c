/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trace of a killed process; see salvage.h. Its end comes from its heir, in
 * which nothing is called but what is here.
 */
#include "recorder/salvage.h"

#include "hunt/trace-events.h"
#include "recorder/emit.h"
#include "recorder/os.h"
#include "recorder/recorder.h"

enum { STATUS_KILLED = 128 + 9 /* SIGKILL */ };

/*
 * The file may have more than was counted, of which the buffer still has what
 * counts; and the buffer may still have what was counted.
 */
void salvage_writer(struct writer *writer)
{
	if (writer->whole >= writer->written) {
		writer->used = writer->whole - writer->written;
	} else {
		writer->used = 0;
		writer->written = writer->whole;
	}
	if (writer->fd >= 0 && !os_truncate(writer->fd, writer->written))
		writer->failed = true;
}

/*
 * The threads were stopped anywhere, which the writer makes good. A module may be
 * known whose chunk is not there. What a thread has executed is not to be had: its
 * trace is a cut one.
 */
static void salvage(void *context)
{
	struct recorder *recorder = context;
	bool streams = recorder->stream.on;

	if (recorder->over || recorder->writer.fd < 0)
		return;
	salvage_writer(&recorder->writer);
	if (recorder->before_end)
		recorder->before_end();
	recorder->current = NULL;
	recorder->stream.on = false;
	for (uint32_t id = 1; id <= recorder->modules.count; id++)
		emit_module(recorder, id);
	emit_all(recorder);
	if (!streams)
		emit_end(recorder, STATUS_KILLED, TRACE_KILLED);
}

static void protect(struct recorder *recorder)
{
	if (!heir_start(&recorder->heir, recorder->writer.fd, salvage,
			recorder))
		emit_unable(recorder, "what a process does that is killed: "
				      "that takes Linux 5.9");
}

void salvage_protect(struct recorder *recorder, void (*before)(void))
{
	recorder->before_end = before;
	protect(recorder);
}

void salvage_unprotect(struct recorder *recorder)
{
	heir_dismiss(&recorder->heir);
}

/* Its heir would keep all memory of the program before. */
void salvage_executes(struct recorder *recorder)
{
	emit_all(recorder);
	emit_end(recorder, 0, TRACE_EXECUTES);
	salvage_unprotect(recorder);
}

void salvage_goes_on(struct recorder *recorder)
{
	recorder->over = false;
	/* the end that was written is not the last chunk any more */
	emit_clock(recorder, true);
	writer_flush(&recorder->writer);
	protect(recorder);
}
