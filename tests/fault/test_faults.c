/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The fault matrix: every ptrace request and every other call by which the
 * tracer acts on the target, or learns of it, is made to fail; once, and for
 * good from some time on. The tracer must neither crash, hang nor leak, and
 * the program must end as it would have without it, its text as it was. Where
 * it cannot, the table says why.
 *
 * Some rows ask for conflicts to be held, and let both threads go on, leave
 * the program stopped, or have the front end go away meanwhile.
 *
 * The program is started by the tracer, or attached to and let go again. A
 * short run takes the first call, the 6th, the 36th, with one back-end for each
 * row, and a third of the rows, which take turns; RACEWATCH_TEST_LONG takes all of
 * these.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "../unit/tracee.h"

#include <pthread.h>
#include <time.h>

#include "../helpers/turn.h"
#include "../unit/sites.h"
#include "faulty.h"
#include "tracer/tracer.h"
#include "wire/channel.h"

enum {
	STATUS = 42,
	SPOILT = 43, /* its text is not as it was */
	/* of a thread, at least */
	PASSES = 60,
	/* then until so many samples were taken, or so much time has passed */
	SAMPLES = 8,
	SAMPLES_MS = 200,
	/* and so much for a conflict, where samples are taken at all */
	HELD_MS = 5000,
	TEXT = 2 * 4096,
	OUT_LIMIT = 1 << 20,
	/* a run takes some 50 ms */
	RUN_SECONDS = 30,
	ROW_SECONDS = 900,
};

struct arena {
	struct fault_state state;
	uint32_t ready, go, enough, ended, leave;
	bool released; /* by the end */
	uint64_t write_site, read_site;
	uint64_t data[4];
	char message[512];
};

static struct arena *arena;
static char *program_argv[4];

/* What the front end does of a conflict whose threads wait for it. */
enum held {
	HELD_NEVER, /* they do not wait */
	HELD_GO_ON,
	HELD_STOP, /* the program is left stopped, and woken up */
	HELD_GONE, /* it dies */
};

struct row {
	const char *name;
	struct fault fault;
	const char *backend; /* in short runs */
	/* why the program cannot be saved when it fails for good; or NULL */
	const char *lost;
	enum held held;
};

#define REQUEST(request, in_short)                     \
	{                                              \
		.name = #request,                      \
		.fault = { .call = CALL_PTRACE,        \
			   .detail = PTRACE_##request, \
			   .code = EIO },              \
		.backend = in_short                    \
	}

#define HELD(request, answer, in_short)                    \
	{                                                  \
		.name = #request ", held, " #answer,       \
		.fault = { .call = CALL_PTRACE,            \
			   .detail = PTRACE_##request,     \
			   .code = EIO },                  \
		.backend = in_short, .held = HELD_##answer \
	}

