/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The Valgrind tool `racewatch': records a program and its children for
 * `racewatch hunt'. Valgrind calls the functions below without an argument of
 * ours, so what is recorded is static here; all else gets a pointer.
 *
 * Valgrind runs one thread at a time. A thread that makes a system call does
 * not run until it returns.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <pub_tool_basics.h>

#include <pub_tool_aspacemgr.h>
#include <pub_tool_clientstate.h>
#include <pub_tool_libcassert.h>
#include <pub_tool_libcbase.h>
#include <pub_tool_libcprint.h>
#include <pub_tool_libcproc.h>
#include <pub_tool_machine.h>
#include <pub_tool_options.h>
#include <pub_tool_tooliface.h>
#include <pub_tool_vki.h>
#include <pub_tool_vkiscnums.h>
#include <pub_tool_xarray.h>

#include <libvex_guest_amd64.h>

#include "hunt/trace-events.h"
#include "hunt/trace-format.h"
#include "recorder/emit.h"
#include "recorder/moves.h"
#include "recorder/recorder.h"
#include "recorder/salvage.h"
#include "recorder/valgrind/endpoints.h"
#include "recorder/valgrind/instrument.h"
#include "recorder/valgrind/transfers.h"

enum { THREADS_MAX = 10000, MEMORY_MIB = 128, EVENTS_MAX = 1000000 };

static struct recorder recorder;
static struct recorder_options options = {
	.recorder = TRACE_BY_VALGRIND,
	.promises = TRACE_TOTAL_ORDER | TRACE_EXACT_VALUES | TRACE_EXACT_LOCKS,
	.events_max = EVENTS_MAX,
};
static Long memory_mib = MEMORY_MIB;
static Bool is_lossless, is_whole, has_code;
static Long code_window_kib; /* 0: none */
static Bool has_stacks; /* accesses to a thread's own stack, too */

/* By Valgrind's number of a thread, which is used again. */
static struct {
	struct thread *thread;
	struct transfer transfer;
	struct move move;
	uint32_t syscall; /* that it is in, or was last */
} running[THREADS_MAX];

static struct thread *thread_of(ThreadId tid)
{
	return tid < THREADS_MAX ? running[tid].thread : NULL;
}

static Bool process_option(const HChar *argument)
{
	const HChar *value;

	if (VG_STR_CLO(argument, "--trace-folder", value)) {
		options.folder = value;
	} else if (VG_STR_CLO(argument, "--runtime", value)) {
		return modules_add_rule(&recorder.modules, value,
					MODULE_RUNTIME);
	} else if (VG_STR_CLO(argument, "--strings", value)) {
		return modules_add_rule(&recorder.modules, value,
					MODULE_STRINGS);
	} else if (VG_BINT_CLO(argument, "--trace-memory", memory_mib, 1,
			       1 << 20)) {
	} else if (VG_BOOL_CLO(argument, "--lossless", is_lossless)) {
	} else if (VG_BOOL_CLO(argument, "--stacks", has_stacks)) {
	} else if (VG_BOOL_CLO(argument, "--whole", is_whole)) {
	} else if (VG_BOOL_CLO(argument, "--code", has_code)) {
		/* a superblock has each of its instructions once */
		if (has_code)
			VG_(clo_vex_control).iropt_unroll_thresh = 0;
	} else if (VG_BINT_CLO(argument, "--code-window", code_window_kib, 0,
			       1 << 30)) {
	} else {
		return False;
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --trace-folder=FOLDER   write the trace of each process there\n"
	 "    --trace-memory=MIB      memory for what is kept [128]\n"
	 "    --runtime=GLOB          leave out the module with that name\n"
	 "    --strings=GLOB          its mem* and str* functions only\n"
	 "    --stacks=yes|no         record a thread's own stack, too [no]\n"
	 "    --lossless=yes|no       write every access, too [no]\n"
	 "    --whole=yes|no          fold without limits, too [no]\n"
	 "    --code=yes|no           what each thread executes, too [no]\n"
	 "    --code-window=KiB       of that, the last of each thread [all]\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static const HChar *program_file(void)
{
	static HChar file[VKI_PATH_MAX];

	VG_(client_fname)(file, sizeof(file), True);
	return file;
}

static void begin(void)
{
	const HChar *arguments[256];
	uint32_t argc = 0;

	arguments[argc++] = VG_(args_the_exename);
	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)) && argc < 256;
	     i++)
		arguments[argc++] =
			*(HChar **)VG_(indexXA)(VG_(args_for_client), i);
	if (recorder_begin(&recorder, arguments, argc)) {
		salvage_protect(&recorder, NULL);
		return;
	}
	VG_(umsg)("racewatch: cannot create %s\n", recorder.writer.path);
	VG_(exit)(125);
}

