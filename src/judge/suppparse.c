/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of suppressions; see suppress.h. Every line says at its beginning
 * what it is, so that neither indentation nor empty lines mean anything: a line
 * that has lost its blanks must not become a wider rule.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "judge/suppress.h"
#include "judge/supprule.h"
#include "judge/wildcard.h"

struct parser {
	struct suppressions *suppressions;
	const char *file;
	int line;
	struct suppress_rule *rule; /* the last one; NULL: none yet */
	struct strbuf text; /* of that rule */
};

/* How a condition's value is written. */
enum form {
	FORM_PATTERN,
	FORM_CODE, /* BUILD-ID+0xOFFSET, MODULE+0xOFFSET */
	FORM_ADDRESS, /* [MODULE+]0xFIRST[-0xLAST] */
	FORM_UNCHANGED,
	FORM_MASK, /* 0xBITS */
	FORM_FINGERPRINT,
	FORM_ANYTHING,
};

static const struct key_word {
	const char *word;
	enum suppress_key key;
	enum form form;
} key_words[] = {
	{ "race", KEY_RACE, FORM_PATTERN },
	{ "race_top", KEY_RACE_TOP, FORM_PATTERN },
	{ "called_from_lib", KEY_CALLED_FROM_LIB, FORM_PATTERN },
	{ "function", KEY_FUNCTION, FORM_PATTERN },
	{ "file", KEY_FILE, FORM_PATTERN },
	{ "module", KEY_MODULE, FORM_PATTERN },
	{ "code", KEY_CODE, FORM_CODE },
	{ "variable", KEY_VARIABLE, FORM_PATTERN },
	{ "type", KEY_TYPE, FORM_PATTERN },
	{ "address", KEY_ADDRESS, FORM_ADDRESS },
	{ "values", KEY_VALUES, FORM_UNCHANGED },
	{ "bits", KEY_BITS, FORM_MASK },
	{ "fingerprint", KEY_FINGERPRINT, FORM_FINGERPRINT },
	{ "mutex", KEY_IGNORED, FORM_ANYTHING },
	{ "deadlock", KEY_IGNORED, FORM_ANYTHING },
	{ "thread", KEY_IGNORED, FORM_ANYTHING },
	{ "signal", KEY_IGNORED, FORM_ANYTHING },
};

enum { KEY_WORDS = sizeof(key_words) / sizeof(key_words[0]) };

/* "FILE:LINE: problem", with the text that has it, cut short. */
static struct error *parser_error(const struct parser *parser,
				  const char *problem, const char *text)
{
	char cut[41];
	struct strbuf shown = { 0 };
	struct error *err;

	snprintf(cut, sizeof(cut), "%s", text);
	utf8_add_visible(&shown, cut);
	err = error_create(ERROR_FORMAT, "%s:%d: %s: '%s%s'", parser->file,
			   parser->line, problem, strbuf_text(&shown),
			   strlen(text) >= sizeof(cut) ? "..." : "");
	strbuf_deinit(&shown);
	return err;
}

/* A hexadecimal number after "0x"; *at moves behind it. */
static bool parse_hex(const char **at, uint64_t *ret)
{
	const char *digits = *at + 2;
	size_t n;

	if (strncmp(*at, "0x", 2) != 0)
		return false;
	n = strspn(digits, "0123456789abcdefABCDEF");
	if (n == 0 || n > 16)
		return false;
	*ret = strtoull(digits, NULL, 16);
	*at = digits + n;
	return true;
}

/*
 * Numbers, after a name and "+" if there is one; *ret_name is the name's
 * length.
 */
static bool parse_range(const char *value, struct suppress_condition *ret,
			size_t *ret_name)
{
	const char *plus = strrchr(value, '+');
	const char *at = plus ? plus + 1 : value;

	if (plus == value || !parse_hex(&at, &ret->low))
		return false;
	ret->high = ret->low;
	if (*at == '-') {
		at++;
		if (!parse_hex(&at, &ret->high) || ret->high < ret->low)
			return false;
	}
	*ret_name = plus ? (size_t)(plus - value) : 0;
	return !*at;
}

