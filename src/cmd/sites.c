/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * racewatch sites: the sampling set of a file or a process, counted by rule or
 * listed (racewatch-sites(1)).
 */
#include "cmd/cmd.h"

#include <stddef.h>

#include "base/error.h"
#include "base/options.h"
#include "doctor/pid.h"
#include "image/image.h"
#include "image/symbols.h"
#include "sampling/inventory.h"
#include "sampling/rules.h"
#include "sampling/sites-print.h"

enum format { FORMAT_TEXT, FORMAT_JSON };

static const char *const format_words[] = { "text", "json", NULL };

struct sites_options {
	struct standard standard;
	struct selecting selecting;
	bool list;
	int format;
};

#define AT(member) offsetof(struct sites_options, member)

static const struct option_def sites_defs[] = {
	{ .name = "--list",
	  .help = "print each site",
	  .type = OPTION_FLAG,
	  .offset = AT(list) },
	{ .name = "--format",
	  .arg = "FORMAT",
	  .help = "print text or json (default text)",
	  .type = OPTION_CHOICE,
	  .offset = AT(format),
	  .choices = format_words },
};

static const struct option_group sites_group = OPTION_GROUP(sites_defs);

static const struct option_table sites_table = {
	.command = "sites",
	.synopsis = "[options] FILE|PID",
	.summary = "List the instructions that can be sampled, and count what "
		   "is left out and why.",
	.parts =
		(const struct option_part[]){
			{ &sites_group, 0 },
			{ &selecting_group, AT(selecting) },
			{ &standard_group, AT(standard) },
			{ NULL, 0 },
		},
};

/* A number is a process; a file of such a name is ./NUMBER. */
static int sites_pid(const char *argument)
{
	struct error *err;
	int pid = 0;

	err = pid_parse(argument, &pid);
	error_free(err);
	return err ? 0 : pid;
}

static struct error *sites_image(const char *argument, int pid,
				 struct image **ret)
{
	struct image *image;
	struct error *err;
	bool changed;

	if (pid == 0)
		return image_create_file(argument, ret);
	err = image_create(pid, &image);
	if (err)
		return err;
	err = image_refresh(image, &changed);
	if (!err && image_modules(image)->count == 0)
		err = error_gone;
	if (err) {
		image_destroy(image);
		return error_catch(err, ERROR_GONE)
			       ? error_create(
					 ERROR_OTHER,
					 "process %d: there is none, or it "
					 "has ended",
					 pid)
			       : error_wrap(err, "process %d", pid);
	}
	*ret = image;
	return NULL;
}

static struct error *sites_take(const struct sites_options *options,
				const struct rules *rules, const char *argument)
{
	const struct sites_printer *printer = options->format == FORMAT_JSON
						      ? &sites_print_json
						      : &sites_print_text;
	struct sites_output output = { .list = options->list,
				       .frames = VEC_INIT(struct code_frame) };
	struct inventory_visitor visitor = {
		.context = &output,
		.site = options->list ? printer->site : NULL,
		.module = printer->module,
	};
	int pid = sites_pid(argument);
	struct scan_counts total;
	struct image *image;
	struct error *err = sites_image(argument, pid, &image);

	if (err)
		return err;
	err = decoder_create(&output.decoder);
	if (!err)
		err = inventory_take(image, rules, pid, &visitor, &total);
	if (!err)
		err = printer->total(&output, &total);
	code_frames_clear(&output.frames);
	vec_deinit(&output.frames);
	decoder_destroy(output.decoder);
	image_destroy(image);
	return err;
}

static struct error *sites_parsed(const struct sites_options *options, int argc,
				  char **argv)
{
	struct rules rules = { .include_stack =
				       options->selecting.include_stack };
	struct error *err;

	if (argc != 1)
		return error_create(ERROR_USAGE, "%s",
				    argc == 0 ? "no file or process is given"
					      : "more than one file or process "
						"is given");
	globs_init(&rules.globs);
	err = selecting_globs(&options->selecting, &rules.globs);
	if (!err)
		err = sites_take(options, &rules, argv[0]);
	globs_deinit(&rules.globs);
	return err;
}

static struct error *sites_main(int argc, char **argv, int *ret_status)
{
	struct sites_options options;
	struct error *err;
	int first;

	err = options_parse(&sites_table, argc, argv, &options, NULL, &first);
	if (!err) {
		*ret_status = 0;
		if (!command_answer(&command_sites, &options.standard))
			err = sites_parsed(&options, argc - first,
					   argv + first);
	}
	options_release(&sites_table, &options);
	return err;
}

const struct command command_sites = {
	.name = "sites",
	.summary = "list what can be sampled, and why the rest is left out",
	.options = &sites_table,
	.run = sites_main,
};
