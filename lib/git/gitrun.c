/* SPDX-License-Identifier: MIT */
#include "git/gitrun.h"

#include <signal.h>

/*
 * env_scrub() has removed all GIT_*. What is set here overrides the
 * configuration files; GIT_NO_LAZY_FETCH is known to git since 2.45, before
 * that the lack of an allowed protocol keeps it from fetching.
 */
static const char *const environment[] = {
	"GIT_ATTR_NOSYSTEM=1",
	"GIT_CHECKPOINT_IN_HOOK=1",
	"GIT_EDITOR=true",
	"GIT_NO_LAZY_FETCH=1",
	"GIT_OPTIONAL_LOCKS=0",
	"GIT_PAGER=cat",
	"GIT_SEQUENCE_EDITOR=true",
	"GIT_TRACE2=0",
	"GIT_TRACE2_EVENT=0",
	"GIT_TRACE2_PERF=0",
};

/* Not for a transport. */
static const char *const no_network[] = {
	"GIT_ALLOW_PROTOCOL=",	    "GIT_ASKPASS=true",	     "GIT_PROTOCOL_FROM_USER=0",
	"GIT_SSH_COMMAND=false", "GIT_TERMINAL_PROMPT=0", "SSH_ASKPASS=true",
};

/* For a transport alone: how the user reaches other machines. */
static const char *const network[] = {
	"GIT_ASKPASS",	       "GIT_SSH",	      "GIT_SSH_COMMAND",	"GIT_SSH_VARIANT",
	"GIT_PROXY_COMMAND",   "GIT_PROXY_SSL_CERT", "GIT_PROXY_SSL_KEY",	"GIT_PROXY_SSL_CAINFO",
	"GIT_SSL_NO_VERIFY",   "GIT_SSL_CERT",	      "GIT_SSL_KEY",		"GIT_SSL_CAINFO",
	"GIT_SSL_CAPATH",      "GIT_HTTP_USER_AGENT", "GIT_HTTP_LOW_SPEED_LIMIT",
	"GIT_HTTP_LOW_SPEED_TIME", "GIT_TERMINAL_PROMPT",
};

/*
 * Not for a replay, which needs the filters that the user has configured, nor for writing, which
 * needs the user's name.
 */
static const char *const no_users_configuration[] = {
	"GIT_CONFIG_GLOBAL=/dev/null",
	"GIT_CONFIG_NOSYSTEM=1",
	"GIT_CONFIG_SYSTEM=/dev/null",
};

/*
 * git would build the trees of a sparse index, and write them, where it finds
 * unexpected files outside the patterns. An empty credential.helper clears
 * those before it. Where no value means "none", the program is one that does
 * nothing. hook.<event> is for hooks in the configuration, which git has since
 * 2.54.
 */
static const char *const configuration[] = {
	"advice.graftFileDeprecated=false",
	"core.alternateRefsCommand=true",
	"core.editor=true",
	"core.fsmonitor=false",
	"core.hooksPath=/dev/null",
	"core.pager=cat",
	"diff.external=",
	"fetch.recurseSubmodules=false",
	"gc.auto=0",
	"gpg.ssh.program=false",
	"gpg.x509.program=false",
	"hook.post-index-change.enabled=false",
	"hook.reference-transaction.enabled=false",
	"log.showSignature=false",
	"maintenance.auto=false",
	"safe.directory=*",
	"sequence.editor=true",
	"sparse.expectFilesOutsideOfPatterns=true",
	"submodule.recurse=false",
	"transfer.bundleURI=false",
};

static const char *const no_network_configuration[] = {
	"core.askPass=true",	 "core.gitProxy=none",	  "core.sshCommand=false",
	"credential.helper=", "gpg.program=false",	  "protocol.allow=never",
};

/*
 * What arrives is checked here; the user's rules are for the user's projects. Nothing is signed, but
 * a remote helper may encrypt with the user's gpg.program.
 */
static const char *const network_configuration[] = {
	"fetch.fsckObjects=false",   "fetch.unpackLimit=1",	      "fetch.writeCommitGraph=false", "hook.pre-push.enabled=false",
	"protocol.ext.allow=never",  "push.followTags=false",	      "push.gpgSign=false",
	"push.recurseSubmodules=no", "transfer.fsckObjects=false",
};

