/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A run once more; see again.h.
 */
#include "sweep/again.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "report/learned.h"

static char *path_in(const char *folder, const char *name)
{
	struct strbuf path = { 0 };

	strbuf_addf(&path, "%s/%s", folder, name);
	return strbuf_steal(&path);
}

/* A word that the shell takes as it is. */
static void add_quoted(struct strbuf *out, const char *word)
{
	strbuf_add(out, "'");
	for (; *word; word++) {
		if (*word == '\'')
			strbuf_add(out, "'\\''");
		else
			strbuf_add_bytes(out, word, 1);
	}
	strbuf_add(out, "'");
}

void again_add_word(struct strbuf *out, const char *word)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_-+=./,:@%";

	if (word[0] && word[strspn(word, plain)] == '\0')
		strbuf_add(out, word);
	else
		add_quoted(out, word);
}

/* The words, but for those that are of the sweep; state: the one of --state. */
static const char *add_words(struct strbuf *out, const struct again *again)
{
	const char *state = NULL;
	bool options = true;

	for (char *const *word = again->argv + again->first; *word; word++) {
		if (options && strcmp(*word, "--state") == 0) {
			state = *++word;
			strbuf_add(out, " --state \"$state\"");
			continue;
		}
		if (options && strcmp(*word, "--") == 0) {
			strbuf_add(out, " \"$@\"");
			options = false;
		}
		strbuf_add(out, " ");
		add_quoted(out, *word);
	}
	strbuf_add(out, "\n");
	return state;
}

static void add_head(struct strbuf *out, const struct again *again,
		     const char *program, const char *directory)
{
	strbuf_addf(out,
		    "#!/bin/sh\n# Run %" PRIu64
		    " of a sweep once more, as it was run; options of "
		    "racewatch run may follow.\n",
		    again->run);
	strbuf_add(out, "folder=$(CDPATH= cd \"$(dirname \"$0\")\" && pwd) "
			"|| exit 125\ncd ");
	add_quoted(out, directory);
	strbuf_addf(out,
		    " || exit 125\nexport RACEWATCH_RUN=%" PRIu64
		    " RACEWATCH_SEED=%" PRIu64 "\n",
		    again->run, again->seed);
	strbuf_add(out, "racewatch=${RACEWATCH:-");
	add_quoted(out, program);
	strbuf_add(out, "}\n");
}

/* The run adds to what was learned: to a copy, so that it stays as it was. */
static void add_state(struct strbuf *out)
{
	strbuf_add(out, "state=$(mktemp) || exit 125\n"
			"trap 'rm -f \"$state\"' EXIT\n"
			"if [ -f \"$folder/learned.db\" ]; then\n"
			"\tcat \"$folder/learned.db\" >\"$state\" || "
			"exit 125\nfi\n");
}

static struct error *write_script(const char *path, const char *text)
{
	size_t size = strlen(text);
	struct error *err = NULL;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0777);

	if (fd < 0)
		return error_os(errno, "%s", path);
	if (write(fd, text, size) != (ssize_t)size)
		err = error_os(errno ? errno : EIO, "%s", path);
	close(fd);
	return err;
}

struct error *again_write(const struct again *again)
{
	cleanup_free char *script = path_in(again->folder, "again");
	cleanup_free char *copy = path_in(again->folder, "learned.db");
	char program[PATH_MAX] = "racewatch", directory[PATH_MAX];
	struct strbuf text = { 0 }, words = { 0 };
	struct error *err = error_nomem;
	ssize_t length =
		readlink("/proc/self/exe", program, sizeof(program) - 1);
	const char *state;

	if (length > 0)
		program[length] = '\0';
	if (!getcwd(directory, sizeof(directory)))
		memcpy(directory, ".", sizeof("."));
	state = add_words(&words, again);
	add_head(&text, again, program, directory);
	if (state)
		add_state(&text);
	strbuf_add(&text, "\"$racewatch\" run");
	strbuf_add(&text, strbuf_text(&words));
	if (script && copy && !text.failed && !words.failed)
		err = state ? learned_copy(state, copy) : NULL;
	if (!err)
		err = write_script(script, strbuf_text(&text));
	strbuf_deinit(&text);
	strbuf_deinit(&words);
	return err;
}

void again_forget(const char *folder)
{
	static const char *const names[] = { "again", "learned.db" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		cleanup_free char *path = path_in(folder, names[i]);

		if (path)
			unlink(path);
	}
}
