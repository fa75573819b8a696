/* SPDX-License-Identifier: MIT */
#include "remote/remotes.h"

#include "base/base.h"
#include "git/git.h"
#include "session/session.h"
#include "store/store.h"

static const char head[] = "remotes 1\n";

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

/* One line in the file; "ext::" runs whatever it names; a dash would be an option of git. */
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

char *remotes_shown(const char *url)
{
	const char *host = strstr(url, "://"), *at = NULL, *secret;

	for (const char *p = host ? host + 3 : ""; *p && *p != '/'; p++)
		if (*p == '@')
			at = p;
	if (!at)
		return xstrdup(url);
	/* For a web server, what looks like a user may be a token. */
	secret = host + 3;
	if (host - url >= 3 && !strncmp(host - 3, "ssh", 3)) {
		secret = memchr(secret, ':', (size_t)(at - secret));
		if (!secret)
			return xstrdup(url);
		secret++;
	}
	return xstrfmt("%.*s***%s", (int)(secret - url), url, at);
}

/* --- text --- */

static void append(struct remotes *remotes, const char *name, const char *url, bool push_auto)
{
	ALLOC_GROW(remotes->items, remotes->nr + 1, remotes->alloc);
	remotes->items[remotes->nr++] =
		(struct remotes_item){ xstrdup(name), xstrdup(url), push_auto };
}

static bool parse_line(struct remotes *out, char *line)
{
	char *how = strchr(line, ' '), *url = how ? strchr(how + 1, ' ') : NULL;
	bool push_auto;

	if (!url)
		return false;
	*how++ = *url++ = '\0';
	push_auto = !strcmp(how, "auto");
	if ((!push_auto && strcmp(how, "asked") != 0) || !remotes_name_valid(line) ||
	    !url_valid(url) || remotes_find(out, line))
		return false;
	append(out, line, url, push_auto);
	return true;
}

int remotes_parse(struct remotes *out, const char *text, size_t len)
{
	char *copy = xmemdupz(text, len), *line, *rest = NULL;
	bool ok = strlen(copy) == len && !strncmp(copy, head, strlen(head)) &&
		  copy[len - 1] == '\n';

	memset(out, 0, sizeof(*out));
	for (line = ok ? strtok_r(copy + strlen(head), "\n", &rest) : NULL; line && ok;
	     line = strtok_r(NULL, "\n", &rest))
		ok = parse_line(out, line);
	free(copy);
	if (ok)
		return 0;
	remotes_release(out);
	return ckpt_error_set(CKPT_ECORRUPT, "the list of remotes is damaged");
}

size_t remotes_salvage(struct remotes *out, const char *text, size_t len)
{
	size_t at = 0, bad = 0;

	memset(out, 0, sizeof(*out));
	while (at < len) {
		const char *end = memchr(text + at, '\n', len - at);
		size_t line_len = end ? (size_t)(end - text) - at : len - at;
		char *line = xmemdupz(text + at, line_len);
		bool is_head = !at && line_len == strlen(head) - 1 && !strncmp(line, head, line_len);

		/* Without its end, a line may be a part of one. */
		if (!is_head && (!end || strlen(line) != line_len || !parse_line(out, line)))
			bad++;
		free(line);
		at += line_len + 1;
	}
	return bad ? bad : 1;
}

void remotes_format(struct strbuf *out, const struct remotes *remotes)
{
	strbuf_addstr(out, head);
	for (size_t i = 0; i < remotes->nr; i++)
		strbuf_addf(out, "%s %s %s\n", remotes->items[i].name,
			    remotes->items[i].push_auto ? "auto" : "asked", remotes->items[i].url);
}

int remotes_read(struct remotes *out, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	int err = store ? fs_read_text(&text, store->dirfd, LAYOUT_REMOTES) : CKPT_ENOTFOUND;

	memset(out, 0, sizeof(*out));
	if (!err)
		err = remotes_parse(out, text.buf, text.len);
	if (err == CKPT_ECORRUPT)
		err = ckpt_error_set(err, "'%s/" LAYOUT_REMOTES "' is damaged; 'git checkpoint doctor --fix' "
					  "keeps what can be read of it", store->path);
	strbuf_release(&text);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

/* --- changing it --- */

static int write_all(const struct remotes *remotes, struct store *store)
{
	struct strbuf text = STRBUF_INIT;
	int err;

	remotes_format(&text, remotes);
	err = fs_write_file(store->dirfd, LAYOUT_REMOTES, text.buf, text.len, 0600, FS_DURABLE);
	strbuf_release(&text);
	return err;
}

int remotes_add(struct session *session, const char *name, const char *url, bool push_auto)
{
	struct remotes remotes = { 0 };
	int err;

	if (!remotes_name_valid(name))
		return ckpt_error_set(CKPT_ERROR,
				      "'%s' cannot be the name of a remote: use letters, digits, '.', "
				      "'_' and '-', and begin with a letter or digit",
				      name);
	if (!url_valid(url))
		return ckpt_error_set(CKPT_ERROR,
				      strncasecmp(url, "ext::", 5) != 0
					      ? "'%s' is not a URL"
					      : "'%s' is not used as a URL: one that begins with 'ext::' "
						"could run any command",
				      url);
	err = store_lock(session->store, session->settings.lock_timeout);
	if (err)
		return err;
	err = remotes_read(&remotes, session->store);
	if (!err && remotes_find(&remotes, name))
		err = ckpt_error_set(CKPT_EREFUSED, "there is already a remote '%s'", name);
	if (!err) {
		append(&remotes, name, url, push_auto);
		err = write_all(&remotes, session->store);
	}
	remotes_release(&remotes);
	store_unlock(session->store);
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
	else
		*url_out = xstrdup(url.buf);
	strbuf_release(&url);
	free(key);
	return err;
}

static int unknown(const struct remotes *remotes, const char *name)
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
		return unknown(&remotes, name);
	err = store_lock(session->store, session->settings.lock_timeout);
	if (err)
		return err;
	err = remotes_read(&remotes, session->store);
	if (!err && !remotes_find(&remotes, name))
		err = unknown(&remotes, name);
	for (size_t i = 0; i < remotes.nr && !err; i++)
		if (strcmp(remotes.items[i].name, name) != 0)
			append(&left, remotes.items[i].name, remotes.items[i].url,
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
		return *out ? 0 : unknown(remotes, name);
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
