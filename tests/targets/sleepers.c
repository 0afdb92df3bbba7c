/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which system calls notice that their thread is watched: a thread for each
 * way to sleep, in a call that nothing ends, and, where the call takes a time,
 * another that sleeps for 20 ms again and again. A call that returns is
 * noticed, unless its time is over and has not been cut short. Two busy
 * threads give watching something to do.
 *
 * Says "ready PID" when all sleep. For each line read, "NAME ERROR COUNT" for
 * all that was noticed since, and "end". Ends at the end of input.
 */
#include "special.h"

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

enum { FOREVER_MS = 3600 * 1000, SHORT_MS = 20, PLACES = 128 };

static int epoll, semaphores, messages;
static int nobody[2], datagrams[2], listener, locked;
static mqd_t queue;
static aio_context_t aio;

static struct timespec span(long ms)
{
	return (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
}

static struct timeval span_us(long ms)
{
	return (struct timeval){ ms / 1000, ms % 1000 * 1000 };
}

/* A time-out that some calls tell as an error is none. */
static long timed(long result, int code)
{
	return result < 0 && errno == code ? 0 : result;
}

static long do_epoll_wait(long ms)
{
	struct epoll_event event;

	return epoll_wait(epoll, &event, 1, (int)ms);
}

static long do_epoll_pwait2(long ms)
{
	struct timespec time = span(ms);
	struct epoll_event event;

	return syscall(SYS_epoll_pwait2, epoll, &event, 1, &time, NULL, 0);
}

static long do_poll(long ms)
{
	return poll(NULL, 0, (int)ms);
}

static long do_ppoll(long ms)
{
	struct timespec time = span(ms);

	return ppoll(NULL, 0, &time, NULL);
}

static long do_select(long ms)
{
	struct timeval time = span_us(ms);

	return select(0, NULL, NULL, NULL, &time);
}

static long do_pselect(long ms)
{
	struct timespec time = span(ms);

	return pselect(0, NULL, NULL, NULL, &time, NULL);
}

static long do_nanosleep(long ms)
{
	struct timespec time = span(ms);

	return syscall(SYS_nanosleep, &time, &time);
}

static long do_clock_nanosleep(long ms)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	time.tv_sec += (time.tv_nsec + ms % 1000 * 1000000) / 1000000000;
	time.tv_nsec = (time.tv_nsec + ms % 1000 * 1000000) % 1000000000;
	time.tv_sec += ms / 1000;
	errno = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
	return errno ? -1 : 0;
}

static long do_futex_timed(long ms)
{
	struct timespec time = span(ms);
	int word = 0;

	return timed(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &time, NULL, 0),
		     ETIMEDOUT);
}

static long do_futex(long ms)
{
	int word = 0;

	(void)ms;
	return syscall(SYS_futex, &word, FUTEX_WAIT, 0, NULL, NULL, 0);
}

static long do_semop(long ms)
{
	struct sembuf take = { .sem_op = -1 };

	(void)ms;
	return semop(semaphores, &take, 1);
}

static long do_semtimedop(long ms)
{
	struct sembuf take = { .sem_op = -1 };
	struct timespec time = span(ms);

	return timed(semtimedop(semaphores, &take, 1, &time), EAGAIN);
}

static long do_msgrcv(long ms)
{
	struct {
		long type;
		char text[8];
	} message;

	(void)ms;
	return msgrcv(messages, &message, sizeof(message.text), 0, 0);
}

static long do_mq_timedreceive(long ms)
{
	struct timespec time;
	char text[64];

	clock_gettime(CLOCK_REALTIME, &time);
	time.tv_sec += (time.tv_nsec + ms % 1000 * 1000000) / 1000000000;
	time.tv_nsec = (time.tv_nsec + ms % 1000 * 1000000) % 1000000000;
	time.tv_sec += ms / 1000;
	return timed(mq_timedreceive(queue, text, sizeof(text), NULL, &time),
		     ETIMEDOUT);
}

static long do_io_getevents(long ms)
{
	struct timespec time = span(ms);
	struct io_event event;

	return syscall(SYS_io_getevents, aio, 1, 1, &event, &time);
}

static long do_sigtimedwait(long ms)
{
	struct timespec time = span(ms);
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return timed(sigtimedwait(&set, NULL, &time), EAGAIN);
}

