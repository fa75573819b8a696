/* SPDX-License-Identifier: MIT */
#include "git/gitconfig.h"

#include "base/alloc.h"
#include "base/env.h"
#include "base/error.h"
#include "git/repo.h"

#include "unit.h"

/*
 * git's own answer is the reference. The environment is scrubbed once per
 * process, so whatever reads it does so in a child.
 */

/* "<scope>\t<value>" of a key as git tells it in `dir`, "" if there is none. */
static const char *git_says(const char *dir, const char *key)
{
	return line_of("cd '%s' && git config --includes --show-scope --get '%s'", dir, key);
}

/* What is asked of the configuration as it is seen in `dir`. */
struct question {
	const char *dir;
	void (*fn)(FILE *out, const struct gitconfig *config, const char *arg);
	const char *arg;
};

static void answer_question(FILE *out, const void *arg)
{
	const struct question *question = arg;
	struct gitconfig *config = NULL;
	struct repo *repo = NULL;
	int err;

	if (chdir(question->dir))
		_exit(2);
	env_scrub();
	err = repo_discover(&repo);
	if (err && err != CKPT_ENOTFOUND)
		fprintf(out, "repo error %s", ckpt_error_last());
	else if (gitconfig_open(&config, repo))
		fprintf(out, "error %s", ckpt_error_last());
	else
		question->fn(out, config, question->arg);
	gitconfig_close(config);
	repo_free(repo);
}

/* What `fn` writes in a child that has its configuration open in `dir`, until the next one. */
static const char *told(const char *dir,
			void (*fn)(FILE *out, const struct gitconfig *config, const char *arg),
			const char *arg)
{
	static struct strbuf answer = STRBUF_INIT;
	const struct question question = { dir, fn, arg };

	strbuf_reset(&answer);
	in_child(&answer, answer_question, &question);
	return answer.buf;
}

/* The value, with the lowest level that suffices to see it. */
static void tell(FILE *out, const struct gitconfig *config, const char *key)
{
	const char *value = gitconfig_get(config, key, GITCONFIG_COMMAND);
	int level = GITCONFIG_COMMAND;

	if (!value)
		return;
	while (level > GITCONFIG_SYSTEM &&
	       gitconfig_get(config, key, (enum gitconfig_level)(level - 1)) == value)
		level--;
	fprintf(out, "%s\t%s", gitconfig_level_name((enum gitconfig_level)level), value);
}

static void same_as_git(const char *dir, const char *key)
{
	const char *theirs = git_says(dir, key), *ours = told(dir, tell, key);
	char expected[1024];

	/* The worktree's configuration counts as the repository's here. */
	if (!strncmp(theirs, "worktree\t", 9))
		snprintf(expected, sizeof(expected), "local\t%s", theirs + 9);
	else
		snprintf(expected, sizeof(expected), "%s", theirs);
	if (strcmp(ours, expected))
		fail_msg("%s in %s: '%s', git says '%s'", key, dir, ours, theirs);
}

static void is_set(const char *dir, const char *key, const char *expected)
{
	assert_string_equal(told(dir, tell, key), expected);
}

static void test_gitconfig_levels(void **state)
{
	(void)state;
	sh("printf '[a]\\nsys=1\\nboth=sys\\nall=sys\\n' >system;"
	   "printf '[a]\\nxdg=1\\nboth=xdg\\nall=xdg\\n' >xdg/git/config;"
	   "printf '[A]\\n\\tHome = 1 ; comment\\nall=home\\n[s \"Sub.Sec\"]\\nKey=\"q ; x\"\\n' >>.gitconfig;"
	   "git -C r config a.all local; git -C r config a.local 'two words'");
	setenv("GIT_CONFIG_SYSTEM", "", 1);
	same_as_git("r", "a.sys");
	setenv("GIT_CONFIG_SYSTEM", in_scratch("system"), 1);
	same_as_git("r", "a.sys");
	same_as_git("r", "a.both");
	same_as_git("r", "a.all");
	same_as_git("r", "a.xdg");
	same_as_git("r", "a.home");
	same_as_git("r", "a.local");
	same_as_git("r", "s.Sub.Sec.key");
	same_as_git("r", "a.none");
	same_as_git("plain", "a.all");
	is_set("plain", "a.all", "global\thome");
	setenv("GIT_CONFIG_NOSYSTEM", "true", 1);
	same_as_git("r", "a.sys");
	is_set("r", "a.sys", "");
	setenv("GIT_CONFIG_NOSYSTEM", "0", 1);
	is_set("r", "a.sys", "system\t1");
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	unsetenv("GIT_CONFIG_SYSTEM");
}

