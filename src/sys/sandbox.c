/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Giving up what is not needed; see sandbox.h. The filter is a plain program of
 * some hundred instructions. libseccomp would save the few lines that make it, and
 * be one more library for the tracer's side of the build.
 */
#include "sys/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <linux/userfaultfd.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/rights.h"

/* The leak checker of these attaches to its own threads. */
#if defined(__SANITIZE_ADDRESS__)
#define SANDBOX_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANDBOX_SANITIZED true
#endif
#endif
#ifndef SANDBOX_SANITIZED
#define SANDBOX_SANITIZED false
#endif

/* Linux 5.8 and 5.9 */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_CHECKPOINT_RESTORE
#define CAP_CHECKPOINT_RESTORE 40
#endif

/*
 * What it takes to read /proc/PID and files with the rights of a program, and to
 * sample its CPU time.
 */
static const uint64_t sandbox_kept =
	UINT64_C(1) << CAP_SYS_PTRACE | UINT64_C(1) << CAP_DAC_READ_SEARCH |
	UINT64_C(1) << CAP_SETUID | UINT64_C(1) << CAP_SETGID |
	UINT64_C(1) << CAP_PERFMON | UINT64_C(1) << CAP_CHECKPOINT_RESTORE;

/* The machine, its kernel, namespaces, users and keys; other programs. */
static const uint16_t sandbox_never[] = {
	SYS_acct,
	SYS_add_key,
	SYS_adjtimex,
	SYS_bpf,
	SYS_chroot,
	SYS_clock_adjtime,
	SYS_clock_settime,
	SYS_delete_module,
	SYS_execve,
	SYS_execveat,
	SYS_fanotify_init,
	SYS_finit_module,
	SYS_fsconfig,
	SYS_fsmount,
	SYS_fsopen,
	SYS_fspick,
	SYS_init_module,
	SYS_io_uring_enter,
	SYS_io_uring_register,
	SYS_io_uring_setup,
	SYS_ioperm,
	SYS_iopl,
	SYS_kexec_file_load,
	SYS_kexec_load,
	SYS_keyctl,
	SYS_mknod,
	SYS_mknodat,
	SYS_mount,
	SYS_mount_setattr,
	SYS_move_mount,
	SYS_move_pages,
	SYS_open_by_handle_at,
	SYS_open_tree,
	SYS_pivot_root,
	SYS_process_madvise,
	SYS_process_vm_writev,
	SYS_quotactl,
	SYS_quotactl_fd,
	SYS_reboot,
	SYS_request_key,
	SYS_setdomainname,
	SYS_setgid,
	SYS_sethostname,
	SYS_setns,
	SYS_setregid,
	SYS_setresgid,
	SYS_setresuid,
	SYS_setreuid,
	SYS_settimeofday,
	SYS_setuid,
	SYS_swapoff,
	SYS_swapon,
	SYS_syslog,
	SYS_umount2,
	SYS_unshare,
	SYS_vhangup,
};

/*
 * What makes and changes files: what is open for writing can still be written to.
 * Who owns a file may change its mode by any descriptor.
 */
static const uint16_t sandbox_writes[] = {
	SYS_chmod,     SYS_chown,	 SYS_creat,	SYS_fchmod,
	SYS_fchmodat,  SYS_fchown,	 SYS_fchownat,	SYS_fremovexattr,
	SYS_fsetxattr, SYS_futimesat,	 SYS_lchown,	SYS_link,
	SYS_linkat,    SYS_lremovexattr, SYS_lsetxattr, SYS_mkdir,
	SYS_mkdirat,   SYS_mq_open,	 SYS_mq_unlink, SYS_removexattr,
	SYS_rename,    SYS_renameat,	 SYS_renameat2, SYS_rmdir,
	SYS_setxattr,  SYS_symlink,	 SYS_symlinkat, SYS_truncate,
	SYS_unlink,    SYS_unlinkat,	 SYS_utime,	SYS_utimensat,
	SYS_utimes,
};

/* Other processes. */
static const uint16_t sandbox_reaches[] = {
	SYS_ioprio_set,
	SYS_kcmp,
	SYS_migrate_pages,
	SYS_msgctl,
	SYS_msgget,
	SYS_msgsnd,
	SYS_pidfd_getfd,
	SYS_pidfd_send_signal,
	SYS_process_mrelease,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_sched_setaffinity,
	SYS_sched_setattr,
	SYS_sched_setparam,
	SYS_sched_setscheduler,
	SYS_semctl,
	SYS_semget,
	SYS_semop,
	SYS_semtimedop,
	SYS_shmat,
	SYS_shmctl,
	SYS_shmget,
	SYS_tkill,
};

static const uint16_t sandbox_connects[] = {
	SYS_accept, SYS_accept4, SYS_bind, SYS_connect, SYS_listen, SYS_socket,
};

