/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recording has of the code that was executed, in lines of text: of all
 * threads, and of each.
 */
#ifndef HUNT_EXECUTED_TEXT_H
#define HUNT_EXECUTED_TEXT_H

struct error;
struct recording;
struct strbuf;

enum { EXECUTED_TEXT_THREADS = 20 };

/*
 * Nothing is added if no code was recorded. Every chunk is unpacked: ERROR_FORMAT if
 * one cannot be.
 */
struct error *executed_text(const struct recording *recording,
			    struct strbuf *text);

#endif
