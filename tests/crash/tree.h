/* SPDX-License-Identifier: MIT */
#ifndef CRASH_TREE_H
#define CRASH_TREE_H

struct state;

/** Make the directory `root`, which must exist, hold just this state. */
void tree_write(const char *root, const struct state *state);

/**
 * Print what is below `dir`, sorted, a line for each: kind, permission bits, contents as a hash
 * (`-` for directories), path. A newline in a name is printed as `?`.
 */
void tree_print(const char *dir);

#endif
