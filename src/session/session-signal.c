/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals to racewatch; see session-signal.h.
 */
#include "session/session-state.h"

#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/signalpipe.h"
#include "base/signals.h"

/* racewatch was asked a second time to end: the tracer gets so long at most */
static const uint64_t ABANDON_NS = 2 * CLOCK_NS_PER_S;

static void signal_set(sigset_t *ret)
{
	signals_terminating(ret);
	sigaddset(ret, SIGCHLD);
	sigaddset(ret, SIGPIPE);
}

struct error *session_begin_signals(struct session *session)
{
	sigset_t set;

	/* only now: the program inherits what it was given */
	signal_set(&set);
	/* ignored, it would take the ends of children from wait(2) */
	signal(SIGCHLD, SIG_DFL);
	/* a report that grows too long shall be an error of writing */
	signal(SIGXFSZ, SIG_IGN);
	return signalpipe_open(&set, &session->signals.fd);
}

/* Asked to end, and asked again: the tracer gets a little time still. */
static void signal_abandon(struct session *session)
{
	if (session->signals.abandon_ns == 0)
		session->signals.abandon_ns = clock_now_ns() + ABANDON_NS;
}

bool session_is_abandoned(const struct session *session)
{
	return session->signals.abandon_ns &&
	       clock_now_ns() >= session->signals.abandon_ns;
}

/*
 * Has the kernel sent it to the program as well? What is typed goes to all of
 * the foreground. That the terminal has gone, its session leader is told alone
 * (tmux(1), ssh(1) with a command): the program, which would be it without us,
 * has to be told by us. Others go with the foreground. Timers outlive an exec:
 * what they send was to be the program's.
 */
static bool signal_is_told(const struct signal_news *news)
{
	if (news->code != SI_KERNEL)
		return false;
	switch (news->number) {
	case SIGINT:
	case SIGQUIT:
		return true;
	case SIGHUP:
		return getsid(0) != getpid();
	default:
		return false;
	}
}

static void signal_interrupt(struct session *session, int number)
{
	session->result.interrupted = number;
	session_stop(session);
}

/* Sent twice at once, as timeout(1) does, it is one. */
static bool signal_counts(struct session *session)
{
	uint64_t now = clock_now_ns();

	if (session->signals.interrupts > 0 &&
	    now - session->signals.interrupt_ns <
		    SIGNALPIPE_SAME_MS * CLOCK_NS_PER_MS)
		return false;
	session->signals.interrupt_ns = now;
	session->signals.interrupts++;
	return true;
}

/*
 * SIGINT or SIGTERM. A program of ours gets the first, and the second ends the
 * watching; where the program is not ours, the first does that.
 * One more ends racewatch when the tracer has had a little time, and another
 * one at once; the tracer sees that and restores the program.
 */
static void signal_insisted(struct session *session, int number)
{
	unsigned int enough = session->config->argv ? 2 : 1;

	if (!signal_counts(session))
		return;
	if (session->signals.interrupts > enough + 1)
		signalpipe_end(number);
	if (session->signals.interrupts > enough)
		signal_abandon(session);
	if (session->signals.interrupts >= enough)
		signal_interrupt(session, number);
}

/*
 * A signal to racewatch is meant for the program, unless the terminal sent it
 * to both.
 */
static void signal_asked(struct session *session,
			 const struct signal_news *news)
{
	int number = news->number;

	/* once it is known, a later report would be of another one */
	if (number == SIGPIPE && session->result.interrupted == SIGPIPE)
		return;
	log_debug(LOG_DETECT, "signal %d, code %d", number, news->code);
	/*
	 * the reader of our output is gone: nobody needs the results; or our
	 * own time is up, the program's is counted apart
	 */
	if (!session->config->argv || number == SIGPIPE ||
	    (number == SIGXCPU && news->code == SI_KERNEL)) {
		signal_interrupt(session, number);
	} else {
		if (!signal_is_told(news))
			session_signal(session, number);
		session_continue(session);
	}
	session->result.asked = number;
	if (number == SIGINT || number == SIGTERM)
		signal_insisted(session, number);
}

void session_signals(struct session *session)
{
	struct signal_news news;

	while (signalpipe_read(session->signals.fd, &news)) {
		if (news.number == SIGCHLD)
			session_reap(session);
		else
			signal_asked(session, &news);
	}
}

static void signal_forgiven(int number)
{
	(void)number;
}

/*
 * The end that a signal may ask for has come, and what was found is still to be
 * written: that is spared once, unless racewatch was asked to end before. What
 * is ignored stays ignored.
 */
static void signal_forgive(const struct session *session)
{
	const struct sigaction once = {
		.sa_handler = signal_forgiven,
		.sa_flags = (int)(SA_RESTART | SA_RESETHAND),
	};
	sigset_t numbers;

	signals_terminating(&numbers);
	if (session->signals.interrupts) {
		sigdelset(&numbers, SIGINT);
		sigdelset(&numbers, SIGTERM);
	}
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction before;

		if (sigismember(&numbers, number) == 1 &&
		    sigaction(number, NULL, &before) == 0 &&
		    before.sa_handler == SIG_DFL)
			sigaction(number, &once, NULL);
	}
}

void session_end_signals(const struct session *session)
{
	sigset_t before, set;

	signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signalpipe_close(session->signals.fd, &before);
	/* the summary goes to those who still read: not one dies of another */
	signal(SIGPIPE, SIG_IGN);
	signal_forgive(session);
	sigprocmask(SIG_SETMASK, &before, NULL);
}
