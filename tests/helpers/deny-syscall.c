/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deny-syscall WHAT[,WHAT...] CMD [ARG...]: runs CMD under a seccomp filter
 * that fails some calls with EPERM, as container run-times do. WHAT is
 * the name of a call or a request of ptrace in the table. (Text is written by
 * pwrite64: as if proc_mem.force_override refused it.)
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct denied {
	const char *name;
	unsigned int number;
	int request; /* of ptrace; -1: any */
} table[] = {
	{ "ptrace", SYS_ptrace, -1 },
	{ "SEIZE", SYS_ptrace, PTRACE_SEIZE },
	{ "INTERRUPT", SYS_ptrace, PTRACE_INTERRUPT },
	{ "CONT", SYS_ptrace, PTRACE_CONT },
	{ "DETACH", SYS_ptrace, PTRACE_DETACH },
	{ "LISTEN", SYS_ptrace, PTRACE_LISTEN },
	{ "SYSCALL", SYS_ptrace, PTRACE_SYSCALL },
	{ "GETREGS", SYS_ptrace, PTRACE_GETREGS },
	{ "SETREGS", SYS_ptrace, PTRACE_SETREGS },
	{ "PEEKUSER", SYS_ptrace, PTRACE_PEEKUSER },
	{ "POKEUSER", SYS_ptrace, PTRACE_POKEUSER },
	{ "GETSIGINFO", SYS_ptrace, PTRACE_GETSIGINFO },
	{ "PEEKSIGINFO", SYS_ptrace, PTRACE_PEEKSIGINFO },
	{ "GETSIGMASK", SYS_ptrace, PTRACE_GETSIGMASK },
	{ "SETSIGMASK", SYS_ptrace, PTRACE_SETSIGMASK },
	{ "GETEVENTMSG", SYS_ptrace, PTRACE_GETEVENTMSG },
	{ "perf_event_open", SYS_perf_event_open, -1 },
	{ "process_vm_readv", SYS_process_vm_readv, -1 },
	{ "kcmp", SYS_kcmp, -1 },
	{ "mlockall", SYS_mlockall, -1 },
	{ "pidfd_open", SYS_pidfd_open, -1 },
	{ "prctl", SYS_prctl, -1 },
	{ "prlimit64", SYS_prlimit64, -1 },
	{ "pwrite64", SYS_pwrite64, -1 },
	{ "signalfd4", SYS_signalfd4, -1 },
	{ "socketpair", SYS_socketpair, -1 },
	{ "tgkill", SYS_tgkill, -1 },
};

static const struct denied *find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(table[i].name, name))
			return &table[i];
	return NULL;
}

static int deny(const struct denied *what)
{
	const unsigned int request = (unsigned int)what->request;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, what->number, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		/* any request: both ways end in the refusal */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, request, 0,
			 what->request < 0 ? 0 : 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

int main(int argc, char **argv)
{
	char *save = NULL;

	if (argc < 3) {
		fputs("usage: deny-syscall WHAT[,WHAT...] CMD...\n", stderr);
		return 99;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)) {
		perror("deny-syscall: no_new_privs");
		return 99;
	}
	for (char *word = strtok_r(argv[1], ",", &save); word;
	     word = strtok_r(NULL, ",", &save)) {
		const struct denied *what = find(word);

		if (!what || deny(what)) {
			fprintf(stderr, "deny-syscall: cannot deny %s\n", word);
			return 99;
		}
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 99;
}
