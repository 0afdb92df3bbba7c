/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A server that checks itself, for whatever is done to it from outside:
 * threads that move sums under locks, messages through a socket, forks,
 * vforks and spawns, births of threads, a timer, sleeps, and with "handled" an
 * int3 of its own. Anything lost, added, interrupted or changed ends it with
 * status 1; SIGTERM ends it with status 0 and the last line.
 *
 *	selfcheck FILE [default|blocked|handled]
 *
 * The word is what it does with SIGTRAP. FILE gets a line of fixed length,
 * again and again: "exec N beat N signals N". A beat is when every worker has
 * got on since the last one. The real-time signals from SIGRTMIN: +2 starts
 * the workers (until then all is quiet), +3 is counted, +4 a burst of forks,
 * +5 a storm of threads, +6 an exec by a thread that is not the leader.
 */
#include "special.h"
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/wait.h>

extern char **environ;

enum { BANKS = 3, CELLS = 16, WORKERS = 8, STORM = 200 };

struct bank {
	pthread_mutex_t lock;
	long cells[CELLS];
	unsigned long check;
};

static struct bank banks[BANKS];
static atomic_ulong progress[WORKERS], counted, ticks;
static atomic_int started, here, ending, burst, storm, replace;
static int wires[2], generation;
static timer_t timer;
static char **self;
static __thread volatile sig_atomic_t traps;

static void on_signal(int number, siginfo_t *info, void *context)
{
	int which = number - SIGRTMIN;

	(void)context;
	if (number == SIGTERM)
		atomic_store(&ending, 1);
	else if (number == SIGTRAP)
		traps++;
	else if (which == 1)
		atomic_fetch_add(&ticks, 1 + (unsigned)info->si_overrun);
	else if (which == 2)
		atomic_store(&started, 1);
	else if (which == 3)
		atomic_fetch_add(&counted, 1);
	else if (which == 4)
		atomic_fetch_add(&burst, 20);
	else if (which == 5)
		atomic_fetch_add(&storm, 1);
	else
		atomic_store(&replace, 1);
}

NOINLINE static unsigned long bank_sum(const struct bank *bank)
{
	unsigned long check = 7;
	long sum = 0;

	for (int i = 0; i < CELLS; i++) {
		sum += bank->cells[i];
		check = check * 31 + (unsigned long)bank->cells[i];
	}
	target_check(sum == 0, "money was lost or made");
	return check;
}

NOINLINE static void bank_move(struct bank *bank, unsigned x)
{
	long amount = x % 1000;

	pthread_mutex_lock(&bank->lock);
	target_check(bank_sum(bank) == bank->check, "a bank's check sum");
	bank->cells[x % CELLS] += amount;
	bank->cells[(x >> 8) % CELLS] -= amount;
	bank->check = bank_sum(bank);
	pthread_mutex_unlock(&bank->lock);
}

NOINLINE static void own_int3(void)
{
	sig_atomic_t before = traps;

	__asm__ volatile("int3" ::: "memory");
	target_check(traps == before + 1, "an int3 of its own");
}

static void *bank_loop(void *arg)
{
	long number = (long)arg;
	int handled = !strcmp(self[2], "handled");
	int blocked = number == 1 && !strcmp(self[2], "blocked");
	unsigned x = 1 + (unsigned)number;

	while (!atomic_load(&ending)) {
		x = target_work(x, 20);
		bank_move(&banks[x % BANKS], x);
		if (atomic_fetch_add(&progress[number], 1) % 256)
			continue;
		special_check_mask(SIGTRAP, blocked);
		if (handled && number == 2)
			own_int3();
	}
	return NULL;
}

static void expect_exit(pid_t pid, int code, const char *what)
{
	int status;

	target_check(pid > 0, what);
	target_check(waitpid(pid, &status, 0) == pid, "waitpid");
	target_check(WIFEXITED(status) && WEXITSTATUS(status) == code, what);
}