static const struct row rows[] = {
	REQUEST(SEIZE, "perf"),
	REQUEST(INTERRUPT, "ptrace"),
	REQUEST(CONT, "perf"),
	REQUEST(SYSCALL, "ptrace"),
	REQUEST(LISTEN, "perf"),
	REQUEST(DETACH, "perf"),
	REQUEST(GETREGS, "value"),
	REQUEST(SETREGS, "perf"),
	REQUEST(POKEUSER, "value"),
	REQUEST(PEEKUSER, "ptrace"),
	REQUEST(GETSIGINFO, "ptrace"),
	REQUEST(PEEKSIGINFO, "perf"),
	REQUEST(GETSIGMASK, "perf"),
	REQUEST(SETSIGMASK, "value"),
	REQUEST(GETEVENTMSG, "value"),
	{ "debug registers",
	  { .call = CALL_PTRACE, .detail = FAULT_POKE_DEBUG, .code = ENOSPC },
	  .backend = "ptrace" },
	{ "reading debug registers",
	  { .call = CALL_PTRACE, .detail = FAULT_PEEK_DEBUG, .code = EIO },
	  .backend = "ptrace" },
	{ "SEIZE, no permission",
	  { .call = CALL_PTRACE, .detail = PTRACE_SEIZE, .code = EPERM },
	  .backend = "value" },
	{ "process_vm_readv",
	  { .call = CALL_READV, .code = EPERM },
	  .backend = "ptrace" },
	{ "reading memory",
	  { .call = CALL_PREAD, .code = EPERM, .refused = CALL_READV },
	  .backend = "value",
	  .lost = "text that cannot be read is not written: its breakpoints stay" },
	{ "writing text",
	  { .call = CALL_PWRITE, .code = EIO },
	  .backend = "perf" },
	{ "POKETEXT",
	  { .call = CALL_PTRACE,
	    .detail = PTRACE_POKETEXT,
	    .code = EIO,
	    .refused = CALL_PWRITE },
	  .backend = "value",
	  .lost = "what it wrote, where nothing else may, cannot be undone" },
	{ "perf_event_open",
	  { .call = CALL_SYSCALL,
	    .detail = SYS_perf_event_open,
	    .code = EMFILE },
	  .backend = "perf" },
	{ "kcmp",
	  { .call = CALL_SYSCALL, .detail = SYS_kcmp, .code = EPERM },
	  .backend = "perf" },
	{ "tgkill",
	  { .call = CALL_SYSCALL, .detail = SYS_tgkill, .code = EPERM },
	  .backend = "value" },
	{ "ioctl of perf",
	  { .call = CALL_IOCTL, .code = EIO },
	  .backend = "perf" },
	{ "open /proc/PID/mem",
	  { .call = CALL_OPEN, .path = "/mem", .code = EACCES },
	  .backend = "perf" },
	{ "open /proc/TID/status",
	  { .call = CALL_OPEN, .path = "/status", .code = EMFILE },
	  .backend = "ptrace" },
	{ "open /proc/TID/syscall",
	  { .call = CALL_OPEN, .path = "/syscall", .code = EPERM },
	  .backend = "perf" },
	{ "open /proc/TID/schedstat",
	  { .call = CALL_OPEN, .path = "/schedstat", .code = ENOENT },
	  .backend = "ptrace" },
	{ "open /proc/TID/comm",
	  { .call = CALL_OPEN, .path = "/comm", .code = EMFILE },
	  .backend = "value" },
	{ "open /proc/PID/auxv",
	  { .call = CALL_OPEN, .path = "/auxv", .code = EACCES },
	  .backend = "perf" },
	{ "list /proc/PID/task",
	  { .call = CALL_OPENDIR, .path = "/task", .code = EMFILE },
	  .backend = "perf" },
	{ "read", { .call = CALL_READ, .code = EIO }, .backend = "perf" },
	{ "write", { .call = CALL_WRITE, .code = EPIPE }, .backend = "ptrace" },
	{ "ppoll", { .call = CALL_PPOLL, .code = EINTR }, .backend = "value" },
	{ "pipe", { .call = CALL_PIPE, .code = EMFILE }, .backend = "perf" },
	{ "fork", { .call = CALL_FORK, .code = EAGAIN }, .backend = "perf" },
	{ "signalfd",
	  { .call = CALL_SIGNALFD, .code = EMFILE },
	  .backend = "value" },
	{ "fork of the tracer",
	  { .call = CALL_FORK, .code = EAGAIN, .front = true },
	  .backend = "value" },
	{ "socketpair",
	  { .call = CALL_SOCKETPAIR, .code = EMFILE, .front = true },
	  .backend = "value" },
	HELD(CONT, GO_ON, "perf"),
	HELD(CONT, STOP, "ptrace"),
	HELD(CONT, STOP, "perf"),
	HELD(CONT, GONE, "perf"),
	HELD(LISTEN, STOP, "ptrace"),
	HELD(DETACH, STOP, "perf"),
	HELD(DETACH, GONE, "ptrace"),
	HELD(SETREGS, GO_ON, "ptrace"),
	HELD(SETREGS, STOP, "perf"),
	HELD(GETSIGINFO, STOP, "perf"),
	HELD(GETSIGINFO, GONE, "ptrace"),
	{ "writing text, held, STOP",
	  { .call = CALL_PWRITE, .code = EIO },
	  .backend = "perf",
	  .held = HELD_STOP },
	{ "write, held, STOP",
	  { .call = CALL_WRITE, .code = EPIPE },
	  .backend = "perf",
	  .held = HELD_STOP },
	{ "read, held, GONE",
	  { .call = CALL_READ, .code = EIO },
	  .backend = "perf",
	  .held = HELD_GONE },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const char *const backends[] = { "perf", "ptrace", "value" };

/* --- the program, which is this one --- */

static bool told(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE) != 0;
}