static void test_gitconfig_user_places(void **state)
{
	(void)state;
	sh("mkdir -p .config/git; printf '[p]\\ndefault=1\\n' >.config/git/config;"
	   "printf '[p]\\nonly=1\\n' >only");
	unsetenv("XDG_CONFIG_HOME");
	same_as_git("r", "p.default");
	is_set("r", "p.default", "global\t1");
	setenv("GIT_CONFIG_GLOBAL", in_scratch("only"), 1);
	same_as_git("r", "p.only");
	same_as_git("r", "p.default");
	same_as_git("r", "user.name");
	setenv("GIT_CONFIG_GLOBAL", "", 1);
	is_set("r", "p.only", "");
	is_set("r", "user.name", "");
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	is_set("r", "user.name", "");
	unsetenv("GIT_CONFIG_GLOBAL");
	unsetenv("HOME");
	same_as_git("r", "p.default");
	is_set("r", "p.default", "");
	setenv("XDG_CONFIG_HOME", in_scratch("xdg"), 1);
	same_as_git("r", "a.xdg");
	setenv("HOME", scratch, 1);
}

static void test_gitconfig_includes(void **state)
{
	(void)state;
	sh("printf '[include]\\npath=inc/one\\npath=missing\\n[i]\\nlast=main\\n' >>.gitconfig;"
	   "mkdir inc; printf '[i]\\none=1\\nlast=one\\n[include]\\npath=two\\n' >inc/one;"
	   "printf '[i]\\ntwo=2\\n' >inc/two; printf '[i]\\nhere=1\\n' >inc/three;"
	   "printf '[includeIf \"gitdir:~/r/\"]\\npath=inc/three\\n' >>.gitconfig;"
	   "printf '[i]\\nthere=1\\n' >inc/four;"
	   "printf '[includeIf \"gitdir:~/other/\"]\\npath=inc/four\\n' >>.gitconfig;"
	   "printf '[i]\\nhome=1\\n' >inc/home; printf '[include]\\npath=~/inc/home\\n' >>.gitconfig;"
	   "printf '[i]\\nbranch=1\\n' >inc/five;"
	   "printf '[includeIf \"onbranch:main\"]\\npath=inc/five\\n' >>.gitconfig;"
	   "git -C r worktree add -b side ../wt");
	same_as_git("r", "i.one");
	same_as_git("r", "i.two");
	same_as_git("r", "i.last");
	same_as_git("r", "i.here");
	is_set("r", "i.here", "global\t1");
	same_as_git("r", "i.there");
	same_as_git("r", "i.home");
	is_set("r", "i.home", "global\t1");
	same_as_git("r", "i.branch");
	is_set("r", "i.branch", "global\t1");
	same_as_git("wt", "i.branch");
	same_as_git("wt", "i.here");
	same_as_git("plain", "i.here");
	is_set("plain", "i.here", "");
}

