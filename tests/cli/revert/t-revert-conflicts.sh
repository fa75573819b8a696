#!/bin/sh
# SPDX-License-Identifier: MIT
# What revert cannot merge stays as it is and is named; stock git says the same of the three states.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/revert.sh"

id='' s1='' s2=''
git_status=0 git_tree=''

# between <script before the step> <the step> <what was done since>: $s1, $s2, and the worktree; each
# is a commit for git, too: then, base, now. Exec bits and contents are all that git knows.
between() {
	git --git-dir="$T/git" --work-tree=. init -q
	eval "$1"
	save
	s1=$id
	commit 'then'
	eval "$2"
	save
	s2=$id
	commit base
	eval "$3"
	commit now
	note before
}

in_git() {
	git --git-dir="$T/git" --work-tree=. -c user.name=a -c user.email=a -c core.autocrlf=false \
		-c merge.directoryRenames=false "$@"
}

# commit <name>: the files as they are
commit() {
	in_git add -A
	in_git tag "$1" "$(in_git commit-tree -m x "$(in_git write-tree)")"
}

# ask_git: the merge that revert does; its tree in $git_tree, 1 in $git_status if there are conflicts,
# which are in $T/git.out
ask_git() {
	base=$(in_git commit-tree -m base 'base^{tree}')
	now=$(in_git commit-tree -p "$base" -m now 'now^{tree}')
	theirs=$(in_git commit-tree -p "$base" -m 'then' 'then^{tree}')
	git_status=0
	in_git merge-tree --write-tree "$now" "$theirs" >"$T/git.out" || git_status=$?
	git_tree=$(head -n 1 "$T/git.out")
}

# git_conflicts <text>: it is one for git, too, of that kind
git_conflicts() {
	ask_git
	expect_eq 1 "$git_status" "$(cat "$T/git.out")"
	expect_grep "$1" "$T/git.out"
}

# both_conflict <kind> <file> <text of git>
both_conflict() {
	git_conflicts "$3"
	conflicting "$s2"
	expect_conflicts "$1" "$2"
	expect_noted before
	restoring 3 revert -n "$s2"
	expect_conflicts "$1" "$2"
	expect_noted before
	no_litter
}

# both_merge: without a conflict, to the same files
both_merge() {
	ask_git
	expect_eq 0 "$git_status" "$(cat "$T/git.out")"
	revert "$s2"
	expect_conflicts
	in_git add -A
	expect_eq "$git_tree" "$(in_git write-tree)" "$(in_git diff "$git_tree")"
	test -z "$(reverted)" || restoring 0 undo -y
	expect_noted before
	no_litter
}

text='seq 1 20 >f'

test_contents() {
	between "$text" 'edit f 5 step' 'edit f 6 since'
	both_conflict content f 'CONFLICT (content)'
}

test_markers_are_those_of_git() {
	between "$text; seq 1 9 >g" 'edit f 5 step; edit f 15 step; edit g 1 step' 'edit f 6 since'
	in_git show base:f >"$T/base"
	in_git show 'then:f' >"$T/then"
	cp f "$T/now"
	git merge-file -p -L now -L base -L "$s1" "$T/now" "$T/base" "$T/then" >"$T/merged" || true
	conflicting --conflicts=markers "$s2"
	expect_conflicts content f
	expect_same "$T/merged" f
	expect_grep '^<<<<<<< now$' f
	expect_grep "^>>>>>>> $s1\$" f
	expect_eq 1 "$(head -n 1 g)"
	expect_eq true "$(told .verification.match)"
	restoring 0 undo -y
	expect_noted before
	git-checkpoint revert -n --conflicts=markers "$s2" >"$T/out" 2>"$T/err" || test $? = 3
	expect_grep '^+<<<<<<< now$' "$T/out"
	expect_grep '^conflict: f (content: ' "$T/err"
	expect_noted before
}

