/* SPDX-License-Identifier: MIT */
#include "agents/agents_internal.h"

#include "restore/restore.h"
#include "store/store.h"

#define SUFFIX ".json"
#define GENERIC "generic"
#define EVENT "@EVENT@"

/* ---- the files ---- */

static const char *find_file(const char *name)
{
	for (const struct agents_file *file = agents_files; file->name; file++)
		if (!strcmp(file->name, name))
			return file->text;
	return NULL;
}

json_t *agents_load(const char *name)
{
	char *file = xstrfmt("%s" SUFFIX, name);
	const char *text = find_file(file);
	json_t *agent = text ? json_loads(text, 0, NULL) : NULL;

	free(file);
	return agent;
}

const char *agents_text(const json_t *part, const char *key)
{
	return json_string_value(json_object_get(part, key));
}

const json_t *agents_part(const json_t *agent, bool mcp)
{
	return json_object_get(agent, mcp ? "mcp" : "hooks");
}

/* They live as long as the process. */
static const char *const *list_names(const char *out[AGENTS_MAX + 1], bool mcp)
{
	size_t nr = 0;

	for (const struct agents_file *file = agents_files; file->name; file++) {
		const char *suffix = strstr(file->name, SUFFIX);
		char *name = suffix ? xmemdupz(file->name, (size_t)(suffix - file->name)) : NULL;
		json_t *agent = name ? agents_load(name) : NULL;

		if (agents_part(agent, mcp) && nr < AGENTS_MAX - 1)
			out[nr++] = name;
		else
			free(name);
		json_decref(agent);
	}
	if (!mcp)
		out[nr++] = GENERIC;
	out[nr] = NULL;
	return out;
}

const char *const *agents_names(void)
{
	static const char *names[AGENTS_MAX + 1];

	return *names ? names : list_names(names, false);
}

const char *const *agents_mcp_names(void)
{
	static const char *names[AGENTS_MAX + 1];

	return *names ? names : list_names(names, true);
}

const char *agents_of_client(const char *client)
{
	const char *found = NULL;

	for (const char *const *name = agents_names(); *name && !found; name++) {
		json_t *agent = agents_load(*name), *own;
		size_t i;

		if (!strcasecmp(*name, client))
			found = *name;
		json_array_foreach(json_object_get(agent, "clients"), i, own)
			if (!strcasecmp(json_string_value(own), client))
				found = *name;
		json_decref(agent);
	}
	return found;
}

static bool join_names(struct strbuf *out, const char *const *names, const char *name)
{
	bool found = false;

	for (; *names; names++) {
		strbuf_addf(out, "%s%s", out->len ? ", " : "", *names);
		found = found || !strcmp(*names, name);
	}
	return found;
}

int agents_check(const char *name)
{
	struct strbuf list = STRBUF_INIT;
	int err = 0;

	if (!join_names(&list, agents_names(), name))
		err = ckpt_error_set(CKPT_ERROR, "agent '%s' is not supported; use one of %s", name,
				     list.buf);
	strbuf_release(&list);
	return err;
}

int agents_mcp_check(const char *name, bool user)
{
	struct strbuf list = STRBUF_INIT;
	json_t *agent = NULL;
	int err = 0;

	if (!join_names(&list, agents_mcp_names(), name))
		err = ckpt_error_set(CKPT_ERROR,
				     "the MCP settings of agent '%s' are not supported; use one of %s, "
				     "or let it run 'git-checkpoint mcp'",
				     name, list.buf);
	else
		agent = agents_load(name);
	if (!err && !agents_text(agents_part(agent, true), user ? "user" : "file"))
		err = ckpt_error_set(CKPT_ERROR, "%s", agents_text(agents_part(agent, true), "instead"));
	json_decref(agent);
	strbuf_release(&list);
	return err;
}

/* ---- what is installed ---- */

/* With the name of the event where it has its place. */
static char *fill_in(const char *text, const char *event)
{
	struct strbuf out = STRBUF_INIT;

	for (const char *at; (at = strstr(text, EVENT)); text = at + strlen(EVENT)) {
		strbuf_add(&out, text, (size_t)(at - text));
		strbuf_addstr(&out, event);
	}
	strbuf_addstr(&out, text);
	return strbuf_detach(&out, NULL);
}