static void test_gitconfig_conditions(void **state)
{
	static const char *const conditions[] = {
		"gitdir:r/", "gitdir:r", "gitdir:r/.git", "gitdir:*/.git", "gitdir:R/", "gitdir/i:R/",
		"gitdir:./r/", "gitdir:./", "gitdir:./x/", "gitdir:~/", "gitdir:~nobody-here/",
		"gitdir:/", "gitdir:/**/r/.git", "onbranch:m*", "onbranch:main/", "onbranch:side",
		"onbranch:", "hasconfig:remote.*.url:https://*/x", "hasconfig:remote.*.url:https://**",
		"hasconfig:remote.*.url:ssh://**", "unknown:x", "gitdir",
	};

	(void)state;
	sh("git -C r config remote.a.url https://example.org/x; printf '[c]\nis=1\n' >inc/cond;"
	   "cp .gitconfig gitconfig.kept");
	for (size_t i = 0; i < ARRAY_SIZE(conditions); i++) {
		sh("printf '[includeIf \"%s\"]\npath=inc/cond\n' >.gitconfig", conditions[i]);
		same_as_git("r", "c.is");
		same_as_git("wt", "c.is");
		same_as_git("plain", "c.is");
	}
	sh("printf '[include]\npath=.gitconfig\n' >.gitconfig");
	assert_int_equal(strncmp(told("r", tell, "c.is"), "error ", 6), 0);
	sh("mv gitconfig.kept .gitconfig");
}

/* libgit2 does not open this one, yet the condition holds. */
static void test_gitconfig_conditions_of_sha256(void **state)
{
	(void)state;
	sh("git init --object-format=sha256 s256; printf '[i]\\nlong=1\\nalone\\n' >inc/six;"
	   "printf '[includeIf \"gitdir:~/s256/\"]\\npath=inc/six\\n' >>.gitconfig;"
	   "git -C s256 config i.mine 'a\nb'");
	same_as_git("s256", "i.long");
	is_set("s256", "i.long", "global\t1");
	is_set("s256", "i.alone", "global\ttrue");
	is_set("s256", "i.mine", "local\ta\nb");
	same_as_git("s256", "i.last");
	same_as_git("s256", "safe.directory");
	same_as_git("r", "i.long");
}

static void test_gitconfig_worktree(void **state)
{
	(void)state;
	sh("cd wt; printf '[w]\\nkey=ignored\\n' >$(git rev-parse --git-dir)/config.worktree");
	same_as_git("wt", "w.key");
	sh("cd wt; git config extensions.worktreeConfig true; git config --worktree w.key mine;"
	   "git config w.key shared");
	same_as_git("wt", "w.key");
	is_set("wt", "w.key", "local\tmine");
	same_as_git("r", "w.key");
	is_set("r", "w.key", "local\tshared");
}

/* Have git itself write the variable, in its present form, and read it back. */
static void test_gitconfig_command(void **state)
{
	static const char *const bad[] = { "'a.b=c", "'a.b'=c", "x", "'nokey'='1'", "'a.b'='c'x" };
	char parameters[2 * PATH_MAX];

	(void)state;
	setenv("GIT_CONFIG_PARAMETERS",
	       line_of("git -c 'Alias.Tell=!printf %%s \"$GIT_CONFIG_PARAMETERS\"' "
		       "-c C.One=1 -c 'c.S.Two=it'\\''s! = so' -c c.alone -c c.empty= tell"), 1);
	same_as_git("r", "c.one");
	same_as_git("r", "c.S.two");
	is_set("r", "c.S.two", "command\tit's! = so");
	is_set("r", "c.alone", "command\ttrue");
	is_set("r", "c.empty", "command\t");
	setenv("GIT_CONFIG_PARAMETERS", "'c.old=x=y'  'c.flag' 'c.N.w'='1' 'a.all=cmd' ", 1);
	same_as_git("r", "c.old");
	same_as_git("r", "c.N.w");
	same_as_git("r", "a.all");
	is_set("r", "c.flag", "command\ttrue");
	setenv("GIT_CONFIG_COUNT", "2", 1);
	setenv("GIT_CONFIG_KEY_0", "c.Old", 1);
	setenv("GIT_CONFIG_VALUE_0", "counted", 1);
	setenv("GIT_CONFIG_KEY_1", "c.more", 1);
	setenv("GIT_CONFIG_VALUE_1", "counted", 1);
	same_as_git("r", "c.old");
	same_as_git("r", "c.more");
	snprintf(parameters, sizeof(parameters), "'include.path=%s/inc/two' 'i.two=after'", scratch);
	setenv("GIT_CONFIG_PARAMETERS", parameters, 1);
	same_as_git("plain", "i.two");
	unsetenv("GIT_CONFIG_VALUE_1");
	is_set("r", "c.old", "error the variable 'GIT_CONFIG_VALUE_1' is not set");
	unsetenv("GIT_CONFIG_COUNT");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		setenv("GIT_CONFIG_PARAMETERS", bad[i], 1);
		assert_non_null(strstr(told("r", tell, "a.all"), "GIT_CONFIG_PARAM"));
	}
	unsetenv("GIT_CONFIG_PARAMETERS");
}

