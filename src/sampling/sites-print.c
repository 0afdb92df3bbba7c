/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sites and their counts as text and as JSON lines; see sites-print.h.
 */
#include "sampling/sites-print.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "base/error.h"
#include "image/elftext.h"
#include "image/image.h"
#include "image/symbols.h"
#include "sampling/rules.h"

/* A full disk or a closed pipe ends the listing. */
static struct error *print_check(void)
{
	return ferror(stdout) ? error_os(errno, "write to standard output")
			      : NULL;
}

/* The operand a site is watched for: the first that is not a push beside it. */
static const struct mem_operand *print_operand(const struct scan_site *site)
{
	const struct mem_operand *operand = &site->insn.operands[0];

	if (operand->stack && site->insn.operand_count > 1)
		operand = &site->insn.operands[1];
	return operand;
}

static void print_insn(struct sites_output *output, const struct module *module,
		       const struct scan_site *site, char *text, size_t size)
{
	size_t have = 0;
	const uint8_t *bytes =
		elftext_bytes(module->text, site->address, &have);

	if (bytes)
		decoder_text(output->decoder, bytes, have, site->address, text,
			     size);
	else
		snprintf(text, size, "(bad)");
}

/* The innermost names of a site, until those of the next are asked for. */
static const struct code_frame *print_frame(struct sites_output *output,
					    struct image *image,
					    const struct module *module,
					    const struct elf_function *function,
					    const struct scan_site *site)
{
	const struct code_frame *frame;
	uint64_t address = site->address + module->bias;

	if (output->unlined != function) {
		code_frames_clear(&output->frames);
		error_free(
			symbols_frames(image, address, false, &output->frames));
	}
	if (output->frames.count == 0)
		return NULL;
	frame = vec_at(&output->frames, 0);
	output->unlined = frame->file ? NULL : function;
	return frame;
}

/* What is said of a site in any format. */
struct site_text {
	const struct mem_operand *operand;
	const char *function, *file; /* NULL: not known */
	int line;
	char insn[128];
};

static void describe_site(struct sites_output *output, struct image *image,
			  const struct module *module,
			  const struct elf_function *function,
			  const struct scan_site *site, struct site_text *ret)
{
	const struct code_frame *frame =
		print_frame(output, image, module, function, site);

	ret->operand = print_operand(site);
	ret->function = frame && frame->function ? frame->function
						 : function->name;
	ret->file = frame ? frame->file : NULL;
	ret->line = frame ? frame->line : 0;
	print_insn(output, module, site, ret->insn, sizeof(ret->insn));
}

static struct error *text_site(void *context, struct image *image,
			       const struct module *module,
			       const struct elf_function *function,
			       const struct scan_site *site)
{
	struct site_text text;

	describe_site(context, image, module, function, site, &text);
	printf("%s+0x%" PRIx64 "\t%s\t", module->name, site->address,
	       text.function ? text.function : "-");
	if (text.file)
		printf("%s:%d", text.file, text.line);
	else
		printf("-");
	printf("\t%s\t%s\t%u\n", text.insn,
	       access_kind_name(text.operand->kind), text.operand->size);
	return print_check();
}

static void text_count(const char *name, uint64_t count)
{
	if (count > 0)
		printf("  %-22s %12" PRIu64 "\n", name, count);
}

static void text_counts(const struct scan_counts *counts)
{
	text_count("functions", counts->functions);
	text_count("instructions", counts->instructions);
	printf("  %-22s %12" PRIu64 "\n", "sites", counts->rules[RULE_SITE]);
	text_count("  of escaping locals", counts->locals);
	for (int i = RULE_SITE + 1; i < RULES; i++)
		text_count(rule_name(i), counts->rules[i]);
}

static struct error *text_module(void *context, const struct module *module,
				 const struct scan_counts *counts)
{
	struct sites_output *output = context;

	if (output->list)
		return NULL;
	printf("%s%s\n", output->modules++ > 0 ? "\n" : "", module->path);
	if (module->problem)
		printf("  cannot be read: %s\n", module->problem);
	else
		text_counts(counts);
	return print_check();
}

static struct error *text_total(struct sites_output *output,
				const struct scan_counts *counts)
{
	if (output->list || output->modules < 2)
		return NULL;
	printf("\ntotal of %u modules\n", output->modules);
	text_counts(counts);
	return print_check();
}

const struct sites_printer sites_print_text = { text_site, text_module,
						text_total };

static struct error *json_line(json_t *object)
{
	int failed;

	if (!object)
		return error_nomem;
	failed = json_dumpf(object, stdout, JSON_COMPACT);
	json_decref(object);
	if (!failed)
		putchar('\n');
	return print_check();
}

static json_t *json_address(uint64_t address)
{
	return json_sprintf("0x%" PRIx64, address);
}

/* Names in ELF files may be anything; JSON strings are UTF-8. */
static json_t *json_text(const char *text)
{
	json_t *string = text ? json_string(text) : json_null();

	return string ? string : json_string("(not UTF-8)");
}

static struct error *json_site(void *context, struct image *image,
			       const struct module *module,
			       const struct elf_function *function,
			       const struct scan_site *site)
{
	struct site_text text;
	json_t *object;

	describe_site(context, image, module, function, site, &text);
	object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:i, s:o, s:s, s:i}",
			   "type", "site", "module", json_text(module->path),
			   "offset", json_address(site->address), "function",
			   json_text(text.function), "file",
			   json_text(text.file), "line", text.line, "insn",
			   json_text(text.insn), "access",
			   text.operand->kind == ACCESS_RMW
				   ? "rmw"
				   : access_kind_name(text.operand->kind),
			   "size", (int)text.operand->size);
	return json_line(object);
}

static json_t *json_counts(const char *type, const struct scan_counts *counts)
{
	json_t *rules = json_object();

	for (int i = RULE_SITE + 1; i < RULES; i++) {
		if (counts->rules[i] > 0)
			json_object_set_new(
				rules, rule_name(i),
				json_integer((json_int_t)counts->rules[i]));
	}
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:o}", "type", type,
			 "functions", (json_int_t)counts->functions, "bytes",
			 (json_int_t)counts->bytes, "instructions",
			 (json_int_t)counts->instructions, "sites",
			 (json_int_t)counts->rules[RULE_SITE], "locals",
			 (json_int_t)counts->locals, "excluded", rules);
}

static struct error *json_module(void *context, const struct module *module,
				 const struct scan_counts *counts)
{
	json_t *object = json_counts("module", counts);

	(void)context;
	if (object) {
		json_object_set_new(object, "module", json_text(module->path));
		json_object_set_new(object, "problem",
				    json_text(module->problem));
	}
	return json_line(object);
}

static struct error *json_total(struct sites_output *output,
				const struct scan_counts *counts)
{
	(void)output;
	return json_line(json_counts("total", counts));
}

const struct sites_printer sites_print_json = { json_site, json_module,
						json_total };
