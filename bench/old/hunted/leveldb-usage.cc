// SPDX-License-Identifier: GPL-3.0-or-later
// leveldb: one thread writes, another asks how much memory that takes.
#include <leveldb/db.h>
#include <pthread.h>

#include <cstdlib>
#include <string>

static leveldb::DB *db;

static void *write_all(void *)
{
	const std::string value(1000, 'v');

	for (int i = 0; i < 20; i++) {
		const std::string key = "key" + std::to_string(i);

		if (!db->Put(leveldb::WriteOptions(), key, value).ok())
			exit(1);
	}
	return nullptr;
}

static void *ask(void *)
{
	std::string usage;

	for (int i = 0; i < 5; i++) {
		if (!db->GetProperty("leveldb.approximate-memory-usage",
				     &usage))
			exit(1);
	}
	return nullptr;
}

int main(int argc, char **argv)
{
	void *(*const work[])(void *) = { write_all, ask };
	leveldb::Options options;
	pthread_t threads[2];

	options.create_if_missing = true;
	if (argc != 2 || !leveldb::DB::Open(options, argv[1], &db).ok())
		return 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], nullptr, work[i], nullptr);
	for (pthread_t thread : threads)
		pthread_join(thread, nullptr);
	delete db;
	return 0;
}
