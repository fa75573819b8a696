/* SPDX-License-Identifier: MIT */
#include "remote/transport_internal.h"

#include "base/base.h"
#include "git/git.h"
#include "record/record.h"
#include "remote/remotes.h"
#include "session/session.h"
#include "settings/settings.h"
#include "store/store.h"

#include <sys/mman.h>

enum { ODD_SHOWN = 10 };

/* --- names --- */

static int ask(struct strbuf *out, const struct session *session, const char *const args[])
{
	const struct gitrun how = { .gitdir = session->repo->gitdir };
	int err = askgit(out, &how, args);

	strbuf_trim(out);
	return err;
}

static int no_project(const char *why)
{
	return ckpt_error_set(CKPT_ERROR,
			      "%s, so nothing tells which project this is; name it: 'git checkpoint "
			      "config project <name>'",
			      why);
}

static int find_root(char **out, struct session *session)
{
	const char *const shallow[] = { "rev-parse", "--is-shallow-repository", NULL };
	const char *const roots[] = { "rev-list", "--max-parents=0", "HEAD", NULL };
	struct strbuf answer = STRBUF_INIT;
	const char *least = NULL;
	char *line, *rest = NULL;
	int err = ask(&answer, session, shallow);

	if (!err && !strcmp(answer.buf, "true"))
		err = no_project("the repository is a shallow clone");
	strbuf_reset(&answer);
	if (!err && (ask(&answer, session, roots) || !answer.len))
		err = no_project("the repository has no commit yet");
	for (line = err ? NULL : strtok_r(answer.buf, "\n", &rest); line;
	     line = strtok_r(NULL, "\n", &rest))
		if (!least || strcmp(line, least) < 0)
			least = line;
	if (!err)
		*out = xstrdup(least);
	strbuf_release(&answer);
	return err;
}

int transport_project(char **out, struct session *session)
{
	if (session->settings.project) {
		*out = xstrdup(session->settings.project);
		return 0;
	}
	return session->repo ? find_root(out, session)
			     : no_project("this folder is not in a git repository");
}

char *transport_machine(const struct session *session)
{
	char host[HOST_NAME_MAX + 1] = "";
	size_t nr = 0;

	if (session->settings.machine)
		return xstrdup(session->settings.machine);
	(void)gethostname(host, sizeof(host) - 1);
	/* Not all that a host may be called can be part of a ref. */
	for (const char *p = host; *p && *p != '.' && nr < SETTING_NAME_MAX; p++)
		if (isalnum((unsigned char)*p) || *p == '_' || (*p == '-' && nr))
			host[nr++] = (char)tolower((unsigned char)*p);
	host[nr] = '\0';
	return xstrdup(setting_name_valid(host) ? host : "machine");
}

/* --- running git --- */

static bool was_cancelled(void *payload)
{
	(void)payload;
	return cancel_check() != 0;
}

/* What git says about refs is for us: people know checkpoints, not the refs that hold them. */
static bool is_about_refs(const char *line)
{
	return !strncmp(line, "To ", 3) || !strncmp(line, "From ", 5) || !strcmp(line, "Done\n") ||
	       (strchr(" *+-=!", *line) && strstr(line, "refs/"));
}

/* Part of it is what the other side says, to which the terminal must not listen. */
static void show_line(const struct strbuf *line)
{
	struct strbuf clean = STRBUF_INIT;

	utf8_printable(&clean, line->buf, line->len, "\r\n\t", '?');
	(void)fs_write_all(STDERR_FILENO, clean.buf, clean.len);
	strbuf_release(&clean);
}

static void show(const char *data, size_t len, void *payload)
{
	struct strbuf *line = payload;

	for (size_t i = 0; i < len; i++) {
		strbuf_addch(line, data[i]);
		if (data[i] != '\n' && data[i] != '\r')
			continue;
		if (!is_about_refs(line->buf))
			show_line(line);
		strbuf_reset(line);
	}
}

/* "!\t<from>:<to>\t<summary>" of --porcelain: why the other side did not take a ref. */
static char *rejection(const char *said)
{
	const char *line = strncmp(said, "!\t", 2) ? strstr(said, "\n!\t") : said;
	const char *tab = line ? strchr(line + 3, '\t') : NULL;

	return tab ? xmemdupz(tab + 1, strcspn(tab + 1, "\r\n")) : NULL;
}