static void after_options(void)
{
	if (!options.folder) {
		VG_(umsg)("racewatch: --trace-folder is missing\n");
		VG_(exit)(125);
	}
	options.memory = (uint64_t)memory_mib << 20;
	options.file = program_file();
	options.whole = is_whole;
	options.code = has_code;
	options.window = (uint64_t)code_window_kib << 10;
	if (is_lossless)
		options.promises |= TRACE_LOSSLESS;
	recorder_init(&recorder, &options);
	begin();
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *block,
			const VexGuestLayout *layout,
			const VexGuestExtents *extents, const VexArchInfo *host,
			IRType guest_word, IRType host_word)
{
	(void)closure, (void)layout, (void)extents, (void)host;
	(void)guest_word, (void)host_word;
	return instrument_block(&recorder, block);
}

static void finish(Int status)
{
	recorder_runs(&recorder, NULL);
	emit_all(&recorder);
	emit_end(&recorder, status, TRACE_ENDED);
	salvage_unprotect(&recorder);
	writer_close(&recorder.writer);
}

/* Code at the address is of a file of the program's. */
static void map_code(Addr address)
{
	const NSegment *segment = VG_(am_find_nsegment)(address);
	Addr own = (Addr)map_code; /* this tool's file is mapped, too */
	const HChar *path;

	if (!segment || segment->kind != SkFileC ||
	    (own >= segment->start && own <= segment->end))
		return;
	path = VG_(am_get_filename)(segment);
	if (path)
		recorder_map(&recorder, path, segment->start,
			     (uint64_t)segment->offset);
}

static void on_map(Addr address, SizeT size, Bool readable, Bool writable,
		   Bool executable, ULong handle)
{
	(void)readable, (void)writable, (void)handle;
	recorder_forget(&recorder, address, size);
	if (executable)
		map_code(address);
}

static void on_protect(Addr address, SizeT size, Bool readable, Bool writable,
		       Bool executable)
{
	(void)size, (void)readable, (void)writable;
	if (executable)
		map_code(address);
}

static void on_unmap(Addr address, SizeT size)
{
	uint32_t module;

	recorder_forget(&recorder, address, size);
	while ((module = modules_unmap(&recorder.modules, address, size)) != 0)
		emit_unload(&recorder, module);
}

static void on_remap(Addr from, Addr to, SizeT size)
{
	recorder_forget(&recorder, from, size);
	recorder_forget(&recorder, to, size);
}

static void on_create(ThreadId parent, ThreadId child)
{
	struct thread *thread = recorder_thread(&recorder, thread_of(parent));

	if (child >= THREADS_MAX)
		return;
	running[child].thread = thread;
	running[child].transfer.number = -1;
}