/* The child sees every bank in good order: none is in the middle of a move. */
static pid_t fork_banks(void)
{
	pid_t pid;

	for (int i = 0; i < BANKS; i++)
		pthread_mutex_lock(&banks[i].lock);
	pid = fork();
	for (int i = 0; i < BANKS; i++)
		pthread_mutex_unlock(&banks[i].lock);
	if (pid == 0) {
		for (unsigned x = 0; x < 300; x++)
			bank_move(&banks[x % BANKS], target_work(x + 1, 5));
		_exit(41);
	}
	return pid;
}

static void *family_loop(void *arg)
{
	char *const argv[] = { self[0], "--child", NULL };
	pid_t pid;

	while (!atomic_load(&ending)) {
		expect_exit(fork_banks(), 41, "fork");
		pid = vfork();
		if (pid == 0) {
			execv("/proc/self/exe", argv);
			_exit(1);
		}
		expect_exit(pid, 42, "vfork and exec");
		target_check(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL,
					  argv, environ),
			     "posix_spawn");
		expect_exit(pid, 42, "posix_spawn");
		atomic_fetch_add(&progress[3], 1);
		for (; atomic_load(&burst) > 0; atomic_fetch_sub(&burst, 1))
			expect_exit(fork_banks(), 41, "fork in a burst");
		if (atomic_load(&replace))
			execv("/proc/self/exe", self);
		usleep(2000);
	}
	return arg;
}

static void *brief(void *arg)
{
	bank_move(&banks[0], (unsigned)(uintptr_t)arg);
	return arg;
}

static void births(int count)
{
	pthread_t threads[STORM];
	void *result;

	for (int i = 0; i < count; i++) {
		void *arg = (void *)(uintptr_t)(i + 1);

		do /* refused while another thread is in execve(2) */
			errno = pthread_create(&threads[i], NULL, brief, arg);
		while (errno == EAGAIN && atomic_load(&replace));
		target_check(!errno, strerror(errno));
	}
	for (int i = 0; i < count; i++) {
		pthread_join(threads[i], &result);
		target_check((uintptr_t)result == (uintptr_t)(i + 1),
			     "pthread_join");
	}
}

static void *births_loop(void *arg)
{
	while (!atomic_load(&ending)) {
		births(3);
		atomic_fetch_add(&progress[4], 1);
		for (; atomic_load(&storm) > 0; atomic_fetch_sub(&storm, 1))
			births(STORM);
		usleep(1000);
	}
	return arg;
}

static void *writer_loop(void *arg)
{
	unsigned message[2] = { 0, 0 };

	while (!atomic_load(&ending)) {
		message[0]++;
		message[1] = target_work(message[0], 5);
		target_check(write(wires[0], message, 8) == 8, "write");
		atomic_fetch_add(&progress[5], 1);
	}
	close(wires[0]);
	return arg;
}

/* Signals are not blocked here: system calls start again (SA_RESTART). */
static void *reader_loop(void *arg)
{
	unsigned message[2], expected = 0;
	ssize_t got;

	while ((got = read(wires[1], message, 8)) != 0) {
		target_check(got == 8, "read");
		target_check(message[0] == ++expected, "a message is lost");
		target_check(message[1] == target_work(message[0], 5),
			     "a message has changed");
		atomic_fetch_add(&progress[6], 1);
	}
	return arg;
}

/* No signal has a handler here: nothing may come back early. */
static void *sleep_loop(void *arg)
{
	struct timespec pause = { 0, 1500000 };
	struct pollfd none = { .fd = -1 };

	while (!atomic_load(&ending)) {
		uint64_t before = target_clock();

		target_check(!nanosleep(&pause, NULL), "nanosleep");
		target_check(target_clock() - before >= 1500000, "slept less");
		target_check(!poll(&none, 1, 1), "poll");
		atomic_fetch_add(&progress[7], 1);
	}
	return arg;
}

static void handle_signals(void)
{
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_RESTART };

	sigfillset(&action.sa_mask);
	sigdelset(&action.sa_mask, SIGTRAP);
	sigdelset(&action.sa_mask, SIGSEGV);
	for (int i = 1; i <= 6; i++)
		sigaction(SIGRTMIN + i, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	if (!strcmp(self[2], "handled"))
		sigaction(SIGTRAP, &action, NULL);
}

