/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the recorder uses of QEMU's interface for plugins, version 1 of it, as
 * QEMU 7.2 has it and its manual describes it ("QEMU TCG Plugins"). Debian's
 * packages have no header.
 *
 * QEMU calls a plugin before it translates a block of instructions. The plugin
 * then asks for calls when the block begins, when an instruction does, or after
 * an instruction has accessed memory. All calls have the number of the processor:
 * each thread of the program has one, and a number is used again.
 */
#ifndef RECORDER_QEMU_API_H
#define RECORDER_QEMU_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QEMU_API_VERSION = 1 };

/* The plugin, for QEMU. */
typedef uint64_t qemu_plugin_id_t;

struct qemu_plugin_tb; /* a block, while it is translated */
struct qemu_plugin_insn; /* an instruction of it */

/* Accesses after which a call is wanted. */
enum qemu_plugin_mem_rw {
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_W,
	QEMU_PLUGIN_MEM_RW,
};

/* Which registers a call uses: QEMU 7.2 does not look at it. */
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS = 0 };

typedef void (*qemu_plugin_vcpu_simple_cb_t)(qemu_plugin_id_t id,
					     unsigned int vcpu);
typedef void (*qemu_plugin_udata_cb_t)(qemu_plugin_id_t id, void *data);
typedef void (*qemu_plugin_vcpu_udata_cb_t)(unsigned int vcpu, void *data);
typedef void (*qemu_plugin_vcpu_mem_cb_t)(unsigned int vcpu, uint32_t info,
					  uint64_t address, void *data);
typedef void (*qemu_plugin_vcpu_tb_trans_cb_t)(qemu_plugin_id_t id,
					       struct qemu_plugin_tb *block);
typedef void (*qemu_plugin_vcpu_syscall_cb_t)(qemu_plugin_id_t id,
					      unsigned int vcpu, int64_t number,
					      uint64_t a1, uint64_t a2,
					      uint64_t a3, uint64_t a4,
					      uint64_t a5, uint64_t a6,
					      uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_vcpu_syscall_ret_cb_t)(qemu_plugin_id_t id,
						  unsigned int vcpu,
						  int64_t number,
						  int64_t result);

/* A thread's processor comes, and goes. */
void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t id,
				       qemu_plugin_vcpu_simple_cb_t call);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t id,
				       qemu_plugin_vcpu_simple_cb_t call);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   qemu_plugin_vcpu_tb_trans_cb_t call);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t id,
					  qemu_plugin_vcpu_syscall_cb_t call);
void qemu_plugin_register_vcpu_syscall_ret_cb(
	qemu_plugin_id_t id, qemu_plugin_vcpu_syscall_ret_cb_t call);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
				    qemu_plugin_udata_cb_t call, void *data);

/* During translation only. */
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t i);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
/* Where the instruction lies in this process. */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);

void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
					  qemu_plugin_vcpu_udata_cb_t call,
					  enum qemu_plugin_cb_flags flags,
					  void *data);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
					    qemu_plugin_vcpu_udata_cb_t call,
					    enum qemu_plugin_cb_flags flags,
					    void *data);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      qemu_plugin_vcpu_mem_cb_t call,
				      enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *data);

/* Of an access: the size is 1 << shift bytes. */
unsigned int qemu_plugin_mem_size_shift(uint32_t info);
bool qemu_plugin_mem_is_store(uint32_t info);

#endif