/* Requests whose signals go to any process. */
static const uint32_t sandbox_fcntls[] = {
	F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY,
};
/* The same, and what types into a terminal or changes a file's flags. */
static const uint32_t sandbox_ioctls[] = {
	FIOSETOWN, SIOCSPGRP,	    TIOCSTI,
	TIOCLINUX, FS_IOC_SETFLAGS, FS_IOC_FSSETXATTR,
};
static const uint32_t sandbox_ptraces[] = { PTRACE_ATTACH, PTRACE_SEIZE };

enum {
	SANDBOX_PROGRAM = 512,
	/* the first call that this list does not know; x32 is above it too */
	SANDBOX_LATER = 452,
};

#define SANDBOX_COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct sandbox_program {
	struct sock_filter code[SANDBOX_PROGRAM];
	unsigned short length;
};

#define SANDBOX_DATA(field) ((uint32_t)offsetof(struct seccomp_data, field))
/* The lower half of an argument: none that is looked at has more. */
#define SANDBOX_ARG(number) \
	(SANDBOX_DATA(args) + (uint32_t)(number) * (uint32_t)sizeof(uint64_t))

static void sandbox_add(struct sandbox_program *program,
			struct sock_filter code)
{
	if (program->length < SANDBOX_PROGRAM)
		program->code[program->length++] = code;
}

static void sandbox_load(struct sandbox_program *program, uint32_t offset)
{
	sandbox_add(program, (struct sock_filter)BPF_STMT(
				     BPF_LD | BPF_W | BPF_ABS, offset));
}

static void sandbox_fail(struct sandbox_program *program, int code)
{
	sandbox_add(program, (struct sock_filter)BPF_STMT(
				     BPF_RET | BPF_K,
				     SECCOMP_RET_ERRNO | (uint32_t)code));
}

static void sandbox_allow(struct sandbox_program *program)
{
	sandbox_add(program, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							  SECCOMP_RET_ALLOW));
}

/* What follows, `skip' instructions, is for this value only. */
static void sandbox_if(struct sandbox_program *program, uint32_t value,
		       uint8_t skip)
{
	sandbox_add(program,
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						 value, 0, skip));
}

/* The same where one of these bits is set. */
static void sandbox_if_any(struct sandbox_program *program, uint32_t bits,
			   uint8_t skip)
{
	sandbox_add(program,
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
						 bits, 0, skip));
}

static void sandbox_refuse(struct sandbox_program *program, uint32_t number,
			   int code)
{
	sandbox_if(program, number, 1);
	sandbox_fail(program, code);
}

static void sandbox_refuse_all(struct sandbox_program *program,
			       const uint16_t *numbers, size_t count, int code)
{
	for (size_t i = 0; i < count; i++)
		sandbox_refuse(program, numbers[i], code);
}

/* Refused if the argument has one of these bits. */
static void sandbox_refuse_bits(struct sandbox_program *program,
				uint32_t number, int argument, uint32_t bits,
				int code)
{
	sandbox_if(program, number, 4);
	sandbox_load(program, SANDBOX_ARG(argument));
	sandbox_if_any(program, bits, 1);
	sandbox_fail(program, code);
	sandbox_allow(program);
}

/* Refused if the argument is one of these values. */
static void sandbox_refuse_values(struct sandbox_program *program,
				  uint32_t number, int argument,
				  const uint32_t *values, size_t count)
{
	sandbox_if(program, number, (uint8_t)(2 + 2 * count));
	sandbox_load(program, SANDBOX_ARG(argument));
	for (size_t i = 0; i < count; i++)
		sandbox_refuse(program, values[i], EPERM);
	sandbox_allow(program);
}

/*
 * Requests of devices and file systems need no descriptor open for writing. Left
 * are what terminals tell, what /proc/PID/maps and pagemap are asked, and all of
 * userfaultfd(2), by the letter that its requests have.
 */
static void sandbox_add_ioctls(struct sandbox_program *program)
{
	static const uint32_t values[] = {
		TCGETS, TIOCGWINSZ, 0xc0686611, /* PROCMAP_QUERY, Linux 6.11 */
		0xc0606610, /* PAGEMAP_SCAN, Linux 6.7 */
	};

	sandbox_if(program, SYS_ioctl,
		   (uint8_t)(5 + 2 * SANDBOX_COUNT(values)));
	sandbox_load(program, SANDBOX_ARG(1));
	for (size_t i = 0; i < SANDBOX_COUNT(values); i++) {
		sandbox_if(program, values[i], 1);
		sandbox_allow(program);
	}
	sandbox_add(program, (struct sock_filter)BPF_STMT(
				     BPF_ALU | BPF_AND | BPF_K, 0xff00));
	sandbox_if(program, (uint32_t)UFFDIO << 8, 1);
	sandbox_allow(program);
	sandbox_fail(program, EPERM);
}

