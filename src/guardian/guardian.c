/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian process, and the tracer's side of it; see guardian.h.
 */
#include "guardian/guardian.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/signals.h"
#include "guardian/fortify.h"
#include "guardian/guardrestore.h"
#include "guardian/guardstuck.h"
#include "guardian/guardtable.h"
#include "guardian/guardtend.h"
#include "guardian/heartbeat.h"
#include "sys/deathwatch.h"
#include "wire/message.h"

enum {
	/* the dead tracer's memory and files may take a while to go */
	GUARDIAN_DEATH_MS = 5000,
	/* its turn on the processor comes soon, by its priority or fairness */
	GUARDIAN_OPEN_MS = 1000,
	GUARDIAN_KEPT_FD = STDERR_FILENO + 1,
};

/*
 * Nothing of the tracer is kept open but one file: others wait for its files
 * to close. Returns the new number of the one.
 */
static int guardian_close_files(int kept)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (null < 0 || dup2(null, fd) < 0)
			close(fd);
	}
	kept = dup3(kept, GUARDIAN_KEPT_FD, O_CLOEXEC);
	syscall(SYS_close_range, GUARDIAN_KEPT_FD + 1, ~0u, 0);
	return kept;
}

struct guardian_state {
	struct guardrestore *restore;
	struct heartbeat *heartbeat;
	struct heartbeat_watch watch;
	int tracer; /* a pidfd; -1: there are none here, or they are refused */
};