static void add_environment(struct strlist *env, const struct gitrun *how)
{
	static const char *const places[] = { "GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM",
					      "GIT_CONFIG_SYSTEM" };
	static const char *const people[] = { "GIT_AUTHOR_NAME",    "GIT_AUTHOR_EMAIL",
					      "GIT_AUTHOR_DATE",    "GIT_COMMITTER_NAME",
					      "GIT_COMMITTER_EMAIL", "GIT_COMMITTER_DATE" };

	for (size_t i = 0; i < ARRAY_SIZE(environment); i++)
		strlist_add(env, environment[i]);
	for (size_t i = 0; how->profile != GITRUN_TRANSPORT && i < ARRAY_SIZE(no_network); i++)
		strlist_add(env, no_network[i]);
	for (size_t i = 0; how->profile == GITRUN_TRANSPORT && i < ARRAY_SIZE(network); i++)
		if (env_git(network[i]))
			strlist_addf(env, "%s=%s", network[i], env_git(network[i]));
	for (size_t i = 0; how->profile == GITRUN_LOOK && i < ARRAY_SIZE(no_users_configuration); i++)
		strlist_add(env, no_users_configuration[i]);
	for (size_t i = 0; how->profile != GITRUN_LOOK && i < ARRAY_SIZE(places); i++)
		if (env_git(places[i]))
			strlist_addf(env, "%s=%s", places[i], env_git(places[i]));
	for (size_t i = 0; how->profile == GITRUN_WRITE && i < ARRAY_SIZE(people); i++)
		if (env_git(people[i]))
			strlist_addf(env, "%s=%s", people[i], env_git(people[i]));
	if (!how->replace || env_git("GIT_NO_REPLACE_OBJECTS"))
		strlist_add(env, "GIT_NO_REPLACE_OBJECTS=1");
	if (how->index)
		strlist_addf(env, "%s=%s", "GIT_INDEX_FILE", how->index);
}

static void add_setting(struct strlist *argv, const char *setting)
{
	strlist_add(argv, "-c");
	strlist_add(argv, setting);
}

static void add_arguments(struct strlist *argv, const struct gitrun *how, const char *const args[],
			  bool http)
{
	strlist_add(argv, "git");
	if (http) {
		add_setting(argv, "http.lowSpeedLimit=1");
		strlist_add(argv, "-c");
		strlist_addf(argv, "http.lowSpeedTime=%ld", (long)how->patience + 1);
	}
	/* Without a repository there is no configuration to override. */
	for (size_t i = 0; how->gitdir && i < ARRAY_SIZE(configuration); i++)
		add_setting(argv, configuration[i]);
	if (how->profile == GITRUN_TRANSPORT)
		for (size_t i = 0; i < ARRAY_SIZE(network_configuration); i++)
			add_setting(argv, network_configuration[i]);
	else
		for (size_t i = 0; how->gitdir && i < ARRAY_SIZE(no_network_configuration); i++)
			add_setting(argv, no_network_configuration[i]);
	if (how->gitdir)
		add_setting(argv, how->profile == GITRUN_WRITE ? "core.fsync=all"
							       : "core.logAllRefUpdates=false");
	if (how->gitdir)
		strlist_addf(argv, "--git-dir=%s", how->gitdir);
	if (how->worktree)
		strlist_addf(argv, "--work-tree=%s", how->worktree);
	for (size_t i = 0; args[i]; i++)
		strlist_add(argv, args[i]);
}

/* What curl says then. */
static const char too_slow[] = "bytes/sec transferred the last";

/* There git counts bytes itself; elsewhere what it prints tells whether anything moves. */
static bool talks_http(const struct gitrun *how, const char *const args[])
{
	bool found = false;

	if (how->profile != GITRUN_TRANSPORT || how->patience <= 0)
		return false;
	for (size_t i = 0; args[i]; i++)
		found = found || !strncmp(args[i], "http://", 7) || !strncmp(args[i], "https://", 8);
	return found;
}