# Text on all three sides, or none.
test_what_is_not_text_is_not_marked() {
	between "$text; printf 'a\0b' >bin; ln -s 1 link; echo 1 >del; echo 1 >re" \
		"printf 'a\0c' >bin; ln -sf 2 link; echo 2 >del; rm re" \
		"printf 'x\0y' >bin; ln -sf 3 link; rm del; echo 3 >re"
	conflicting --conflicts=markers "$s2"
	expect_conflicts binary bin modify/delete del symlink link add/add re
	expect_noted before
}

test_binary() {
	between "printf 'a\0b' >f; printf 'a\0b' >g" "printf 'a\0c' >f; printf 'a\0c' >g" "printf 'x\0y' >f"
	git_conflicts 'CONFLICT (content)'
	conflicting "$s2"
	expect_conflicts binary f
	expect_reverted modify g
	printf 'a\0b' | cmp - g
	printf 'x\0y' | cmp - f
}

test_modify_delete() {
	between "$text" 'edit f 5 step' 'rm f'
	both_conflict modify/delete f 'CONFLICT (modify/delete)'
}

test_a_file_of_the_step_that_was_changed_since() {
	between 'echo x >x' "$text" 'edit f 5 since'
	both_conflict modify/delete f 'CONFLICT (modify/delete)'
}

test_only_its_mode_was_changed_since() {
	between 'echo x >x' "$text" 'chmod 755 f'
	both_conflict modify/delete f 'CONFLICT (modify/delete)'
}

test_add_add() {
	between "$text" 'rm f' 'echo else >f'
	both_conflict add/add f 'CONFLICT (add/add)'
}

test_added_again_the_same() {
	between "$text" 'rm f' "$text"
	both_merge
}

test_modes() {
	between "$text" 'chmod 600 f' 'chmod 640 f'
	conflicting "$s2"
	expect_conflicts mode f
	expect_noted before
}

# Never half of it: contents that could be merged stay, too.
test_modes_with_contents() {
	between "$text" 'chmod 600 f; edit f 5 step' 'chmod 640 f; edit f 15 since'
	conflicting --conflicts=markers "$s2"
	expect_conflicts mode f
	expect_noted before
}

test_modes_and_contents_apart() {
	between "$text; cp f g" 'chmod 755 f; edit g 5 step' 'edit f 5 since; chmod 755 g'
	both_merge
	revert "$s2"
	expect_eq '644 755' "$(stat -c %a f g | tr '\n' ' ' | sed 's/ $//')"
	expect_eq 'since 5' "$(sed -n 5p f) $(sed -n 5p g)"
}

test_modes_of_directories() {
	between 'mkdir a b c; touch a/x b/x c/x' 'chmod 700 a b; chmod 1755 c' 'chmod 750 b; rm -r c'
	conflicting "$s2"
	expect_conflicts mode b modify/delete c
	expect_eq '755 750' "$(stat -c %a a b | tr '\n' ' ' | sed 's/ $//')"
}

test_symlinks() {
	between 'ln -s 1 l; ln -s 1 m' 'ln -sf 2 l; ln -sf 2 m' 'ln -sf 3 l'
	git_conflicts 'CONFLICT (content)'
	conflicting "$s2"
	expect_conflicts symlink l
	expect_eq '3 1' "$(readlink l m | tr '\n' ' ' | sed 's/ $//')"
}

test_kinds() {
	between "$text" 'rm f; ln -s x f' 'rm f; seq 30 50 >f'
	git_conflicts 'CONFLICT'
	conflicting "$s2"
	expect_conflicts kind f
	expect_noted before
}

test_kinds_unchanged_since() {
	between "$text; ln -s x l; mkdir d; echo 1 >d/a; echo 1 >e" \
		'rm f l e; ln -s x f; echo 1 >l; rm -r d; echo 1 >d; mkdir e; echo 1 >e/a' 'echo other >other'
	both_merge
}

test_rename_delete() {
	between "echo x >x" "$text" 'mv f g'
	both_conflict rename/delete g 'CONFLICT (rename/delete)'
}

test_renamed_by_the_step_and_deleted_since() {
	between "$text" 'mv f g' 'rm g'
	both_conflict rename/delete g 'CONFLICT (rename/delete)'
}

test_renamed_twice() {
	between "$text" 'mv f g' 'mv g h'
	git_conflicts 'CONFLICT (rename/rename)'
	conflicting "$s2"
	expect_conflicts rename/rename h
	expect_noted before
}

