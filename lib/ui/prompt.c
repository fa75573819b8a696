/* SPDX-License-Identifier: MIT */
#include "ui/term.h"

#include <termios.h>

bool prompt_possible(void)
{
	return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

static void explain(FILE *tty, const struct prompt *prompt)
{
	term_say(tty, "y - %s\nn - %s; so does every other answer\n%c - %s\n? - show this help\n",
		 prompt->yes, prompt->no, prompt->look->letter, prompt->look->help);
}

static void read_answer(char answer[PROMPT_ANSWER_SIZE], FILE *tty)
{
	fflush(tty);
	if (!fgets(answer, PROMPT_ANSWER_SIZE, tty)) {
		term_say(stderr, "\n");
		answer[0] = '\0';
	}
	answer[strcspn(answer, "\r\n")] = '\0';
}

static FILE *open_terminal(void)
{
	FILE *tty = fopen("/dev/tty", "r+e");

	progress_clear();
	/* Typed for something else, by somebody who had not seen the question. */
	if (tty)
		tcflush(fileno(tty), TCIFLUSH);
	return tty;
}

bool prompt_text(char answer[PROMPT_ANSWER_SIZE], const char *question)
{
	FILE *tty = open_terminal();

	if (!tty)
		return false;
	term_say(tty, "%s ", question);
	read_answer(answer, tty);
	fclose(tty);
	return *answer && !cancel_signal();
}

/* True if it has to be asked again. */
static bool look(const struct prompt *prompt, const char *answer, FILE *tty)
{
	const char letter[] = { prompt->look ? prompt->look->letter : '\0', '\0' };

	if (!prompt->look || cancel_signal())
		return false;
	if (!strcmp(answer, "?"))
		explain(tty, prompt);
	else if (!strcasecmp(answer, letter))
		prompt->look->show(prompt->look->payload);
	else
		return false;
	return !cancel_signal();
}

bool prompt_ask(const struct prompt *prompt)
{
	char answer[PROMPT_ANSWER_SIZE];
	bool again;

	do {
		FILE *tty = open_terminal();

		if (!tty)
			return false;
		term_say(tty, "%s [y/N", prompt->question);
		if (prompt->look)
			term_say(tty, "/%c/?", prompt->look->letter);
		term_say(tty, "] ");
		read_answer(answer, tty);
		again = look(prompt, answer, tty);
		fclose(tty);
	} while (again);
	return (!strcasecmp(answer, "y") || !strcasecmp(answer, "yes")) && !cancel_signal();
}

bool prompt_yes(const char *question)
{
	const struct prompt prompt = { .question = question };

	return prompt_ask(&prompt);
}

bool prompt_read_line(struct strbuf *out)
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
