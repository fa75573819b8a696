/* SPDX-License-Identifier: MIT */
#include "record/modes.h"

#include "base/error.h"
#include "unit.h"

#include "treegen.h"

static const char head[] = "file 644 exec 755 dir 755\n";

/* Of every entry, in the mode that it has. */
static void check_lookup(const struct modes *modes, const struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++) {
		const struct wt_entry *entry = &wt_entries(dir)[i];
		struct strbuf path = STRBUF_INIT;

		strbuf_addf(&path, "%s%s%s", dir->path, *dir->path ? "/" : "", entry->name);
		if (entry->kind == WT_LINK || (entry->kind == WT_DIR && entry->dir->outside))
			assert_true(modes_lookup(modes, path.buf, wt_git_mode(entry)) ==
				    (entry->kind == WT_LINK ? 0 : modes->dir));
		else
			assert_int_equal(modes_lookup(modes, path.buf, wt_git_mode(entry)),
					 entry->mode);
		strbuf_release(&path);
		if (entry->kind == WT_DIR)
			check_lookup(modes, entry->dir);
	}
}

static void mark_outside(struct wt_dir *dir)
{
	for (size_t i = 0; i < dir->nr; i++)
		if (wt_entries(dir)[i].kind == WT_DIR) {
			wt_entries(dir)[i].dir->outside = !rnd(5);
			mark_outside(wt_entries(dir)[i].dir);
		}
}

static void test_modes_round_trip(void **state)
{
	size_t records = 0;

	(void)state;
	for (int round = 0; round < rounds(600); round++) {
		struct strbuf bytes = STRBUF_INIT, again = STRBUF_INIT;
		struct arena arena = ARENA_INIT;
		struct wt_dir *root = treegen(&arena, NULL, "", 4, 8);
		struct modes modes;

		mark_outside(root);
		modes_encode(&bytes, root);
		modes_encode(&again, root);
		assert_int_equal(bytes.len, again.len);
		assert_memory_equal(bytes.buf, again.buf, bytes.len);
		assert_int_equal(modes_parse(&modes, bytes.buf, bytes.len), 0);
		check_lookup(&modes, root);
		for (size_t i = 1; i < modes.nr; i++)
			assert_true(strcmp(modes.items[i - 1].path, modes.items[i].path) < 0);
		records += modes.nr;
		modes_release(&modes);
		strbuf_release(&bytes);
		strbuf_release(&again);
		arena_release(&arena);
	}
	assert_true(records > 500);
}

/* The bits that most have are the common ones: the fewest records possible. */
static void test_modes_common_bits_are_the_most_frequent(void **state)
{
	struct wt_entry entries[6];
	struct wt_dir root = { .path = "", .loaded = entries, .nr = 6 };
	struct strbuf bytes = STRBUF_INIT;

	(void)state;
	memset(entries, 0, sizeof(entries));
	for (int i = 0; i < 6; i++) {
		static const uint16_t modes[] = { 0600, 0600, 0644, 0700, 0700, 04755 };
		static const char *const names[] = { "a", "b", "c", "d", "e", "f" };

		entries[i].name = names[i];
		entries[i].name_len = 1;
		entries[i].mode = modes[i];
	}
	modes_encode(&bytes, &root);
	assert_int_equal(bytes.len, 26 + 6 + 7);
	assert_memory_equal(bytes.buf, "file 600 exec 700 dir 755\n644 c\0004755 f", bytes.len);
	strbuf_reset(&bytes);
	root.nr = 0;
	modes_encode(&bytes, &root);
	assert_string_equal(bytes.buf, head);
	strbuf_release(&bytes);
}

static void test_modes_parse_refuses_what_is_malformed(void **state)
{
	/* Behind the head, without their last NUL. */
	static const char *const records[] = { "",
					       " 600 a",
					       "600",
					       "600 ",
					       "x a",
					       "8 a",
					       "10000 a",
					       "-1 a",
					       "+1 a",
					       "600a",
					       "600\ta",
					       "0600\n a",
					       "777777777777777777777777 a" };
	static const char *const heads[] = { "",
					     "\n",
					     "file 644 exec 755\n",
					     "file 644 exec 755 dir 755",
					     "file 644 exec 755 dir 10000\n",
					     "file 648 exec 755 dir 755\n",
					     "file -1 exec 755 dir 755\n",
					     "file  644 exec 755 dir 755\n",
					     "file 0644 exec 755 dir 755\n",
					     " file 644 exec 755 dir 755\n",
					     "file 644 exec 755 dir 755 \n",
					     "modes\n" };
	struct modes modes;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(heads); i++)
		if (modes_parse(&modes, heads[i], strlen(heads[i])) != CKPT_ECORRUPT)
			fail_msg("'%s' was taken", heads[i]);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		struct strbuf text = STRBUF_INIT;

		strbuf_addf(&text, "%s%s", head, records[i]);
		if (modes_parse(&modes, text.buf, text.len + 1) != CKPT_ECORRUPT)
			fail_msg("'%s' was taken", records[i]);
		strbuf_release(&text);
	}
	/* Without the NUL, twice the same, in the wrong order. */
	assert_int_equal(modes_parse(&modes, "file 644 exec 755 dir 755\n600 a", 31),
			 CKPT_ECORRUPT);
	assert_int_equal(modes_parse(&modes,
				     "file 644 exec 755 dir 755\n600 a\0"
				     "600 a",
				     38),
			 CKPT_ECORRUPT);
	assert_int_equal(modes_parse(&modes,
				     "file 644 exec 755 dir 755\n600 b\0"
				     "600 a",
				     38),
			 CKPT_ECORRUPT);
	assert_int_equal(modes_parse(&modes,
				     "file 644 exec 755 dir 755\n600 a\0"
				     "600 b",
				     38),
			 0);
	assert_int_equal(modes.nr, 2);
	modes_release(&modes);
}