static void on_first_instruction(ThreadId tid)
{
	struct thread *thread = thread_of(tid);
	UWord pointer = 0;

	if (!thread)
		return;
	thread->tid = VG_(gettid)();
	VG_(get_shadow_regs_area)
	(tid, (UChar *)&pointer, 0,
	 offsetof(VexGuestAMD64State, guest_FS_CONST), sizeof(pointer));
	thread->pointer = pointer;
	if (!has_stacks) {
		thread->stack_size = VG_(thread_get_stack_size)(tid);
		thread->stack_low =
			VG_(thread_get_stack_max)(tid) - thread->stack_size + 1;
	}
	recorder_thread_begins(&recorder, thread);
}

static void on_exit_thread(ThreadId tid)
{
	struct thread *thread = thread_of(tid);

	if (thread)
		recorder_thread_ends(&recorder, thread);
	if (tid < THREADS_MAX)
		running[tid].thread = NULL;
}

static void on_start(ThreadId tid, ULong blocks)
{
	(void)blocks;
	recorder_runs(&recorder, thread_of(tid));
}

static void on_stop(ThreadId tid, ULong blocks)
{
	(void)tid, (void)blocks;
	recorder_runs(&recorder, NULL);
}

/* DIV or IDIV (Intel SDM, volume 2): opcodes F6 and F7, /6 and /7. */
static bool is_division(const UChar *code)
{
	/* prefixes: of sizes and of segments, REPNE, REP, LOCK, REX */
	while (*code == 0x66 || *code == 0x67 || *code == 0x26 ||
	       *code == 0x2e || *code == 0x36 || *code == 0x3e ||
	       *code == 0x64 || *code == 0x65 ||
	       (*code >= 0xf0 && *code <= 0xf3) || (*code & 0xf0) == 0x40)
		code++;
	return (code[0] & 0xfe) == 0xf6 && (code[1] & 0x30) == 0x30;
}

/*
 * Translated code sets the instruction pointer before each access to memory, and
 * not before a division: then it is that of the last access, which was made.
 */
static void on_signal(ThreadId tid, Int signal, Bool alternate)
{
	Addr ip = VG_(get_IP)(tid);
	const UChar *code = (const UChar *)ip;
	bool readable = VG_(am_is_valid_for_client)(ip, 1, VKI_PROT_READ);

	(void)alternate;
	if (thread_of(tid) && thread_of(tid) == recorder.current)
		stream_broken(&recorder, ip,
			      readable && signal == VKI_SIGFPE &&
				      !is_division(code));
	if (signal == VKI_SIGILL && readable && !instrument_is_evex(code))
		emit_unable(&recorder, "SIGILL: perhaps an instruction that "
				       "Valgrind does not run");
}

static void begin_move(ThreadId tid, UInt number, const UWord *arguments,
		       UInt count)
{
	uint64_t all[MOVE_ARGUMENTS] = { 0 };

	for (UInt i = 0; i < count && i < MOVE_ARGUMENTS; i++)
		all[i] = arguments[i];
	running[tid].syscall = number;
	moves_begin(&recorder, &running[tid].move, &endpoints, number, all);
}

static void end_move(ThreadId tid, UInt number, const UWord *arguments,
		     UInt count, SysRes result)
{
	if (!sr_isError(result) && number == __NR_socketpair && count > 3 &&
	    recorder.stream.on)
		endpoints_pair(&recorder.stream.channels,
			       (const int *)arguments[3]);
	moves_end(&recorder, thread_of(tid), &running[tid].move, &endpoints,
		  sr_isError(result) ? -1 : (int64_t)sr_Res(result));
}

/*
 * Valgrind does not let a program lower the limit of open files, or raise it above
 * the soft one that it found. Some programs end then.
 */
static void say_limit(UInt number, const UWord *arguments, UInt count)
{
	static Bool said;
	bool sets = (number == __NR_setrlimit && count > 1 &&
		     arguments[0] == VKI_RLIMIT_NOFILE) ||
		    (number == __NR_prlimit64 && count > 2 &&
		     arguments[1] == VKI_RLIMIT_NOFILE && arguments[2] != 0);

	if (sets && !said)
		emit_unable(&recorder, "setrlimit: Valgrind keeps its own "
				       "limit of open files");
	said = said || sets;
}

