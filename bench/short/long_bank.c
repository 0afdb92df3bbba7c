/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bank.c, for tens of milliseconds. */
#define LONGER 10
#include "bank.c"
