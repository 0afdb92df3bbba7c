/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text that is not one word: a banner that is copied while it is rewritten, a
 * static buffer that two threads format into, a pointer beside its length.
 */
#include "figure7.h"

struct view {
	const char *at;
	size_t length;
};

static const char *const names[2] = { "alpha", "a much longer name of beta" };
char banner[40] = "alpha";
struct view view = { "alpha", 5 };

NOINLINE static void banner_set(const char *text, size_t length)
{
	memcpy(banner, text, length + 1); /* RACE: banner */
	OPAQUE(); /* no tail call, which would take it off the stack */
}

NOINLINE static void banner_copy(char *to)
{
	memcpy(to, banner, 32); /* RACE: banner */
}

/* In the manner of inet_ntoa(3). */
NOINLINE static const char *address_text(unsigned address)
{
	static char text[24];
	char *at = text;

	for (int shift = 24; shift >= 0; shift -= 8) {
		unsigned byte = address >> shift & 0xff;

		*at++ = (char)('0' + byte / 100); /* RACE: address */
		*at++ = (char)('0' + byte / 10 % 10); /* RACE: address */
		*at++ = (char)('0' + byte % 10); /* RACE: address */
		*at++ = shift ? '.' : 0; /* RACE: address */
	}
	return text;
}

NOINLINE static void view_set(const char *at)
{
	view.at = at; /* RACE: view */
	view.length = strlen(at); /* RACE: view */
}

NOINLINE static unsigned long view_sum(void)
{
	const char *at = view.at; /* RACE: view */
	size_t length = view.length; /* RACE: view */
	unsigned long sum = 0;

	/* as if nothing could be wrong, but for the program's own life */
	for (size_t i = 0; i < length && i < 6; i++)
		sum += (unsigned char)at[i];
	return sum;
}

static void writer(unsigned long i)
{
	const char *name = names[i / 2 % 2];

	banner_set(name, strlen(name));
	use_text(address_text((unsigned)i * 77777));
	view_set(name);
}

static void reader(unsigned long i)
{
	char copy[40];

	banner_copy(copy);
	use_text(copy);
	use_text(address_text((unsigned)i * 33333));
	use(view_sum());
}

int main(int argc, char **argv)
{
	struct role roles[] = { { writer, 40 }, { reader, 30 }, { NULL, 0 } };

	return roles_run(argc, argv, "text", roles);
}
