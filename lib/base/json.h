/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_JSON_H
#define CKPT_BASE_JSON_H

#include "base/fs.h"

#include <jansson.h>

/**
 * The door to jansson: values made from bytes that need not be UTF-8.
 * All return a new reference that the caller owns or gives away.
 */

/** A text; invalid bytes become U+FFFD. NULL gives null. */
json_t *json_text(const char *text);

/** A path; if it is not UTF-8, or begins with a quote, it is C-quoted as git prints it. */
json_t *json_path(const char *path);

/** The path that json_path() made a value of, which the caller frees; NULL if it is not one. */
char *json_path_value(const json_t *value);

/** An array of texts. */
json_t *json_texts(const struct strlist *list);

/** An array of paths. */
json_t *json_paths(const struct strlist *list);

/** An ISO time, or null for 0. */
json_t *json_time(int64_t when);

/**
 * Append `value` on one line, keys in the order in which they were set, without a newline. What a
 * terminal may obey is escaped.
 */
void json_write(struct strbuf *out, const json_t *value);

/** The same to a file, with a newline; the value is freed. */
int json_write_file(int dirfd, const char *file, json_t *value, mode_t mode,
		    enum fs_durability durability);

/** What a file holds, or NULL if that is not JSON; an error if it cannot be read. */
int json_read_file(json_t **out, int dirfd, const char *file);

#endif
