/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GITSTATE_GITFOREIGN_H
#define CKPT_GITSTATE_GITFOREIGN_H

#include "base/base.h"
#include "gitstate/gitrecord.h"
#include "record/record.h"

struct repo;
struct store;

/**
 * The border of the project's repository: what a checkpoint of another machine, or of a bundle,
 * says of a repository goes through here before anything of it is planned or written. Whoever can
 * write to the remote or the bundle chose every byte of it.
 *
 * It lets through what `git fetch` followed by `git checkout` would: commits, a branch that git
 * allows as one, and entries of the index that git's own code takes. Nothing that configures comes
 * in, and nothing that runs:
 *
 *  - settings of a branch never;
 *  - an operation in progress only if the user insists, and then only files and refs of a list that
 *    have the form that git gives them. Of a list of steps, those that do no more than pick commits
 *    and move HEAD. What git would take for the name of a program, for an option or for a path is not
 *    on the list; nor are `am`, a rebase that applies patches, and bisect.
 *
 * Behind it nothing is checked again. A checkpoint of this store passes as it is.
 */

/** Whether a checkpoint was taken elsewhere. */
bool gitforeign_is(const struct ckpt_record *record);

/** What is wanted of it. */
enum gitforeign_flags {
	GITFOREIGN_WHOLE = 1 << 0, /**< HEAD and its branch, too, and not only the index */
	GITFOREIGN_FORCE = 1 << 1, /**< and an operation in progress */
};

/**
 * Reduce `git`, which is what `record` has, to what may come in. `says` gets a line for each thing
 * that a plan does not say of itself: steps that will be carried out, files that come and that are
 * left out. CKPT_EREFUSED if its HEAD is on no branch that git allows, or if an operation is in
 * progress and not asked for.
 */
int gitforeign_admit(struct strlist *says, struct gitrecord *git, const struct ckpt_record *record,
		     const struct repo *repo, enum gitforeign_flags flags);

/**
 * Let git make the index, apart from the repository. CKPT_EREFUSED, with what it says, if it does
 * not take an entry. The objects must be there.
 */
int gitforeign_check_index(struct store *store, const struct repo *repo,
			   const struct gitrecord *git, const struct ckpt_record *record);

#endif
