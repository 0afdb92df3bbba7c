/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Free of races: GLib's GMutex, GRWLock, g_once_init_enter(), GAsyncQueue and
 * g_atomic_int, each with plain data behind it.
 */
#include "target.h"
#include <glib.h>

static GMutex mutex;
static GRWLock rwlock;
static GAsyncQueue *queue;
static gint references = 1;
long by_mutex, by_rwlock;

struct parcel {
	long serial, square;
};

NOINLINE static const long *table(void)
{
	static gsize made;
	static long values[8];

	if (g_once_init_enter(&made)) {
		for (long i = 0; i < 8; i++)
			values[i] = 3 * i;
		g_once_init_leave(&made, 1);
	}
	return values;
}

NOINLINE static void share(void)
{
	g_mutex_lock(&mutex);
	by_mutex++;
	g_mutex_unlock(&mutex);
	g_rw_lock_writer_lock(&rwlock);
	by_rwlock++;
	g_rw_lock_writer_unlock(&rwlock);
	g_rw_lock_reader_lock(&rwlock);
	target_check(by_rwlock > 0, "rwlock");
	g_rw_lock_reader_unlock(&rwlock);
	g_atomic_int_inc(&references);
	target_check(g_atomic_int_get(&references) > 1, "references");
	target_check(!g_atomic_int_dec_and_test(&references), "last");
	target_check(table()[5] == 15, "table");
}

static gpointer send_loop(gpointer arg)
{
	target_meet();
	for (unsigned long i = 0; target_goes_on(i); i++) {
		struct parcel *parcel = g_new(struct parcel, 1);

		parcel->serial = (long)i;
		parcel->square = (long)(i * i);
		g_async_queue_push(queue, parcel);
		share();
	}
	g_async_queue_push(queue, g_new0(struct parcel, 1));
	return arg;
}

static gpointer take_loop(gpointer arg)
{
	struct parcel *parcel;

	target_meet();
	for (long i = 0;; i++) {
		parcel = g_async_queue_pop(queue);
		if (i && !parcel->serial)
			break;
		target_check(parcel->square == i * i, "parcel");
		g_free(parcel);
		share();
	}
	g_free(parcel);
	return arg;
}

int main(int argc, char **argv)
{
	target_init(argc, argv, 2);
	queue = g_async_queue_new();
	GThread *a = g_thread_new("send", send_loop, NULL);
	GThread *b = g_thread_new("take", take_loop, NULL);
	g_thread_join(a);
	g_thread_join(b);
	g_async_queue_unref(queue);
	return target_done("free_glib");
}
