/* SPDX-License-Identifier: MIT */
#include "agents/agent_input_internal.h"

#include "base/base.h"

#include <poll.h>

enum { CHUNK = 65536 };

/* Before the object: blanks, or a byte order mark. */
static void scan_begin(struct agent_input_scan *scan, char c)
{
	if (c == '{') {
		scan->begun = true;
		scan->depth = 1;
	} else if (!c || !strchr(" \t\r\n\xef\xbb\xbf", c)) {
		scan->other = true;
	}
}

static void scan_string(struct agent_input_scan *scan, char c)
{
	if (scan->escaped)
		scan->escaped = false;
	else if (c == '\\')
		scan->escaped = true;
	else if (c == '"')
		scan->in_string = false;
}

size_t agent_input_scan(struct agent_input_scan *scan, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && !scan->other; i++) {
		char c = bytes[i];

		if (!scan->begun)
			scan_begin(scan, c);
		else if (scan->in_string)
			scan_string(scan, c);
		else if (c == '"')
			scan->in_string = true;
		else if (c == '{' || c == '[')
			scan->depth++;
		else if ((c == '}' || c == ']') && !--scan->depth)
			return i + 1;
	}
	return 0;
}

/* False at the end of the time. */
static bool wait_for(int fd, double until)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		double left = until - clock_monotonic();
		int rc = left > 0 && !cancel_signal() ? poll(&poll_fd, 1, (int)(left * 1000) + 1)
						      : 0;

		if (rc >= 0)
			return rc > 0;
		if (errno != EINTR)
			return false;
	}
}

bool agent_input_read(struct strbuf *out, int fd, double seconds, size_t max)
{
	struct agent_input_scan scan = { 0 };
	double until = clock_monotonic() + seconds;
	size_t seen = 0, end;
	ssize_t n;

	while (seen < max && wait_for(fd, until)) {
		strbuf_grow(out, CHUNK);
		n = read(fd, out->buf + out->len, CHUNK);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return false;
		seen += (size_t)n;
		end = agent_input_scan(&scan, out->buf + out->len, (size_t)n);
		if (end) {
			strbuf_setlen(out, out->len + end);
			return true;
		}
		/* What has no end is read, for who writes it, but not kept. */
		if (!scan.other)
			strbuf_setlen(out, out->len + (size_t)n);
	}
	return false;
}
