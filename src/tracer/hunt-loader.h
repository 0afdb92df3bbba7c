/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Libraries that come while a program runs, in a hunt and where a run is recorded:
 * an INT3 where its dynamic loader tells debuggers of them (sys/loader.h). A thread
 * that has loaded one, or unloaded one, waits there, as the first one does at the
 * entry of its program (startup.h), until the front end has read what is there and
 * sent its sides. So executions are counted from the first, those of constructors
 * too. If a conflict was told since, one that is about to unload a library waits
 * as well, until it has been named.
 */
#ifndef TRACER_HUNT_LOADER_H
#define TRACER_HUNT_LOADER_H

#include <stdbool.h>

struct engine;
struct process;
struct program_text;
struct thread;
struct wire_site;

/* The program stands at its entry: its loader is watched from now on. */
void hunt_loader_begin(struct engine *engine, const struct process *process);

/* No process runs the program any more. */
void hunt_loader_end(struct engine *engine, const struct program_text *text);

/* Set the INT3s that could not be set at once. */
void hunt_loader_tick(struct engine *engine);

/*
 * The thread is stopped at the INT3, rip on it; false: it is none of a loader. The
 * caller takes it over the INT3 unless it is held.
 */
bool hunt_loader_hit(struct engine *engine, struct thread *thread,
		     const struct wire_site *site);

#endif