/*
 * False when the value has not the form; *ret_text is how much of it is the
 * condition's text.
 */
static bool parse_value(const char *value, enum form form,
			struct suppress_condition *ret, size_t *ret_text)
{
	const char *at = value;

	*ret_text = 0;
	switch (form) {
	case FORM_PATTERN:
		*ret_text = strlen(value);
		return wildcard_says_something(value);
	case FORM_CODE:
		return parse_range(value, ret, ret_text) && *ret_text > 0 &&
		       ret->low == ret->high;
	case FORM_ADDRESS:
		return parse_range(value, ret, ret_text);
	case FORM_UNCHANGED:
		return strcmp(value, "unchanged") == 0;
	case FORM_MASK:
		return parse_hex(&at, &ret->low) && !*at;
	case FORM_FINGERPRINT:
		*ret_text = strlen(value);
		return *ret_text == 32 &&
		       strspn(value, "0123456789abcdefABCDEF") == 32;
	case FORM_ANYTHING:
		break;
	}
	return true;
}

static const char *form_wanted(enum form form)
{
	switch (form) {
	case FORM_PATTERN:
		return "a pattern is missing";
	case FORM_CODE:
		return "not BUILD-ID+0xOFFSET or MODULE+0xOFFSET";
	case FORM_ADDRESS:
		return "not 0xFIRST-0xLAST or MODULE+0xFIRST-0xLAST";
	case FORM_UNCHANGED:
		return "not 'unchanged'";
	case FORM_MASK:
		return "not a mask such as 0x80";
	case FORM_FINGERPRINT:
		return "not 32 hexadecimal digits";
	case FORM_ANYTHING:
		break;
	}
	return "not understood";
}

/* The value after "WORD:" of a line that begins with it; NULL otherwise. */
static const char *after_word(const char *line, const char *word)
{
	size_t length = strlen(word);

	if (strncmp(line, word, length) != 0 || line[length] != ':')
		return NULL;
	line += length + 1;
	return line + strspn(line, " \t");
}

static const struct key_word *find_key(const char *line, const char **ret_value)
{
	for (size_t i = 0; i < KEY_WORDS; i++) {
		*ret_value = after_word(line, key_words[i].word);
		if (*ret_value)
			return &key_words[i];
	}
	return NULL;
}

static struct error *unknown_key(const struct parser *parser, const char *line)
{
	if (strcmp(line, "{") == 0)
		return parser_error(parser,
				    "this looks like Valgrind's format, which "
				    "is not read",
				    line);
	return parser_error(parser,
			    "not KIND:PATTERN of a known kind "
			    "(racewatch-suppressions(5) lists them)",
			    line);
}

/* "KEY:VALUE" as a condition of the rule's last alternative. */
static struct error *parse_condition(struct parser *parser, const char *line,
				     bool against)
{
	struct suppress_rule *rule = parser->rule;
	struct suppress_alternative *alternative =
		vec_at(&rule->alternatives, rule->alternatives.count - 1);
	struct suppress_condition condition = { .against = against };
	const char *value;
	const struct key_word *word = find_key(line, &value);
	size_t length;

	if (!word)
		return unknown_key(parser, line);
	condition.key = word->key;
	if (against && !suppress_key_is_of_side(word->key))
		return parser_error(parser,
				    "this is not about a side, so it cannot "
				    "follow 'against:'",
				    line);
	if (!parse_value(value, word->form, &condition, &length))
		return parser_error(parser, form_wanted(word->form), line);
	condition.text = length > 0 ? strndup(value, length) : NULL;
	if ((length > 0 && !condition.text) ||
	    !vec_push(&alternative->conditions, &condition)) {
		free(condition.text);
		return error_nomem;
	}
	rule->ignored = rule->ignored || word->key == KEY_IGNORED;
	if (suppress_key_is_of_values(word->key))
		parser->suppressions->by_values = true;
	return NULL;
}

