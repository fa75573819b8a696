/* SPDX-License-Identifier: MIT */
#include "ui/grammar.h"

#include "base/base.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES_MAX = 16 };

/* Where an argument can stand. */
struct place {
	struct strlist words; /* one of these */
	int depth; /* of brackets around it: 0 if it has to be there */
	bool repeats;
	bool behind; /* may stand behind "--" */
};

struct form {
	struct place places[PLACES_MAX];
	size_t nr;
	char *needs; /* the option that it begins with, by its name; or NULL */
	const char *text;
	size_t len;
};

/* ---- reading a form ---- */

struct reader {
	const struct opt_spec *spec;
	struct form *form;
	const char *at, *end;
	int depth;   /* of brackets */
	bool dashes; /* "--" was there */
	bool or_;    /* "|" stood before */
};

static bool takes_value(const struct opt_spec *spec, const char *name, size_t len)
{
	for (const struct opt *opt = spec->options; opt && opt->kind != OPT_END; opt++) {
		bool same = len == 2 ? opt->letter == name[1] :
				       opt->name && strlen(opt->name) == len - 2 &&
					       !memcmp(opt->name, name + 2, len - 2);

		if (same)
			return opt->kind != OPT_FLAG;
	}
	return false;
}

static void read_option(struct reader *reader)
{
	const char *name = reader->at;
	size_t len;

	reader->at += 2;
	if (reader->at < reader->end && !strncmp(reader->at, "[no-]", 5))
		reader->at += 5;
	reader->at += strcspn(reader->at, " \n=[]()|.<");
	len = (size_t)(reader->at - name);
	reader->or_ = false;
	if (len == 2 && name[1] == '-') {
		reader->dashes = true;
		return;
	}
	if (!reader->depth && !reader->form->nr && !reader->form->needs && len > 2)
		reader->form->needs = xmemdupz(name + 2, len - 2);
	if (!takes_value(reader->spec, name, len))
		return;
	/* "<k>=<v>", "<dur|time>": up to what separates it from the next */
	reader->at += strspn(reader->at, " =");
	while (reader->at < reader->end && !strchr(" ])", *reader->at))
		reader->at += *reader->at == '<' ? strcspn(reader->at, ">") : 1;
}

static void read_word(struct reader *reader)
{
	size_t len = *reader->at == '<' ? strcspn(reader->at, ">") + 1 :
					  strcspn(reader->at, " \n[]()|.");
	struct form *form = reader->form;
	struct place *place;

	if (!form->nr || !reader->or_) {
		if (form->nr == PLACES_MAX) {
			reader->at = reader->end;
			return;
		}
		place = &form->places[form->nr++];
		place->depth = reader->depth;
		place->behind = reader->dashes;
	}
	place = &form->places[form->nr - 1];
	strlist_take(&place->words, xmemdupz(reader->at, len));
	reader->at += len;
	place->repeats |= !strncmp(reader->at, "...", 3);
	reader->or_ = false;
}

static void read_form(struct form *form, const struct opt_spec *spec, const char *text)
{
	struct reader reader = { .spec = spec, .form = form, .at = text,
				 .end = text + strcspn(text, "\n") };

	memset(form, 0, sizeof(*form));
	form->text = text;
	form->len = (size_t)(reader.end - text);
	while (reader.at < reader.end) {
		char c = *reader.at;

		if (c == '-') {
			read_option(&reader);
		} else if (c == '<' || (c >= 'a' && c <= 'z')) {
			read_word(&reader);
		} else {
			reader.depth += c == '[' ? 1 : c == ']' ? -1 : 0;
			reader.or_ = c == '|' || (reader.or_ && c == ' ');
			reader.at++;
		}
	}
}

static void form_release(struct form *form)
{
	for (size_t i = 0; i < form->nr; i++)
		strlist_release(&form->places[i].words);
	free(form->needs);
}

static const char *next_form(const struct form *form)
{
	const char *end = form->text + form->len;

	return *end ? end + 1 : end;
}

/* ---- following it ---- */

static bool fits(const struct place *place, const char *arg)
{
	for (size_t i = 0; i < place->words.nr; i++)
		if (place->words.items[i][0] == '<' || !strcmp(place->words.items[i], arg))
			return true;
	return false;
}

