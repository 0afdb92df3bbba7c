/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: Qt's QMutex, QRecursiveMutex, QReadWriteLock, QSemaphore,
 * QWaitCondition and QAtomicInt, each with plain data behind it.
 */
#include "target.h"
#include <QAtomicInt>
#include <QAtomicPointer>
#include <QMutex>
#include <QReadWriteLock>
#include <QSemaphore>
#include <QThread>
#include <QWaitCondition>

struct settings {
	long width, height;
};

static QMutex mutex;
static QRecursiveMutex recursive;
static QReadWriteLock rwlock;
static QSemaphore full(0), empty(1);
static QWaitCondition turned;
static QAtomicInt references(1);
static QAtomicPointer<settings> current;
static bool over;
long by_mutex, by_recursive, by_rwlock, slot, turn;

NOINLINE static void count(void)
{
	{
		QMutexLocker locker(&mutex);
		by_mutex++;
	}
	recursive.lock();
	recursive.lock();
	by_recursive++;
	recursive.unlock();
	recursive.unlock();
	{
		QWriteLocker locker(&rwlock);
		by_rwlock++;
	}
	QReadLocker locker(&rwlock);
	target_check(by_rwlock > 0, "rwlock");
}

NOINLINE static void atomics(int me, long n)
{
	settings *seen;

	references.ref();
	target_check(references.loadAcquire() > 1, "references");
	target_check(references.deref(), "last");
	if (me == 0) {
		delete current.fetchAndStoreOrdered(new settings{ n, n * 2 });
		return;
	}
	seen = current.fetchAndStoreOrdered(nullptr);
	target_check(!seen || seen->height == 2 * seen->width, "settings");
	delete seen;
}

NOINLINE static void pass(int me, long n)
{
	if (me) {
		full.acquire();
		target_check(slot == n, "slot");
		empty.release();
	} else {
		empty.acquire();
		slot = n;
		full.release();
	}
}

NOINLINE static bool take_turn(int me, unsigned long i)
{
	QMutexLocker locker(&mutex);

	while (turn % 2 != me)
		turned.wait(&mutex);
	turn++;
	if (me == 0)
		over = !target_goes_on(i);
	turned.wakeAll();
	return !over;
}

static void loop(int me)
{
	unsigned long i = 0;

	target_meet();
	do {
		count();
		atomics(me, long(i));
		pass(me, long(i));
	} while (take_turn(me, i++));
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	QThread *a = QThread::create(loop, 0), *b = QThread::create(loop, 1);

	a->start();
	b->start();
	a->wait();
	b->wait();
	delete a;
	delete b;
	delete current.loadAcquire();
	target_check(by_mutex == by_recursive && by_mutex == by_rwlock, "lost");
	return target_done("free_qt_locks");
}