/* Whatever is taken says the same as the bytes that it came from. */
static void test_modes_damaged_bytes_are_borne(void **state)
{
	struct strbuf good = STRBUF_INIT;
	size_t taken = 0;

	(void)state;
	strbuf_addstr(&good, head);
	for (int i = 0; i < 6; i++)
		strbuf_addf(&good, "%o some/path%d%c", 0600 + i, i, 0);
	for (int round = 0; round < 40000; round++) {
		size_t len = rnd(2) ? good.len : rnd((unsigned)good.len + 1);
		char *copy = xmemdupz(good.buf, len);
		struct modes modes;

		for (unsigned n = rnd(4); n && len; n--)
			copy[rnd((unsigned)len)] = rnd(2) ? (char)rnd(256) : "0 \n\0/7"[rnd(6)];
		if (!modes_parse(&modes, copy, len)) {
			struct strbuf back = STRBUF_INIT;
			size_t at = 0;

			taken++;
			strbuf_addf(&back, "file %o exec %o dir %o\n", modes.file, modes.exec,
				    modes.dir);
			assert_memory_equal(copy, back.buf, back.len);
			for (size_t i = 0; i < modes.nr; i++) {
				at = back.len;
				assert_true(modes.items[i].mode < 010000);
				assert_int_equal(modes_lookup(&modes, modes.items[i].path, 0100644),
						 modes.items[i].mode);
				/* Leading zeroes of a number are the one freedom. */
				while (copy[at] == '0' && copy[at + 1] != ' ')
					strbuf_addch(&back, copy[at++]);
				strbuf_addf(&back, "%o %s", modes.items[i].mode,
					    modes.items[i].path);
				strbuf_addch(&back, '\0');
			}
			assert_int_equal(back.len, len);
			assert_memory_equal(back.buf, copy, len);
			modes_release(&modes);
			strbuf_release(&back);
		}
		free(copy);
	}
	assert_true(taken > 1000);
	strbuf_release(&good);
}

static void test_modes_differing_names_every_difference(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct strlist got = STRLIST_INIT, expect = STRLIST_INIT;
		struct mode_item items[2][12];
		struct modes sides[2];

		for (int s = 0; s < 2; s++) {
			sides[s] = (struct modes){
				.file = 0644, .exec = 0755, .dir = 0755, .items = items[s]
			};
			for (int i = 0; i < 12; i++) {
				static const char *const names[] = { "a", "a-",	 "a/b", "a0",
								     "b", "b/a", "b/b", "c",
								     "d", "e",	 "e/f", "g" };

				if (rnd(2))
					items[s][sides[s].nr++] = (struct mode_item){
						.path = names[i], .mode = (uint16_t)(0600 + rnd(2))
					};
			}
		}
		for (int s = 0; s < 2; s++)
			for (size_t i = 0; i < sides[s].nr; i++) {
				bool same = false;

				for (size_t j = 0; j < sides[!s].nr; j++)
					same = same ||
					       (!strcmp(items[s][i].path, items[!s][j].path) &&
						items[s][i].mode == items[!s][j].mode);
				if (!same)
					strlist_add(&expect, items[s][i].path);
			}
		strlist_sort_unique(&expect);
		assert_true(modes_differing(&got, &sides[0], &sides[1]));
		assert_true(strlist_equal(&got, &expect));
		strlist_release(&got);
		strlist_release(&expect);
		sides[0].exec = 0700;
		assert_false(modes_differing(&got, &sides[0], &sides[1]));
		sides[0].exec = 0755, sides[1].file = 0600;
		assert_false(modes_differing(&got, &sides[0], &sides[1]));
		sides[0].file = 0600, sides[1].dir = 0700;
		assert_false(modes_differing(&got, &sides[0], &sides[1]));
		strlist_release(&got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modes_round_trip),
		cmocka_unit_test(test_modes_common_bits_are_the_most_frequent),
		cmocka_unit_test(test_modes_parse_refuses_what_is_malformed),
		cmocka_unit_test(test_modes_damaged_bytes_are_borne),
		cmocka_unit_test(test_modes_differing_names_every_difference),
	};

	return cmocka_run_group_tests_name("modes", tests, NULL, NULL);
}
