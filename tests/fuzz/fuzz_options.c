/* SPDX-License-Identifier: MIT */
/* Command lines: what is parsed and what completion makes of the same words agree. */
#include "fuzz.h"

#include "base/strlist.h"
#include "ui/opt.h"

enum { WORDS_MAX = 24 };

static bool flag;
static const char *text;
static int64_t number;
static struct strlist list;

/* With -h taken, so that no usage is printed. */
static const struct opt options[] = {
	{ OPT_FLAG, 'h', "help", &flag, NULL, "a flag" },
	{ OPT_FLAG, 0, "stat", &flag, NULL, "a flag" },
	{ OPT_FLAG, 'p', "patch", &flag, NULL, "another", OPT_OR },
	{ OPT_FLAG, 'z', NULL, &flag, NULL, "of that", OPT_WITH },
	{ OPT_STRING, 'm', "message", &text, "<text>", "a text", OPT_ALSO },
	{ OPT_NUMBER, 'n', "max-count", &number, "<n>", "a number", OPT_POSITIVE },
	{ OPT_DURATION, 0, "min-interval", &number, "<dur>", "a duration" },
	{ OPT_SIZE, 0, "max-size", &number, "<size>", "a size" },
	{ OPT_FLAG, 0, "state", &flag, NULL, "another form", OPT_FORM,
	  OPT_ARGS({ { "<key>" }, 0, 1 }, { { "<c>" }, 1, 1 }) },
	{ OPT_LIST, 0, "agent", &list, "<name>", "another form", OPT_FORM },
	{ OPT_END },
};

static const struct opt start[] = {
	{ OPT_FLAG, 'h', "help", &flag, NULL, "a flag" },
	{ OPT_LIST, 0, "phases", &list, "<list>", "needed", OPT_NEEDED },
	{ OPT_END },
};

static const struct opt_spec subs[] = {
	{ .command = "flow start", .options = start, .args = OPT_ARGS({ { "<name>" }, 1, 1 }) },
	{ .command = "flow phase", .options = start,
	  .args = OPT_ARGS({ { "<name>" }, 1, 1 }, { { "start", "fail" }, 1, 1 }) },
	{ NULL },
};

static const struct opt_spec specs[] = {
	{ .command = "diff", .options = options,
	  .args = OPT_ARGS({ { "<c>" }, 0, 2 }, { { "<path>" }, 0, OPT_MANY, .dashes = true }) },
	{ .command = "run", .options = options, .first_ends = true,
	  .args = OPT_ARGS({ { "<command>" }, 1, OPT_MANY, .dashes = true }) },
	{ .command = "flow", .subs = subs },
};

static void check(const struct opt_spec *spec, char **words, size_t nr)
{
	struct strlist args = STRLIST_INIT;
	const struct opt_arg *next = NULL;
	struct opt_look look;
	size_t skip = spec->subs != NULL, places = 0;
	int err = opt_parse(spec, (int)nr, words, &args), dashdash = opt_common.dashdash;

	FUZZ_CHECK(err == 0 || err == CKPT_EUSAGE, "%d", err);
	FUZZ_CHECK(!err || *ckpt_error_last(), "nothing was said");
	/* as if the cursor stood at one more word */
	words[nr] = (char *)"";
	opt_look(&look, spec, words, nr + 1);
	if (!err) {
		FUZZ_CHECK(look.value_of.kind == OPT_END, "a value is missing");
		FUZZ_CHECK(look.args.nr + skip == args.nr, "%zu and %zu arguments", look.args.nr, args.nr);
		for (size_t i = 0; i < look.args.nr; i++)
			FUZZ_CHECK(!strcmp(look.args.items[i], args.items[i + skip]), "%s",
				   look.args.items[i]);
		FUZZ_CHECK((look.dashdash < 0) == (dashdash < 0), "-- %d %d", look.dashdash, dashdash);
	}
	while ((next = opt_look_next(&look, next)))
		FUZZ_CHECK(next->max && places++ < 4, "places without end");
	opt_look_release(&look);
	strlist_release(&args);
	strlist_release(&list);
}

/* The first byte chooses the command; a word ends at a newline. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	const struct opt_spec *spec = &specs[fuzz_byte(&in) % 3];
	char *words[WORDS_MAX + 2] = { (char *)"x" };
	size_t nr = 1;

	while (in.size && nr < WORDS_MAX)
		words[nr++] = fuzz_until(&in, '\n', NULL);
	check(spec, words, nr);
	for (size_t i = 1; i < nr; i++)
		free(words[i]);
	return 0;
}