struct patience {
	const struct gitrun *how;
	double until; /* 0: for ever */
	pid_t pid;    /* git's */
	bool lost;
};

static void be_patient(struct patience *patience)
{
	if (patience->until > 0)
		patience->until = clock_monotonic() + patience->how->patience;
}

/* SIGKILL for all that it started: what waits for the network would not notice that git is gone. */
static void kill_descendants(pid_t pid)
{
	struct proc_list list;

	proc_descendants(&list, "/proc", pid);
	for (size_t i = 0; i < list.nr; i++)
		(void)kill(list.items[i].pid, SIGKILL);
	proc_list_release(&list);
}

static bool must_stop(void *payload)
{
	struct patience *patience = payload;
	const struct gitrun *how = patience->how;
	bool stop;

	patience->lost = patience->until > 0 && clock_monotonic() > patience->until;
	stop = patience->lost || (how->stop && how->stop(how->payload));
	if (stop && how->profile == GITRUN_TRANSPORT)
		kill_descendants(patience->pid);
	return stop;
}

static void note_output(const char *data, size_t len, void *payload)
{
	struct patience *patience = payload;

	if (patience->how->profile == GITRUN_TRANSPORT)
		be_patient(patience);
	if (patience->how->heard)
		patience->how->heard(data, len, patience->how->payload);
}

/* The command among the arguments: after "-c key=value". */
static const char *command_of(const char *const args[])
{
	while (args[0] && args[1] && !strcmp(args[0], "-c"))
		args += 2;
	return args[0] ? args[0] : "";
}

/* A list as exec(3) wants it; the strings stay the list's. */
static const char **make_vector(const struct strlist *list)
{
	const char **items = xcalloc(list->nr + 1, sizeof(*items));

	for (size_t i = 0; i < list->nr; i++)
		items[i] = list->items[i];
	return items;
}

int gitrun(struct strbuf *out, const struct gitrun *how, const char *const args[])
{
	const bool http = talks_http(how, args);
	struct patience patience = { .how = how,
				     .until = how->patience > 0 && !http
						      ? clock_monotonic() + how->patience
						      : 0 };
	struct strlist env = STRLIST_INIT, argv = STRLIST_INIT;
	const char **env_vector, **arg_vector;
	struct spawn_opts opts = {
		.dir = how->worktree ? how->worktree : "/",
		.input = how->input,
		.input_len = how->input_len,
		.output = how->output,
		.shown = how->shown,
		.told = how->told,
		.tidies = how->profile == GITRUN_WRITE,
		.stop = must_stop,
		.heard = note_output,
		.payload = &patience,
		.pid_out = &patience.pid,
		.file_limit = how->file_limit,
	};
	int err;

	add_environment(&env, how);
	add_arguments(&argv, how, args, http);
	opts.env = env_vector = make_vector(&env);
	arg_vector = make_vector(&argv);
	err = spawn_run(out, &opts, arg_vector);
	if (err == CKPT_ERROR)
		err = ckpt_error_set(err, "'git %s' failed", command_of(args));
	patience.lost = how->profile == GITRUN_TRANSPORT &&
			((patience.lost && err == CKPT_ELOCKED) ||
			 (http && err == CKPT_ERROR && strstr(out->buf, too_slow)));
	if (how->lost)
		*how->lost = patience.lost;
	if (patience.lost)
		err = ckpt_error_set(CKPT_ERROR, "nothing was heard for %.0f seconds", how->patience);
	free(env_vector);
	free(arg_vector);
	strlist_release(&env);
	strlist_release(&argv);
	return err;
}

int gitrun_told(struct strbuf *out, const struct gitrun *how, const char *const args[])
{
	struct gitrun told = *how;
	int err;

	told.told = true;
	err = gitrun(out, &told, args);
	strbuf_trim(out);
	if (err == CKPT_ERROR && out->len) {
		const char *text = out->buf + (strncmp(out->buf, "fatal: ", 7) ? 0 : 7);

		err = ckpt_error_set(err, "%s: %s", ckpt_error_last(), text);
	}
	return err;
}
