/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Options that a user has written down; see defaults.h.
 */
#include "cmd/defaults.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <wordexp.h>

#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "cmd/cmd.h"

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
	wordexp_t list = { 0 };
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
	default: /* words before the one without memory may be there */
		wordfree(&list);
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
static struct error *take_words(const struct command *command,
				struct defaults *defaults)
{
	const struct vec *words = &defaults->owned;

	for (size_t i = 0; i < words->count; i++) {
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
		if (word[1] != '-' && word[2] && !def->arg)
			return error_create(ERROR_USAGE,
					    "%s: letters are not combined here",
					    word);
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
			       struct defaults *defaults)
{
	struct error *err = split(text, &defaults->owned);

	return err ? err : take_words(command, defaults);
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
		err = take_text(command, text, defaults);
	return error_wrap(err, "%s", DEFAULTS_VARIABLE);
}

/* --help as the first argument: it is answered whatever the variable has. */
static bool asks_for_help(int argc, char **argv)
{
	return argc > 1 &&
	       (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

/* What the command line does not have. */
static void tell(const struct vec *argv)
{
	struct strbuf text = { 0 };

	for (size_t i = 1; i < argv->count; i++)
		strbuf_addf(&text, " %s", word_at(argv, i));
	if (text.length > 0)
		log_note("options of %s:%s", DEFAULTS_VARIABLE,
			 strbuf_text(&text));
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
	if (command->watches && !getenv("RACEWATCH_RUN") &&
	    !asks_for_help(argc, argv)) {
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