static void tell_types(FILE *out, const struct gitconfig *config, const char *arg)
{
	static const char *const paths[] = { "t.home", "t.root", "t.rel", "t.empty", "t.unset",
					     "t.nobody" };
	static const char *const bools[] = { "t.yes", "t.alone", "t.one", "t.off", "t.empty",
					     "t.zero", "t.word", "t.unset" };

	(void)arg;
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		struct strbuf sb = STRBUF_INIT;

		fprintf(out, "%s;", gitconfig_path(&sb, config, paths[i]) ? sb.buf : "-");
		strbuf_release(&sb);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bools); i++)
		fprintf(out, "%d%d ", gitconfig_bool(config, bools[i], false),
			gitconfig_bool(config, bools[i], true));
}

static void test_gitconfig_types(void **state)
{
	char expected[2 * PATH_MAX];

	(void)state;
	sh("printf '[t]\\nhome=~/x y\\nroot=~root/z\\nrel=a/b\\nempty=\\nnobody=~no-such-one/x\\n"
	   "yes=Yes\\nalone\\none=1k\\noff=OFF\\nzero=0\\nword=maybe\\n' >>r/.git/config");
	snprintf(expected, sizeof(expected),
		 "%s/x y;/root/z;a/b;-;-;-;11 11 11 00 00 00 01 01 ", scratch);
	assert_string_equal(told("r", tell_types, NULL), expected);
}

static int collect(const char *key, const char *value, enum gitconfig_level level, void *payload)
{
	fprintf(payload, "%s=%s(%s) ", key, value, gitconfig_level_name(level));
	return strcmp(value, "stop") ? 0 : 7;
}

static void tell_each(FILE *out, const struct gitconfig *config, const char *prefix)
{
	fprintf(out, "%d", gitconfig_each(config, prefix, collect, out));
}

static void test_gitconfig_each(void **state)
{
	(void)state;
	sh("printf '[e]\\nk=1\\nk=2\\n[e \"S\"]\\nk=3\\n[ee]\\nk=4\\n' >>.gitconfig;"
	   "git -C r config e.k 5; git -C r config e.z stop");
	setenv("GIT_CONFIG_PARAMETERS", "'e.k=6'", 1);
	assert_string_equal(told("plain", tell_each, "e."),
			   "e.k=1(global) e.k=2(global) e.S.k=3(global) e.k=6(command) 0");
	assert_string_equal(told("r", tell_each, "e."),
			   "e.k=1(global) e.k=2(global) e.S.k=3(global) e.k=5(local) "
			   "e.z=stop(local) 7");
	unsetenv("GIT_CONFIG_PARAMETERS");
}

static void test_gitconfig_broken_files(void **state)
{
	const char *answer;

	(void)state;
	sh("git init broken; printf '[x]\\ny=1\\n[oops\\n' >broken.conf");
	setenv("GIT_CONFIG_GLOBAL", "../broken.conf", 1);
	answer = told("plain", tell, "x.y");
	assert_int_equal(strncmp(answer, "error ", 6), 0);
	assert_non_null(strstr(answer, "'../broken.conf'"));
	assert_non_null(strstr(answer, "line 3"));
	unsetenv("GIT_CONFIG_GLOBAL");
	sh("printf '[x]\\ny=1\\n[oops\\n' >>broken/.git/info/bad;"
	   "git -C broken config include.path info/bad");
	answer = told("broken", tell, "x.y");
	assert_non_null(strstr(answer, "error"));
	assert_non_null(strstr(answer, "info/bad"));
}