static int guardian_open_tracer(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/*
 * Its tracees are detached before its end is reported, and before its children
 * get another parent (kernel/exit.c, exit_notify). tracer: a pidfd; -1: there
 * are none here, or they are refused.
 */
static void guardian_await_end(int tracer, pid_t pid)
{
	struct pollfd fd = { .fd = tracer, .events = POLLIN };

	if (tracer >= 0) {
		poll(&fd, 1, GUARDIAN_DEATH_MS);
		return;
	}
	for (int i = 0; i < GUARDIAN_DEATH_MS && getppid() == pid; i++)
		poll(NULL, 0, 1);
}

static void guardian_act(struct guardrestore *restore, int tracer, bool stuck)
{
	const struct guardtable *table = restore->table;
	uint32_t left;

	guardrestore_open(restore);
	left = guardrestore_text(restore);
	if (left == 0 && !table->registers && !stuck)
		return;
	guardian_await_end(tracer, table->death.pid);
	for (uint32_t i = 0; i < GUARDTABLE_SPACES; i++)
		guardtend_space(restore, i);
	if (stuck)
		guardstuck_continue(restore);
}

/* Look after the tracer. True: it was stuck, and has been killed. */
static bool guardian_look(struct guardian_state *state)
{
	struct guardrestore *restore = state->restore;
	pid_t pid = restore->table->death.pid;

	switch (heartbeat_look(&state->watch, state->heartbeat, pid,
			       clock_now_ns())) {
	case HEARTBEAT_CONTINUE:
		syscall(SYS_pidfd_send_signal, state->tracer, SIGCONT, NULL, 0);
		return false;
	case HEARTBEAT_STUCK:
		/* no other way is safe from hitting somebody else */
		if (state->tracer < 0)
			return false;
		__atomic_store_n(&state->heartbeat->killed, 1,
				 __ATOMIC_RELEASE);
		guardstuck_kill(restore, state->tracer);
		return true;
	case HEARTBEAT_WELL:
	default:
		return false;
	}
}

/* Until the tracer needs no guardian, has died, or was killed: true then. */
static bool guardian_sleep(struct guardian_state *state)
{
	struct deathwatch *death = &state->restore->table->death;
	uint32_t seen = 0;

	while (deathwatch_wait(death, &seen, state->watch.due_ns)) {
		guardrestore_open(state->restore);
		if (guardian_look(state))
			return true;
	}
	return false;
}

static void guardian_main(struct guardtable *table, struct heartbeat *heartbeat,
			  int ready)
{
	struct guardian_state state = { .heartbeat = heartbeat };
	bool stuck;
	struct guardrestore *restore;
	struct error *err;
	int tracer;

	prctl(PR_SET_NAME, "racewatch-guard");
	signals_block_all(NULL);
	setsid();
	ready = guardian_close_files(ready);
	tracer = guardian_open_tracer(table->death.pid);
	err = deathwatch_prepare();
	if (!err)
		err = guardrestore_create(table, &restore);
	if (err) {
		error_free(err);
		return;
	}
	fortify_memory();
	fortify_priority(FORTIFY_PRIORITY);
	/* what it will need is in memory, once it has been done */
	guardrestore_text(restore);
	if (write(ready, "", 1) != 1)
		return;
	close(ready);
	state.restore = restore;
	state.tracer = tracer;
	stuck = guardian_sleep(&state);
	if (stuck || deathwatch_died(&table->death))
		guardian_act(restore, tracer, stuck);
}

/* Fork it, and wait until it is there. */
static struct error *guardian_fork(struct guardian *guardian,
				   struct heartbeat *heartbeat)
{
	cleanup_close int ready = -1;
	int fds[2];
	char byte;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return error_os(errno, "make a pipe");
	ready = fds[0];
	guardian->pid = fork();
	if (guardian->pid == 0) {
		guardian_main(guardian->table, heartbeat, fds[1]);
		_exit(0); /* exit-allowed: the guardian process ends here */
	}
	close(fds[1]);
	if (guardian->pid < 0)
		return error_os(errno, "fork the guardian");
	if (read(ready, &byte, 1) == 1)
		return NULL;
	/* it may be there, and not have been heard */
	kill(guardian->pid, SIGKILL);
	waitpid(guardian->pid, NULL, 0);
	return error_create(ERROR_OTHER, "the guardian could not start");
}

struct error *guardian_start(struct heartbeat *heartbeat, struct guardian **ret)
{
	struct guardian *guardian = calloc(1, sizeof(*guardian));
	struct error *err;

	if (!guardian)
		return error_nomem;
	guardian->free_list = (struct vec)VEC_INIT(uint32_t);
	err = guardtable_create(&guardian->table);
	if (!err)
		err = deathwatch_own(&guardian->table->death);
	if (!err)
		err = guardian_fork(guardian, heartbeat);
	if (err) {
		guardtable_destroy(guardian->table);
		free(guardian);
		return err;
	}
	*ret = guardian;
	return NULL;
}

void guardian_stop(struct guardian *guardian)
{
	if (!guardian)
		return;
	deathwatch_disown(&guardian->table->death);
	if (guardian->pid > 0)
		waitpid(guardian->pid, NULL, 0);
	/* the deputy checks at each wake-up whether it was asked */
	if (!guardian->deputized)
		guardtable_destroy(guardian->table);
	vec_deinit(&guardian->free_list);
	free(guardian);
}

uint32_t guardian_add_text(struct guardian *guardian)
{
	return guardian ? ++guardian->texts : 1;
}

struct error *guardian_add_space(struct guardian *guardian, uint32_t text,
				 pid_t pid, uint32_t *ret_space)
{
	if (!guardian)
		return NULL;
	if (!guardtable_add_space(guardian->table, text, pid, ret_space))
		return error_create(ERROR_OTHER,
				    "more than %d processes cannot be guarded",
				    GUARDTABLE_SPACES);
	deathwatch_wake(&guardian->table->death);
	return NULL;
}

struct error *guardian_await_space(const struct guardian *guardian,
				   uint32_t space)
{
	const struct guardtable_space *awaited;

	if (!guardian || guardian->pid == 0)
		return NULL;
	awaited = &guardian->table->spaces[space];
	for (int i = 0; i < GUARDIAN_OPEN_MS; i++) {
		if (__atomic_load_n(&awaited->opened, __ATOMIC_ACQUIRE) ==
		    awaited->uses)
			return NULL;
		poll(NULL, 0, 1);
	}
	return error_create(ERROR_OTHER,
			    "process %d is not guarded: the guardian has not "
			    "opened its memory within %d ms",
			    (int)awaited->pid, GUARDIAN_OPEN_MS);
}

void guardian_remove_space(struct guardian *guardian, uint32_t space)
{
	if (!guardian)
		return;
	guardtable_remove_space(guardian->table, space);
	deathwatch_wake(&guardian->table->death);
}

void guardian_note_stopped(struct guardian *guardian, uint32_t space,
			   bool stopped)
{
	if (guardian)
		guardtable_note_stopped(guardian->table, space, stopped);
}

bool guardian_add(struct guardian *guardian, uint32_t text,
		  const struct wire_site *site, uint32_t *ret_entry)
{
	struct guardtable_entry entry = {
		.address = site->address,
		.text = text,
		.length = site->insn.length,
	};
	uint32_t i;

	if (!guardian)
		return true;
	memcpy(entry.bytes, site->bytes, sizeof(entry.bytes));
	if (!guardtable_add(guardian->table, &guardian->free_list, &entry, &i))
		return false;
	*ret_entry = i + 1;
	return true;
}

bool guardian_has_room(const struct guardian *guardian)
{
	return !guardian ||
	       guardtable_has_room(guardian->table, &guardian->free_list);
}

void guardian_remove(struct guardian *guardian, uint32_t entry)
{
	if (guardian && entry != 0)
		guardtable_remove(guardian->table, &guardian->free_list,
				  entry - 1);
}

void guardian_note_registers(struct guardian *guardian)
{
	if (guardian)
		guardian->table->registers = true;
}

struct error *guardian_deputize(struct guardian *guardian)
{
	struct error *err;

	if (!guardian)
		return NULL;
	err = deputy_start(&guardian->table->deputy);
	guardian->deputized = !err;
	return err;
}

bool guardian_ended(struct guardian *guardian, pid_t pid)
{
	if (!guardian || guardian->pid != pid)
		return false;
	guardian->pid = 0;
	return true;
}
