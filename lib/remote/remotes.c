/* SPDX-License-Identifier: MIT */
#include "remote/remote.h"

#include "session/session.h"

static const char member[] = "remotes";

void remotes_release(struct remotes *remotes)
{
	for (size_t i = 0; i < remotes->nr; i++) {
		free(remotes->items[i].name);
		free(remotes->items[i].url);
	}
	free(remotes->items);
	memset(remotes, 0, sizeof(*remotes));
}

const struct remotes_item *remotes_find(const struct remotes *remotes, const char *name)
{
	for (size_t i = 0; i < remotes->nr; i++)
		if (!strcmp(remotes->items[i].name, name))
			return &remotes->items[i];
	return NULL;
}

bool remotes_name_valid(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789._-");

	return len && !name[len] && len <= 64 && isalnum((unsigned char)*name) &&
	       !refs_valid_id(name);
}

/* "ext::" runs whatever it names; a dash would be an option of git. */
static bool url_valid(const char *url)
{
	for (const char *p = url; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			return false;
	return *url && *url != '-' && strncasecmp(url, "ext::", 5) != 0;
}

/* As git tells a path from "host:path". */
static bool is_path(const char *url)
{
	size_t colon = strcspn(url, ":"), slash = strcspn(url, "/");

	return !url[colon] || slash < colon;
}

char *remotes_absolute(const char *url, const char *base)
{
	struct strbuf path = STRBUF_INIT;

	/* git knows what "~" means. */
	if (!*url || *url == '/' || *url == '~' || *url == '-' || !is_path(url))
		return xstrdup(url);
	path_absolute(&path, base, url);
	return strbuf_detach(&path, NULL);
}

/* What nobody shall see of it, and its length; 0: nothing. */
static size_t find_secret(const char **out, const char *url)
{
	const char *host = strstr(url, "://"), *at = NULL, *secret;

	for (const char *p = host ? host + 3 : ""; *p && *p != '/'; p++)
		if (*p == '@')
			at = p;
	if (!at)
		return 0;
	/* For a web server, what looks like a user may be a token. */
	secret = host + 3;
	if (host - url >= 3 && !strncmp(host - 3, "ssh", 3)) {
		secret = memchr(secret, ':', (size_t)(at - secret));
		if (!secret)
			return 0;
		secret++;
	}
	*out = secret;
	return (size_t)(at - secret);
}

char *remotes_hide(const char *text, const char *url)
{
	const char *secret, *found;
	size_t len = find_secret(&secret, url);
	struct strbuf clean = STRBUF_INIT;

	for (; len && (found = memmem(text, strlen(text), secret, len)); text = found + len) {
		strbuf_add(&clean, text, (size_t)(found - text));
		strbuf_addstr(&clean, "***");
	}
	strbuf_addstr(&clean, text);
	return strbuf_detach(&clean, NULL);
}

char *remotes_shown(const char *url)
{
	const char *secret;
	size_t len = find_secret(&secret, url);

	return len ? xstrfmt("%.*s***%s", (int)(secret - url), url, secret + len) : xstrdup(url);
}

/* --- in checkpoint/state --- */

static void add_item(struct remotes *remotes, const char *name, const char *url, bool push_auto)
{
	*ALLOC_NEXT(remotes->items, remotes->nr, remotes->alloc) =
		(struct remotes_item){ xstrdup(name), xstrdup(url), push_auto };
}

int remotes_from_json(struct remotes *out, const json_t *array)
{
	const json_t *item;
	size_t i;

	memset(out, 0, sizeof(*out));
	json_array_foreach(array, i, item)
	{
		const char *name = json_string_value(json_object_get(item, "name"));
		const char *url = json_string_value(json_object_get(item, "url"));
		const json_t *push_auto = json_object_get(item, "push_auto");

		if (!name || !url || !json_is_boolean(push_auto) || !remotes_name_valid(name) ||
		    !url_valid(url) || remotes_find(out, name))
			break;
		add_item(out, name, url, json_is_true(push_auto));
	}
	if (!array || (json_is_array(array) && i == json_array_size(array)))
		return 0;
	remotes_release(out);
	return ckpt_error_set(CKPT_ECORRUPT, "the list of remotes is damaged");
}

json_t *remotes_to_json(const struct remotes *remotes)
{
	json_t *array = json_array();

	for (size_t i = 0; i < remotes->nr; i++)
		json_array_append_new(array, json_pack("{s:s, s:s, s:b}", "name",
						       remotes->items[i].name, "url",
						       remotes->items[i].url, "push_auto",
						       remotes->items[i].push_auto));
	return array;
}

int remotes_read(struct remotes *out, struct store *store)
{
	json_t *array = NULL;
	int err = store ? state_get(&array, store, member) : 0;

	memset(out, 0, sizeof(*out));
	if (!err)
		err = remotes_from_json(out, array);
	json_decref(array);
	return err == CKPT_ECORRUPT ? ckpt_error_set(err, "%s; see 'git checkpoint doctor'",
						     ckpt_error_last())
				    : err;
}

/* --- changing it --- */

static int write_all(const struct remotes *remotes, struct store *store)
{
	return state_set(store, member, remotes->nr ? remotes_to_json(remotes) : NULL);
}

int remotes_forget(struct store *store)
{
	return state_set(store, member, NULL);
}

/* One of git's own can be called the same. */
static bool may_be_added(const char *name)
{
	size_t len = strlen(name);

	return remotes_name_valid(name) && !strstr(name, "..") && name[len - 1] != '.' &&
	       (len < 5 || strcmp(name + len - 5, ".lock") != 0);
}

int remotes_add(struct session *session, const char *name, const char *url, bool push_auto)
{
	struct remotes remotes = { 0 };
	char *shown;
	int err;

	if (!may_be_added(name))
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' cannot be the name of a remote: use letters, digits, '.', "
				      "'_' and '-', begin with a letter or digit, and end as git lets "
				      "a remote's name end",
				      name);
	if (!url_valid(url)) {
		shown = remotes_shown(url);
		err = ckpt_error_set(CKPT_ERROR,
				     strncasecmp(url, "ext::", 5) != 0
					     ? "'%s' is not a URL"
					     : "'%s' is not used as a URL: one that begins with 'ext::' "
					       "could run any command",
				     shown);
		free(shown);
		return err;
	}
	err = store_lock(session->store, session->settings.lock_timeout);
	if (err)
		return err;
	err = remotes_read(&remotes, session->store);
	if (!err && remotes_find(&remotes, name))
		err = ckpt_error_set(CKPT_EREFUSED, "there is already a remote '%s'", name);
	if (!err) {
		add_item(&remotes, name, url, push_auto);
		err = write_all(&remotes, session->store);
	}
	remotes_release(&remotes);
	store_unlock(session->store);
	return err;
}

