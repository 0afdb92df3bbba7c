/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The library of sealed.c: a setter and a getter. */

void sealed_set(long value);
long sealed_get(void);

static long sealed_level;

void sealed_set(long value)
{
	sealed_level = value;
}

long sealed_get(void)
{
	return sealed_level;
}
