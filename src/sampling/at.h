/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parses the arguments of --at for a session. */
#ifndef SAMPLING_AT_H
#define SAMPLING_AT_H

struct error;
struct vec;

/*
 * Parse the words (const char *, borrowed) into *ret, of struct where. To be
 * freed with at_free(), also after an error, which is of usage.
 */
struct error *at_parse(const struct vec *words, struct vec *ret);
void at_free(struct vec *places);

/* What is wrong with one of them, or NULL. */
struct error *at_check(const char *word);
/* Too many of them are an error of usage. */
struct error *at_check_count(const struct vec *words);

#endif
