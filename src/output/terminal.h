/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What text is written to: whether it shows colours, how wide it is, and how
 * much of everything is shown there.
 */
#ifndef OUTPUT_TERMINAL_H
#define OUTPUT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

struct error;

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* The words of --color, in the order of enum color; ends in NULL. */
extern const char *const color_words[];

enum show { SHOW_DEFAULT, SHOW_ALL };

/* The words of --show, in the order of enum show; ends in NULL. */
extern const char *const show_words[];

/*
 * color: of enum color. Automatic: on a terminal or if CLICOLOR_FORCE is set,
 * unless NO_COLOR is.
 */
bool terminal_color(int color, int fd);

/*
 * Is the error of writing to standard output or standard error that nobody
 * reads it any more? The reader of a pipe has ended, or a terminal was closed.
 * That is no failure of ours. (A FIFO that was asked for by name is to be
 * read to its end.)
 */
bool terminal_unread(const struct error *err, FILE *file);

/* Columns to fold text at; 0: it is not to be folded. */
int terminal_width(int fd);

#endif