/* What the trap of a breakpoint may reset, so that it must be put back. */
static void child_on_trap(int signal)
{
	(void)signal;
}

static void *child_write(void *arg)
{
	for (uint64_t i = 0; i < PASSES || !told(&arena->enough); i++) {
		do_write(&arena->data[0], i);
		for (int spin = 0; spin < 1000; spin++)
			__asm__ volatile("pause");
	}
	return arg;
}

static void *child_nothing(void *arg)
{
	return arg;
}

/* Stop the parent, and let it go on when it has stopped. */
static void child_stop_parent(void)
{
	char path[64], text[512] = "";
	pid_t parent = getppid();

	kill(parent, SIGSTOP);
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)parent);
	for (int i = 0; i < 200; i++) {
		const char *state;
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		text[n > 0 ? n : 0] = '\0';
		state = strrchr(text, ')');
		if (state && strchr("Tt", state[2]))
			break;
		usleep(100);
	}
	kill(parent, SIGCONT);
}

static void child_fork(bool stop)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (stop)
			child_stop_parent();
		do_write(&arena->data[1], 1);
		_exit(do_read(&arena->data[1]) == 1 ? 0 : 1);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0)
		_exit(1);
}

static int child_main(int fd)
{
	struct sigaction action = { .sa_handler = child_on_trap };
	static uint8_t text[TEXT];
	const void *page;
	pthread_t thread;

	tracee_is_child = true;
	prctl(PR_SET_PDEATHSIG, 0);
	alarm(RUN_SECONDS * 6);
	sigaction(SIGTRAP, &action, NULL);
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	page = (const void *)((uintptr_t)site_write & ~UINT64_C(4095));
	memcpy(text, page, TEXT);
	arena->write_site = (uintptr_t)site_write;
	arena->read_site = (uintptr_t)site_read;
	tracee_tell(&arena->ready, 1);
	tracee_await(&arena->go, 1);
	pthread_create(&thread, NULL, child_write, NULL);
	for (int i = 0; i < PASSES || !told(&arena->enough); i++) {
		pthread_t other;

		do_read(&arena->data[0]);
		for (int spin = 0; spin < 1000; spin++)
			__asm__ volatile("pause");
		if (i % PASSES == PASSES / 4)
			child_fork(i > PASSES);
		if (i % (PASSES / 2) == 1) {
			pthread_create(&other, NULL, child_nothing, NULL);
			pthread_join(other, NULL);
		}
	}
	pthread_join(thread, NULL);
	tracee_tell(&arena->ended, 1);
	tracee_await(&arena->leave, 1);
	return arena->released && memcmp(text, page, TEXT) ? SPOILT : STATUS;
}

/* --- the front end --- */

struct run {
	const char *backend;
	bool attach;
	enum held held;
	uint32_t conflicts_held;
	pid_t pid; /* of the program, when it is ours */
	struct tracer tracer;
	struct channel channel;
	struct wire_site sites[2];
	bool spawned, started, failed, exited, stopped;
	uint32_t samples;
	struct wire_exited exit;
	uint64_t end, enough; /* ms */
	const char *wrong;
};

