/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Looking through a line; see scan.h. */
#include "foreign/scan.h"

#include <string.h>

struct scan scan_of(const char *text)
{
	return (struct scan){ text, strlen(text) };
}

static void advance(struct scan *scan, size_t count)
{
	scan->at += count;
	scan->length -= count;
}

bool scan_word(struct scan *scan, const char *word)
{
	size_t length = strlen(word);

	if (scan->length < length || memcmp(scan->at, word, length) != 0)
		return false;
	advance(scan, length);
	return true;
}

void scan_spaces(struct scan *scan)
{
	while (scan->length > 0 && (*scan->at == ' ' || *scan->at == '\t'))
		advance(scan, 1);
}

static unsigned int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned int)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned int)(c - 'a') + 10;
	if (c >= 'A' && c <= 'F')
		return (unsigned int)(c - 'A') + 10;
	return UINT32_MAX;
}

static bool scan_digits(struct scan *scan, unsigned int base, uint64_t *ret)
{
	uint64_t number = 0;
	size_t count = 0;

	for (; count < scan->length && digit_of(scan->at[count]) < base;
	     count++) {
		if (__builtin_mul_overflow(number, base, &number) ||
		    __builtin_add_overflow(number, digit_of(scan->at[count]),
					   &number))
			return false;
	}
	if (count == 0)
		return false;
	advance(scan, count);
	*ret = number;
	return true;
}

bool scan_number(struct scan *scan, uint64_t *ret)
{
	return scan_digits(scan, 10, ret);
}

bool scan_address(struct scan *scan, uint64_t *ret)
{
	struct scan rest = *scan;

	if (!scan_word(&rest, "0x") || !scan_digits(&rest, 16, ret))
		return false;
	*scan = rest;
	return true;
}

const char *scan_first(const struct scan *scan, const char *mark)
{
	return memmem(scan->at, scan->length, mark, strlen(mark));
}

const char *scan_last(const struct scan *scan, const char *mark)
{
	size_t length = strlen(mark);

	for (size_t i = scan->length; i >= length && i > 0; i--) {
		if (memcmp(scan->at + i - length, mark, length) == 0)
			return scan->at + i - length;
	}
	return NULL;
}

bool scan_before(struct scan *scan, const char *mark, struct scan *ret)
{
	const char *end = scan_first(scan, mark);

	if (!end)
		return false;
	*ret = (struct scan){ scan->at, (size_t)(end - scan->at) };
	advance(scan, ret->length + strlen(mark));
	return true;
}

void scan_cut(struct scan *scan, const char *end)
{
	scan->length = (size_t)(end - scan->at);
}

char *scan_copy(const struct scan *scan)
{
	return strndup(scan->at, scan->length);
}