/* What can be left out, with all in brackets inside, leads to what is behind it. A bit each. */
static uint32_t reach(const struct form *form, uint32_t set)
{
	for (size_t i = 0; i < form->nr; i++) {
		size_t next = i + 1;

		if (!(set & 1u << i) || !form->places[i].depth)
			continue;
		while (next < form->nr && form->places[next].depth > form->places[i].depth)
			next++;
		set |= 1u << next;
	}
	return set;
}

/* "--": only what may stand behind it, if that has come. */
static uint32_t pass_dashes(const struct form *form, uint32_t set)
{
	uint32_t behind = 0;

	for (size_t i = 0; i < form->nr; i++)
		if (form->places[i].behind)
			behind |= 1u << i;
	return set & behind ? set & behind : set;
}

/* The places at which the next argument can stand; the bit behind the last: none has to. 0: wrong. */
static uint32_t follow(const struct form *form, const struct strlist *args, int dashdash)
{
	uint32_t set = reach(form, 1);

	for (size_t i = 0; i <= args->nr; i++) {
		uint32_t next = 0;

		if (dashdash == (int)i)
			set = pass_dashes(form, set);
		if (i == args->nr)
			break;
		for (size_t k = 0; k < form->nr; k++)
			if (set & 1u << k && fits(&form->places[k], args->items[i]))
				next |= 1u << (k + 1) | (form->places[k].repeats ? 1u << k : 0);
		set = reach(form, next);
	}
	return set;
}

/* True if some form begins with an option that is given. */
static bool needed(const struct opt_spec *spec, const struct opt_look *look)
{
	bool found = false;

	for (const char *at = spec->usage; *at && !found;) {
		struct form form;

		read_form(&form, spec, at);
		found = form.needs && strlist_has(&look->given, form.needs);
		at = next_form(&form);
		form_release(&form);
	}
	return found;
}

void grammar_next(struct strlist *out, const struct opt_spec *spec, const struct opt_look *look)
{
	bool special = needed(spec, look);

	for (const char *at = spec->usage; *at;) {
		struct form form;
		uint32_t set = 0;

		read_form(&form, spec, at);
		if (form.needs ? strlist_has(&look->given, form.needs) : !special)
			set = follow(&form, &look->args, look->dashdash);
		for (size_t i = 0; i < form.nr; i++)
			for (size_t k = 0; set & 1u << i && k < form.places[i].words.nr; k++)
				if (!strlist_has(out, form.places[i].words.items[k]))
					strlist_add(out, form.places[i].words.items[k]);
		at = next_form(&form);
		form_release(&form);
	}
}

/* ---- options ---- */

/* True if `text` has `word`, and nothing behind that would make it another one. */
static bool has_word(const char *text, const char *word)
{
	for (const char *p = text; (p = strstr(p, word)) != NULL; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz-", p[strlen(word)]) || !p[strlen(word)])
			return true;
	return false;
}

/* "--guard", or as part of "--[no-]guard", or "-z" */
static bool shows(const struct form *form, const struct opt *opt)
{
	const char *name = opt->name ? opt->name : "", *rest = strncmp(name, "no-", 3) ? name : name + 3;
	char *text = xmemdupz(form->text, form->len);
	char *plain = opt->name ? xstrfmt("--%s", name) : xstrfmt("-%c", opt->letter);
	char *both = xstrfmt("--[no-]%s", rest);
	bool found = has_word(text, plain) || (opt->name && has_word(text, both));

	free(both);
	free(plain);
	free(text);
	return found;
}

bool grammar_takes(const struct opt_spec *spec, const struct opt_look *look,
		   const struct opt *opt)
{
	bool verb = false, shown = false;

	for (const char *at = spec->usage; *at && look->args.nr;) {
		struct form form;

		read_form(&form, spec, at);
		if (form.nr && form.places[0].words.items[0][0] != '<' &&
		    fits(&form.places[0], look->args.items[0])) {
			verb = true;
			shown |= shows(&form, opt);
		}
		at = next_form(&form);
		form_release(&form);
	}
	return !verb || shown;
}