static uint64_t run_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Is there time left? */
static bool run_in_time(struct run *run, const char *what)
{
	if (!run->wrong && run_ms() > run->end)
		run->wrong = what;
	return !run->wrong;
}

static void run_send_sites(struct run *run)
{
	for (int i = 0; i < 2; i++)
		run->sites[i].id += 2;
	channel_send(&run->channel, WIRE_SITES, run->sites, sizeof(run->sites));
}

static void run_started(struct run *run, const struct wire_started *started)
{
	run->started = true;
	run->pid = started->pid;
}

static void run_failed(struct run *run, const struct wire_failed *failed)
{
	run->failed = true;
	snprintf(arena->message, sizeof(arena->message), "%s", failed->message);
}

static void run_answer(struct run *run, const struct wire_conflict *conflict)
{
	struct wire_judged judged = {
		.freeze = conflict->freeze,
		.stop = run->held == HELD_STOP,
	};

	if (conflict->freeze == 0)
		return;
	run->conflicts_held++;
	if (run->held == HELD_GONE)
		shutdown(run->channel.fd, SHUT_RDWR);
	else
		channel_send(&run->channel, WIRE_JUDGED, &judged,
			     sizeof(judged));
}

static void run_wake(const struct wire_stopped *stopped)
{
	for (int i = 0; i < 2; i++) {
		if (stopped->pids[i] != 0)
			kill(stopped->pids[i], SIGCONT);
	}
}

static void run_turn(struct run *run)
{
	struct channel *channel = &run->channel;
	struct pollfd fd = { .fd = channel->fd, .events = POLLIN };
	enum wire_type type;
	const void *payload;
	size_t size;

	channel_flush(channel);
	poll(&fd, 1, 2);
	channel_fill(channel);
	while (channel_next(channel, &type, &payload, &size)) {
		if (type == WIRE_STARTED)
			run_started(run, payload);
		run->samples += type == WIRE_SAMPLE;
		if (type == WIRE_FAILED)
			run_failed(run, payload);
		if (type == WIRE_CONFLICT)
			run_answer(run, payload);
		if (type == WIRE_STOPPED)
			run_wake(payload);
		if (type == WIRE_RETURNED && !run->stopped)
			run_send_sites(run);
		if (type != WIRE_EXITED)
			continue;
		run->exited = true;
		memcpy(&run->exit, payload, sizeof(run->exit));
	}
}

static bool run_open(const struct run *run)
{
	return !run->exited && !run->channel.closed;
}

static bool run_enough(const struct run *run)
{
	uint64_t now = run_ms();
	/* samples, or nothing has failed that could keep them from coming */
	bool may_come = run->samples > 0 || !fault_state->forever ||
			fault_state->calls < fault_state->at;

	if (run->held != HELD_NEVER && run->conflicts_held == 0 && may_come &&
	    now < run->enough + HELD_MS)
		return false;
	return run->samples >= SAMPLES || now > run->enough;
}

/* Until the program has ended, or been let go. */
static void run_watch(struct run *run)
{
	while (!run->started && !run->failed && !run->channel.closed &&
	       run_in_time(run, "it does not start"))
		run_turn(run);
	if (run->started) {
		while (!told(&arena->ready) && run_open(run) &&
		       run_in_time(run, "the program does not begin"))
			run_turn(run);
		run->sites[0] = site_at(site_write, 1);
		run->sites[0].address = arena->write_site;
		run->sites[1] = site_at(site_read, 2);
		run->sites[1].address = arena->read_site;
		run_send_sites(run);
		channel_flush(&run->channel);
	}
	tracee_tell(&arena->go, 1);
	run->enough = run_ms() + SAMPLES_MS;
	while (run->started && !told(&arena->ended) && run_open(run) &&
	       run_in_time(run, "the program hangs")) {
		if (run_enough(run))
			tracee_tell(&arena->enough, 1);
		run_turn(run);
	}
	tracee_tell(&arena->enough, 1);
	if (run->attach) {
		run->stopped = true;
		channel_send(&run->channel, WIRE_STOP, NULL, 0);
	} else {
		tracee_tell(&arena->leave, 1);
	}
	while (run_open(run) && run_in_time(run, "the tracer does not end"))
		run_turn(run);
}

