/* SPDX-License-Identifier: MIT */
#include "captures/captures.h"

#include "session/session.h"
#include "settings/settings.h"

#define SECTION "capture \""

struct context {
	struct capture_defs *defs;
	const char *path;
	const char *distrust; /* why it must not say what is run; NULL: it may */
	bool warned;
};

void capture_defs_release(struct capture_defs *defs)
{
	for (size_t i = 0; i < defs->nr; i++) {
		free(defs->items[i].name);
		free(defs->items[i].type);
		free(defs->items[i].save);
		free(defs->items[i].restore);
	}
	free(defs->items);
	strlist_release(&defs->warnings);
	memset(defs, 0, sizeof(*defs));
}

const struct capture_def *capture_defs_find(const struct capture_defs *defs, const char *name)
{
	for (size_t i = 0; i < defs->nr; i++)
		if (!strcmp(defs->items[i].name, name))
			return &defs->items[i];
	return NULL;
}

static struct capture_def *find_or_add(struct capture_defs *defs, const char *name)
{
	struct capture_def *def;

	if (capture_defs_find(defs, name))
		return (struct capture_def *)capture_defs_find(defs, name);
	def = ALLOC_NEXT(defs->items, defs->nr, defs->alloc);
	*def = (struct capture_def){ .name = xstrdup(name), .type = xstrdup("state_snapshot") };
	return def;
}

static void set_string(char **slot, const char *value)
{
	free(*slot);
	*slot = *value ? xstrdup(value) : NULL;
}

static bool set_type(struct capture_def *def, const char *value)
{
	static const char *const types[] = { CAPTURE_DATABASE, "file_backup", "state_snapshot" };

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcmp(value, types[i])) {
			set_string(&def->type, value);
			return true;
		}
	return false;
}

static bool set_bool(bool *out, const char *value)
{
	static const char *const yes[] = { "true", "yes", "on", "1" };
	static const char *const no[] = { "false", "no", "off", "0" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!strcasecmp(value, yes[i]) || !strcasecmp(value, no[i])) {
			*out = !strcasecmp(value, yes[i]);
			return true;
		}
	return false;
}

static bool set_timeout(int64_t *out, const char *value)
{
	if (!strcasecmp(value, "none") || !strcasecmp(value, "never")) {
		*out = 0;
		return true;
	}
	return clock_parse_duration(out, value) && *out > 0;
}

/* NULL if it was set, "" if the key is unknown, otherwise what was expected. */
static const char *set_key(struct capture_def *def, const char *key, const char *value)
{
	if (!strcasecmp(key, "save"))
		set_string(&def->save, value);
	else if (!strcasecmp(key, "restore"))
		set_string(&def->restore, value);
	else if (!strcasecmp(key, "type"))
		return set_type(def, value) ? NULL :
					      "'database_savepoint', 'file_backup' or "
					      "'state_snapshot'";
	else if (!strcasecmp(key, "auto"))
		return set_bool(&def->automatic, value) ? NULL : "'true' or 'false'";
	else if (!strcasecmp(key, "timeout"))
		return set_timeout(&def->timeout, value) ? NULL : "a duration such as '10m', or 'none'";
	else
		return "";
	return NULL;
}

static int take_key(const char *section, const char *key, const char *value, unsigned line,
		    void *payload)
{
	struct context *context = payload;
	struct strbuf name = STRBUF_INIT, shown = STRBUF_INIT;
	const char *expected;
	int err = 0;

	if (strncasecmp(section, SECTION, strlen(SECTION)) != 0)
		return 0;
	if (context->distrust) {
		if (!context->warned)
			strlist_addf(&context->defs->warnings,
				     "%s: captures run commands and are ignored: %s",
				     context->path, context->distrust);
		context->warned = true;
		return 0;
	}
	strbuf_addstr(&name, section + strlen(SECTION));
	if (name.len && name.buf[name.len - 1] == '"')
		strbuf_setlen(&name, name.len - 1);
	if (!record_capture_name_valid(name.buf)) {
		quote_path(&shown, name.buf);
		err = ckpt_error_set(CKPT_ERROR,
				     "%s:%u: '%s' is not a valid capture name: use only letters, digits, "
				     "'.', '_' and '-', at most %d",
				     context->path, line, shown.buf, RECORD_CAPTURE_NAME_MAX);
		goto out;
	}
	expected = set_key(find_or_add(context->defs, name.buf), key, value);
	if (expected) {
		quote_path(&shown, *expected ? value : key);
		if (*expected)
			err = ckpt_error_set(CKPT_ERROR,
					     "%s:%u: bad value '%s' for '%s' of capture '%s': expected %s",
					     context->path, line, shown.buf, key, name.buf, expected);
		else
			strlist_addf(&context->defs->warnings, "%s:%u: unknown key '%s' of capture '%s'",
				     context->path, line, shown.buf, name.buf);
	}
out:
	strbuf_release(&name);
	strbuf_release(&shown);
	return err;
}

static int load_file(struct capture_defs *defs, const char *path, const char *worktree)
{
	struct context context = { .defs = defs,
				   .path = path,
				   .distrust = ini_distrust(path, worktree) };
	int err;

	/* Said with the settings, which are in the same file. */
	if (access(path, R_OK) < 0 && errno == EACCES)
		return 0;
	err = ini_read(path, take_key, &context);
	return err == CKPT_ENOTFOUND ? 0 : err;
}

int capture_defs_load(struct capture_defs *out, const char *store_file, const char *worktree)
{
	struct strbuf path = STRBUF_INIT;
	int err = 0;

	memset(out, 0, sizeof(*out));
	if (settings_user_file(&path))
		err = load_file(out, path.buf, worktree);
	if (!err && store_file)
		err = load_file(out, store_file, worktree);
	if (err)
		capture_defs_release(out);
	strbuf_release(&path);
	return err;
}

int capture_load(struct capture_defs *out, const struct session *session)
{
	char *file = session && session->store
			     ? xstrfmt("%s/" LAYOUT_SETTINGS, session->store->path)
			     : NULL;
	int err = capture_defs_load(out, file, session ? session->worktree : NULL);

	free(file);
	return err;
}
