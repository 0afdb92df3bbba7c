/* SPDX-License-Identifier: GPL-3.0-or-later */
/* libgit2 REPOSITORY: threads look up all objects of a repository that is
 * opened anew each round. */
#include <git2.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 150 };

static git_repository *repository;
static pthread_barrier_t barrier;

static int visit(const git_oid *id, void *unused)
{
	git_object *object;

	(void)unused;
	if (!git_object_lookup(&object, repository, id, GIT_OBJECT_ANY))
		git_object_free(object);
	return 0;
}

static void *reader(void *unused)
{
	git_odb *odb;

	(void)unused;
	pthread_barrier_wait(&barrier);
	if (git_repository_odb(&odb, repository))
		return NULL;
	git_odb_foreach(odb, visit, NULL);
	git_odb_free(odb);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc != 2)
		return 2;
	git_libgit2_init();
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int round = 0; round < ROUNDS; round++) {
		if (git_repository_open(&repository, argv[1])) {
			fprintf(stderr, "cannot open %s\n", argv[1]);
			return 1;
		}
		for (int i = 0; i < THREADS; i++)
			pthread_create(&threads[i], NULL, reader, NULL);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
		git_repository_free(repository);
	}
	git_libgit2_shutdown();
	return 0;
}
