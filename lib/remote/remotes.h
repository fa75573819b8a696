/* SPDX-License-Identifier: MIT */
#ifndef CKPT_REMOTE_REMOTES_H
#define CKPT_REMOTE_REMOTES_H

#include "base/base.h"

struct session;
struct store;

/**
 * The repositories that checkpoints of a store are pushed to and fetched from: the member "remotes" of
 * checkpoint/state, an array of objects with "name", "url" and "push_auto".
 */
struct remotes_item {
	char *name, *url;
	bool push_auto; /**< saves push to it by themselves */
};

struct remotes {
	struct remotes_item *items; /**< in the order in which they were added */
	size_t nr, alloc;
};

/** CKPT_ECORRUPT if it is damaged. Without a store there are none. */
int remotes_read(struct remotes *out, struct store *store);
void remotes_release(struct remotes *remotes);
const struct remotes_item *remotes_find(const struct remotes *remotes, const char *name);

/** Letters, digits, '.', '_' and '-', beginning with a letter or a digit. */
bool remotes_name_valid(const char *name);

/** CKPT_EREFUSED if the name is taken, CKPT_ERROR for a URL that is not used ("ext::"). */
int remotes_add(struct session *session, const char *name, const char *url, bool push_auto);

/** The URL that the project has for one of its own remotes; the caller frees it. */
int remotes_of_project(char **url_out, struct session *session, const char *name);

/** CKPT_ENOTFOUND if there is none of that name. */
int remotes_remove(struct session *session, const char *name);

/** All of them: for a list that is damaged, whose file is set aside. The store must be locked. */
int remotes_forget(struct store *store);

/**
 * The remote for a command: the one of that name (NULL: the only one there is). CKPT_ERROR, with
 * what can be done, if there is none, or if one has to be named.
 */
int remotes_choose(const struct remotes_item **out, const struct remotes *remotes,
		   const char *name);

/* --- for tests --- */

int remotes_from_json(struct remotes *out, const json_t *array);
json_t *remotes_to_json(const struct remotes *remotes);

/** A path that is relative to `base`, as one that is not, since git runs elsewhere; other URLs as they are. */
char *remotes_absolute(const char *url, const char *base);

/** A URL for people and for JSON: without a password in it. The caller frees it. */
char *remotes_shown(const char *url);

#endif
