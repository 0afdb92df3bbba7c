/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording by breakpoints (tracer/record.h): WIRE_RECORD has the sites,
 * WIRE_RECORDED what threads did, in the order of their stops (wire/message.h).
 */
#ifndef WIRE_RECORD_H
#define WIRE_RECORD_H

#include <stdint.h>

#include "x86/access.h"

/* What a hit of a site is told for; wire_site.record. */
enum wire_record {
	WIRE_RECORD_NONE,
	WIRE_RECORD_ACCESS, /* its accesses; until it has had enough hits */
	WIRE_RECORD_JOIN, /* the entry of pthread_join(3) */
};

enum wire_recorded_kind {
	WIRE_RECORDED_ACCESS, /* the thread is about to execute the site */
	WIRE_RECORDED_JOIN, /* it is about to join a thread */
	WIRE_RECORDED_BORN, /* it was created by `creator', whose stack it is */
	WIRE_RECORDED_BEGUN, /* it is at its first instruction */
	WIRE_RECORDED_ENDED,
};

enum {
	WIRE_RECORD_STACK = 1024, /* bytes of a stack, from its top */
	WIRE_RECORD_MEMORY = X86_ACCESS_MAX + 16, /* of an access's granules */
};

/* Behind it: stack_size bytes at regs.rsp. */
struct wire_recorded {
	uint32_t kind; /* enum wire_recorded_kind */
	uint32_t program;
	int32_t pid, tid, creator;
	uint32_t stack_size;
	uint64_t ns; /* clock_now_ns() */
	struct x86_registers regs; /* of a BORN one: the creator's */
	uint32_t count; /* of accesses */
	uint32_t synchronizes; /* they are atomic */
	struct mem_access accesses[X86_OPERANDS_MAX];
	/* from 8 bytes that begin at a multiple of 8 on; zeros: not readable */
	uint8_t memory[X86_OPERANDS_MAX][WIRE_RECORD_MEMORY];
};

#endif
