/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds.c, with the functions inlined in their callers. */
#define KIND __attribute__((always_inline)) static inline
#include "kinds.c"