static bool add_alternative(struct suppress_rule *rule)
{
	struct suppress_alternative *alternative =
		vec_append(&rule->alternatives);

	if (alternative)
		alternative->conditions =
			(struct vec)VEC_INIT(struct suppress_condition);
	return alternative;
}

/*
 * What says something of the values only would hide every race of which no
 * change has been seen yet.
 */
static struct error *check_alternative(const struct parser *parser,
				       const struct suppress_alternative *of)
{
	for (size_t i = 0; i < of->conditions.count; i++) {
		const struct suppress_condition *condition =
			vec_at(&of->conditions, i);

		if (!suppress_key_is_of_values(condition->key))
			return NULL;
	}
	return error_create(ERROR_FORMAT,
			    "%s:%d: 'values:' and 'bits:' alone fit too many "
			    "races: say which, with 'and:variable:...'",
			    parser->file, parser->rule->line);
}

/* The rule is complete. */
static struct error *end_rule(struct parser *parser)
{
	struct suppress_rule *rule = parser->rule;
	struct error *err = NULL;

	if (!rule)
		return NULL;
	for (size_t i = 0; !err && i < rule->alternatives.count; i++)
		err = check_alternative(parser, vec_at(&rule->alternatives, i));
	if (err)
		return err;
	rule->text = strbuf_steal(&parser->text);
	return rule->text ? NULL : error_nomem;
}

static struct error *begin_rule(struct parser *parser, const char *line)
{
	struct error *err = end_rule(parser);

	if (err)
		return err;
	parser->rule = vec_append(&parser->suppressions->rules);
	if (!parser->rule)
		return error_nomem;
	parser->rule->file = parser->file;
	parser->rule->line = parser->line;
	parser->rule->alternatives =
		(struct vec)VEC_INIT(struct suppress_alternative);
	if (!add_alternative(parser->rule))
		return error_nomem;
	return parse_condition(parser, line, false);
}

/* Days since 1970-01-01 in the Gregorian calendar. */
static int64_t days_of(int64_t year, int month, int day)
{
	/* of March to February, so that the odd day is the last one */
	int64_t y = month > 2 ? year : year - 1;
	int64_t m = (month + 9) % 12;

	return y * 365 + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day -
	       1 - 719468;
}

static bool parse_date(const char *text, int64_t *ret)
{
	static const int lengths[] = { 31, 29, 31, 30, 31, 30,
				       31, 31, 30, 31, 30, 31 };
	int year, month, day;

	if (strlen(text) != strlen("2027-01-31") ||
	    strspn(text, "0123456789-") != strlen(text) ||
	    sscanf(text, "%4d-%2d-%2d", &year, &month, &day) != 3 ||
	    text[4] != '-' || text[7] != '-' || month < 1 || month > 12 ||
	    day < 1 || day > lengths[month - 1])
		return false;
	*ret = days_of(year, month, day);
	/* the 29th of February of other years is the 1st of March */
	return month != 2 || day < 29 || days_of(year, 3, 1) > *ret;
}

static struct error *parse_remark(struct parser *parser, const char *value,
				  char **member)
{
	if (*member)
		return parser_error(parser, "said twice of one rule", value);
	if (!*value)
		return parser_error(parser, "nothing is said here", value);
	*member = strdup(value);
	return *member ? NULL : error_nomem;
}

static struct error *parse_expiry(struct parser *parser, const char *value)
{
	struct suppress_rule *rule = parser->rule;
	int64_t day;

	if (!parse_date(value, &day))
		return parser_error(parser, "not a date such as 2027-01-31",
				    value);
	rule->expired = day < parser->suppressions->today;
	return parse_remark(parser, value, &rule->expires);
}

/* What the line does with the rule above. */
enum more {
	MORE_NOTHING, /* it is none of these */
	MORE_AND,
	MORE_AGAINST,
	MORE_OR,
	MORE_REASON,
	MORE_BUG,
	MORE_EXPIRES,
};

