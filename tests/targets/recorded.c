/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two threads, one after the other, for tests of the recorder: listing 1 of the
 * RaceHunter paper; a block that both use, and one that is freed between them;
 * bytes of one word that do not overlap; an atomic addition; memcpy; read(2).
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int a, b;
char bytes[8];
long atomic_sum;
pthread_mutex_t ma = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t mb = PTHREAD_MUTEX_INITIALIZER;
char copied[256];
char received[256];
char *volatile block, *volatile other;
volatile size_t length = 200;
int ends[2];

__attribute__((noinline)) static void *t1(void *arg)
{
	pthread_mutex_lock(&ma);
	a = 1;
	pthread_mutex_unlock(&ma);
	pthread_mutex_lock(&mb);
	b = 1;
	pthread_mutex_unlock(&mb);
	bytes[1] = 1;
	__atomic_fetch_add(&atomic_sum, 1, __ATOMIC_SEQ_CST);
	block = malloc(48);
	block[16] = 1;
	other = malloc(48);
	other[16] = 1;
	free(other);
	memcpy(copied, received, length);
	if (read(ends[0], received, length) != (ssize_t)length)
		return NULL;
	return arg;
}

__attribute__((noinline)) static void *t2(void *arg)
{
	pthread_mutex_lock(&mb);
	if (b == 1) {
		pthread_mutex_unlock(&mb);
		pthread_mutex_lock(&ma);
		a = 2;
		pthread_mutex_unlock(&ma);
	} else {
		pthread_mutex_unlock(&mb);
		a = 3;
	}
	bytes[6] = 1;
	__atomic_fetch_add(&atomic_sum, 1, __ATOMIC_SEQ_CST);
	block[16] = 2;
	other = malloc(48);
	other[16] = 2;
	copied[100] = received[100];
	return arg;
}

int main(void)
{
	static char sent[256];
	pthread_t first, second;

	if (pipe(ends) < 0 || write(ends[1], sent, length) < 0)
		return 1;
	pthread_create(&first, NULL, t1, NULL);
	pthread_join(first, NULL);
	pthread_create(&second, NULL, t2, NULL);
	pthread_join(second, NULL);
	printf("a %d\n", a);
	return 0;
}
