/* SPDX-License-Identifier: GPL-3.0-or-later */
/* phases.c, for tens of milliseconds. */
#define LONGER 20
#include "phases.c"
