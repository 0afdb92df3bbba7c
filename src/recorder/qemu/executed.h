/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the translated code calls. The plugin interface tells no registers. But
 * where a block begins, QEMU 7.2 has all of them in its structure of the
 * processor, whose address is in rbp of the code that it makes for x86-64. The
 * first call of the program checks that: rsp there has to be where the call has
 * pushed the return address. If it is not, nothing is recorded.
 *
 * QEMU 7.2 takes loads for stores where it looks which accesses a call is wanted
 * after: calls are asked for after all accesses, and look for themselves.
 *
 * QEMU does not take back an instruction's calls after accesses when that
 * instruction ends its block. They are then called after a later instruction's
 * accesses, if QEMU makes these in functions of its own, and if no call was asked
 * for after that instruction's. So translate.c asks for one after each such
 * access (executed_nothing), and calls after instructions that end a block check
 * what they are told.
 */
#ifndef RECORDER_QEMU_EXECUTED_H
#define RECORDER_QEMU_EXECUTED_H

#include <stdbool.h>
#include <stdint.h>

struct site;

/* Sites of an instruction whose accesses differ, by the size's logarithm. */
struct sized_sites {
	struct site *reads[4], *writes[4];
};

/* After an access; data: struct site *. */
void executed_access(unsigned int vcpu, uint32_t info, uint64_t address,
		     void *data);
/* The same of an instruction that makes others: the loads, or the stores. */
void executed_load(unsigned int vcpu, uint32_t info, uint64_t address,
		   void *data);
void executed_store(unsigned int vcpu, uint32_t info, uint64_t address,
		    void *data);
/* The same of more than 8 bytes, which comes in parts. */
void executed_wide(unsigned int vcpu, uint32_t info, uint64_t address,
		   void *data);
/* The same of an instruction that ends its block, and reads. */
void executed_target(unsigned int vcpu, uint32_t info, uint64_t address,
		     void *data);
/* data: struct sized_sites *. */
void executed_sized(unsigned int vcpu, uint32_t info, uint64_t address,
		    void *data);
void executed_nothing(unsigned int vcpu, uint32_t info, uint64_t address,
		      void *data);
/* After a call has pushed the address that it returns to: data. */
void executed_call(unsigned int vcpu, uint32_t info, uint64_t address,
		   void *data);

/*
 * A block begins to which a call returns; a watched function does, of which data
 * is the number; some block. Written in assembler: they look at rbp.
 */
void executed_return(unsigned int vcpu, void *data);
void executed_enter(unsigned int vcpu, void *data);
void executed_first(unsigned int vcpu, void *data);

/* A system call is about to be made by the instruction at address data. */
void executed_syscall(unsigned int vcpu, void *data);
/* An instruction that QEMU does not know is about to be executed. */
void executed_evex(unsigned int vcpu, void *data);

/* Whether the registers are known to be where they are looked for. */
bool executed_is_checked(void);

#endif
