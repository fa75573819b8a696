/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "mcp/mcp_internal.h"

static void check_schema(const char *notation, const char *expected)
{
	json_t *schema = mcp_schema_parse(notation), *wanted = json_loads(expected, 0, NULL);

	assert_non_null(wanted);
	assert_true(json_equal(schema, wanted));
	json_decref(schema);
	json_decref(wanted);
}

static void test_mcp_notation_is_a_schema(void **state)
{
	(void)state;
	check_schema("s", "{\"type\":\"string\"}");
	check_schema("i?", "{\"type\":[\"integer\",\"null\"]}");
	check_schema("x", "{}");
	check_schema("[b]", "{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}}");
	check_schema("{a:n b-:[{c:s}]}?",
		     "{\"type\":[\"object\",\"null\"],\"required\":[\"a\"],\"properties\":{\"a\":{"
		     "\"type\":\"number\"},\"b\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
		     "\"properties\":{\"c\":{\"type\":\"string\"}},\"required\":[\"c\"]}}}}");
}

static void test_mcp_tokens_are_good_once_and_the_oldest_goes(void **state)
{
	struct mcp_tokens tokens = { .nr = 0 };
	char first[MCP_TOKEN_SIZE], token[MCP_TOKEN_SIZE], digest[MCP_DIGEST_SIZE];

	(void)state;
	memset(digest, 'd', sizeof(digest));
	digest[MCP_DIGEST_SIZE - 1] = '\0';
	assert_int_equal(mcp_tokens_issue(&tokens, first, digest), 0);
	for (int i = 0; i < MCP_TOKENS_MAX; i++) {
		assert_int_equal(mcp_tokens_issue(&tokens, token, digest), 0);
		assert_string_not_equal(token, first);
	}
	assert_false(mcp_tokens_redeem(&tokens, digest, first));
	assert_true(mcp_tokens_redeem(&tokens, digest, token));
	assert_false(mcp_tokens_redeem(&tokens, digest, token));
	assert_int_equal(tokens.nr, MCP_TOKENS_MAX - 1);
}

/* No two requests with the same digest: words do not run into each other. */
static void test_mcp_digests_differ(void **state)
{
	static const char *const commands[][3] = { { "ab", "c", NULL }, { "a", "bc", NULL }, { "abc", NULL } };
	char digests[2 * ARRAY_SIZE(commands)][MCP_DIGEST_SIZE];
	struct strbuf plan = STRBUF_INIT;
	size_t nr = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
			struct strlist words = STRLIST_INIT;

			for (size_t k = 0; commands[i][k]; k++)
				strlist_add(&words, commands[i][k]);
			mcp_tokens_digest(digests[nr++], &words, "/here", &plan);
			strlist_release(&words);
		}
		strbuf_addstr(&plan, "{}");
	}
	for (size_t i = 0; i < nr; i++)
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(digests[i], digests[k]);
	strbuf_release(&plan);
}

/* Stopped halfway, a restore would have to be continued by somebody. */
static void test_mcp_a_restore_that_has_begun_goes_on(void **state)
{
	struct mcp_call call = { .planning = true };

	(void)state;
	assert_true(mcp_call_cancel(&call)); /* a resource */
	call.tool = mcp_tools_find("checkpoint_restore");
	assert_true(mcp_call_cancel(&call));
	call.planning = call.cancelled = false;
	assert_false(mcp_call_cancel(&call));
	assert_false(call.cancelled);
	call.tool = mcp_tools_find("checkpoint_save");
	assert_true(mcp_call_cancel(&call));
	assert_true(call.cancelled);
}

static void check_bytes(const char *bytes, size_t len, const char *key, const char *expected)
{
	struct strbuf text = STRBUF_INIT;
	json_t *contents;

	strbuf_add(&text, bytes, len);
	contents = mcp_resources_contents("checkpoint:///@/x", &text);
	assert_string_equal(json_string_value(json_object_get(contents, key)), expected);
	json_decref(contents);
	strbuf_release(&text);
}

static void test_mcp_bytes_are_text_or_base64(void **state)
{
	(void)state;
	check_bytes("", 0, "text", "");
	check_bytes("\xc3\xa4\n", 3, "text", "\xc3\xa4\n");
	check_bytes("\0", 1, "blob", "AA==");
	check_bytes("\xff\xfe", 2, "blob", "//4=");
	check_bytes("\xff\0\x10", 3, "blob", "/wAQ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mcp_notation_is_a_schema),
		cmocka_unit_test(test_mcp_tokens_are_good_once_and_the_oldest_goes),
		cmocka_unit_test(test_mcp_digests_differ),
		cmocka_unit_test(test_mcp_a_restore_that_has_begun_goes_on),
		cmocka_unit_test(test_mcp_bytes_are_text_or_base64),
	};

	return cmocka_run_group_tests_name("mcp", tests, NULL, NULL);
}
