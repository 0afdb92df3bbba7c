/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A message is completed after the condition was signalled; the receiver takes its
 * time. Correct: before.
 */
#include "hunted.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sent = PTHREAD_COND_INITIALIZER;
struct message {
	int kind, length;
	int full;
} message;

static void *sender(void *arg)
{
	message.kind = 3;
	ONLY_TWIN(message.length = 4);
	pthread_mutex_lock(&mutex);
	message.full = 1;
	pthread_cond_signal(&sent);
	pthread_mutex_unlock(&mutex);
	ONLY_RACY(message.length = 4); /* RACE a */
	return arg;
}

static void *receiver(void *arg)
{
	pthread_mutex_lock(&mutex);
	while (!message.full)
		pthread_cond_wait(&sent, &mutex);
	pthread_mutex_unlock(&mutex);
	pause_ms(20);
	printf("%d %d\n", message.kind, message.length); /* RACE a */
	return arg;
}

int main(void)
{
	both(sender, receiver);
	return 0;
}