static void before_syscall(ThreadId tid, UInt number, UWord *arguments,
			   UInt count)
{
	if (!thread_of(tid))
		return;
	running[tid].transfer =
		transfer_begin(&recorder, number, arguments, count);
	begin_move(tid, number, arguments, count);
	if (number == __NR_execve || number == __NR_execveat)
		salvage_executes(&recorder);
}

static void after_syscall(ThreadId tid, UInt number, UWord *arguments,
			  UInt count, SysRes result)
{
	if (!thread_of(tid))
		return;
	running[tid].transfer.number = -1;
	end_move(tid, number, arguments, count, result);
	if (sr_isError(result))
		say_limit(number, arguments, count);
	if ((number == __NR_execve || number == __NR_execveat) &&
	    sr_isError(result))
		salvage_goes_on(&recorder);
}

static void on_kernel_reads(CorePart part, ThreadId tid, const HChar *what,
			    Addr address, SizeT size)
{
	(void)what;
	if (part == Vg_CoreSysCall && thread_of(tid))
		transfer_access(&recorder, thread_of(tid),
				&running[tid].transfer, VG_(get_IP)(tid),
				address, size, false);
}

static void on_kernel_wrote(CorePart part, ThreadId tid, Addr address,
			    SizeT size)
{
	if (part != Vg_CoreSysCall || !thread_of(tid))
		return;
	transfer_access(&recorder, thread_of(tid), &running[tid].transfer,
			VG_(get_IP)(tid), address, size, true);
	moves_wrote(&recorder, thread_of(tid), &running[tid].move, &endpoints,
		    running[tid].syscall, address, size);
}

/* The child of fork has one thread, which called it. */
static void in_child(ThreadId tid)
{
	struct thread *survivor = thread_of(tid);

	if (!survivor)
		return;
	for (ThreadId i = 0; i < THREADS_MAX; i++) {
		running[i].thread = NULL;
		move_deinit(&running[i].move);
	}
	if (recorder_fork(&recorder, survivor))
		salvage_protect(&recorder, NULL);
	else
		VG_(umsg)
	("racewatch: cannot create %s\n", recorder.writer.path);
	running[tid].thread = records_at(&recorder.threads, 1);
}

static void track_memory(void)
{
	VG_(track_new_mem_startup)(on_map);
	VG_(track_new_mem_mmap)(on_map);
	VG_(track_change_mem_mprotect)(on_protect);
	VG_(track_die_mem_munmap)(on_unmap);
	VG_(track_copy_mem_remap)(on_remap);
	VG_(track_pre_mem_read)(on_kernel_reads);
	VG_(track_post_mem_write)(on_kernel_wrote);
}

static void track_threads(void)
{
	VG_(track_pre_thread_ll_create)(on_create);
	VG_(track_pre_thread_first_insn)(on_first_instruction);
	VG_(track_pre_thread_ll_exit)(on_exit_thread);
	VG_(track_start_client_code)(on_start);
	VG_(track_stop_client_code)(on_stop);
	VG_(track_pre_deliver_signal)(on_signal);
	VG_(atfork)(NULL, NULL, in_child);
}

static void before_options(void)
{
	VG_(details_name)("racewatch");
	VG_(details_version)(NULL);
	VG_(details_description)("a recorder of memory accesses");
	VG_(details_copyright_author)("GPL-3.0-or-later");
	VG_(details_bug_reports_to)("the authors of racewatch");
	VG_(basic_tool_funcs)(after_options, instrument, finish);
	VG_(needs_command_line_options)
	(process_option, print_usage, print_debug_usage);
	VG_(needs_syscall_wrapper)(before_syscall, after_syscall);
	/* Blocks end at each call and return. */
	VG_(clo_vex_control).guest_chase = False;
	track_memory();
	track_threads();
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
