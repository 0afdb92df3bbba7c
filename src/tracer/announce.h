/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the front end learns of a process (WIRE_PROCESS). It reads the maps and
 * the modules of each process, which takes longer than most commands of a script
 * run. So a child is announced only when it can race: it has a second thread, it
 * has lived for two ticks and may share memory with others, or the process that
 * made it shares memory. A process that the user named is announced at once.
 */
#ifndef TRACER_ANNOUNCE_H
#define TRACER_ANNOUNCE_H

struct core;
struct govern;
struct process;

/* The process is watched from now on. */
void announce_begin(struct core *core, struct govern *govern,
		    struct process *process);

/* Its program has been replaced by exec(2), and the new one is watched. */
void announce_exec(struct core *core, struct govern *govern,
		   struct process *process);

/* It has one thread more. */
void announce_thread(struct core *core, struct govern *govern,
		     struct process *process);

/* Its libraries are loaded: it is told now, whatever it does. */
void announce_loaded(struct core *core, struct govern *govern,
		     struct process *process);

/* Those that have lived through two ticks. */
void announce_tick(struct core *core, struct govern *govern);

/*
 * It is no longer watched, or no longer runs its program. If others run that
 * program too, announce them first.
 */
void announce_end(struct core *core, struct govern *govern,
		  struct process *process);

#endif
