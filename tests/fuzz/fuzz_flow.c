/* SPDX-License-Identifier: MIT */
/* The files of a workflow: what parses prints as a text that parses to the same. */
#include "fuzz.h"

#include "base/error.h"
#include "flow/flow.h"

static void try_state(const char *text, size_t len)
{
	struct flow_state state = { 0 }, again = { 0 };
	struct strbuf first = STRBUF_INIT, second = STRBUF_INIT;

	if (flow_state_parse(&state, text, len))
		return;
	flow_state_print(&first, &state);
	FUZZ_CHECK(!flow_state_parse(&again, first.buf, first.len), "%s", ckpt_error_last());
	flow_state_print(&second, &again);
	FUZZ_CHECK(!strcmp(first.buf, second.buf), "another state");
	flow_state_release(&state);
	flow_state_release(&again);
	strbuf_release(&first);
	strbuf_release(&second);
}

static void try_plan(const char *text, size_t len)
{
	struct flow_plan plan = { 0 };
	struct strbuf out = STRBUF_INIT;

	if (flow_plan_parse(&plan, text, len))
		return;
	for (size_t i = 0; i < plan.phases.nr; i++)
		FUZZ_CHECK(!flow_name_problem(plan.phases.items[i]), "a bad name");
	flow_plan_print(&out, &plan);
	FUZZ_CHECK(out.len, "nothing");
	flow_plan_release(&plan);
	strbuf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try_state((const char *)data, size);
	try_plan((const char *)data, size);
	return 0;
}
