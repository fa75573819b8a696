/* SPDX-License-Identifier: MIT */
#include "settings/setting_internal.h"

#include "settings/settings.h"

/*
 * Every key is one row of SETTINGS below: its name, its type for people, the
 * parser, the field, the default, and the line of help.
 */

enum kind {
	KIND_LIMIT,    /* number; 0, none, never: no limit, kept as 0 */
	KIND_CEILING,  /* the same, but no limit is kept as the largest number */
	KIND_SIZE,     /* bytes; 0, none, never: no limit, kept as 0 */
	KIND_COUNT,    /* number; 0, none, never: none at all */
	KIND_DURATION, /* seconds */
	KIND_AGE,      /* seconds; none, never: kept as 0 */
	KIND_THREADS,  /* 1 .. 64; auto: kept as 0 */
	KIND_LEVEL,    /* 0 .. 9 */
	KIND_PATTERNS,
	KIND_WHEN,
	KIND_COMMAND,
	KIND_BOOL,
	KIND_NAME,     /* part of a ref */
	KIND_THINNING, /* "<slot>:<age>,..."; none, never: no ranges */
};

#define SETTINGS(X)                                                                         \
	X("maxCount", "number", LIMIT, max_count, "50",                                     \
	  "how many checkpoints that were asked for to keep; none for all")                 \
	X("maxAutomatic", "number", LIMIT, max_automatic, "200",                            \
	  "how many automatic checkpoints to keep; none for all")                           \
	X("keepAllAutomatic", "duration", DURATION, keep_all_automatic, "2h",               \
	  "time in which automatic checkpoints are not thinned out")                        \
	X("thinAutomatic", "ranges", THINNING, thin_automatic, "10m:1d,1h:7d,1d:30d",       \
	  "one automatic checkpoint per slot stays up to an age; none for all")             \
	X("maxAge", "duration", AGE, max_age, "never",                                      \
	  "age after which a checkpoint is evicted; never to keep it")                      \
	X("maxSize", "size", SIZE, max_size, "none",                                        \
	  "disk space for the store, with k, m, g or t; none for no limit")                 \
	X("keepHourly", "number", COUNT, keep_hourly, "0",                                  \
	  "beyond maxCount, keep one per hour for this many hours")                         \
	X("keepDaily", "number", COUNT, keep_daily, "0",                                    \
	  "beyond maxCount, keep one per day for this many days")                           \
	X("keepWeekly", "number", COUNT, keep_weekly, "0",                                  \
	  "beyond maxCount, keep one per week for this many weeks")                         \
	X("maxFiles", "number", CEILING, max_files, "1000000",                              \
	  "a tree with more files is refused; none for no limit")                           \
	X("maxFileSize", "size", SIZE, max_file_size, "none",                               \
	  "a larger file is left out and named; none for no limit")                         \
	X("lockTimeout", "duration", DURATION, lock_timeout, "30s",                         \
	  "how long to wait for another process that uses the store")                       \
	X("threads", "number", THREADS, threads, "auto",                                    \
	  "threads that read and compress, 1 to 64; auto for one per processor")            \
	X("compression", "number", LEVEL, compression, "1",                                 \
	  "compression level, 0 (none) to 9 (slow)")                                        \
	X("exclude", "patterns", PATTERNS, exclude, "",                                     \
	  "a pattern to leave out, as in .gitignore; repeat the key for more")              \
	X("sensitive", "patterns", PATTERNS, sensitive, "",                                 \
	  "a pattern of files that hold secrets; repeat the key for more")                  \
	X("color", "when", WHEN, color, "auto", "colours: auto, always or never")           \
	X("progress", "when", WHEN, progress, "auto", "progress: auto, always or never")    \
	X("advice", "bool", BOOL, advice, "true",                                           \
	  "on a terminal, suggest the next command, each hint once")                        \
	X("verifyCommand", "command", COMMAND, verify_command, "",                          \
	  "command to run after a restore, and the default of run --verify")                \
	X("hookTimeout", "duration", DURATION, hook_timeout, "10s",                         \
	  "time that all hooks of one git command may take together")                       \
	X("hookQuiet", "bool", BOOL, hook_quiet, "false", "do not print what a hook saved") \
	X("hookSensitive", "bool", BOOL, hook_sensitive, "false",                           \
	  "hooks and the guard also save files that look like secrets")                     \
	X("agentPrompts", "bool", BOOL, agent_prompts, "true",                              \
	  "keep the first line of the prompt with an agent's checkpoints")                  \
	X("watchQuiet", "duration", DURATION, watch_quiet, "5s",                            \
	  "watch saves when nothing has changed for this long")                             \
	X("watchMax", "duration", DURATION, watch_max, "5m",                                \
	  "watch saves at least this often while files change")                             \
	X("flowStaleAfter", "duration", DURATION, flow_stale_after, "7d",                   \
	  "age after which a workflow counts as stale")                                     \
	X("machine", "name", NAME, machine, "",                                             \
	  "the name of this machine on remotes; default is that of the host")               \
	X("project", "name", NAME, project, "",                                             \
	  "the name of this project on remotes, where no commit tells it")                  \
	X("remoteTimeout", "duration", DURATION, remote_timeout, "1m",                      \
	  "how long to wait for a remote from which nothing is heard")                      \
	X("maxFetchSize", "size", SIZE, max_fetch_size, "8g",                               \
	  "fetching more than this at a time is refused; none for no limit")