/* The line that says why: git's first one that begins like this. */
static char *reason(const char *said)
{
	static const char *const kinds[] = { "fatal: ", "error: ", "remote: ", "ERROR: " };
	const char *best = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds) && !best; i++)
		for (const char *p = strstr(said, kinds[i]); p && !best;
		     p = strstr(p + 1, kinds[i]))
			if (p == said || p[-1] == '\n' || p[-1] == '\r')
				best = p + strlen(kinds[i]);
	return best ? xmemdupz(best, strcspn(best, "\r\n")) : NULL;
}

/* In memory: nothing is left of it, whatever happens. -1: git does more work than it has to. */
static int write_grafts(char **path, const struct strbuf *text)
{
	int fd = text && text->len ? memfd_create("grafts", MFD_CLOEXEC) : -1;

	if (fd >= 0 && fs_write_all(fd, text->buf, text->len) < 0) {
		close(fd);
		fd = -1;
	}
	*path = fd < 0 ? NULL : xstrfmt("/proc/%ld/fd/%d", (long)getpid(), fd);
	return fd;
}

int transport_run(struct strbuf *out, const struct transport *transport, const char *const args[])
{
	char *grafts;
	int graftfd = write_grafts(&grafts, transport->grafts);
	struct strbuf line = STRBUF_INIT;
	bool lost = false;
	const struct gitrun how = {
		.profile = GITRUN_TRANSPORT,
		.lost = &lost,
		.gitdir = transport->gitdir,
		.grafts = grafts,
		.told = true,
		.patience = (double)transport->session->settings.remote_timeout,
		.stop = was_cancelled,
		.heard = transport->shown ? show : NULL,
		.payload = &line,
		.file_limit = transport->limit,
	};
	int err = gitrun(out, &how, args);
	char *why;

	strbuf_release(&line);
	fs_close(graftfd);
	free(grafts);
	if (err != CKPT_ERROR)
		return err == CKPT_ELOCKED ? cancel_check() : err;
	if (transport->lost)
		*transport->lost = lost;
	why = lost ? NULL : rejection(out->buf);
	if (!why && !lost)
		why = reason(out->buf);
	err = ckpt_error_set(err, "remote '%s': %s", transport->remote->name,
			     why ? why : ckpt_error_last());
	free(why);
	return err;
}

/* --- what is there --- */

static void add_odd(struct strlist *odd, const char *name)
{
	if (odd && odd->nr < ODD_SHOWN)
		strlist_add(odd, name);
}

/* "<id>\t<ref>" */
static bool parse_line(struct fetched_list *out, struct strlist *odd, const char *line,
		       const char *prefix)
{
	const char *name = line + OID_HEX + 1, *slash;
	struct oid oid;
	char *machine;

	if (strlen(line) <= OID_HEX + 1 || !oid_parse(&oid, line) || line[OID_HEX] != '\t')
		return false; /* git says something else on the way */
	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return false;
	name += strlen(prefix);
	slash = strchr(name, '/');
	machine = slash ? xmemdupz(name, (size_t)(slash - name)) : NULL;
	if (machine && setting_name_valid(machine) && refs_valid_id(slash + 1))
		fetched_add(out, machine, slash + 1, &oid);
	else
		add_odd(odd, name);
	free(machine);
	return true;
}

int transport_parse_list(struct fetched_list *out, struct strlist *odd, const char *text,
			 size_t len, const char *prefix)
{
	char *copy = xmemdupz(text, len), *line, *rest = NULL;
	int err = 0;

	memset(out, 0, sizeof(*out));
	for (line = strtok_r(copy, "\n", &rest); line && !err; line = strtok_r(NULL, "\n", &rest))
		if (parse_line(out, odd, line, prefix) && out->nr > TRANSPORT_REFS_MAX)
			err = ckpt_error_set(CKPT_ERROR, "it has more than %d checkpoints",
					     TRANSPORT_REFS_MAX);
	fetched_sort(out);
	free(copy);
	return err;
}

int transport_list(struct fetched_list *out, struct strlist *odd,
		   const struct transport *transport, const char *prefix)
{
	char *pattern = xstrfmt("%s*", prefix);
	const char *const args[] = { "ls-remote", "--refs", "--", transport->remote->url, pattern,
				     NULL };
	struct strbuf answer = STRBUF_INIT;
	int err = transport_run(&answer, transport, args);

	memset(out, 0, sizeof(*out));
	if (!err)
		err = transport_parse_list(out, odd, answer.buf, answer.len, prefix);
	strbuf_release(&answer);
	free(pattern);
	return err;
}

bool transport_is_newest(const struct fetched_list *there, size_t at)
{
	return at + 1 == there->nr ||
	       strcmp(there->items[at].machine, there->items[at + 1].machine) != 0;
}
