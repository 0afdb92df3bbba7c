/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What of a hunt is in debug registers and in the text: the sides that wait, the
 * partners of the focus, the entries of programs (hunt.h).
 */
#ifndef TRACER_HUNT_REGISTERS_H
#define TRACER_HUNT_REGISTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct engine;
struct hunt;
struct hunt_target;
struct program_text;
struct wire_site;

/* Stops at a partner, for other bytes, in a hold. */
enum { HUNT_ELSEWHERE = 32 };

/* The program that a process runs by this number; NULL: none does any more. */
const struct program_text *hunt_program(const struct engine *engine,
					uint32_t program);

/*
 * A register for the target, which traps at the executions that it has to see
 * next. False: none is free.
 */
bool hunt_claim(struct engine *engine, struct hunt_target *target);
void hunt_unclaim(struct engine *engine, struct hunt_target *target);

/*
 * Set breakpoints at the partners of the focus, in registers; by_text: where these
 * do not suffice, by INT3. hunt_lift_partners() takes all of them away.
 */
void hunt_arm_partners(struct engine *engine, bool by_text);
void hunt_lift_partners(struct engine *engine);

/*
 * A thread has come to a partner of the focus for other bytes. One that executes it
 * over and over would hardly get on while another one is held: after HUNT_ELSEWHERE of
 * these the breakpoint is lifted, since the bytes are watched by then.
 */
void hunt_partner_elsewhere(struct engine *engine,
			    const struct wire_site *site);

/* The entry of a program; false: it is not known, or no register is free. */
bool hunt_claim_entry(struct engine *engine, const struct program_text *text,
		      uint64_t address);
void hunt_unclaim_entry(struct engine *engine, size_t i);

/* Update the threads, if anything has changed since. */
void hunt_publish(struct engine *engine);

#endif
