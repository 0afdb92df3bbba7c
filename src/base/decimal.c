/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Numbers without an exponent; see decimal.h.
 */
#include "base/decimal.h"

#include <stdio.h>
#include <string.h>

void decimal_format(double number, char ret[DECIMAL_SIZE])
{
	char *end;

	snprintf(ret, DECIMAL_SIZE, "%.9f", number);
	if (!strchr(ret, '.'))
		return;
	end = ret + strlen(ret);
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		end[-1] = '\0';
}
