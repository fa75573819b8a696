/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_ERROR_H
#define CKPT_BASE_ERROR_H

#include "base/std.h"

/**
 * The one error model of this program.
 *
 * A function that can fail returns 0 or one of the negative codes below. The
 * message for the user is in a slot of the thread; it is set where the failure
 * is detected and travels up unchanged. Only the command layer prints it,
 * once, and turns the code into an exit status.
 *
 * Messages begin in lower case, say what failed first, put names in quotes and
 * end without a full stop.
 */
enum ckpt_error {
	CKPT_ERROR = -1,      /**< anything a caller does not act on */
	CKPT_ENOTFOUND = -2,  /**< the thing asked for does not exist */
	CKPT_ELOCKED = -3,    /**< another process holds the lock */
	CKPT_ECORRUPT = -4,   /**< stored bytes are not what was written */
	CKPT_ECANCELLED = -5, /**< the user interrupted */
	CKPT_EREFUSED = -6,   /**< refused for safety, --force or --yes helps */
	CKPT_EUSAGE = -7,     /**< the command line is malformed */
	CKPT_EDECLINED = -8,  /**< the user was asked and said no; that has been acknowledged */
	CKPT_ELACK = -9,      /**< descriptors or memory ran out: nothing is known about the file */
};

/**
 * Set the message of this thread and return `code`, for `return ckpt_error_set(...)`. The present
 * message may be an argument.
 */
int ckpt_error_set(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/**
 * The same with ": <text of errno>" appended; returns CKPT_ENOTFOUND for ENOENT, CKPT_ELACK if
 * fs_is_lack(), otherwise CKPT_ERROR.
 */
int ckpt_error_errno(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * 0 unless some thread called ckpt_error_errno() for lack of descriptors or
 * memory (fs_is_lack()); then the first such message again. Much that cannot be
 * opened counts as missing, which is wrong after such a failure: check this
 * before relying on everything that was read.
 */
int ckpt_error_lack(void);

/** Forget such failures: they did not matter, or the work was done again. */
void ckpt_error_forget_lack(void);

/** Put "<text>: " before the current message and return `code`. */
int ckpt_error_prefix(int code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** The message of this thread; never NULL. */
const char *ckpt_error_last(void);

/**
 * A copy of it, to keep while doing something that may also fail but does not
 * matter; ckpt_error_put_back() sets it again, frees it and returns `code`.
 * NULL leaves the message as it is.
 */
char *ckpt_error_keep(void);
int ckpt_error_put_back(int code, char *kept);

/* --- findings: problems.c --- */

/** What is wrong, in sentences, and whether it was fixed. All zero is an empty list. */
struct problem {
	char *what;
	bool fixed;
};

struct problems {
	struct problem *items;
	size_t nr, alloc;
};

void problems_addf(struct problems *list, bool fixed, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/** Remove all but the first `nr`. */
void problems_truncate(struct problems *list, size_t nr);
void problems_release(struct problems *list);

#endif
