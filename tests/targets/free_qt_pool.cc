/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: jobs in a QThreadPool. Qt's containers are shared by all of
 * them until one writes to its own copy (reference counts), and a job's plain
 * result is read after waitForDone().
 */
#include "target.h"
#include <QHash>
#include <QSharedPointer>
#include <QString>
#include <QThreadPool>
#include <QThreadStorage>
#include <QVector>

enum { JOBS = 8 };

struct job {
	QVector<long> values; /* shared with the others */
	QHash<int, QString> names;
	QSharedPointer<const long> offset;
	long sum;
};

static QThreadStorage<long> handled;

NOINLINE static void job_work(job &job, int me)
{
	job.sum = *job.offset;
	for (long value : qAsConst(job.values))
		job.sum += value;
	job.values[me] = -1; /* detaches */
	job.names[me] += QString::number(job.sum);
	handled.setLocalData(handled.localData() + 1);
}

NOINLINE static void jobs_check(const job *jobs, const QVector<long> &values,
				long base)
{
	for (int i = 0; i < JOBS; i++) {
		target_check(jobs[i].sum == base + 32 * base, "sum");
		target_check(jobs[i].values[i] == -1 && values[i] == base,
			     "copy");
		target_check(jobs[i].names.size() == (i < 2 ? 2 : 3), "names");
	}
}

static void jobs_round(QThreadPool &pool, long base)
{
	const QVector<long> values(32, base);
	const QHash<int, QString> names = { { 0, "zero" }, { 1, "one" } };
	const auto offset = QSharedPointer<const long>::create(base);
	job jobs[JOBS];

	for (int i = 0; i < JOBS; i++) {
		jobs[i] = job{ values, names, offset, 0 };
		pool.start([&jobs, i] { job_work(jobs[i], i); });
	}
	pool.waitForDone();
	jobs_check(jobs, values, base);
}

int main(int argc, char **argv)
{
	QThreadPool pool;

	target_init(argc, argv, 1);
	pool.setMaxThreadCount(3);
	for (unsigned long i = 0; target_goes_on(i * 16); i++)
		jobs_round(pool, long(i));
	return target_done("free_qt_pool");
}