static void run_spawn(struct run *run)
{
	struct tracer_config config = {
		.argv = run->attach ? NULL : program_argv,
		.pids = &run->pid,
		.pid_count = run->attach,
		.tracing.backend = run->backend,
		.seed = 1,
		.hold_conflicts = run->held != HELD_NEVER,
		.params = { .rate = 5000,
			    .stall_max_ns = 300000,
			    .stretch_max = 1 },
	};
	struct error *err = tracer_spawn(&config, &run->tracer);

	if (err) {
		snprintf(arena->message, sizeof(arena->message), "%s",
			 error_message(err));
		error_free(err);
		run->failed = true;
		return;
	}
	run->spawned = true;
	assert_ok(channel_init(&run->channel, run->tracer.fd, OUT_LIMIT));
}

/* Where the threads of the program are, when it hangs. */
static void run_explain(const struct run *run)
{
	char command[256];

	if (run->wrong && strstr(run->wrong, "hang") && run->pid > 0) {
		snprintf(command, sizeof(command),
			 "cd /proc/%d/task && grep -H -E "
			 "'^(State|TracerPid|SigPnd|SigBlk|ShdPnd):' "
			 "*/status >&2; cat */syscall >&2",
			 (int)run->pid);
		if (system(command) != 0)
			print_error("gone\n");
	}
}

/* Wait for the end of a child; kill it when it takes too long. */
static int run_reap(struct run *run, pid_t pid, const char *hangs)
{
	int status = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (!run_in_time(run, hangs)) {
			kill(pid, SIGKILL);
			waitpid(pid, &status, 0);
			break;
		}
		usleep(500);
	}
	return status;
}

static void run_start_program(struct run *run)
{
	run->pid = fork();
	assert_true(run->pid >= 0);
	if (run->pid == 0) {
		execv(program_argv[0], program_argv);
		_exit(1);
	}
	while (!told(&arena->ready) &&
	       run_in_time(run, "the program does not start"))
		usleep(200);
}

static void run_judge(struct run *run, bool lost)
{
	static char text[64];
	int tracer = 0, program = STATUS << 8;

	if (lost) {
		run->wrong = NULL;
		run->end = run_ms() + RUN_SECONDS * 1000;
	} else {
		run_explain(run);
	}
	if (run->spawned)
		tracer = run_reap(run, run->tracer.pid, "the tracer hangs");
	tracee_tell(&arena->go, 1);
	tracee_tell(&arena->enough, 1);
	arena->released = run->attach;
	tracee_tell(&arena->leave, 1);
	if (run->attach)
		program = run_reap(run, run->pid, "the program hangs");
	else if (run->exited && !run->failed)
		program = run->exit.status;
	if (run->failed && arena->message[0] == '\0')
		run->wrong = "no message";
	if (!lost && !run->wrong && program != STATUS << 8) {
		snprintf(text, sizeof(text), "the program ended with %#x",
			 (unsigned int)program);
		run->wrong = text;
	}
	if (lost)
		run->wrong = NULL;
	if (!run->wrong && tracer != 0) {
		snprintf(text, sizeof(text), "the tracer ended with %#x",
			 (unsigned int)tracer);
		run->wrong = text;
	}
}

