# SPDX-License-Identifier: GPL-3.0-or-later
#
# awk -v sites=N -f cold-text.awk: assembler source of functions that nobody
# calls, with so many locations in all, twelve in each.

BEGIN {
	functions = int(sites / 12)
	print ".text"
	for (i = 0; i < functions; i++) {
		name = "cold" i
		printf ".globl %s\n.type %s,@function\n.p2align 4\n", name, name
		printf "%s:\n.cfi_startproc\n", name
		for (k = 0; k < 6; k++)
			printf "mov %d(%%rdi),%%rax\nmov %%rax,%d(%%rsi)\n", \
				k * 8, k * 16
		printf "ret\n.cfi_endproc\n.size %s,.-%s\n", name, name
	}
	print ".section .note.GNU-stack,\"\",@progbits"
}
