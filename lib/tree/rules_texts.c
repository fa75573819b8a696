/* SPDX-License-Identifier: MIT */
#include "tree/rules.h"

#include "base/base.h"

const char rules_default_patterns[] = "node_modules/\n"
				      "__pycache__/\n"
				      "venv/\n"
				      ".venv/\n"
				      "dist/\n"
				      "build/\n"
				      ".next/\n"
				      "*.pyc\n"
				      ".DS_Store\n";

static bool is_default(const char *line, size_t len)
{
	const char *p = rules_default_patterns;

	for (size_t n; *p; p += n) {
		n = strcspn(p, "\n") + 1;
		if (n == len + 1 && !memcmp(p, line, len))
			return true;
	}
	return false;
}

void rules_drop_defaults(struct strbuf *text)
{
	struct strbuf kept = STRBUF_INIT;

	for (const char *line = text->buf; *line;) {
		size_t len = strcspn(line, "\n"), whole = len + (line[len] == '\n');

		if (!is_default(line, len))
			strbuf_add(&kept, line, whole);
		line += whole;
	}
	strbuf_reset(text);
	strbuf_add(text, kept.buf, kept.len);
	strbuf_release(&kept);
}

void rules_texts_init(struct rules_texts *texts)
{
	memset(texts, 0, sizeof(*texts));
	for (size_t i = 0; i < RULES_SOURCES; i++)
		strbuf_init(&texts->of[i]);
}

static struct rules_nested *find_nested(const struct rules_texts *texts, const char *path)
{
	for (size_t i = 0; i < texts->nested_nr; i++)
		if (!strcmp(texts->nested[i].path, path))
			return &texts->nested[i];
	return NULL;
}

void rules_texts_add_nested(struct rules_texts *texts, const char *path, const char *text,
			    size_t len)
{
	struct rules_nested *nested = find_nested(texts, path);

	/* A second walk with the same rules comes here again. */
	if (!nested) {
		ALLOC_GROW(texts->nested, texts->nested_nr + 1, texts->nested_alloc);
		nested = &texts->nested[texts->nested_nr++];
		nested->path = xstrdup(path);
		strbuf_init(&nested->text);
	}
	strbuf_reset(&nested->text);
	strbuf_add(&nested->text, text, len);
}

void rules_texts_copy(struct rules_texts *to, const struct rules_texts *from)
{
	for (size_t i = 0; i < RULES_SOURCES; i++) {
		strbuf_reset(&to->of[i]);
		strbuf_add(&to->of[i], from->of[i].buf, from->of[i].len);
	}
	for (size_t i = 0; i < from->nested_nr; i++)
		rules_texts_add_nested(to, from->nested[i].path, from->nested[i].text.buf,
				       from->nested[i].text.len);
}

void rules_texts_release(struct rules_texts *texts)
{
	for (size_t i = 0; i < RULES_SOURCES; i++)
		strbuf_release(&texts->of[i]);
	for (size_t i = 0; i < texts->nested_nr; i++) {
		free(texts->nested[i].path);
		strbuf_release(&texts->nested[i].text);
	}
	free(texts->nested);
	rules_texts_init(texts);
}
