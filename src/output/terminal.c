/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Colours and width; see terminal.h.
 */
#include "output/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"

const char *const color_words[] = { "auto", "always", "never", NULL };
const char *const show_words[] = { "default", "all", NULL };

bool terminal_color(int color, int fd)
{
	const char *no_color = getenv("NO_COLOR");
	const char *force = getenv("CLICOLOR_FORCE");
	const char *term = getenv("TERM");

	if (color != COLOR_AUTO)
		return color == COLOR_ALWAYS;
	if (no_color && *no_color)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool terminal_unread(const struct error *err, FILE *file)
{
	struct stat status;

	if (!err || (file != stdout && file != stderr))
		return false;
	/* of a terminal that has been hung up (drivers/tty/tty_io.c) */
	if (err->code == EIO)
		return fstat(fileno(file), &status) == 0 &&
		       S_ISCHR(status.st_mode);
	return err->code == EPIPE;
}

int terminal_width(int fd)
{
	struct winsize size;

	if (ioctl(fd, TIOCGWINSZ, &size) < 0 || size.ws_col < 40)
		return 0;
	return size.ws_col;
}