#define INFO_ROW(key, type, kind, field, fallback, help)                                    \
	{ key, type, fallback, help, KIND_##kind == KIND_COMMAND },
#define FIELD_ROW(key, type, kind, field, fallback, help)                                   \
	{ KIND_##kind, offsetof(struct ckpt_settings, field) },

const struct ckpt_setting_info setting_table[] = { SETTINGS(INFO_ROW) };
const unsigned setting_count = ARRAY_SIZE(setting_table);

static const struct {
	enum kind kind;
	size_t offset;
} fields[] = { SETTINGS(FIELD_ROW) };

/* What a value must look like, for the error message. */
static const char *const expected[] = {
	[KIND_LIMIT] = "a number or 'none'",
	[KIND_CEILING] = "a number or 'none'",
	[KIND_SIZE] = "a size such as '500m' or 'none'",
	[KIND_COUNT] = "a number",
	[KIND_DURATION] = "a duration such as '90s', '10m', '24h', '7d' or '2w'",
	[KIND_AGE] = "a duration such as '24h', '7d' or '2w', or 'never'",
	[KIND_THREADS] = "'auto' or a number from 1 to 64",
	[KIND_LEVEL] = "a number from 0 to 9",
	[KIND_PATTERNS] = "a pattern",
	[KIND_WHEN] = "'auto', 'always' or 'never'",
	[KIND_COMMAND] = "a command",
	[KIND_BOOL] = "'true' or 'false'",
	[KIND_NAME] = "a name of a-z, 0-9, '.', '_' and '-'",
	[KIND_THINNING] = "ranges that grow, such as '10m:1d,1h:7d', or 'none'",
};

static void *field_of(const struct ckpt_settings *settings, unsigned index)
{
	return (char *)(uintptr_t)settings + fields[index].offset;
}

static bool is_nothing(const char *value)
{
	return !strcasecmp(value, "none") || !strcasecmp(value, "never");
}

static bool parse_bool(bool *out, const char *value)
{
	static const char *const words[] = { "false", "true", "no", "yes", "off", "on", "0", "1" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcasecmp(value, words[i])) {
			*out = i % 2;
			return true;
		}
	return false;
}

static bool parse_limit(uint64_t *out, enum kind kind, const char *value)
{
	uint64_t number = 0;

	if (!is_nothing(value) && !(kind == KIND_SIZE ? units_parse_size(&number, value)
						      : units_parse_number(&number, value)))
		return false;
	*out = !number && kind == KIND_CEILING ? UINT64_MAX : number;
	return true;
}

static bool parse_range(uint64_t *out, const char *value, uint64_t low, uint64_t high)
{
	uint64_t number;

	if (!units_parse_number(&number, value) || number < low || number > high)
		return false;
	*out = number;
	return true;
}

/* As git reads color.ui: true allows colours, but does not force them. */
static bool parse_when(char **out, const char *value)
{
	const char *word = NULL;
	bool on;

	if (!strcasecmp(value, "auto") || !strcasecmp(value, "always") ||
	    !strcasecmp(value, "never"))
		word = value;
	else if (parse_bool(&on, value))
		word = on ? "auto" : "never";
	if (!word)
		return false;
	free(*out);
	*out = xstrdup(word);
	for (char *p = *out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return true;
}

/* One pattern per line; only the environment and git config can hold several. */
static void add_patterns(struct strlist *list, const char *value)
{
	while (*value) {
		size_t len = strcspn(value, "\n");

		if (len)
			strlist_take(list, xmemdupz(value, len));
		value += len + (value[len] != '\0');
	}
}

/* "<slot>:<age>" */
static bool parse_range_of_age(int64_t *slot, int64_t *until, const char *text)
{
	const char *colon = strchr(text, ':');
	char *first = colon ? xmemdupz(text, (size_t)(colon - text)) : NULL;
	bool ok = first && clock_parse_duration(slot, first) &&
		  clock_parse_duration(until, colon + 1) && *slot > 0 && *until >= *slot;

	free(first);
	return ok;
}

static bool parse_thinning(struct ckpt_thinning *out, const char *value)
{
	struct ckpt_thinning result = { .nr = 0 };
	char *copy = xstrdup(value), *next = copy;
	bool ok = true;

	while (!is_nothing(value) && next && ok) {
		char *word = strsep(&next, ",");
		int64_t before = result.nr ? result.items[result.nr - 1].until : 0;

		word += strspn(word, " \t");
		ok = result.nr < CKPT_THINNING_MAX &&
		     parse_range_of_age(&result.items[result.nr].slot,
					&result.items[result.nr].until, word) &&
		     result.items[result.nr].until > before;
		result.nr++;
	}
	free(copy);
	if (ok)
		*out = result;
	return ok;
}

bool setting_name_valid(const char *name)
{
	size_t len = strlen(name);

	return len && len <= SETTING_NAME_MAX &&
	       !name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-")] && *name != '.' &&
	       *name != '-' && name[len - 1] != '.' && !strstr(name, "..") &&
	       !(len >= 5 && !strcmp(name + len - 5, ".lock"));
}

bool setting_parse(struct ckpt_settings *settings, unsigned index, const char *value)
{
	void *field = field_of(settings, index);
	enum kind kind = fields[index].kind;

	switch (kind) {
	case KIND_LIMIT:
	case KIND_CEILING:
	case KIND_SIZE:
	case KIND_COUNT:
		return parse_limit(field, kind, value);
	case KIND_AGE:
		if (is_nothing(value)) {
			*(int64_t *)field = 0;
			return true;
		}
		/* fall through */
	case KIND_DURATION:
		return clock_parse_duration(field, value);
	case KIND_THREADS:
		if (!strcasecmp(value, "auto")) {
			*(uint64_t *)field = 0;
			return true;
		}
		return parse_range(field, value, 1, 64);
	case KIND_LEVEL:
		return parse_range(field, value, 0, 9);
	case KIND_PATTERNS:
		add_patterns(field, value);
		return true;
	case KIND_WHEN:
		return parse_when(field, value);
	case KIND_COMMAND:
		free(*(char **)field);
		*(char **)field = *value ? xstrdup(value) : NULL;
		return true;
	case KIND_BOOL:
		return parse_bool(field, value);
	case KIND_NAME:
		if (*value && !setting_name_valid(value))
			return false;
		free(*(char **)field);
		*(char **)field = *value ? xstrdup(value) : NULL;
		return true;
	case KIND_THINNING:
		return parse_thinning(field, value);
	}
	return false;
}

const char *setting_expected(unsigned index)
{
	return expected[fields[index].kind];
}

bool setting_adds_up(unsigned index)
{
	return fields[index].kind == KIND_PATTERNS;
}

int setting_find(const char *key)
{
	for (unsigned i = 0; i < setting_count; i++)
		if (!strcasecmp(key, setting_table[i].key))
			return (int)i;
	return -1;
}

static char *format_number(uint64_t number, bool is_size)
{
	static const char letters[] = "tgmk";

	for (int i = 0; is_size && i < 4; i++) {
		int shift = 40 - 10 * i;

		if (!(number & (((uint64_t)1 << shift) - 1)))
			return xstrfmt("%llu%c", (unsigned long long)(number >> shift),
				       letters[i]);
	}
	return xstrfmt("%llu", (unsigned long long)number);
}

/* In days even for whole weeks: the manual says "7d". */
static char *format_duration(int64_t seconds)
{
	const int64_t week = 7 * 86400;
	char buf[CLOCK_ISO_SIZE];

	if (seconds && seconds % week == 0)
		return xstrfmt("%lldd", (long long)(seconds / week * 7));
	return xstrdup(clock_format_duration(buf, seconds));
}

static char *format_patterns(const struct strlist *list)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < list->nr; i++)
		strbuf_addf(&sb, "%s%s", i ? "\n" : "", list->items[i]);
	return strbuf_detach(&sb, NULL);
}

char *setting_format_thinning(const struct ckpt_thinning *thinning)
{
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; i < thinning->nr; i++) {
		char *slot = format_duration(thinning->items[i].slot);
		char *until = format_duration(thinning->items[i].until);

		strbuf_addf(&sb, "%s%s:%s", i ? "," : "", slot, until);
		free(slot);
		free(until);
	}
	if (!thinning->nr)
		strbuf_addstr(&sb, "none");
	return strbuf_detach(&sb, NULL);
}

