/* SPDX-License-Identifier: MIT */
#include "show/show.h"

#include "remote/remote.h"

/* ---- candidates ---- */

static bool has_control(const char *s)
{
	for (; *s; s++)
		if (utf8_control(s, utf8_sequence(s, strlen(s))))
			return true;
	return false;
}

static char *clean_text(const char *text)
{
	struct strbuf clean = STRBUF_INIT;

	utf8_printable(&clean, text, strlen(text), "", ' ');
	return strbuf_detach(&clean, NULL);
}

/* True if the typed list already has `word`. */
static bool is_listed(const struct complete *complete, const char *word)
{
	const char *end = complete->word + complete->kept, *p = end;

	while (p > complete->word && p[-1] != '=')
		p--;
	while (p < end) {
		size_t len = strcspn(p, ",");

		if (len == strlen(word) && !memcmp(p, word, len))
			return true;
		p += len + 1;
	}
	return false;
}

static void add_word(struct complete *complete, const char *word, const char *text, bool open)
{
	char *whole = xstrfmt("%.*s%s", (int)complete->kept, complete->word, word);

	if (has_control(whole) || (complete->list && is_listed(complete, word))) {
		free(whole);
		return;
	}
	*ALLOC_NEXT(complete->items, complete->nr, complete->alloc) = (struct complete_item){
		.word = whole,
		.text = text && *text ? clean_text(text) : NULL,
		.open = open,
	};
}

void complete_add(struct complete *complete, const char *word, const char *text)
{
	add_word(complete, word, text, complete->list);
}

static bool is_directory(int fd, const char *name)
{
	struct stat st;

	return !fstatat(fd, name, &st, 0) && S_ISDIR(st.st_mode);
}