/* A path, or what git hands to a program of that name, is not. */
static bool is_of_another_machine(const char *url)
{
	static const char *const schemes[] = { "http",	  "https",   "ssh", "git",
					       "git+ssh", "ssh+git", "ftp", "ftps" };
	const char *end = strstr(url, "://");

	for (size_t i = 0; end && i < ARRAY_SIZE(schemes); i++)
		if (strlen(schemes[i]) == (size_t)(end - url) &&
		    !strncasecmp(url, schemes[i], (size_t)(end - url)))
			return true;
	return !end && !is_path(url) && !strstr(url, "::");
}

static int refuse_local(const char *name, const char *url)
{
	char *shown = remotes_shown(url);
	int err = ckpt_error_set(CKPT_EREFUSED,
				 "the project's remote '%s' is '%s', which is no URL of another machine: "
				 "what is there runs as you; if you trust it, name it yourself: 'git "
				 "checkpoint remote add <name> <url>'",
				 name, shown);

	free(shown);
	return err;
}

int remotes_of_project(char **url_out, struct session *session, const char *name)
{
	char *key = xstrfmt("remote.%s.url", name);
	const char *const args[] = { "config", "--get", key, NULL };
	struct gitrun how = { .gitdir = session->repo ? session->repo->gitdir : NULL };
	struct strbuf url = STRBUF_INIT;
	int err = session->repo ? askgit(&url, &how, args) : CKPT_ERROR;

	strbuf_trim(&url);
	if (err || !url.len)
		err = ckpt_error_set(CKPT_ERROR, "the project has no remote '%s'", name);
	else if (!is_of_another_machine(url.buf))
		err = refuse_local(name, url.buf);
	else
		*url_out = xstrdup(url.buf);
	strbuf_release(&url);
	free(key);
	return err;
}

static int refuse_unknown(const struct remotes *remotes, const char *name)
{
	return ckpt_error_set(CKPT_ENOTFOUND, "there is no remote '%s'%s", name,
			      remotes->nr ? "; see 'git checkpoint remote list'"
					  : "; 'git checkpoint remote add <name> <url>' adds one");
}

int remotes_remove(struct session *session, const char *name)
{
	struct remotes remotes = { 0 }, left = { 0 };
	int err;

	if (!session->store)
		return refuse_unknown(&remotes, name);
	err = store_lock(session->store, session->settings.lock_timeout);
	if (err)
		return err;
	err = remotes_read(&remotes, session->store);
	if (!err && !remotes_find(&remotes, name))
		err = refuse_unknown(&remotes, name);
	for (size_t i = 0; i < remotes.nr && !err; i++)
		if (strcmp(remotes.items[i].name, name) != 0)
			add_item(&left, remotes.items[i].name, remotes.items[i].url,
			       remotes.items[i].push_auto);
	if (!err)
		err = write_all(&left, session->store);
	remotes_release(&remotes);
	remotes_release(&left);
	store_unlock(session->store);
	return err;
}

int remotes_choose(const struct remotes_item **out, const struct remotes *remotes, const char *name)
{
	if (name) {
		*out = remotes_find(remotes, name);
		return *out ? 0 : refuse_unknown(remotes, name);
	}
	if (remotes->nr == 1) {
		*out = &remotes->items[0];
		return 0;
	}
	return ckpt_error_set(CKPT_ERROR, "%s",
			      remotes->nr ? "there are several remotes: name one of them; see 'git "
					    "checkpoint remote list'"
					  : "there is no remote; 'git checkpoint remote add <name> "
					    "<url>' adds one");
}

int remotes_choose_first(const struct remotes_item **out, struct strlist *rest,
			 const struct remotes *remotes, const struct strlist *words)
{
	bool first = words->nr && remotes_find(remotes, words->items[0]);

	for (size_t i = first; i < words->nr; i++)
		strlist_add(rest, words->items[i]);
	return remotes_choose(out, remotes, first ? words->items[0] : NULL);
}