test_the_old_name_is_taken() {
	between "$text" 'mv f g' 'echo else >f'
	git_conflicts 'CONFLICT'
	conflicting "$s2"
	expect_conflicts rename/add f rename/add g
	expect_noted before
}

test_a_rename_by_the_step_is_reversed() {
	between "mkdir d; seq 1 20 >d/f" 'mkdir e; mv d/f e/g; rmdir d; edit e/g 5 step' 'edit e/g 15 since'
	both_merge
	revert "$s2"
	expect_missing e
	expect_eq '5 since' "$(sed -n '5p;15p' d/f | tr '\n' ' ' | sed 's/ $//')"
}

test_a_rename_since_is_followed() {
	between "$text" 'edit f 5 step; chmod 755 f' 'mkdir d; mv f d/g; edit d/g 15 since'
	both_merge
	revert "$s2"
	expect_eq 5 "$(sed -n 5p d/g)"
	expect_missing f
}

test_renamed_back_since() {
	between "$text" 'mv f g; edit g 5 step' 'mv g f; edit f 15 since'
	both_merge
}

# Half of it must be the same; and nothing is a rename of an empty file.
test_a_rename_of_something_else() {
	between "$text; echo >e" 'edit f 5 step; : >e' 'seq 1 6 >g; seq 100 120 >>g; rm f; mv e e2'
	git_conflicts 'CONFLICT (modify/delete): f'
	expect_grep 'CONFLICT (modify/delete): e' "$T/git.out"
	conflicting "$s2"
	expect_conflicts modify/delete e modify/delete f
	expect_noted before
}

test_a_file_took_the_place_of_its_directory() {
	between 'mkdir d; seq 1 20 >d/f' 'mv d/f f; rmdir d; mv f d' 'edit d 5 since'
	both_merge
	revert "$s2"
	expect_eq since "$(sed -n 5p d/f)"
}

test_a_directory_in_the_way() {
	between "$text" 'rm f; mkdir f; echo 1 >f/a' 'echo 2 >f/b'
	conflicting "$s2"
	expect_conflicts 'in the way' f
	expect_noted before
	rm f/b
	printf 'f/b\n' >.gitignore
	echo precious >f/b
	conflicting "$s2"
	expect_conflicts 'in the way' f
	expect_eq '1 precious' "$(contents f/a f/b)"
}

test_a_file_in_the_way() {
	between 'mkdir d; echo 1 >d/a' 'rm -r d; echo step >d' 'echo 2 >d'
	conflicting "$s2"
	expect_conflicts modify/delete d 'in the way' d/a
	expect_noted before
}

test_a_protected_file_in_the_way() {
	between 'echo 1 >a.log; echo 1 >b; mkdir out; echo 1 >out/x' 'rm -r a.log b out' \
		"printf '*.log\nout\nb/*\n' >.gitignore; echo precious >a.log; echo precious >out; mkdir b; echo precious >b/x"
	conflicting "$s2"
	expect_conflicts 'in the way' a.log 'in the way' b 'in the way' out/x
	expect_noted before
	expect_eq 'precious precious precious' "$(contents a.log b/x out)"
}

# It was created, or changed, by the step, and checkpoints leave it out by now.
test_what_is_ignored_now_stays() {
	between 'echo 1 >a.log' 'echo 2 >a.log; echo 2 >b.log' "echo '*.log' >.gitignore"
	conflicting "$s2"
	expect_conflicts 'in the way' a.log 'in the way' b.log
	expect_noted before
}

test_the_others_are_done() {
	between "$text; echo 1 >a; echo 1 >b" 'edit f 5 step; echo 2 >a; rm b; echo 2 >c' 'edit f 5 since'
	conflicting "$s2"
	expect_conflicts content f
	expect_reverted modify a delete b create c
	git-checkpoint undo -q -y
	expect_noted before
	expect_exit 3 git-checkpoint revert -q -y "$s2" 2>"$T/err"
	expect_grep '^conflict: f (content: ' "$T/err"
}

run_tests
