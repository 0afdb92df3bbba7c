/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small readings of DIEs; see die.h.
 */
#include "image/die.h"

#include <dwarf.h>
#include <stdint.h>

const char *die_linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return NULL;
	return dwarf_formstring(&attribute);
}

bool die_next(Dwarf_Die *die)
{
	const void *before = die->addr;

	return dwarf_siblingof(die, die) == 0 &&
	       (uintptr_t)die->addr > (uintptr_t)before;
}

bool die_referred(Dwarf_Die *die, unsigned int attribute, Dwarf_Die *ret)
{
	Dwarf_Attribute found;

	return dwarf_attr_integrate(die, attribute, &found) &&
	       dwarf_formref_die(&found, ret);
}

bool die_complete(Dwarf_Die *type)
{
	Dwarf_Attribute found;
	Dwarf_Die whole;

	if (dwarf_attr(type, DW_AT_signature, &found) &&
	    dwarf_formref_die(&found, &whole))
		*type = whole;
	return !dwarf_hasattr(type, DW_AT_declaration);
}

bool die_plain(Dwarf_Die *type)
{
	for (int i = 0; i < DIE_TYPEDEFS_MAX; i++) {
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_restrict_type:
		case DW_TAG_atomic_type:
			if (!die_referred(type, DW_AT_type, type))
				return false;
			break;
		case DW_TAG_structure_type:
		case DW_TAG_class_type:
		case DW_TAG_union_type:
			return die_complete(type);
		default:
			return true;
		}
	}
	return false;
}

Dwarf_Word die_number(Dwarf_Die *die, unsigned int attribute,
		      Dwarf_Word fallback)
{
	Dwarf_Attribute found;
	Dwarf_Word value;

	if (dwarf_attr_integrate(die, attribute, &found) &&
	    dwarf_formudata(&found, &value) == 0)
		return value;
	return fallback;
}

int die_language(Dwarf_Die *die)
{
	Dwarf_Die unit;

	if (!dwarf_diecu(die, &unit, NULL, NULL))
		return 0;
	return (int)die_number(&unit, DW_AT_language, 0);
}

/* Not dwarf_decl_file: it takes number 0 for none, as before DWARF 5. */
const char *die_file(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute found;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word number;
	Dwarf_Die unit;
	size_t count;

	if (!dwarf_attr_integrate(die, attribute, &found) ||
	    dwarf_formudata(&found, &number) != 0 ||
	    dwarf_cu_info(found.cu, &version, NULL, &unit, NULL, NULL, NULL,
			  NULL) != 0 ||
	    (number == 0 && version < 5) ||
	    dwarf_getsrcfiles(&unit, &files, &count) != 0 || number >= count)
		return NULL;
	return dwarf_filesrc(files, number, NULL, NULL);
}
