/* SPDX-License-Identifier: MIT */
#include "show/complete.h"

#include "base/base.h"
#include "remote/remote.h"
#include "session/session.h"
#include "store/store.h"

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
static bool listed(const struct complete *complete, const char *word)
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

static void add(struct complete *complete, const char *word, const char *text, bool open)
{
	char *whole = xstrfmt("%.*s%s", (int)complete->kept, complete->word, word);

	if (has_control(whole) || (complete->list && listed(complete, word))) {
		free(whole);
		return;
	}
	ALLOC_GROW(complete->items, complete->nr + 1, complete->alloc);
	complete->items[complete->nr++] = (struct complete_item){
		.word = whole,
		.text = text && *text ? clean_text(text) : NULL,
		.open = open,
	};
}

void complete_add(struct complete *complete, const char *word, const char *text)
{
	add(complete, word, text, complete->list);
}

void complete_add_open(struct complete *complete, const char *word, const char *text)
{
	add(complete, word, text, true);
}

static bool is_directory(int fd, const char *name)
{
	struct stat st;

	return !fstatat(fd, name, &st, 0) && S_ISDIR(st.st_mode);
}

/* Where the shell would look in another directory, or for another name. */
static void list_files(struct complete *complete, bool directories)
{
	const char *slash = strrchr(complete->typed, '/');
	const char *name = slash ? slash + 1 : complete->typed;
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
		add(complete, paths.items[i], NULL,
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

static int offer(struct complete *complete, const char *what, const char *placeholder)
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
		err = offer(complete, what, placeholder);
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
				err = offer(complete, arg->one_of[i], arg->one_of[i]);
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

	add(complete, word, opt->help, opt->name && opt_takes_word(opt));
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

		if (!(opt->flags & (OPT_HIDDEN | OPT_UNOFFERED)) &&
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
		printf("%s\t%s\n", complete.items[i].word,
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
