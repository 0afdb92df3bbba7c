/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Decimal numbers without an exponent. */
#ifndef BASE_DECIMAL_H
#define BASE_DECIMAL_H

/* Room for any number below 10^15, such as percent of a budget. */
enum { DECIMAL_SIZE = 32 };

/* At most nine digits after the point, without trailing zeros: 40, 0.5. */
void decimal_format(double number, char ret[DECIMAL_SIZE]);

#endif