static char *dump_file(const json_t *value)
{
	char *dump = json_dumps(value, JSON_INDENT(2)), *text = xstrfmt("%s\n", dump);

	free(dump);
	return text;
}

/* A file with nothing but the entries. */
static char *make_entries(const json_t *part)
{
	json_t *events = json_object_get(part, "events"), *moment;
	json_t *begin = json_object_get(part, "begin"), *hooks = json_object();
	json_t *root = begin ? json_deep_copy(begin) : json_object();
	char *entry = json_dumps(json_object_get(part, "entry"), JSON_COMPACT), *text;
	const char *event;

	json_object_foreach(events, event, moment) {
		text = fill_in(entry, event);
		json_object_set_new(hooks, event, json_pack("[o]", json_loads(text, 0, NULL)));
		free(text);
	}
	json_object_set_new(root, "hooks", hooks);
	text = dump_file(root);
	json_decref(root);
	free(entry);
	return text;
}

/* A copy that lives as long as the changes. */
static const char *keep_string(struct agents_changes *out, char *string)
{
	strlist_take(&out->strings, string);
	return string;
}

struct owner {
	const char *name, *root, *base;
	bool mcp;
};

static void add_change(struct agents_changes *out, const struct owner *owner, enum install_kind kind,
		       const char *path, char *text)
{
	const char *above = strcmp(owner->root, owner->base) ? owner->base + 1 : "", *name = owner->name;

	if (out->nr == AGENTS_FILES_MAX) {
		free(text);
		return;
	}
	out->items[out->nr++] = (struct install_change){
		.kind = kind,
		.root = keep_string(out, xstrdup(owner->root)),
		.path = keep_string(out, xstrfmt("%s%s%s", above, *above ? "/" : "", path)),
		.by = keep_string(out, xstrfmt("%s%s", owner->mcp ? "mcp " : "", name)),
		.text = keep_string(out, text),
		.mode = 0666,
		.alike = { keep_string(out, xstrfmt("checkpoint agent-hook %s", name)),
			   keep_string(out, xstrfmt("git checkpoint save --source %s", name)) },
	};
}

/* A file that is ours as a whole. */
static void add_own(struct agents_changes *out, const struct owner *owner, const json_t *part,
		    const char *path, const json_t *what)
{
	const char *file = json_string_value(what);

	add_change(out, owner, INSTALL_FILE, path,
		   file ? xstrdup(find_file(file)) : json_is_object(what) ? dump_file(what)
									  : make_entries(part));
	if (json_is_true(json_object_get(part, "executable")))
		out->items[out->nr - 1].mode = 0777;
}

/* One, or one for each event. */
static void add_owns(struct agents_changes *out, const struct owner *owner, const json_t *part,
		     const char *path, const json_t *what)
{
	json_t *moment;
	const char *event;

	if (!strstr(path, EVENT)) {
		add_own(out, owner, part, path, what);
		return;
	}
	json_object_foreach(json_object_get(part, "events"), event, moment) {
		char *own = fill_in(path, event), *text;
		struct install_change *change;

		add_own(out, owner, part, own, what);
		change = &out->items[out->nr - 1];
		text = fill_in(change->text, event);
		change->text = keep_string(out, text);
		free(own);
	}
}

static void add_hooks(struct agents_changes *out, const struct owner *owner, const json_t *part,
		      bool user)
{
	const char *dir = agents_text(part, "user_dir"), *file = agents_text(part, "file"), *name;
	json_t *files = json_object_get(part, "files"), *what;
	char *path;

	if (!user || !dir)
		dir = agents_text(part, "dir");
	out->dir = keep_string(out, xstrdup(dir));
	path = xstrfmt("%s/%s", dir, file);
	if (!files)
		add_change(out, owner, INSTALL_JSON, path, make_entries(part));
	free(path);
	json_object_foreach(files, name, what) {
		path = xstrfmt("%s/%s", dir, name);
		add_owns(out, owner, part, path, what);
		free(path);
	}
	for (size_t i = 0; i < out->nr; i++)
		if (!strcmp(out->items[i].path + strlen(out->items[i].path) - strlen(file), file))
			out->main = i;
}

