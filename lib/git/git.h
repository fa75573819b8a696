/* SPDX-License-Identifier: MIT */
#ifndef CKPT_GIT_GIT_H
#define CKPT_GIT_GIT_H

/**
 * The project's repository: found and read; written by gitwrite.h alone, when a user asks for
 * that by name.
 *
 * This is what other folders include.
 */
#include "git/askgit.h"
#include "git/configtext.h"
#include "git/exclude.h"
#include "git/gitconfig.h"
#include "git/gitdate.h"
#include "git/gitfile.h"
#include "git/gitindex.h"
#include "git/gitrun.h"
#include "git/gitstat.h"
#include "git/gitstate.h"
#include "git/gitwrite.h"
#include "git/pathspec.h"
#include "git/repo.h"

#endif