static pthread_t start(void *(*loop)(void *), long number, int open)
{
	sigset_t mask, before;
	pthread_t thread;

	sigfillset(&mask);
	sigdelset(&mask, SIGTRAP);
	sigdelset(&mask, SIGSEGV);
	if (open)
		sigemptyset(&mask);
	if (number == 1 && !strcmp(self[2], "blocked"))
		sigaddset(&mask, SIGTRAP);
	if (number == 5 && !strcmp(self[2], "blocked"))
		sigfillset(&mask);
	pthread_sigmask(SIG_SETMASK, &mask, &before);
	thread = target_thread(loop, (void *)number);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return thread;
}

static void *gate(void *arg)
{
	static void *(*const loops[WORKERS])(void *) = {
		bank_loop,   bank_loop,	  bank_loop,   family_loop,
		births_loop, writer_loop, reader_loop, sleep_loop,
	};

	atomic_fetch_add(&here, 1);
	target_meet();
	return loops[(long)arg](arg);
}

static void write_line(int fd, unsigned long beat)
{
	char line[80];
	int length = snprintf(line, sizeof(line),
			      "exec %04d beat %012lu signals %012lu\n",
			      generation, beat, atomic_load(&counted));

	target_check(pwrite(fd, line, (size_t)length, 0) == length, "pwrite");
}

/* Every tick of 2 ms so far was told, but for those of five seconds. */
static void check_ticks(uint64_t since)
{
	static int late;
	/* first: more come while the clock is read */
	unsigned long got = atomic_load(&ticks);
	uint64_t due = (target_clock() - since) / 2000000;

	target_check(got <= due + 1, "ticks too many");
	/* one that is told as many may stand still; those that are lost stay so */
	late = got + 2500 < due ? late + 1 : 0;
	target_check(late < 50, "ticks too few");
}

static void beat_to_the_end(int fd, uint64_t since)
{
	unsigned long seen[WORKERS] = { 0 }, beat = 0;

	while (!atomic_load(&ending)) {
		int still = 0;

		for (int i = 0; i < WORKERS; i++)
			still += atomic_load(&progress[i]) == seen[i];
		check_ticks(since);
		if (!still) {
			beat++;
			for (int i = 0; i < WORKERS; i++)
				seen[i] = atomic_load(&progress[i]);
		}
		write_line(fd, beat);
		usleep(5000);
	}
}

static uint64_t start_timer(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGRTMIN + 1 };
	struct itimerspec ms = { { 0, 2000000 }, { 0, 2000000 } };
	uint64_t since = target_clock();

	target_check(!timer_create(CLOCK_MONOTONIC, &event, &timer), "timer");
	timer_settime(timer, 0, &ms, NULL);
	return since;
}

int main(int argc, char **argv)
{
	char number[16],
		*next[] = { argv[0], argv[1], argc > 2 ? argv[2] : "default",
			    number, NULL };
	pthread_t threads[WORKERS];
	sigset_t none;
	uint64_t since;
	int fd;

	if (argc > 1 && !strcmp(argv[1], "--child"))
		return 42;
	target_check(argc > 1, "usage: selfcheck FILE [SIGTRAP]");
	alarm(300); /* a guard against being forgotten */
	self = next;
	generation = argc > 3 ? atoi(argv[3]) : 0;
	snprintf(number, sizeof(number), "%d", generation + 1);
	fd = open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	target_check(fd >= 0, "open");
	handle_signals();
	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
	target_check(!socketpair(AF_UNIX, SOCK_STREAM, 0, wires), "socketpair");
	for (int i = 0; i < BANKS; i++) {
		pthread_mutex_init(&banks[i].lock, NULL);
		banks[i].check = bank_sum(&banks[i]);
	}
	pthread_barrier_init(&target_barrier, NULL, WORKERS + 1);
	for (long i = 0; i < WORKERS; i++)
		threads[i] = start(gate, i, i < 3 || i == 6);
	/* a thread that begins has its signals blocked for a moment */
	while (atomic_load(&here) < WORKERS)
		usleep(500);
	write_line(fd, 0);
	while (!atomic_load(&started))
		usleep(2000);
	since = start_timer();
	target_meet();
	beat_to_the_end(fd, since);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < BANKS; i++)
		target_check(bank_sum(&banks[i]) == banks[i].check, "the end");
	return target_done("selfcheck");
}