bool agents_beside(struct install_change *out, struct agents_changes *changes, const json_t *agent)
{
	const char *file = agents_text(agents_part(agent, false), "toml"), *path, *name;

	if (!file)
		return false;
	*out = changes->items[changes->main];
	path = out->path;
	name = strrchr(path, '/');
	out->path = keep_string(changes, xstrfmt("%.*s/%s", (int)(name - path), path, file));
	return true;
}

const char *agents_in_primary(const json_t *agent)
{
	return agents_text(agents_part(agent, false), "primary");
}

/* Where checkpoints are, if the user's environment says so: some agents do not pass it on. */
static char *named_home(void)
{
	const char *state = getenv("XDG_STATE_HOME");
	char *home = NULL;

	if (env_git("GIT_CHECKPOINT_HOME") || (state && *state == '/'))
		(void)store_home(&home);
	return home;
}

/* The server as an object; the caller frees the text. */
static char *make_server(const json_t *part, const char *home)
{
	const char *key = agents_text(part, "env_key");
	json_t *root = json_deep_copy(json_object_get(part, "text"));
	json_t *servers = json_object_iter_value(json_object_iter(root));
	char *text;

	if (home)
		json_object_set_new(json_object_get(servers, "git-checkpoint"),
				    key ? key : "env",
				    json_pack("{s:o}", "GIT_CHECKPOINT_HOME", json_text(home)));
	text = dump_file(root);
	json_decref(root);
	return text;
}

/* As a table; what JSON writes as a string is one here, too. */
static char *make_server_table(const char *toml, const char *home)
{
	struct strbuf text = STRBUF_INIT;
	json_t *value = json_text(home);

	strbuf_addstr(&text, toml);
	if (home) {
		strbuf_addstr(&text, "env = { GIT_CHECKPOINT_HOME = ");
		json_write(&text, value);
		strbuf_addstr(&text, " }\n");
	}
	json_decref(value);
	return strbuf_detach(&text, NULL);
}

static void add_server(struct agents_changes *out, const struct owner *owner, const json_t *part,
		       bool user)
{
	const char *toml = agents_text(part, "text"), *path = agents_text(part, user ? "user" : "file");
	char *home = named_home();

	add_change(out, owner, toml ? INSTALL_TOML : INSTALL_JSON, path,
		   toml ? make_server_table(toml, home) : make_server(part, home));
	free(home);
	out->items[0].alike[0] = "[mcp_servers.git-checkpoint";
	out->items[0].alike[1] = "[mcp_servers.\"git-checkpoint";
}

void agents_changes(struct agents_changes *out, const char *name, const json_t *agent,
		    const char *root, const char *base, bool user, bool mcp)
{
	const struct owner owner = { name, root, base, mcp };
	const json_t *part = agents_part(agent, mcp);

	memset(out, 0, sizeof(*out));
	if (mcp)
		add_server(out, &owner, part, user);
	else
		add_hooks(out, &owner, part, user);
	for (size_t i = 0; i < out->nr; i++)
		out->items[i].comments = json_is_true(json_object_get(part, "comments"));
}

void agents_changes_release(struct agents_changes *changes)
{
	strlist_release(&changes->strings);
	memset(changes, 0, sizeof(*changes));
}

/* ---- what a restore leaves as it is ---- */

static void add_kept(struct restore_kept *out, size_t *nr, const char *name)
{
	struct agents_changes changes;
	json_t *agent = agents_load(name);

	agents_changes(&changes, name, agent, "/", "/", false, false);
	for (size_t i = 0; i < changes.nr && *nr < AGENTS_MAX * 2; i++)
		out[(*nr)++] = (struct restore_kept){
			.path = xstrdup(changes.items[i].path),
			.word = xstrdup(changes.items[i].alike[0]),
			.why = "it has the entry of 'hooks install --agent', which the checkpoint lacks",
		};
	agents_changes_release(&changes);
	json_decref(agent);
}

const struct restore_kept *agents_kept(void)
{
	static struct restore_kept kept[AGENTS_MAX * 2 + 1];
	const char *const *name = agents_names();
	size_t nr = 0;

	if (!kept[0].path)
		for (; *name; name++)
			if (strcmp(*name, GENERIC) != 0)
				add_kept(kept, &nr, *name);
	return kept;
}
