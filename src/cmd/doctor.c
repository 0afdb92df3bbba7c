/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch doctor: whether this machine, user and process can be watched, and
 * what to change (racewatch-doctor(1)).
 */
#include "cmd/cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "base/utf8.h"
#include "doctor/checks.h"
#include "doctor/pid.h"
#include "hunt/record-qemu.h"
#include "hunt/record.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *const format_words[] = { "text", "json", NULL };

struct doctor_options {
	struct standard standard;
	int format;
};

static const struct option_def doctor_defs[] = {
	{ .name = "--format",
	  .arg = "FORMAT",
	  .help = "print text or json (default text)",
	  .type = OPTION_CHOICE,
	  .offset = offsetof(struct doctor_options, format),
	  .choices = format_words },
};

static const struct option_group doctor_group = OPTION_GROUP(doctor_defs);

static const struct option_table doctor_table = {
	.command = "doctor",
	.synopsis = "[options] [PID]",
	.summary = "Check whether this machine, this user and a process can be "
		   "watched, and what to change.",
	.parts =
		(const struct option_part[]){
			{ &doctor_group, 0 },
			{ &standard_group,
			  offsetof(struct doctor_options, standard) },
			{ NULL, 0 },
		},
};

static int doctor_status(enum check_verdict worst)
{
	switch (worst) {
	case CHECK_OK:
	case CHECK_NOTE:
		break;
	case CHECK_WARNING:
		return EXIT_LIMITED;
	case CHECK_FAILED:
		return EXIT_CANNOT_WATCH;
	}
	return 0;
}

static const char *doctor_conclusion(enum check_verdict worst)
{
	switch (worst) {
	case CHECK_OK:
	case CHECK_NOTE:
		break;
	case CHECK_WARNING:
		return "watching works, with limits";
	case CHECK_FAILED:
		return "cannot be watched";
	}
	return "all is well";
}

/* A name out of /proc may hold anything. */
static void text_part(const char *before, const char *text)
{
	struct strbuf clean = { 0 };

	utf8_add(&clean, text ? text : "(out of memory)");
	printf("%s%s\n", before, strbuf_text(&clean));
	strbuf_deinit(&clean);
}

static struct error *print_text(const struct checks *checks)
{
	for (size_t i = 0; i < checks->list.count; i++) {
		const struct check *check = vec_at(&checks->list, i);

		printf("%-8s %-17s", check_verdict_name(check->verdict),
		       check->name);
		text_part("", check->finding);
		if (check->remedy)
			text_part("                          remedy: ",
				  check->remedy);
	}
	printf("racewatch doctor: %s\n",
	       doctor_conclusion(checks_worst(checks)));
	return NULL;
}

static json_t *json_text(const char *text)
{
	struct strbuf clean = { 0 };
	json_t *string;

	if (!text)
		return json_null();
	utf8_add(&clean, text);
	string = json_string(strbuf_text(&clean));
	strbuf_deinit(&clean);
	return string;
}

/* Takes the object over; NULL is a lack of memory. */
static struct error *print_object(json_t *object)
{
	struct error *err = NULL;

	if (!object)
		return error_nomem;
	if (json_dumpf(object, stdout, JSON_COMPACT) < 0 || putchar('\n') < 0)
		err = error_os(errno, "write to standard output");
	json_decref(object);
	return err;
}

static struct error *print_json(const struct checks *checks)
{
	enum check_verdict worst = checks_worst(checks);
	struct error *err = NULL;

	for (size_t i = 0; !err && i < checks->list.count; i++) {
		const struct check *check = vec_at(&checks->list, i);

		err = print_object(
			json_pack("{s:s, s:s, s:s, s:o, s:o}", "type", "check",
				  "name", check->name, "verdict",
				  check_verdict_name(check->verdict), "finding",
				  json_text(check->finding), "remedy",
				  json_text(check->remedy)));
	}
	if (!err)
		err = print_object(json_pack("{s:s, s:i, s:s, s:i}", "type",
					     "doctor", "schema", 1, "verdict",
					     check_verdict_name(worst), "exit",
					     doctor_status(worst)));
	return err;
}

/* The recorders, the first of which `hunt --recorder auto' takes. */
static char *doctor_recorders(const struct error *missing)
{
	struct error *no_qemu = record_qemu_check();
	char version[32], qemu[64] = "", *text;
	int length;

	if (!no_qemu) {
		record_qemu_version(version, sizeof(version));
		snprintf(qemu, sizeof(qemu), "qemu (%s), ", version);
	}
	error_free(no_qemu);
	if (missing) {
		length = asprintf(&text, "%sbreakpoints; valgrind not: %s",
				  qemu, error_message(missing));
	} else {
		record_valgrind_version(version, sizeof(version));
		length = asprintf(&text,
				  "valgrind (%s, with our tool), %sbreakpoints",
				  version, qemu);
	}
	return length < 0 ? NULL : text;
}

/* What `racewatch hunt' records with. */
static struct error *doctor_add_recorder(struct checks *checks)
{
	struct error *missing = record_check();
	struct check check = {
		.name = "recorder",
		.verdict = missing ? CHECK_NOTE : CHECK_OK,
		.finding = doctor_recorders(missing),
		.remedy = missing ? strdup("for racewatch hunt to record every "
					   "access: install valgrind; build "
					   "racewatch with it")
				  : NULL,
	};

	error_free(missing);
	if (check.finding && vec_push(&checks->list, &check))
		return NULL;
	free(check.finding);
	free(check.remedy);
	return error_nomem;
}

static struct error *doctor_examine(const struct doctor_options *options,
				    int pid, int *ret_status)
{
	struct checks checks;
	struct error *err;

	checks_init(&checks);
	err = checks_machine(&checks);
	if (!err)
		err = doctor_add_recorder(&checks);
	if (!err && pid)
		err = checks_process(pid, &checks);
	if (!err)
		err = options->format == FORMAT_JSON ? print_json(&checks)
						     : print_text(&checks);
	if (!err && fflush(stdout) != 0)
		err = error_os(errno, "write to standard output");
	if (!err)
		*ret_status = doctor_status(checks_worst(&checks));
	checks_deinit(&checks);
	return err;
}

static struct error *doctor_main(int argc, char **argv, int *ret_status)
{
	struct doctor_options options;
	struct error *err;
	int first, pid = 0;

	err = options_parse(&doctor_table, argc, argv, &options, NULL, &first);
	if (err)
		return err;
	*ret_status = 0;
	if (command_answer(&command_doctor, &options.standard))
		return NULL;
	if (argc - first > 1)
		return error_create(ERROR_USAGE,
				    "more than one process is given");
	if (argc > first)
		err = pid_parse(argv[first], &pid);
	return err ? err : doctor_examine(&options, pid, ret_status);
}

const struct command command_doctor = {
	.name = "doctor",
	.summary = "report what keeps racewatch from watching, and the remedy",
	.options = &doctor_table,
	.run = doctor_main,
};
