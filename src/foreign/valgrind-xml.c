/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * XML of Helgrind and DRD; see valgrind-xml.h. The sentences are those of the
 * text, and say whose the stack behind them is.
 */
#include "foreign/valgrind-xml.h"

#include <expat.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "foreign/foreign.h"
#include "foreign/gather.h"
#include "foreign/scan.h"
#include "foreign/valgrind.h"
#include "report/field.h"
#include "report/race.h"

enum {
	XML_CHUNK = 1 << 20, /* is fed to the parser at a time, at first */
	XML_DEPTH_MAX = 64, /* of elements; Valgrind's are far below */
};

struct xml {
	XML_Parser parser;
	struct gather gather;
	struct foreign_report *report;
	struct strbuf text; /* of the innermost element, so far */
	struct race_frame frame;
	struct strbuf folder; /* of the frame's file */
	uint64_t address; /* of the frame */
	bool in_error, in_announcement, in_counts;
	uint64_t unique, count; /* of an error, of a count */
	size_t begin; /* line of the error */
	struct map places; /* an error's unique to its race */
	int depth; /* of elements that are open */
	bool any; /* it is Valgrind's */
	const char *refused; /* why parsing was stopped; NULL: it was not */
};

static size_t line_of(const struct xml *xml)
{
	return (size_t)XML_GetCurrentLineNumber(xml->parser);
}

static void refuse(struct xml *xml, const char *why)
{
	xml->refused = why;
	XML_StopParser(xml->parser, XML_FALSE);
}

static void XMLCALL begin_element(void *context, const char *name,
				  const char **attributes)
{
	struct xml *xml = context;

	(void)attributes;
	strbuf_clear(&xml->text);
	if (++xml->depth > XML_DEPTH_MAX) {
		refuse(xml, "its elements are nested too deeply");
	} else if (strcmp(name, "valgrindoutput") == 0) {
		xml->any = true;
	} else if (strcmp(name, "error") == 0) {
		xml->in_error = true;
		xml->begin = line_of(xml);
	} else if (strcmp(name, "announcethread") == 0) {
		xml->in_announcement = true;
	} else if (strcmp(name, "errorcounts") == 0) {
		xml->in_counts = true;
	} else if (strcmp(name, "frame") == 0) {
		fields_deinit(&race_frame_fields, &xml->frame);
		strbuf_clear(&xml->folder);
		xml->address = 0;
	} else if (strcmp(name, "other_segment_start") == 0 ||
		   strcmp(name, "other_segment_end") == 0) {
		gather_no_frames(&xml->gather);
	}
}

static void end_file(struct xml *xml)
{
	struct strbuf path = { 0 };

	if (xml->folder.length > 0)
		strbuf_addf(&path, "%s/", strbuf_text(&xml->folder));
	strbuf_add(&path, strbuf_text(&xml->text));
	free(xml->frame.file);
	xml->frame.file = strbuf_steal(&path);
	xml->gather.failed |= !xml->frame.file;
}

/* Is it a part of a frame? */
static bool end_of_frame(struct xml *xml, const char *name)
{
	struct scan text = scan_of(strbuf_text(&xml->text));
	uint64_t number;

	if (strcmp(name, "ip") == 0) {
		if (scan_address(&text, &xml->address))
			xml->frame.offset = valgrind_offset(xml->address);
	} else if (strcmp(name, "obj") == 0) {
		gather_text(&xml->gather, &xml->frame.module, &text);
	} else if (strcmp(name, "fn") == 0) {
		gather_function(&xml->gather, &xml->frame.function, &text);
	} else if (strcmp(name, "dir") == 0) {
		strbuf_clear(&xml->folder);
		strbuf_add(&xml->folder, text.at);
	} else if (strcmp(name, "file") == 0) {
		end_file(xml);
	} else if (strcmp(name, "line") == 0) {
		if (scan_number(&text, &number) && number <= INT_MAX)
			xml->frame.line = (int)number;
	} else if (strcmp(name, "frame") == 0) {
		gather_frame(&xml->gather, &xml->frame, xml->address);
		fields_init(&race_frame_fields, &xml->frame);
	} else {
		return false;
	}
	return true;
}

static void end_error(struct xml *xml)
{
	size_t place;
	bool was = xml->gather.race;

	if (gather_end(&xml->gather, false, &place)) {
		if (!map_set(&xml->places, xml->unique, place))
			xml->gather.failed = true;
	} else if (!was) {
		xml->report->others++;
	}
	xml->in_error = false;
}

/* How often each error came: it has been counted once. */
static void end_pair(struct xml *xml)
{
	const uint64_t *place = map_get(&xml->places, xml->unique);
	struct race *race;

	if (!place || xml->count < 2)
		return;
	race = *(struct race **)vec_at(&xml->report->races, *place);
	race->count += xml->count - 1;
}

static void end_number(const struct xml *xml, uint64_t *ret, bool hex)
{
	struct scan text = scan_of(strbuf_text(&xml->text));

	if (!(hex ? scan_address(&text, ret) : scan_number(&text, ret)))
		*ret = 0;
}

static void end_pid(struct xml *xml)
{
	uint64_t pid;

	end_number(xml, &pid, false);
	xml->gather.pid = pid <= INT_MAX ? (int)pid : 0;
}

