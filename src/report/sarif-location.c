/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Messages and single places in SARIF; see sarif.h.
 */
#include <string.h>

#include "base/strbuf.h"
#include "report/race.h"
#include "report/sarif.h"
#include "report/text.h"
#include "report/uri.h"

json_t *sarif_message(struct strbuf *text)
{
	struct object message = object_begin(NULL);

	object_put(&message, "text",
		   text->failed ? NULL : object_text(strbuf_text(text)));
	strbuf_deinit(text);
	return object_end(&message);
}

void sarif_add_text(struct strbuf *message, const char *text, int id)
{
	bool escape = id || strstr(text, "](");

	if (id)
		strbuf_add(message, "[");
	for (; *text; text++) {
		if (escape && strchr("[]\\", *text))
			strbuf_add(message, "\\");
		strbuf_add_bytes(message, text, 1);
	}
	if (id)
		strbuf_addf(message, "](%d)", id);
}

static json_t *artifact_location(const char *path)
{
	struct object location = object_begin(NULL);
	struct strbuf uri = { 0 };

	uri_add_path(&uri, path);
	object_put(&location, "uri", object_string(&uri));
	if (path[0] != '/')
		object_put_text(&location, "uriBaseId", SARIF_BASE);
	return object_end(&location);
}

static json_t *region(int line, int column, const char *source)
{
	struct object object = object_begin(NULL);
	struct object snippet;

	object_put(&object, "startLine", json_integer(line));
	if (column > 0)
		object_put(&object, "startColumn", json_integer(column));
	if (source) {
		snippet = object_begin(NULL);
		object_put_text(&snippet, "text", source);
		object_put_record(&object, "snippet", &snippet);
	}
	return object_end(&object);
}

/* Of code without lines: where it is in its object file. */
static json_t *code_address(const struct race_frame *frame)
{
	struct object address = object_begin(NULL);
	struct strbuf name = { 0 };

	text_add_offset(&name, frame->module, frame->offset);
	object_put(&address, "fullyQualifiedName", object_string(&name));
	object_put_text(&address, "kind", "instruction");
	if (frame->offset <= INT64_MAX)
		object_put_uint(&address, "relativeAddress", frame->offset);
	return object_end(&address);
}

static void put_physical(struct object *location,
			 const struct race_frame *frame)
{
	struct object physical = object_begin(NULL);

	if (frame->file) {
		object_put(&physical, "artifactLocation",
			   artifact_location(frame->file));
		if (frame->line > 0)
			object_put(&physical, "region",
				   region(frame->line, frame->column,
					  frame->source));
	} else {
		if (frame->module)
			object_put(&physical, "artifactLocation",
				   artifact_location(frame->module));
		object_put(&physical, "address", code_address(frame));
	}
	object_put_record(location, "physicalLocation", &physical);
}

static void put_function(struct object *location,
			 const struct race_frame *frame)
{
	json_t *array = json_array();
	struct object function = object_begin(NULL);

	object_put_text(&function, "fullyQualifiedName", frame->function);
	object_put_text(&function, "kind", "function");
	object_append(location, array, object_end(&function));
	object_put(location, "logicalLocations", array);
}

json_t *sarif_location(const struct race_frame *frame, int id,
		       struct strbuf *message)
{
	struct object location = object_begin(NULL);

	if (id)
		object_put(&location, "id", json_integer(id));
	put_physical(&location, frame);
	if (frame->function)
		put_function(&location, frame);
	if (message)
		object_put(&location, "message", sarif_message(message));
	return object_end(&location);
}
