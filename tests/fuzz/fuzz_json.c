/* SPDX-License-Identifier: MIT */
/* Editing JSON: what is added leaves JSON, and what is removed again leaves all values as they were. */
#include "fuzz.h"

#include "base/error.h"
#include "install/install_internal.h"

static json_t *parse(const struct edit_json *doc)
{
	size_t skip = strncmp(doc->plain.buf, "\xef\xbb\xbf", 3) ? 0 : 3;

	return json_loadb(doc->plain.buf + skip, doc->plain.len - skip,
			  JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, NULL);
}

static void round_trip(const struct strbuf *text, const struct edit_json_slot *place, bool comments)
{
	json_t *value = json_pack("{s:[i,s]}", "a", 1, "git-checkpoint"), *before = NULL, *after;
	enum edit_json_found found;
	struct strbuf raw = STRBUF_INIT;
	struct edit_json doc;
	int err = edit_json_open(&doc, text, comments);

	if (!err)
		err = edit_json_find(&found, &raw, &doc, place, value);
	if (!err && (found == EDIT_JSON_NOTHING || (found == EDIT_JSON_OTHER && place->element))) {
		before = parse(&doc);
		edit_json_add(&doc, place, value);
		FUZZ_CHECK(doc.text.len == doc.plain.len, "two lengths");
		after = parse(&doc);
		FUZZ_CHECK(after && !json_equal(before, after), "it is not JSON any more:\n%s",
			   doc.text.buf);
		json_decref(after);
		FUZZ_CHECK(edit_json_remove(&doc, place, value), "our value is not found");
		after = parse(&doc);
		FUZZ_CHECK(after, "it is not JSON any more:\n%s", doc.text.buf);
		json_decref(after);
	}
	json_decref(before);
	json_decref(value);
	strbuf_release(&raw);
	edit_json_release(&doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct edit_json_slot places[] = { { "hooks", "PreToolUse", true },
							 { "mcpServers", "git-checkpoint", false } };
	struct strbuf text = STRBUF_INIT;

	strbuf_add(&text, data, size);
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		round_trip(&text, &places[i], false);
		round_trip(&text, &places[i], true);
	}
	strbuf_release(&text);
	return 0;
}