/* A FIFO would be waited for, a device read without end. */
static void test_gitconfig_only_regular_files(void **state)
{
	static const char *const places[] = { ".git/config", ".git/info/inc", ".git/config.worktree" };

	(void)state;
	sh("git init odd; cd odd; git config include.path info/inc;"
	   "git config extensions.worktreeConfig true; cp .git/config kept");
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		sh("cd odd; rm -f .git/info/inc .git/config.worktree; cp kept .git/config;"
		   "rm -f %s; mkfifo %s", places[i], places[i]);
		assert_non_null(strstr(told("odd", tell, "x.y"), "is not a regular file"));
		sh("cd odd; rm %s; ln -s /dev/zero %s", places[i], places[i]);
		assert_non_null(strstr(told("odd", tell, "x.y"), "is not a regular file"));
		sh("cd odd; rm %s; truncate -s 9G %s", places[i], places[i]);
		assert_non_null(strstr(told("odd", tell, "x.y"), "too large"));
		sh("cd odd; rm %s", places[i]);
	}
}

/* Only an ordinary user can be denied something. */
static void test_gitconfig_unreadable(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	/* Their own, or git would refuse it. */
	sh("chmod 711 .; git init secret; test $(id -u) != 0 || chown -R 65534 secret; mkdir closed;"
	   "printf '[x]\\ny=1\\n' >closed/c; chmod 0 closed/c");
	pid = fork();
	if (!pid) {
		const char *answer;

		if (!getuid() && setuid(65534))
			_exit(0);
		setenv("GIT_CONFIG_GLOBAL", "../closed/c", 1);
		answer = told("secret", tell, "core.bare");
		_exit(strcmp(answer, "local\tfalse") ? 1 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int setup(void **state)
{
	if (unit_setup(state))
		return -1;
	unsetenv("GIT_CONFIG_NOSYSTEM"); /* each test has its own */
	unsetenv("GIT_CONFIG_GLOBAL");
	setenv("XDG_CONFIG_HOME", in_scratch("xdg"), 1);
	setenv("GIT_CEILING_DIRECTORIES", scratch, 1);
	sh("printf '[user]\\nname=a\\nemail=a@b\\n[init]\\ndefaultBranch=main\\n' >.gitconfig;"
	   "mkdir -p plain xdg/git; GIT_CONFIG_NOSYSTEM=1 git init r;"
	   "GIT_CONFIG_NOSYSTEM=1 git -C r commit --allow-empty -m x");
	return 0;
}

/* As `git config --type=bool` answers: 1, 0, or -1 for no boolean. */
static int git_bool(const char *value)
{
	const char *line = line_of("git -c 'x.y=%s' config --type=bool x.y", value);

	return !*line ? -1 : !strcmp(line, "true");
}

static void test_gitconfig_booleans(void **state)
{
	static const char *const values[] = {
		"true", "Yes", "ON", "false", "no", "Off", "", "truex", "/bin/true", "2", "-1", "0",
		"00", "-0", "010", "08", "0x10", "0x0", "0X1f", "0x", "+1", "+0", "+-1", "-", " 1",
		"1 ", "1k", "1M", "-1g", "2g", "1t", "1B", "1kB", "2147483647", "2147483648",
		"99999999999999999999",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		bool on = false;
		int ours = gitconfig_parse_bool(&on, values[i]) ? on : -1;

		if (ours != git_bool(values[i]))
			fail_msg("'%s': %d instead of %d", values[i], ours, git_bool(values[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gitconfig_levels),
		cmocka_unit_test(test_gitconfig_user_places),
		cmocka_unit_test(test_gitconfig_includes),
		cmocka_unit_test(test_gitconfig_conditions),
		cmocka_unit_test(test_gitconfig_conditions_of_sha256),
		cmocka_unit_test(test_gitconfig_worktree),
		cmocka_unit_test(test_gitconfig_command),
		cmocka_unit_test(test_gitconfig_types),
		cmocka_unit_test(test_gitconfig_booleans),
		cmocka_unit_test(test_gitconfig_each),
		cmocka_unit_test(test_gitconfig_broken_files),
		cmocka_unit_test(test_gitconfig_only_regular_files),
		cmocka_unit_test(test_gitconfig_unreadable),
	};

	return cmocka_run_group_tests_name("gitconfig", tests, setup, unit_teardown);
}
