/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Readable names for mangled C++, Rust and D symbols.
 */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H

/*
 * "cache::put" for "_ZN5cache3putEi": scopes and template arguments, without
 * parameters or return type. NULL when the symbol is not mangled, too long or
 * too deep to be taken apart safely, when a C++ or Rust name has 4096 bytes or more,
 * or when out of memory: use it as it is.
 * The caller frees the result.
 */
char *demangle(const char *symbol);

#endif