static void sandbox_add_writes(struct sandbox_program *program)
{
	const uint32_t bits = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC |
			      __O_TMPFILE;

	sandbox_refuse_all(program, sandbox_writes,
			   SANDBOX_COUNT(sandbox_writes), EROFS);
	/* its flags are in memory */
	sandbox_refuse(program, SYS_openat2, ENOSYS);
	sandbox_refuse_bits(program, SYS_open, 1, bits, EROFS);
	sandbox_refuse_bits(program, SYS_openat, 2, bits, EROFS);
	sandbox_add_ioctls(program);
	/* with a breakpoint that signals, it ends any process */
	sandbox_refuse(program, SYS_perf_event_open, EPERM);
}

/* kill(2) to a process of the list, 0 for our own group not being one. */
static void sandbox_add_kill(struct sandbox_program *program,
			     const struct sandbox *sandbox)
{
	const uint32_t pids[] = { (uint32_t)getpid(),
				  (uint32_t)sandbox->pids[0],
				  (uint32_t)sandbox->pids[1] };

	sandbox_if(program, SYS_kill, 8);
	sandbox_load(program, SANDBOX_ARG(0));
	for (int i = 0; i < 3; i++) {
		sandbox_if(program, pids[i] ? pids[i] : pids[0], 1);
		sandbox_allow(program);
	}
	sandbox_fail(program, EPERM);
	sandbox_if(program, SYS_tgkill, 4);
	sandbox_load(program, SANDBOX_ARG(0));
	sandbox_if(program, pids[0], 1);
	sandbox_allow(program);
	sandbox_fail(program, EPERM);
}

static void sandbox_build(struct sandbox_program *program,
			  const struct sandbox *sandbox)
{
	sandbox_load(program, SANDBOX_DATA(arch));
	sandbox_if(program, AUDIT_ARCH_X86_64, 1);
	sandbox_add(program, (struct sock_filter)BPF_STMT(BPF_JMP | BPF_JA, 1));
	sandbox_fail(program, ENOSYS);
	sandbox_load(program, SANDBOX_DATA(nr));
	sandbox_add(program,
		    (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K,
						 SANDBOX_LATER, 0, 1));
	sandbox_fail(program, ENOSYS);
	sandbox_refuse_all(program, sandbox_never, SANDBOX_COUNT(sandbox_never),
			   EPERM);
	/* its flags are in memory: there is clone(2) */
	sandbox_refuse(program, SYS_clone3, ENOSYS);
	sandbox_refuse_bits(program, SYS_clone, 0,
			    CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
				    CLONE_NEWIPC | CLONE_NEWUSER |
				    CLONE_NEWPID | CLONE_NEWNET,
			    EPERM);
	/* first: what it allows of ioctl(2) is less than the usual rule does */
	if (!sandbox->writes)
		sandbox_add_writes(program);
	sandbox_refuse_values(program, SYS_fcntl, 1, sandbox_fcntls,
			      SANDBOX_COUNT(sandbox_fcntls));
	sandbox_refuse_values(program, SYS_ioctl, 1, sandbox_ioctls,
			      SANDBOX_COUNT(sandbox_ioctls));
	if (!SANDBOX_SANITIZED)
		sandbox_refuse_values(program, SYS_ptrace, 0, sandbox_ptraces,
				      SANDBOX_COUNT(sandbox_ptraces));
	sandbox_refuse_all(program, sandbox_reaches,
			   SANDBOX_COUNT(sandbox_reaches), EPERM);
	/* those of the process itself have 0 */
	sandbox_refuse_bits(program, SYS_prlimit64, 0, UINT32_MAX, EPERM);
	sandbox_refuse_bits(program, SYS_setpriority, 1, UINT32_MAX, EPERM);
	if (!sandbox->connects) {
		sandbox_refuse_all(program, sandbox_connects,
				   SANDBOX_COUNT(sandbox_connects), EPERM);
		/* of datagrams, which go to any address: types 2, 3 and 6 */
		sandbox_refuse_bits(program, SYS_socketpair, 1, SOCK_DGRAM,
				    EPERM);
		sandbox_add_kill(program, sandbox);
	}
	sandbox_allow(program);
}

static struct error *sandbox_filter(const struct sandbox *sandbox)
{
	struct sandbox_program program = { .length = 0 };
	struct sock_fprog filter = { .filter = program.code };

	sandbox_build(&program, sandbox);
	filter.len = program.length;
	/* no slower for speculation than without: nothing secret is ours */
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) < 0)
		return error_os(errno, "filter system calls");
	return NULL;
}

struct error *sandbox_enter(const struct sandbox *sandbox)
{
	uint64_t keep = sandbox_kept;
	struct error *err, *other = NULL;

	/* into folders of others; what that needs beyond is root's anyway */
	if (sandbox->writes)
		keep |= UINT64_C(1) << CAP_DAC_OVERRIDE;
	err = rights_reduce(keep);

	/* without it, nobody may filter without CAP_SYS_ADMIN */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		other = error_os(errno, "set no_new_privs");
	else if (prctl(PR_SET_DUMPABLE, 0) < 0)
		other = error_os(errno, "be closed to debuggers");
	else
		other = sandbox_filter(sandbox);
	if (err)
		error_free(other);
	return err ? err : other;
}
