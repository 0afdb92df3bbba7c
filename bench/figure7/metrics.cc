/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * C++: a service's numbers, when a cached thing was last used, and singletons
 * that are looked for twice.
 */
#include "figure7.h"
#include <mutex>

class Metrics
{
      public:
	NOINLINE void served(unsigned long size)
	{
		requests_++; /* RACE: requests */
		bytes_ += size; /* RACE: requests */
	}

      private:
	unsigned long requests_ = 0, bytes_ = 0;
};

class Entry
{
      public:
	/* Any recent time will do. */
	NOINLINE void touch(unsigned long now)
	{
		last_used_ = now; /* RACE: touch */
	}
	NOINLINE bool is_old(unsigned long now) const
	{
		return last_used_ + 1000 < now; /* RACE: touch */
	}

      private:
	unsigned long last_used_ = 0;
};

struct Codec {
	unsigned long table[2];
};

/* There are many, so that some are made while the program is watched. */
class Codecs
{
      public:
	NOINLINE const Codec *get(unsigned long i)
	{
		Codec *codec = codecs_[i]; /* RACE: instance */

		if (codec)
			return codec;
		std::lock_guard<std::mutex> hold(lock_);
		codec = codecs_[i]; /* RACE: instance */
		if (!codec) {
			codec = new Codec{ { i, ~i } };
			OPAQUE();
			codecs_[i] = codec; /* RACE: instance */
		}
		return codec;
	}

      private:
	std::mutex lock_;
	Codec *codecs_[1 << 20] = {};
};

static Metrics *metrics = new Metrics;
static Entry *entry = new Entry;
static Codecs codecs;
static unsigned long asked;

static void server(unsigned long i)
{
	unsigned long which = __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED);

	metrics->served(i % 1500);
	entry->touch(i);
	use(codecs.get(which / 32 % (1 << 20))->table[0]);
}

static void janitor(unsigned long i)
{
	if (entry->is_old(i))
		use(i);
}

int main(int argc, char **argv)
{
	struct role roles[] = {
		{ server, 40 }, { server, 50 }, { janitor, 60 }, { NULL, 0 }
	};

	return roles_run(argc, argv, "metrics", roles);
}
