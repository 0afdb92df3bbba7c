/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Numbers as a person writes them: never with an exponent. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

/* Room for any number below 10^15, as for percent of a budget. */
enum { DECIMAL_SIZE = 32 };

/* Nine digits after the point at most, and as few as it takes: 40, 0.5. */
void decimal_format(double number, char ret[DECIMAL_SIZE]);

#endif