static long do_sigwaitinfo(long ms)
{
	sigset_t set;

	(void)ms;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return sigwaitinfo(&set, NULL);
}

static long do_pause(long ms)
{
	(void)ms;
	return pause();
}

static long do_sigsuspend(long ms)
{
	sigset_t set;

	(void)ms;
	sigemptyset(&set);
	return sigsuspend(&set);
}

static long read_of(int fd)
{
	static char bytes[PLACES];

	return read(fd, bytes, sizeof(bytes));
}

static long do_read_pipe(long ms)
{
	(void)ms;
	return read_of(nobody[0]);
}

static long do_read_socket(long ms)
{
	(void)ms;
	return read_of(datagrams[0]);
}

static long do_read_eventfd(long ms)
{
	(void)ms;
	return read_of(eventfd(0, 0));
}

static long do_read_timerfd(long ms)
{
	(void)ms;
	return read_of(timerfd_create(CLOCK_MONOTONIC, 0));
}

static long do_read_inotify(long ms)
{
	(void)ms;
	return read_of(inotify_init());
}

static long do_read_signalfd(long ms)
{
	sigset_t set;

	(void)ms;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return read_of(signalfd(-1, &set, 0));
}

static long do_accept(long ms)
{
	(void)ms;
	return accept(listener, NULL, NULL);
}

static long do_recvmsg(long ms)
{
	char bytes[8];
	struct iovec vector = { bytes, sizeof(bytes) };
	struct msghdr message = { .msg_iov = &vector, .msg_iovlen = 1 };

	(void)ms;
	return recvmsg(datagrams[0], &message, 0);
}

/* With SO_RCVTIMEO, of its own socket. */
static long do_recv_timeout(long ms)
{
	static __thread int pair[2] = { -1 };
	struct timeval time = span_us(ms);
	char byte;

	if (pair[0] < 0)
		socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
	setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	return timed(recv(pair[0], &byte, 1, 0), EAGAIN);
}

static long do_wait4(long ms)
{
	(void)ms;
	return wait4(-1, NULL, 0, NULL);
}

static long do_waitid(long ms)
{
	siginfo_t info;

	(void)ms;
	return waitid(P_ALL, 0, &info, WEXITED);
}

/* The lock is that of another open file. */
static long do_flock(long ms)
{
	(void)ms;
	return flock(open("/proc/self/exe", O_RDONLY), LOCK_EX);
}

struct place {
	const char *name;
	long (*call)(long ms); /* below 0: an error; else its time is over */
	bool has_time;
	long ms;
	pid_t tid;
	int errors[4096]; /* how often; 0: it ended too early */
};

static const struct place calls[] = {
	{ .name = "epoll_wait", .call = do_epoll_wait, .has_time = true },
	{ .name = "epoll_pwait2", .call = do_epoll_pwait2, .has_time = true },
	{ .name = "poll", .call = do_poll, .has_time = true },
	{ .name = "ppoll", .call = do_ppoll, .has_time = true },
	{ .name = "select", .call = do_select, .has_time = true },
	{ .name = "pselect6", .call = do_pselect, .has_time = true },
	{ .name = "nanosleep", .call = do_nanosleep, .has_time = true },
	{ .name = "clock_nanosleep",
	  .call = do_clock_nanosleep,
	  .has_time = true },
	{ .name = "futex,timed", .call = do_futex_timed, .has_time = true },
	{ .name = "futex", .call = do_futex },
	{ .name = "semop", .call = do_semop },
	{ .name = "semtimedop", .call = do_semtimedop, .has_time = true },
	{ .name = "msgrcv", .call = do_msgrcv },
	{ .name = "mq_timedreceive",
	  .call = do_mq_timedreceive,
	  .has_time = true },
	{ .name = "io_getevents", .call = do_io_getevents, .has_time = true },
	{ .name = "sigtimedwait", .call = do_sigtimedwait, .has_time = true },
	{ .name = "sigwaitinfo", .call = do_sigwaitinfo },
	{ .name = "pause", .call = do_pause },
	{ .name = "sigsuspend", .call = do_sigsuspend },
	{ .name = "read,pipe", .call = do_read_pipe },
	{ .name = "read,socket", .call = do_read_socket },
	{ .name = "read,eventfd", .call = do_read_eventfd },
	{ .name = "read,timerfd", .call = do_read_timerfd },
	{ .name = "read,inotify", .call = do_read_inotify },
	{ .name = "read,signalfd", .call = do_read_signalfd },
	{ .name = "accept", .call = do_accept },
	{ .name = "recvmsg", .call = do_recvmsg },
	{ .name = "recv,timed", .call = do_recv_timeout, .has_time = true },
	{ .name = "wait4", .call = do_wait4 },
	{ .name = "waitid", .call = do_waitid },
	{ .name = "flock", .call = do_flock },
};