static enum more find_more(const char *line, const char **ret_value)
{
	static const char *const words[] = {
		[MORE_AND] = "and", [MORE_AGAINST] = "against",
		[MORE_OR] = "or",   [MORE_REASON] = "reason",
		[MORE_BUG] = "bug", [MORE_EXPIRES] = "expires",
	};

	for (int i = MORE_AND; i <= MORE_EXPIRES; i++) {
		*ret_value = after_word(line, words[i]);
		if (*ret_value)
			return (enum more)i;
	}
	return MORE_NOTHING;
}

static struct error *parse_more(struct parser *parser, enum more more,
				const char *value)
{
	switch (more) {
	case MORE_AND:
		return parse_condition(parser, value, false);
	case MORE_AGAINST:
		return parse_condition(parser, value, true);
	case MORE_OR:
		if (!add_alternative(parser->rule))
			return error_nomem;
		return parse_condition(parser, value, false);
	case MORE_REASON:
		return parse_remark(parser, value, &parser->rule->reason);
	case MORE_BUG:
		return parse_remark(parser, value, &parser->rule->bug);
	case MORE_EXPIRES:
		return parse_expiry(parser, value);
	case MORE_NOTHING:
		break;
	}
	return NULL;
}

/* A line without the blanks around it. */
static struct error *parse_words(struct parser *parser, const char *line)
{
	const char *value;
	enum more more = find_more(line, &value);
	struct error *err;

	if (more != MORE_NOTHING && !parser->rule)
		return parser_error(parser, "there is no rule before this",
				    line);
	if (more != MORE_NOTHING)
		err = parse_more(parser, more, value);
	else
		err = begin_rule(parser, line);
	if (err || more >= MORE_REASON)
		return err;
	if (parser->text.length > 0)
		strbuf_add(&parser->text, " ");
	strbuf_add(&parser->text, line);
	return NULL;
}

static struct error *parse_line(struct parser *parser, const char *start,
				size_t length)
{
	struct error *err = NULL;
	char *line;

	while (length > 0 && strchr(" \t\r", start[length - 1]))
		length--;
	while (length > 0 && (*start == ' ' || *start == '\t')) {
		start++;
		length--;
	}
	if (length == 0 || *start == '#')
		return NULL;
	if (memchr(start, '\0', length))
		return parser_error(parser, "a zero byte; is this text?", "");
	line = strndup(start, length);
	if (!line)
		return error_nomem;
	err = parse_words(parser, line);
	free(line);
	return err;
}

/* Editors of other systems begin a file with it. */
static size_t mark_length(const char *text, size_t size)
{
	return size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
}

static struct error *parse_lines(struct parser *parser, const char *text,
				 size_t size)
{
	struct error *err = NULL;
	const char *end = text + size;

	text += mark_length(text, size);
	while (!err && text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const char *stop = newline ? newline : end;

		parser->line++;
		err = parse_line(parser, text, (size_t)(stop - text));
		text = stop + 1;
	}
	return err ? err : end_rule(parser);
}

/* Forget the rules from this one on. */
static void drop_rules(struct suppressions *suppressions, size_t from)
{
	while (suppressions->rules.count > from)
		suppress_rule_deinit(vec_at(&suppressions->rules,
					    --suppressions->rules.count));
}

struct error *suppressions_parse(struct suppressions *suppressions,
				 const char *name, const char *text,
				 size_t size)
{
	struct parser parser = { .suppressions = suppressions };
	size_t before = suppressions->rules.count;
	char *file = strdup(name);
	struct error *err;

	if (!file || !vec_push(&suppressions->files, &file)) {
		free(file);
		return error_nomem;
	}
	parser.file = file;
	err = parse_lines(&parser, text, size);
	strbuf_deinit(&parser.text);
	if (err)
		drop_rules(suppressions, before);
	return err;
}
