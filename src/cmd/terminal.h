/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What text is written to: whether it shows colours, and how wide it is.
 */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* The words of --color, in the order of enum color; ends in NULL. */
extern const char *const color_words[];

/* color: of enum color. Automatic: on a terminal, unless NO_COLOR is set. */
bool terminal_color(int color, int fd);

/* Columns to fold text at; 0: it is not to be folded. */
int terminal_width(int fd);

#endif