/* Where the shell would look in another directory, or for another name. */
static void list_files(struct complete *complete, bool directories)
{
	const char *name = path_base(complete->typed);
	char *before = xmemdupz(complete->typed, (size_t)(name - complete->typed));
	int fd = open(*before ? before : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct strlist paths = STRLIST_INIT, there = STRLIST_INIT;

	if (fd >= 0)
		(void)fs_names(&there, fd, ".", 0, NULL);
	for (size_t i = 0; i < there.nr; i++) {
		bool deeper = is_directory(fd, there.items[i]);

		if ((there.items[i][0] != '.' || *name == '.') && (deeper || !directories))
			strlist_addf(&paths, "%s%s%s", before, there.items[i], deeper ? "/" : "");
	}
	strlist_release(&there);
	fs_close(fd);
	strlist_sort_unique(&paths);
	for (size_t i = 0; i < paths.nr; i++)
		add_word(complete, paths.items[i], NULL,
		    paths.items[i][strlen(paths.items[i]) - 1] == '/');
	strlist_release(&paths);
	free(before);
}

void complete_files(struct complete *complete, bool directories)
{
	if (complete->kept || complete->elsewhere)
		list_files(complete, directories);
	else
		complete->also = directories ? "directories" : "files";
}

struct session *complete_session(struct complete *complete)
{
	struct session *session;

	if (complete->session || complete->session_failed)
		return complete->session;
	session = xcalloc(1, sizeof(*session));
	if (session_open(session, SESSION_LOOK)) {
		complete->session_failed = true;
		free(session);
		return NULL;
	}
	complete->session = session;
	return session;
}

void complete_release(struct complete *complete)
{
	for (size_t i = 0; i < complete->nr; i++) {
		free(complete->items[i].word);
		free(complete->items[i].text);
	}
	free(complete->items);
	if (complete->session)
		session_close(complete->session);
	free(complete->session);
}

enum { CHECKPOINTS_MAX = 50 };

/* ---- checkpoints ---- */

/* "@~2, 3 minutes ago, before the rewrite (agent) [pinned]"; `position` may be "" */
static char *describe_record(const struct ckpt_record *record, const char *position, int64_t now)
{
	char age[CLOCK_ISO_SIZE], *title = title_of(record);
	struct strbuf text = STRBUF_INIT;

	strbuf_addf(&text, "%s%s%s, %s", position, *position ? ", " : "",
		    clock_format_age(age, record->created_at, now), title);
	if (strcmp(record->source, "cli") != 0)
		strbuf_addf(&text, " (%s)", record->source);
	if (record->pinned)
		strbuf_addstr(&text, " [pinned]");
	if (record_expired(record, now))
		strbuf_addstr(&text, " [expired]");
	free(title);
	return strbuf_detach(&text, NULL);
}

/* True for the beginning of the six digits; a single letter may begin any other name. */
static bool is_short_id(const char *typed)
{
	size_t len = strspn(typed, "0123456789abcdef");

	return len >= 2 && len <= 6 && !typed[len];
}

/* Its id, its six digits, or "@~<back>", or "step:<n>", depending on what was typed. */
static void add_names(struct complete *complete, const struct ckpt_record *record,
		      const char *position, struct strlist *steps)
{
	bool by_position = *complete->typed == '@';
	char *text = describe_record(record, by_position ? "" : position, clock_now()), *name = NULL;

	if (by_position) {
		if (*position)
			complete_add(complete, position, text);
	} else if (!strlist_has(&complete->look->args, record->id)) {
		complete_add(complete,
			     is_short_id(complete->typed) ? report_short_id(record->id) : record->id,
			     text);
	}
	if (*complete->typed == 's' && record->step >= 0) {
		name = xstrfmt("step:%lld", (long long)record->step);
		/* Of two with the same step the newest is meant. */
		if (!strlist_has(steps, name))
			complete_add(complete, name, text);
		strlist_add(steps, name);
	}
	free(name);
	free(text);
}

/* "turn:<n>" of the session that was active last, with the prompts. */
static void add_turns(struct complete *complete, struct session *session)
{
	const struct turn_session *last;
	struct turns turns;

	if (*complete->typed != 't' || turns_read(&turns, session->store))
		return;
	last = turns.nr ? &turns.items[turns.nr - 1] : NULL;
	for (size_t i = last ? last->nr : 0; i--;) {
		char *name = xstrfmt("turn:%" PRIu64, last->items[i].number);

		complete_add(complete, name, last->items[i].prompt);
		free(name);
	}
	turns_release(&turns);
}

/* The names that people gave, however old the checkpoint is. */
static void add_given(struct complete *complete, struct session *session,
		      const struct ref_list *refs)
{
	struct strlist names = STRLIST_INIT;

	keepers_names(&names, session->store);
	for (size_t i = 0; i < names.nr; i++) {
		const struct ref_item *ref = lookup_named(session->store, refs, names.items[i]);
		struct ckpt_record record;
		char *text;

		if (!ref || record_read(&record, session->store, ref))
			continue;
		text = describe_record(&record, "", clock_now());
		complete_add(complete, names.items[i], text);
		free(text);
		record_release(&record);
	}
	strlist_release(&names);
}

bool complete_given_names(struct complete *complete)
{
	struct session *session = complete_session(complete);
	struct ref_list refs;

	if (session && session->store && !refs_list(&refs, session->store)) {
		add_given(complete, session, &refs);
		refs_release(&refs);
	}
	return true;
}

void complete_checkpoints(struct complete *complete)
{
	struct session *session = complete_session(complete);
	struct strlist steps = STRLIST_INIT;
	struct ref_list refs;
	size_t nr = 0, back = 0;

	if (!session || !session->store || refs_list(&refs, session->store))
		return;
	add_given(complete, session, &refs);
	add_turns(complete, session);
	for (size_t i = refs.nr; i-- && nr < CHECKPOINTS_MAX;) {
		const char *typed = complete->typed;
		struct ckpt_record record;
		char *position;

		if (record_read(&record, session->store, &refs.items[i]))
			continue;
		position = report_position(&back, &record);
		/* With part of an id typed, older ones come into reach. */
		if (is_short_id(typed) ? !strncmp(report_short_id(record.id), typed, strlen(typed))
				       : strncmp(typed, "chk_", 4) != 0 ||
						 !strncmp(record.id, typed, strlen(typed))) {
			add_names(complete, &record, position, &steps);
			nr++;
		}
		free(position);
		record_release(&record);
	}
	strlist_release(&steps);
	refs_release(&refs);
}

/* ---- paths ---- */

/* The directory that was typed, and its current contents. */
struct typed_dir {
	char *typed;          /* "../src/", "" */
	struct strbuf below;  /* from the root: "src" */
	struct strlist files, directories; /* existing ones, sorted */
};

static void read_typed_dir(struct typed_dir *at, const struct session *session)
{
	char *full = xstrfmt("%s/%s", session->worktree, at->below.buf);
	int fd = open(full, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct strlist names = STRLIST_INIT;
	struct stat st;

	if (fd >= 0)
		(void)fs_names(&names, fd, ".", 0, NULL);
	for (size_t i = 0; i < names.nr; i++)
		if (strcmp(names.items[i], ".git"))
			strlist_add(!fstatat(fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) &&
						    S_ISDIR(st.st_mode)
					    ? &at->directories
					    : &at->files,
				    names.items[i]);
	strlist_release(&names);
	fs_close(fd);
	strlist_sort_unique(&at->files);
	strlist_sort_unique(&at->directories);
	free(full);
}

static void typed_dir_release(struct typed_dir *at)
{
	free(at->typed);
	strbuf_release(&at->below);
	strlist_release(&at->files);
	strlist_release(&at->directories);
}

static void add_path(struct complete *complete, const struct typed_dir *at, const char *name,
		     bool directory, const char *text)
{
	/* Alone it would be an option, or somebody's home. */
	bool odd = !*at->typed && (*name == '~' || (*name == '-' && complete->look->dashdash < 0));
	char *path = xstrfmt("%s%s%s%s", odd ? "./" : "", at->typed, name, directory ? "/" : "");

	add_word(complete, path, text, directory);
	free(path);
}

/* The directory in the checkpoint, with its entries; NULL if it does not have it. */
static const struct wt_dir *find_dir(struct snapshot *snapshot, const char *path)
{
	struct wt_dir *dir = snapshot->root;
	struct wt_entry *entry;

	if (*path) {
		if (snapshot_find(&entry, snapshot, path) || !entry || entry->kind != WT_DIR)
			return NULL;
		dir = entry->dir;
	}
	return snapshot_expand(snapshot, dir) ? NULL : dir;
}

/* What a restore would remove. For a checkpoint of some paths, only these. */
static void add_new(struct complete *complete, const struct typed_dir *at,
		    const struct strlist *names, const struct wt_dir *dir,
		    const struct ckpt_record *record)
{
	for (size_t i = 0; i < names->nr; i++) {
		struct strbuf path = STRBUF_INIT;

		strbuf_addstr(&path, at->below.buf);
		path_append(&path, names->items[i]);
		if (!(dir && wt_child(dir, names->items[i], strlen(names->items[i]))) && plan_concerns(&record->scope, path.buf))
			add_path(complete, at, names->items[i], names == &at->directories,
				 "not in the checkpoint");
		strbuf_release(&path);
	}
}

/* With `present` only existing paths. */
static void add_tree(struct complete *complete, const struct typed_dir *at,
		     struct snapshot *snapshot, const struct ckpt_record *record, bool present)
{
	const struct wt_dir *dir = find_dir(snapshot, at->below.buf);

	for (size_t i = 0; dir && i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		bool there = pathset_has(&at->files, entry->name) ||
			     pathset_has(&at->directories, entry->name);

		if (there || !present)
			add_path(complete, at, entry->name, entry->kind == WT_DIR,
				 there ? NULL : "only in the checkpoint");
	}
	add_new(complete, at, &at->directories, dir, record);
	add_new(complete, at, &at->files, dir, record);
}

void complete_paths(struct complete *complete, bool guess)
{
	const struct opt_look *look = complete->look;
	const char *checkpoint = look->args.nr && look->dashdash ? look->args.items[0] : NULL;
	struct session *session = complete_session(complete);
	const char *slash = strrchr(complete->typed, '/');
	struct typed_dir at = { .below = STRBUF_INIT };
	struct snapshot *snapshot;
	struct ckpt_record record;
	int err = -1;

	if (!session || !session->store)
		return;
	if (checkpoint)
		err = session_lookup(&record, session->store, checkpoint);
	if (err && (guess || !checkpoint))
		err = lookup_default(&record, session->store);
	if (err)
		return;
	at.typed = xmemdupz(complete->typed, slash ? (size_t)(slash + 1 - complete->typed) : 0);
	if (!record.state_only &&
	    !session_path(&at.below, session, *at.typed ? at.typed : ".") &&
	    !snapshot_open(&snapshot, session->store, &record)) {
		read_typed_dir(&at, session);
		add_tree(complete, &at, snapshot, &record, guess);
		snapshot_free(snapshot);
	}
	typed_dir_release(&at);
	record_release(&record);
}

/* The entries of the directory of which `at` has what was typed. */
static void add_inside(struct complete *complete, struct typed_dir *at, struct session *session,
		       const struct ckpt_record *record)
{
	struct snapshot *snapshot;
	const struct wt_dir *dir;

	if (show_inside_top(&at->below, session, at->typed) ||
	    snapshot_open(&snapshot, session->store, record))
		return;
	dir = find_dir(snapshot, at->below.buf);
	for (size_t i = 0; dir && i < dir->nr; i++) {
		bool deeper = wt_entries(dir)[i].kind == WT_DIR;
		char *path =
			xstrfmt("%s%s%s", at->typed, wt_entries(dir)[i].name, deeper ? "/" : "");

		add_word(complete, path, NULL, deeper);
		free(path);
	}
	snapshot_free(snapshot);
}

bool complete_inside(struct complete *complete)
{
	struct session *session = complete_session(complete);
	bool inside = session && session->store && show_inside_is(complete->typed);
	const char *path = inside ? show_inside_path(complete->typed) : "",
		   *slash = strrchr(path, '/');
	size_t kept = inside ? (size_t)(path - complete->typed) : 0;
	char *name = xmemdupz(complete->typed, kept ? kept - 1 : 0);
	struct typed_dir at = { .below = STRBUF_INIT };
	struct ckpt_record record;

	inside = inside && !session_lookup(&record, session->store, name);
	if (inside) {
		at.typed = xmemdupz(path, slash ? (size_t)(slash + 1 - path) : 0);
		complete->kept += kept;
		if (!record.state_only)
			add_inside(complete, &at, session, &record);
		complete->kept -= kept;
		typed_dir_release(&at);
		record_release(&record);
	}
	free(name);
	return inside;
}

/* ---- positions ---- */

static void any_file(struct complete *complete)
{
	complete_files(complete, false);
}

static void any_directory(struct complete *complete)
{
	complete_files(complete, true);
}

static void another_command(struct complete *complete)
{
	complete->also = "command";
}

static void file_of_key(struct complete *complete)
{
	const char *equals = strchr(complete->typed, '=');

	if (!equals)
		return;
	complete->kept += (size_t)(equals + 1 - complete->typed);
	complete->typed = equals + 1;
	any_file(complete);
}

static void any_remote(struct complete *complete)
{
	const struct session *session = complete_session(complete);
	struct remotes remotes;

	if (!session || remotes_read(&remotes, session->store))
		return;
	for (size_t i = 0; i < remotes.nr; i++) {
		char *shown = remotes_shown(remotes.items[i].url);

		complete_add(complete, remotes.items[i].name, shown);
		free(shown);
	}
	remotes_release(&remotes);
}

/* What was fetched before, with `end` after each machine: the remote itself is not asked. */
static void add_machines(struct complete *complete, const char *end)
{
	const struct session *session = complete_session(complete);
	struct fetched_list list;

	if (!session || !session->store || fetched_list(&list, session->store))
		return;
	for (size_t i = 0; i < list.nr; i++) {
		char *name = xstrfmt("%s%s", list.items[i].machine, end);

		if (!i || strcmp(list.items[i].machine, list.items[i - 1].machine) != 0)
			complete_add(complete, name, NULL);
		free(name);
	}
	fetched_release(&list);
}

static void any_machine(struct complete *complete)
{
	add_machines(complete, "");
}

static void any_fetched(struct complete *complete)
{
	add_machines(complete, "/@");
}

/* Those that only look, or copy, take what was fetched like others. */
static void any_checkpoint(struct complete *complete)
{
	static const char *const takers[] = { "show", "diff", "restore", "export", "verify" };

	complete_checkpoints(complete);
	for (size_t i = 0; i < ARRAY_SIZE(takers); i++)
		if (!strcmp(complete->spec->command, takers[i]))
			any_fetched(complete);
}

/* Placeholders with the same meaning in all commands; NULL: free text. */
static const struct {
	const char *placeholder;
	void (*offer)(struct complete *complete);
} meanings[] = {
	{ "<checkpoint>", any_checkpoint },
	{ "<good>", complete_checkpoints },
	{ "<bad>", complete_checkpoints },
	{ "<path>", any_file },
	{ "<file>", any_file },
	{ "<bundle>", any_file },
	{ "<url>", any_file },
	{ "<remote>", any_remote },
	{ "<machine>/<id>", any_fetched },
	{ "<machine>", any_machine },
	{ "<dir>", any_directory },
	{ "<k>=<path>", file_of_key },
	{ "<command>", another_command },
	{ "<cmd>", any_file },
	{ "<k>=<v>", NULL },
	{ "<key>", NULL },
	{ "<name>", NULL },
	{ "<reason>", NULL },
	{ "<branch>", NULL },
	{ "<text>", NULL },
	{ "<list>", NULL },
	{ "<workflow>", NULL },
	{ "<dur|time>", NULL },
	{ "<dur|time|never>", NULL },
};

static int offer_what(struct complete *complete, const char *what, const char *placeholder)
{
	if (complete->spec->offer && complete->spec->offer(complete, what))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++) {
		if (strcmp(meanings[i].placeholder, placeholder))
			continue;
		if (meanings[i].offer)
			meanings[i].offer(complete);
		return 0;
	}
	return ckpt_error_set(CKPT_ERROR, "no completion is defined for '%s' of '%s'", what,
			      complete->spec->command);
}

static int offer_value(struct complete *complete)
{
	const struct opt *opt = &complete->look->value_of;
	const char *placeholder = opt->argument;
	char *what = opt->name ? xstrfmt("--%s", opt->name) : xstrfmt("-%c", opt->letter), *comma;
	int err = 0;

	complete->kept = complete->look->value_at;
	complete->typed = complete->word + complete->kept;
	complete->list = !strcmp(placeholder, "<list>");
	comma = complete->list ? strrchr(complete->typed, ',') : NULL;
	if (comma) {
		complete->typed = comma + 1;
		complete->kept = (size_t)(complete->typed - complete->word);
	}
	if (opt->kind == OPT_STRING || opt->kind == OPT_LIST)
		err = offer_what(complete, what, placeholder);
	free(what);
	return err;
}

static int offer_argument(struct complete *complete)
{
	const struct opt_look *look = complete->look;
	const struct opt_spec *sub = look->args.nr ? NULL : complete->spec->subs;
	const struct opt_arg *arg = NULL;
	int err = 0;

	for (; sub && sub->command; sub++)
		complete_add(complete, opt_sub_name(sub), sub->summary);
	while (!err && (arg = opt_look_next(look, arg)))
		for (size_t i = 0; i < OPT_CHOICES && arg->one_of[i] && !err; i++) {
			if (arg->one_of[i][0] == '<')
				err = offer_what(complete, arg->one_of[i], arg->one_of[i]);
			else
				complete_add(complete, arg->one_of[i], NULL);
		}
	return err;
}

static void offer_option(struct complete *complete, const struct opt *opt)
{
	char letter[3] = { '-', opt->letter, '\0' };
	char *word = opt->name ? xstrfmt("--%s%s", opt->name, opt_takes_word(opt) ? "=" : "")
			       : xstrdup(letter);

	add_word(complete, word, opt->help, opt->name && opt_takes_word(opt));
	free(word);
}

/* Not twice, unless that is useful. */
static void offer_options(struct complete *complete)
{
	struct opt_rows rows;

	opt_rows_init(&rows, complete->spec);
	for (size_t i = 0; i < rows.nr; i++) {
		const struct opt *opt = &rows.items[i];
		char letter[2] = { opt->letter, '\0' };
		bool given = strlist_has(&complete->look->given, opt->name ? opt->name : letter);

		if (!(opt->flags & OPT_UNOFFERED) &&
		    (!given || opt->kind == OPT_LIST))
			offer_option(complete, opt);
	}
	opt_rows_release(&rows);
}

void complete_print_options(const struct opt_spec *spec)
{
	struct opt_look look = { .dashdash = -1 };
	struct complete complete = { .spec = spec, .look = &look, .word = "" };

	offer_options(&complete);
	for (size_t i = 0; i < complete.nr; i++)
		term_say(stdout, "%s\t%s\n", complete.items[i].word,
			 complete.items[i].text ? complete.items[i].text : "");
	complete_release(&complete);
}

int complete_offer(struct complete *complete)
{
	if (complete->look->value_of.kind != OPT_END)
		return offer_value(complete);
	if (!complete->look->ended && complete->word[0] == '-') {
		offer_options(complete);
		return 0;
	}
	return offer_argument(complete);
}
