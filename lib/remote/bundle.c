/* SPDX-License-Identifier: MIT */
#include "remote/bundle_internal.h"

#include "base/base.h"
#include "store/store.h"

static const char version2[] = "# v2 git bundle", version3[] = "# v3 git bundle";

void bundle_release(struct bundle *bundle)
{
	refs_release(&bundle->refs);
	for (size_t i = 0; i < bundle->names_nr; i++)
		free(bundle->names[i].name);
	free(bundle->names);
	strlist_release(&bundle->pinned);
	strlist_release(&bundle->others);
	memset(bundle, 0, sizeof(*bundle));
}

static int damaged(const char *why)
{
	return ckpt_error_set(CKPT_ERROR, "the head of the bundle is damaged: %s", why);
}

static void add_name(struct bundle *bundle, const char *name, const struct oid *commit)
{
	ALLOC_GROW(bundle->names, bundle->names_nr + 1, bundle->names_alloc);
	bundle->names[bundle->names_nr++] = (struct bundle_name){ xstrdup(name), *commit };
}

static const char *after(const char *text, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(text, prefix, len) ? NULL : text + len;
}

static int add_ref(struct bundle *bundle, const char *line)
{
	const char *name = line + OID_HEX + 1, *rest;
	struct oid oid;

	if (strlen(line) <= OID_HEX + 1 || !oid_parse(&oid, line) || line[OID_HEX] != ' ' ||
	    oid_is_zero(&oid))
		return damaged("a line names no ref");
	if ((rest = after(name, "refs/checkpoints/"))) {
		if (!refs_valid_id(rest))
			return ckpt_error_set(CKPT_ERROR, "'%s' cannot be a checkpoint", name);
		if (refs_find(&bundle->refs, rest))
			return ckpt_error_set(CKPT_ERROR, "'%s' is in the bundle twice", rest);
		refs_add(&bundle->refs, rest, &oid);
	} else if ((rest = after(name, "refs/keep/name/")) && keepers_valid_name(rest)) {
		add_name(bundle, rest, &oid);
	} else if ((rest = after(name, "refs/keep/pin/")) && refs_valid_id(rest)) {
		strlist_add(&bundle->pinned, rest);
	} else {
		strlist_add(&bundle->others, name);
	}
	if (bundle->refs.nr + bundle->names_nr + bundle->pinned.nr + bundle->others.nr >
	    BUNDLE_REFS_MAX)
		return ckpt_error_set(CKPT_ERROR, "the bundle has more than %d refs",
				      BUNDLE_REFS_MAX);
	return 0;
}

static int add_line(struct bundle *bundle, const char *line, bool capabilities)
{
	if (*line == '-')
		return ckpt_error_set(CKPT_ERROR,
				      "the bundle needs the commit '%.*s', which is not in it",
				      OID_HEX, line + 1);
	if (*line == '@' && capabilities)
		return strcmp(line, "@object-format=sha1")
			       ? ckpt_error_set(CKPT_ERROR, "the bundle needs '%s', which is not "
							    "supported", line + 1)
			       : 0;
	return add_ref(bundle, line);
}

int bundle_parse(struct bundle *out, const char *data, size_t len)
{
	const char *p = data, *end = data + len;
	bool first = true, capabilities = false;
	int err = 0;

	memset(out, 0, sizeof(*out));
	while (!err) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		char *line;

		if (!newline && first)
			return ckpt_error_set(CKPT_ERROR, "it is not a git bundle");
		if (!newline) {
			err = damaged(len >= BUNDLE_HEAD_MAX ? "it is too long" : "it ends too soon");
			break;
		}
		if (newline == p && !first)
			break;
		line = xmemdupz(p, (size_t)(newline - p));
		capabilities |= first && !strcmp(line, version3);
		if (strlen(line) != (size_t)(newline - p))
			err = damaged("there is a NUL in it");
		else if (!first)
			err = add_line(out, line, capabilities);
		else if (strcmp(line, version2) != 0 && !capabilities)
			err = ckpt_error_set(CKPT_ERROR, "it is not a git bundle");
		free(line);
		first = false;
		p = newline + 1;
	}
	strlist_sort_unique(&out->pinned);
	if (err)
		bundle_release(out);
	return err;
}
