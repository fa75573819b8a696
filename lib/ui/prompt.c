/* SPDX-License-Identifier: MIT */
#include "ui/prompt.h"

#include "base/base.h"
#include "ui/term.h"

bool prompt_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

bool prompt_yes(const char *question)
{
	FILE *tty = fopen("/dev/tty", "r+e");
	char answer[64] = "";
	bool yes;

	if (!tty)
		return false;
	progress_clear();
	fprintf(tty, "%s [y/N] ", question);
	fflush(tty);
	if (!fgets(answer, sizeof(answer), tty)) {
		fputc('\n', stderr);
		answer[0] = '\0';
	}
	fclose(tty);
	answer[strcspn(answer, "\r\n")] = '\0';
	yes = !strcasecmp(answer, "y") || !strcasecmp(answer, "yes");
	return yes && !cancel_signal();
}
