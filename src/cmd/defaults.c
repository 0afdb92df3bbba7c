/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options that a user has written down; see defaults.h.
 */
#include "cmd/defaults.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <wordexp.h>

#include "base/cleanup.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "base/textfile.h"
#include "cmd/cmd.h"

/*
 * What executes commands, writes files or asks the network is not for a file that
 * may have come with somebody else's project.
 */
static const char *const not_of_files[] = {
	"--debuginfod",	     "--directory", "--gen-suppressions",
	"--keep-trace",	     "--learned",   "--on-race",
	"--output",	     "--state",	    "--store",
	"--update-baseline",
};

static bool is_of_files(const struct option_def *def)
{
	for (size_t i = 0; i < sizeof(not_of_files) / sizeof(not_of_files[0]);
	     i++) {
		if (strcmp(def->name, not_of_files[i]) == 0)
			return false;
	}
	return true;
}

static const char *word_at(const struct vec *words, size_t i)
{
	return *(char *const *)vec_at(words, i);
}

static bool add_word(struct vec *words, const char *word)
{
	char *copy = strdup(word);

	if (copy && vec_push(words, &copy))
		return true;
	free(copy);
	return false;
}

/* Nothing is executed, and a variable that is not set is a mistake. */
static struct error *split(const char *text, struct vec *words)
{
	wordexp_t list;
	int result = wordexp(text, &list, WRDE_NOCMD | WRDE_UNDEF);
	struct error *err = NULL;

	switch (result) {
	case 0:
		break;
	case WRDE_BADVAL:
		return error_create(ERROR_USAGE,
				    "it names a variable that is not set");
	case WRDE_CMDSUB:
		return error_create(ERROR_USAGE,
				    "commands are not executed here");
	case WRDE_BADCHAR:
		return error_create(ERROR_USAGE,
				    "one of |&;<>(){} is not quoted");
	case WRDE_SYNTAX:
		return error_create(ERROR_USAGE, "a quote is not closed");
	default:
		return error_nomem;
	}
	for (size_t i = 0; !err && i < list.we_wordc; i++) {
		if (!add_word(words, list.we_wordv[i]))
			err = error_nomem;
	}
	wordfree(&list);
	return err;
}

static const struct option_def *find_option(const struct command *command,
					    const struct defaults *defaults,
					    const char *word, bool *ret_own)
{
	const struct option_def *def = options_find(command->options, word);

	*ret_own = def != NULL;
	for (size_t i = 0; !def && defaults->commands[i]; i++)
		def = options_find(defaults->commands[i]->options, word);
	return def;
}

static bool has_value(const char *word)
{
	return word[1] == '-' ? strchr(word, '=') != NULL : word[2] != '\0';
}

/* Take those of a text that the command has; its words stay in `owned'. */
static struct error *take_words(const struct command *command, size_t first,
				bool of_file, struct defaults *defaults)
{
	const struct vec *words = &defaults->owned;

	for (size_t i = first; i < words->count; i++) {
		const char *word = word_at(words, i);
		size_t count = 1;
		const struct option_def *def;
		bool own;

		if (word[0] != '-' || !word[1] || strcmp(word, "--") == 0)
			return error_create(ERROR_USAGE,
					    "'%s' is not an option", word);
		def = find_option(command, defaults, word, &own);
		if (!def)
			return error_create(ERROR_USAGE, "unknown option: %s",
					    word);
		if (of_file && !is_of_files(def))
			return error_create(ERROR_USAGE,
					    "%s is for the command line and %s",
					    def->name, DEFAULTS_VARIABLE);
		if (def->arg && !has_value(word))
			count = 2;
		if (i + count > words->count)
			return error_create(ERROR_USAGE,
					    "%s needs an argument: %s", word,
					    def->arg);
		for (size_t n = 0; own && n < count; n++) {
			if (!vec_push(&defaults->argv, vec_at(words, i + n)))
				return error_nomem;
		}
		i += count - 1;
	}
	return NULL;
}