char *setting_value(const struct ckpt_settings *settings, unsigned index)
{
	const void *field = field_of(settings, index);
	enum kind kind = fields[index].kind;

	switch (kind) {
	case KIND_LIMIT:
	case KIND_CEILING:
	case KIND_SIZE:
		if (!*(const uint64_t *)field || *(const uint64_t *)field == UINT64_MAX)
			return xstrdup("none");
		return format_number(*(const uint64_t *)field, kind == KIND_SIZE);
	case KIND_AGE:
	case KIND_DURATION:
		if (kind == KIND_AGE && !*(const int64_t *)field)
			return xstrdup("never");
		return format_duration(*(const int64_t *)field);
	case KIND_THREADS:
		if (!*(const uint64_t *)field)
			return xstrdup("auto");
		/* fall through */
	case KIND_COUNT:
	case KIND_LEVEL:
		return format_number(*(const uint64_t *)field, false);
	case KIND_PATTERNS:
		return format_patterns(field);
	case KIND_WHEN:
	case KIND_COMMAND:
	case KIND_NAME:
		return xstrdup(*(char *const *)field ? *(char *const *)field : "");
	case KIND_THINNING:
		return setting_format_thinning(field);
	case KIND_BOOL:
		break;
	}
	return xstrdup(*(const bool *)field ? "true" : "false");
}
