/* SPDX-License-Identifier: GPL-3.0-or-later */
/* kinds.c as C++. */
#include "kinds.c"