/* The thread whose creation comes next: "3" is "#3" in sentences. */
static void end_announced(struct xml *xml)
{
	struct strbuf label = { 0 };
	struct scan text;

	strbuf_addf(&label, "#%s", strbuf_text(&xml->text));
	text = scan_of(strbuf_text(&label));
	gather_thread(&xml->gather, &text, NULL, 0);
	strbuf_deinit(&label);
}

static void end_sentence(struct xml *xml)
{
	struct scan text = scan_of(strbuf_text(&xml->text));

	if (!valgrind_sentence(&xml->gather, VALGRIND_HELGRIND | VALGRIND_DRD,
			       &text, xml->begin))
		gather_no_frames(&xml->gather);
}

static void XMLCALL end_element(void *context, const char *name)
{
	struct xml *xml = context;

	xml->depth--;
	if (end_of_frame(xml, name))
		;
	else if (strcmp(name, "pair") == 0 && xml->in_counts)
		end_pair(xml);
	else if (strcmp(name, "count") == 0)
		end_number(xml, &xml->count, false);
	else if (strcmp(name, "unique") == 0)
		end_number(xml, &xml->unique, true);
	else if (strcmp(name, "errorcounts") == 0)
		xml->in_counts = false;
	else if (strcmp(name, "announcethread") == 0)
		xml->in_announcement = false;
	else if (strcmp(name, "hthreadid") == 0 && xml->in_announcement)
		end_announced(xml);
	else if (strcmp(name, "stack") == 0)
		gather_no_frames(&xml->gather);
	else if (strcmp(name, "error") == 0)
		end_error(xml);
	else if (xml->in_error &&
		 (strcmp(name, "what") == 0 || strcmp(name, "text") == 0 ||
		  strcmp(name, "auxwhat") == 0))
		end_sentence(xml);
	else if (strcmp(name, "pid") == 0)
		end_pid(xml);
	strbuf_clear(&xml->text);
}

static void XMLCALL add_text(void *context, const char *text, int length)
{
	struct xml *xml = context;

	strbuf_add_bytes(&xml->text, text, (size_t)length);
	xml->gather.failed |= xml->text.failed;
}

/* Entities could make much of little, and Valgrind defines none. */
static void XMLCALL refuse_doctype(void *context, const char *name,
				   const char *system, const char *public,
				   int internal)
{
	struct xml *xml = context;

	(void)name;
	(void)system;
	(void)public;
	(void)internal;
	refuse(xml, "it has a DOCTYPE, and so is not Valgrind's");
}

static struct error *refusal(const struct xml *xml, const char *name)
{
	enum XML_Error code = XML_GetErrorCode(xml->parser);

	if (code == XML_ERROR_NO_MEMORY)
		return error_nomem;
	return error_create(ERROR_FORMAT, "%s:%zu: %s", name, line_of(xml),
			    xml->refused ? xml->refused
					 : XML_ErrorString(code));
}

/* The process was killed, or runs still: what came before counts. */
static bool is_cut(const struct xml *xml, bool last)
{
	enum XML_Error code = XML_GetErrorCode(xml->parser);

	return last && xml->any &&
	       (code == XML_ERROR_NO_ELEMENTS ||
		code == XML_ERROR_UNCLOSED_TOKEN ||
		code == XML_ERROR_PARTIAL_CHAR);
}

static struct error *parse_all(struct xml *xml, const char *name,
			       const char *text, size_t size)
{
	size_t done = 0;
	bool last;

	do {
		/* expat looks at a token that is cut once more, from its begin */
		size_t most = done > XML_CHUNK ? done : XML_CHUNK;
		size_t count = size - done < most ? size - done : most;

		last = done + count == size;
		if (XML_Parse(xml->parser, text + done, (int)count, last) ==
		    XML_STATUS_OK) {
			done += count;
			continue;
		}
		if (!is_cut(xml, last))
			return refusal(xml, name);
		log_warn("%s:%zu: the report ends early; what it has is used",
			 name, line_of(xml));
		break;
	} while (!last && !xml->gather.failed);
	if (!xml->any)
		return error_create(ERROR_FORMAT,
				    "%s: this is not the XML of Valgrind",
				    name);
	return xml->gather.failed ? error_nomem : NULL;
}

struct error *valgrind_xml_parse(const char *name, const char *text,
				 size_t size, struct foreign_report *report,
				 struct map *keys)
{
	struct xml xml = { .report = report };
	struct error *err = NULL;

	xml.parser = XML_ParserCreate(NULL);
	if (!xml.parser)
		return error_nomem;
	fields_init(&race_frame_fields, &xml.frame);
	gather_init(&xml.gather, name, report, keys);
	XML_SetUserData(xml.parser, &xml);
	XML_SetElementHandler(xml.parser, begin_element, end_element);
	XML_SetCharacterDataHandler(xml.parser, add_text);
	XML_SetStartDoctypeDeclHandler(xml.parser, refuse_doctype);
	err = parse_all(&xml, name, text, size);
	if (!err)
		err = gather_finish(&xml.gather, false);
	gather_deinit(&xml.gather);
	fields_deinit(&race_frame_fields, &xml.frame);
	strbuf_deinit(&xml.text);
	strbuf_deinit(&xml.folder);
	map_deinit(&xml.places);
	XML_ParserFree(xml.parser);
	return err;
}

void foreign_add_version(struct strbuf *out)
{
	XML_Expat_Version version = XML_ExpatVersionInfo();

	strbuf_addf(out, "Expat %d.%d.%d", version.major, version.minor,
		    version.micro);
}
