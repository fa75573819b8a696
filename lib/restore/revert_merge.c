/* SPDX-License-Identifier: MIT */
#include "restore/revert_internal.h"

#include "base/base.h"

enum {
	BINARY_LOOK = 8000,	 /* as git looks */
	TEXT_MAX = 512 << 20, /* as git's core.bigFileThreshold */
};

bool revert_is_too_large(uint64_t size)
{
	return size > TEXT_MAX;
}

static bool is_binary(const struct strbuf *text)
{
	size_t look = text->len < BINARY_LOOK ? text->len : BINARY_LOOK;

	return revert_is_too_large(text->len) || (look && memchr(text->buf, 0, look));
}

static git_merge_file_input input(const struct strbuf *text)
{
	git_merge_file_input in = GIT_MERGE_FILE_INPUT_INIT;

	in.ptr = text->len ? text->buf : "";
	in.size = text->len;
	in.path = "file"; /* named by labels */
	in.mode = 0100644;
	return in;
}

int revert_merge_text(struct revert_text *out, const struct strbuf *base, const struct strbuf *now,
		      const struct strbuf *then, const char *label)
{
	git_merge_file_options opts = GIT_MERGE_FILE_OPTIONS_INIT;
	git_merge_file_input ancestor = input(base), ours = input(now), theirs = input(then);
	git_merge_file_result result = { 0 };
	int err, rc;

	out->binary = is_binary(base) || is_binary(now) || is_binary(then);
	if (out->binary)
		return 0;
	err = libgit2_begin();
	if (err)
		return err;
	opts.ancestor_label = "base";
	opts.our_label = "now";
	opts.their_label = label;
	opts.flags = GIT_MERGE_FILE_STYLE_MERGE;
	rc = libgit2.merge_file(&result, &ancestor, &ours, &theirs, &opts);
	if (rc < 0)
		return libgit2_error(rc, "unable to merge");
	out->clean = result.automergeable;
	strbuf_add(&out->text, result.len ? result.ptr : "", result.len);
	libgit2.merge_file_result_free(&result);
	return 0;
}
