/* SPDX-License-Identifier: GPL-3.0-or-later */
/* src/image/plainname.c: names of parts of library types. */
#include "image/plainname.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void becomes(const char *name, const char *wanted)
{
	char *copy = strdup(name);

	assert_non_null(copy);
	plain_name(copy);
	assert_string_equal(copy, wanted);
	free(copy);
}

static void what_is_inside_is_left_out(void **state)
{
	(void)state;
	becomes("row._M_impl._M_start[3].used", "row[3].used");
	becomes("this->row._M_impl._M_start[3]", "this->row[3]");
	becomes("(*row->_M_impl._M_start)[1]", "(*row)[1]");
	becomes("rows._M_impl._M_start[2]._M_impl._M_start[5]", "rows[2][5]");
	becomes("owned._M_t._M_t._M_head_impl->key", "owned->key");
	becomes("shared._M_ptr->key", "shared->key");
	becomes("four._M_elems[2].used", "four[2].used");
	becomes("text._M_dataplus._M_p[4]", "text[4]");
	becomes("text._M_local_buf[4]", "text[4]");
	becomes("row.__begin_[4]", "row[4]");
	becomes("row.buf.ptr.pointer.pointer[4]", "row[4]");
	becomes("maybe._M_payload._M_payload._M_value.used", "maybe->used");
}

static void what_tells_of_a_container_is_its_function(void **state)
{
	(void)state;
	becomes("reg.items._M_t._M_impl._M_node_count", "reg.items.size()");
	becomes("table->_M_h._M_element_count", "table->size()");
	becomes("chain._M_impl._M_node._M_size", "chain.size()");
	becomes("name._M_string_length", "name.size()");
	becomes("row._M_impl._M_start", "row.begin()");
	becomes("row._M_impl._M_finish", "row.end()");
	becomes("rows[3]._M_impl._M_finish", "rows[3].end()");
	becomes("row->_M_impl._M_end_of_storage", "row->capacity()");
	becomes("name._M_dataplus._M_p", "name.data()");
	becomes("maybe._M_payload._M_payload._M_value", "maybe.value()");
	becomes("maybe._M_payload._M_engaged", "maybe.has_value()");
}

static void other_names_stay(void **state)
{
	static const char *const names[] = {
		"",
		"a",
		"_M_string_length",
		"node->next->key",
		"queue._M_impl._M_finish._M_cur",
		"row._M_impl._M_starting",
		"row.my_M_impl._M_finish",
		"count._M_i",
		"mu._M_mutex",
		"shared._M_ptr",
		"box.ptr.pointers[3]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		becomes(names[i], names[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_inside_is_left_out),
		cmocka_unit_test(what_tells_of_a_container_is_its_function),
		cmocka_unit_test(other_names_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