/* What went wrong, or NULL; and whether there were so many calls. */
static const char *run_once(const struct row *row, const char *backend,
			    bool attach, uint32_t at, bool forever,
			    bool *ret_reached, uint32_t *held)
{
	struct run run = { .backend = backend,
			   .attach = attach,
			   .held = row->held };
	int fd = (int)syscall(SYS_memfd_create, "arena", 0, 0, 0, 0, 0);
	static char number[16];

	alarm(ROW_SECONDS);
	run.end = run_ms() + RUN_SECONDS * 1000;
	assert_int_equal(ftruncate(fd, sizeof(*arena)), 0);
	arena = mmap(NULL, sizeof(*arena), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	fault_state = &arena->state;
	fault_state->fault = row->fault;
	snprintf(number, sizeof(number), "%d", fd);
	program_argv[0] = (char *)"/proc/self/exe";
	program_argv[1] = (char *)"--child";
	program_argv[2] = number;
	if (attach)
		run_start_program(&run);
	fault_state->forever = forever;
	fault_state->at = at;
	run_spawn(&run);
	if (run.spawned)
		run_watch(&run);
	if (run.spawned)
		channel_deinit(&run.channel);
	run_judge(&run, forever && row->lost);
	*ret_reached = fault_state->calls >= at;
	*held += run.conflicts_held;
	if (getenv("RACEWATCH_TEST_VERBOSE"))
		print_message("%s %s %s %u: %u calls, %u held; %s\n", row->name,
			      backend, attach ? "attach" : "run", at,
			      fault_state->calls, run.conflicts_held,
			      arena->message);
	fault_state = NULL;
	munmap(arena, sizeof(*arena));
	arena = NULL;
	close(fd);
	return run.wrong;
}

/* The number of failures. */
static int row_try(const struct row *row, const char *backend, bool attach,
		   bool forever, bool all, uint32_t *held)
{
	bool reached = true;
	int failures = 0;

	for (uint32_t at = 1; reached && (all || at < 50);
	     at += !all	     ? 5 * at
		   : at < 60 ? 1
			     : 1 + at / 8) {
		const char *wrong = run_once(row, backend, attach, at, forever,
					     &reached, held);

		if (!wrong)
			continue;
		print_error("%s, back-end %s, %s, call %u%s: %s\n", row->name,
			    backend, attach ? "attach" : "run", at,
			    forever ? " and later" : "", wrong);
		failures++;
	}
	return failures;
}

/* With which back-end, in a short run. */
static const char *row_backend(const struct row *row)
{
	static int lacks = -1;

	if (lacks < 0)
		lacks = machine_lacks_registers();
	return lacks ? "value" : row->backend;
}

static void row_passes(void **state)
{
	const struct row *row = *state;
	const char *in_short = row_backend(row);
	int nth = (int)(row - rows);
	bool all = getenv("RACEWATCH_TEST_LONG") != NULL;
	uint32_t held = 0;
	int failures = 0;

	for (int i = 0; i < 12; i++) {
		const char *backend = backends[i / 4];
		bool attach = i & 1, forever = i & 2;

		/* in short, two of the four forms, one with one back-end */
		if (!all && (strcmp(backend, in_short) ||
			     attach != (row->held == HELD_GONE ||
					(nth & 1) == forever)))
			continue;
		/* a program that is started has nobody then who sees its end */
		if (row->held == HELD_GONE && !attach)
			continue;
		failures += row_try(row, backend, attach, forever, all, &held);
	}
	assert_int_equal(failures, 0);
	/* six programs, of which each makes a hundred conflicts and more */
	assert_true(row->held == HELD_NEVER || held > 0);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[ROWS] = { 0 };
	size_t count = 0, left_out = 0;

	if (argc > 2 && strcmp(argv[1], "--child") == 0)
		return child_main(atoi(argv[2]));
	for (int i = 0; i < ROWS; i++) {
		if (argc > 1 && strcmp(argv[1], rows[i].name))
			continue;
		if (argc == 1 && !turn_has((size_t)i, 3)) {
			left_out++;
			continue;
		}
		tests[count++] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = row_passes,
			.initial_state = (void *)(uintptr_t)&rows[i],
		};
	}
	turn_tell(left_out, ROWS);
	fault_test_pid = getpid();
	tracee_lock_registers();
	return _cmocka_run_group_tests("faults", tests, count, NULL, NULL);
}