static struct place places[PLACES];
static int place_count;

static void prepare(void)
{
	char name[32];

	target_check(signal(SIGCHLD, SIG_DFL) != SIG_ERR, "signal");
	epoll = epoll_create1(0);
	semaphores = semget(IPC_PRIVATE, 1, 0600);
	messages = msgget(IPC_PRIVATE, 0600);
	target_check(!pipe(nobody), "pipe");
	target_check(!socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams), "sockets");
	listener = socket(AF_INET, SOCK_STREAM, 0);
	target_check(!listen(listener, 1), "listen");
	locked = open("/proc/self/exe", O_RDONLY);
	target_check(!flock(locked, LOCK_EX | LOCK_NB), "flock");
	snprintf(name, sizeof(name), "/sleepers.%d", (int)getpid());
	queue = mq_open(name, O_RDWR | O_CREAT, 0600,
			&(struct mq_attr){ .mq_maxmsg = 1, .mq_msgsize = 64 });
	mq_unlink(name);
	target_check(!syscall(SYS_io_setup, 1, &aio), "io_setup");
}

/* For wait4(2) to wait for. */
static void wait_for_ever(void)
{
	char byte;
	int fds[2];

	target_check(!pipe(fds), "pipe");
	if (fork() > 0) {
		close(fds[0]);
		return; /* the other end stays open until we end */
	}
	close(fds[1]);
	_exit(read(fds[0], &byte, 1) == 0 ? 0 : 1);
}

static void *sleeper(void *arg)
{
	struct place *place = arg;

	__atomic_store_n(&place->tid, gettid(), __ATOMIC_RELEASE);
	for (;;) {
		uint64_t begun = target_clock();
		long result = place->call(place->ms);
		uint64_t took = target_clock() - begun;
		int code = result < 0 ? errno : 0;

		if (result < 0 || took / 1000000 + 1 < (uint64_t)place->ms)
			__atomic_add_fetch(&place->errors[code], 1,
					   __ATOMIC_RELAXED);
	}
	return NULL;
}

static void *busy(void *arg)
{
	for (unsigned i = 0;; i++)
		special_hot(target_work(i, 2000));
	return arg;
}

/* Sleeps the thread, in a system call? */
static bool asleep(pid_t tid)
{
	char path[64], text[64] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", (int)tid);
	fd = open(path, O_RDONLY);
	if (fd >= 0 && read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return text[0] >= '0' && text[0] <= '9';
}

static void start(const struct place *call, long ms)
{
	struct place *place = &places[place_count++];

	*place = *call;
	place->ms = ms;
	target_thread(sleeper, place);
	while (!__atomic_load_n(&place->tid, __ATOMIC_ACQUIRE) ||
	       !asleep(place->tid))
		sched_yield();
}

static void tell(void)
{
	for (int i = 0; i < place_count; i++) {
		struct place *place = &places[i];

		for (int code = 0; code < 4096; code++) {
			int count = __atomic_exchange_n(&place->errors[code], 0,
							__ATOMIC_RELAXED);

			if (count > 0)
				printf("%s%s %s %d\n", place->name,
				       place->ms == SHORT_MS ? "/20ms" : "",
				       code ? strerrorname_np(code) : "early",
				       count);
		}
	}
	printf("end\n");
	fflush(stdout);
}

int main(void)
{
	char line[16];
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, NULL);
	prepare();
	wait_for_ever();
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		start(&calls[i], FOREVER_MS);
		if (calls[i].has_time)
			start(&calls[i], SHORT_MS);
	}
	target_thread(busy, NULL);
	target_thread(busy, NULL);
	printf("ready %d\n", (int)getpid());
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		tell();
	semctl(semaphores, 0, IPC_RMID);
	msgctl(messages, IPC_RMID, NULL);
	_exit(0);
}
