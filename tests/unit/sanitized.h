/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Is the test built with AddressSanitizer? It has an allocator, threads and pages of
 * data of its own, and attaches to threads to look for leaks.
 */
#ifndef TESTS_UNIT_SANITIZED_H
#define TESTS_UNIT_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

#endif
