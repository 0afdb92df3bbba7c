/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: Qt objects in threads of their own, with event loops. A
 * queued signal carries a string to the other thread, a queued call carries
 * a block of plain data back.
 */
#include "target.h"
#include <QCoreApplication>
#include <QObject>
#include <QThread>
#include <memory>

struct parcel {
	long serial, square;
};

static QObject *station[2]; /* written before the threads are born */
static unsigned long rounds;
static long received;

/* In the thread of station 0. */
NOINLINE static void send(unsigned long i)
{
	if (!target_goes_on(i)) {
		QCoreApplication::quit();
		return;
	}
	station[0]->setObjectName(QString("round %1").arg(i));
}

NOINLINE static void parcel_take(const parcel &parcel)
{
	target_check(parcel.square == parcel.serial * parcel.serial, "parcel");
	received++;
	send(++rounds);
}

/* In the thread of station 1, by the queued signal. */
NOINLINE static void name_take(const QString &name)
{
	auto sent = std::make_shared<parcel>();

	sent->serial = name.mid(6).toLong();
	sent->square = sent->serial * sent->serial;
	QMetaObject::invokeMethod(
		station[0], [sent] { parcel_take(*sent); },
		Qt::QueuedConnection);
}

int main(int argc, char **argv)
{
	QCoreApplication app(argc, argv);
	QObject home, away;
	QThread thread;

	target_init(argc, argv, 1);
	station[0] = &home;
	station[1] = &away;
	away.moveToThread(&thread);
	QObject::connect(&home, &QObject::objectNameChanged, &away, name_take);
	thread.start();
	QMetaObject::invokeMethod(
		&home, [] { send(0); }, Qt::QueuedConnection);
	app.exec();
	thread.quit();
	thread.wait();
	target_check(received > 0 && received == long(rounds), "received");
	return target_done("free_qt_signals");
}
