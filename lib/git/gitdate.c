/* SPDX-License-Identifier: MIT */
#include "git/gitdate.h"

#include "git/gitrun.h"

enum {
	TEXT_MAX = 100,
	EPOCH_DIGITS = 9, /* git takes so many for seconds since 1970, fewer for a day or a year */
	EPOCH_DIGITS_MAX = 11, /* more are too many for it: it takes them for now */
	PATIENCE = 10,	       /* seconds */
};

static int not_a_time(const char *text)
{
	return ckpt_error_set(CKPT_EUSAGE, "'%s' is not a time such as 10m, yesterday, 14:30 or "
					   "2030-12-31T18:00",
			      text);
}

/* "2024-02-31": git would take the second of March. */
static bool is_impossible_day(const char *text)
{
	char day[] = "dddd-dd-dd";
	int64_t when;

	for (size_t i = 0; day[i]; i++) {
		if (day[i] == '-' ? text[i] != '-' : !isdigit((unsigned char)text[i]))
			return false;
		day[i] = text[i];
	}
	return !clock_parse_iso(&when, day);
}

/* The first letters of what git knows after a number; in full where it is shorter. */
static bool is_known_word(const char *word, size_t len)
{
	static const char *const beginnings[] = {
		"jan",	 "feb",	 "mar",	      "apr",	"may",	  "jun",      "jul", "aug",
		"sep",	 "oct",	 "nov",	      "dec",	"mon",	  "tue",      "wed", "thu",
		"fri",	 "sat",	 "sun",	      "second", "minute", "hour",     "day", "week",
		"month", "year", "yesterday", "today",	"noon",	  "midnight", "tea",
	};
	static const char *const words[] = { "am", "pm", "st", "nd", "rd", "th", "t", "z", "of" };

	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (len >= strlen(beginnings[i]) &&
		    !strncasecmp(word, beginnings[i], strlen(beginnings[i])))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (len == strlen(words[i]) && !strncasecmp(word, words[i], len))
			return true;
	return false;
}

/* "5min", "1h30m", "10 minuts": git would take the number for a day of the month. */
static bool has_unknown_unit(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (const char *p = text; *p;) {
		size_t digits = strspn(p, "0123456789"), len;

		p += digits ? digits : 1;
		if (!digits)
			continue;
		if (p == text + digits)
			p += strspn(p, " .");
		len = strspn(p, letters);
		if (len && !is_known_word(p, len))
			return true;
	}
	return false;
}

/*
 * What git would take, but in a sense that nobody means here: a few digits for
 * a day of the month, with any letter after them too, and words that are times
 * for expiry alone.
 */
static bool is_misleading(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return strlen(text) > TEXT_MAX || !isalnum((unsigned char)*text) ||
	       (digits && digits < EPOCH_DIGITS && (!text[digits] || !text[digits + 1])) ||
	       digits > EPOCH_DIGITS_MAX || has_unknown_unit(text) || is_impossible_day(text) ||
	       !strcmp(text, "never") || !strcmp(text, "false") || !strcmp(text, "all");
}

static const char *skip_digits(const char *p)
{
	return p + strspn(p, "0123456789");
}

/* "14:30", "9:05:10", "5pm", "5:30 PM" */
static bool is_time_of_day(const char *text)
{
	const char *p = skip_digits(text);
	bool told = *p == ':';

	if (p == text)
		return false;
	for (int i = 0; i < 2 && *p == ':'; i++)
		p = skip_digits(p + 1);
	p += strspn(p, " ");
	if (!strcasecmp(p, "am") || !strcasecmp(p, "pm"))
		return true;
	return told && !*p;
}

/* The same time of the day before, also where that day is shorter or longer. */
static int64_t day_before(int64_t when)
{
	time_t t = (time_t)when;
	struct tm tm;

	localtime_r(&t, &tm);
	tm.tm_mday--;
	tm.tm_isdst = -1;
	return (int64_t)mktime(&tm);
}

/* There is no plainer way to ask it: the time is a setting, of a type that only git knows. */
static int ask_git(int64_t *out, const char *text)
{
	char *setting = xstrfmt("checkpoint.time=%s", text);
	const char *args[] = { "-c", setting, "config", "--type=expiry-date", "--get",
			       "checkpoint.time", NULL };
	struct gitrun how = { .profile = GITRUN_LOOK, .patience = PATIENCE };
	struct strbuf answer = STRBUF_INIT;
	int err = gitrun(&answer, &how, args);
	unsigned long long seconds;
	char *end;

	errno = 0;
	seconds = err ? 0 : strtoull(answer.buf, &end, 10);
	if (err == CKPT_ERROR || (!err && (end == answer.buf || !seconds)))
		err = not_a_time(text);
	else if (!err)
		/* The end of time is git's word for now. */
		*out = seconds > INT64_MAX ? clock_now() : (int64_t)seconds;
	strbuf_release(&answer);
	free(setting);
	return err;
}

int gitdate_parse(int64_t *out, const char *text)
{
	int64_t when, now = clock_now();
	int err;

	if (clock_parse_duration(&when, text)) {
		*out = now - when;
		return 0;
	}
	if (clock_parse_iso(out, text))
		return 0;
	if (is_misleading(text))
		return not_a_time(text);
	err = ask_git(&when, text);
	if (!err)
		*out = when > now && is_time_of_day(text) ? day_before(when) : when;
	return err;
}
