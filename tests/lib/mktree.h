/* SPDX-License-Identifier: MIT */
#ifndef CKPT_TESTS_MKTREE_H
#define CKPT_TESTS_MKTREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ---- mktree_bytes.c: chance, words, contents, and files made of them ---- */

/** The seed; the same gives the same numbers. */
extern uint64_t rng_state;

uint64_t rnd64(void);
unsigned int rnd(unsigned int below);

/** Small numbers more often than large ones. */
unsigned int rnd_low(unsigned int below);

enum { WORDS = 4000 };

/** Call once, before the words are used. */
void init_words(void);

/** One of the first `below` words, or of the stems that they are made of. */
const char *any_word(unsigned int below);
const char *any_stem(void);

/** Lines of code from a few templates; each file has its own vocabulary. */
void fill_text(char *out, size_t size);

/** Half records of small numbers, half noise: pictures, fonts, archives. */
void fill_binary(char *out, size_t size);

/** False if the name is taken or not possible: the caller tries another. */
bool make_file(const char *path, const char *data, size_t size, mode_t mode);
bool make_dir(const char *path, mode_t mode);

/** "<dir>/<name>", to be freed. */
char *join(const char *dir, const char *name);

_Noreturn void die(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- mktree_odd.c: names, modes and links that hurt ---- */

const char *odd_name(void);
mode_t odd_file_mode(void);
mode_t odd_dir_mode(void);
void odd_file(const char *path);
void odd_link(const char *path);
void odd_dir(const char *path);

/** Another name in `dir` for a file that still exists. */
void odd_name_for(const char *file, const char *dir);

/** Something new with an odd name in `dir`, unless the name is taken. */
void odd_entry(const char *dir, unsigned int links_percent);

void make_odd_tree(unsigned int files, unsigned int ndirs);

/* ---- mktree_damage.c ---- */

/** So many random changes in the current directory, or as many as suit its size for 0. */
void damage(unsigned int edits, bool verbose);

#endif