static struct error *take_text(const struct command *command, const char *text,
			       bool of_file, struct defaults *defaults)
{
	size_t first = defaults->owned.count;
	struct error *err = split(text, &defaults->owned);

	return err ? err : take_words(command, first, of_file, defaults);
}

static struct error *take_line(const struct command *command, const char *line,
			       size_t size, int number,
			       struct defaults *defaults)
{
	cleanup_free char *text = strndup(line, size);

	if (!text)
		return error_nomem;
	if (text[strspn(text, " \t")] == '#')
		return NULL;
	return error_wrap(take_text(command, text, true, defaults), "%s:%d",
			  DEFAULTS_FILE, number);
}

static bool is_trusted(const struct stat *file)
{
	return (file->st_uid == geteuid() || file->st_uid == 0) &&
	       !(file->st_mode & S_IWOTH);
}

static struct error *take_file(const struct command *command,
			       struct defaults *defaults)
{
	struct textfile file = { 0 };
	struct error *err = NULL;
	struct stat status;
	const char *line;
	size_t size;

	if (lstat(DEFAULTS_FILE, &status) != 0)
		return NULL;
	if (!is_trusted(&status)) {
		log_warn("%s is not read: it belongs to another user, or "
			 "others may write it",
			 DEFAULTS_FILE);
		return NULL;
	}
	if (S_ISREG(status.st_mode) && status.st_size == 0)
		return NULL;
	if (!S_ISREG(status.st_mode) ||
	    !textfile_read(&file, NULL, NULL, DEFAULTS_FILE, DEFAULTS_SIZE_MAX))
		return error_create(ERROR_USAGE,
				    "%s is not a text file of at most 64 KB "
				    "that can be read",
				    DEFAULTS_FILE);
	for (int i = 1; !err && textfile_line(&file, i, &line, &size); i++)
		err = take_line(command, line, size, i, defaults);
	textfile_deinit(&file);
	return err;
}

static struct error *take_variable(const struct command *command,
				   struct defaults *defaults)
{
	const char *text = getenv(DEFAULTS_VARIABLE);
	struct error *err;

	if (!text)
		return NULL;
	if (strlen(text) > DEFAULTS_SIZE_MAX)
		err = error_create(ERROR_USAGE, "it is longer than 64 KB");
	else
		err = take_text(command, text, false, defaults);
	return error_wrap(err, "%s", DEFAULTS_VARIABLE);
}

/* What came from elsewhere than the command line. */
static void tell(const struct vec *argv)
{
	struct strbuf text = { 0 };

	for (size_t i = 1; i < argv->count; i++)
		strbuf_addf(&text, " %s", word_at(argv, i));
	if (text.length > 0)
		log_note("options of %s and %s:%s", DEFAULTS_FILE,
			 DEFAULTS_VARIABLE, strbuf_text(&text));
	strbuf_deinit(&text);
}

struct error *defaults_read(const struct command *command,
			    const struct command *const *all, int argc,
			    char **argv, struct defaults *ret)
{
	char *end = NULL;
	struct error *err = NULL;

	*ret = (struct defaults){ .commands = all,
				  .argv = VEC_INIT(char *),
				  .owned = VEC_INIT(char *) };
	if (!vec_push(&ret->argv, &argv[0]))
		return error_nomem;
	if (!getenv("RACEWATCH_RUN")) {
		err = take_file(command, ret);
		if (!err)
			err = take_variable(command, ret);
		if (!err)
			tell(&ret->argv);
	}
	for (int i = 1; !err && i < argc; i++) {
		if (!vec_push(&ret->argv, &argv[i]))
			err = error_nomem;
	}
	if (!err && !vec_push(&ret->argv, &end))
		err = error_nomem;
	return err;
}

void defaults_deinit(struct defaults *defaults)
{
	for (size_t i = 0; i < defaults->owned.count; i++)
		free(*(char **)vec_at(&defaults->owned, i));
	vec_deinit(&defaults->owned);
	vec_deinit(&defaults->argv);
}
