/* SPDX-License-Identifier: MIT */
#include "ui/answer.h"

#include "base/base.h"

bool answer_read(struct strbuf *out)
{
	int c = EOF;

	fflush(stderr);
	strbuf_reset(out);
	clearerr(stdin);
	while (!cancel_signal() && (c = getchar()) != EOF && c != '\n')
		strbuf_addch(out, c);
	if (cancel_signal())
		return false;
	if (out->len && out->buf[out->len - 1] == '\r')
		strbuf_setlen(out, out->len - 1);
	return c != EOF || out->len;
}
