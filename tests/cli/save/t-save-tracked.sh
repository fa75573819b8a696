#!/bin/sh
# SPDX-License-Identifier: MIT
# save: what is tracked, staged or unmerged is saved, whatever rules say of it.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

# Every form that an index can have.
test_tracked_files_are_exempt() {
	for form in v2 v4 split sparse sha256; do
		mkdir $form
		cd $form
		case $form in
		sha256) git init -q --object-format=sha256 ;;
		*) git init -q ;;
		esac
		printf '%s\n' '*.log' ignored/ >.gitignore
		make_files a.log build/tracked build/deep/tracked ignored/tracked node_modules/x/tracked \
			c.pyc dir/file
		git add -f .
		git commit -q -m base
		make_files b.log build/untracked build/deep/more/untracked ignored/untracked \
			node_modules/y/untracked
		case $form in
		v4) git update-index --index-version 4 ;;
		split)
			git update-index --split-index
			make_files later.log
			git add -f later.log
			rm later.log
			;;
		sparse)
			git sparse-checkout init --cone --sparse-index
			git sparse-checkout set build ignored node_modules
			mkdir -p dir
			;;
		esac
		fingerprint_raw .git >"$T/before"
		save
		fingerprint_raw .git >"$T/after"
		expect_same "$T/before" "$T/after"
		# outside of the cone only the directory is there
		dir=dir/file
		test $form != sparse || dir=dir/
		expect_captured .gitignore a.log build/deep/tracked build/tracked c.pyc $dir \
			ignored/tracked node_modules/x/tracked
		expect_warning "^'build/' was left out by a default pattern"
		expect_warning "^'node_modules/' was left out by a default pattern"
		expect_no_warning 'ignored/'
		cd ..
	done
}

# A file that is tracked but lies outside of the cone, and is there all the same.
test_a_tracked_file_outside_of_the_cone_is_exempt() {
	git init -q
	make_files in/file out/deep/file.pyc
	git add -f .
	git commit -q -m base
	git sparse-checkout init --cone --sparse-index
	git sparse-checkout set in
	git ls-files --sparse >"$T/index"
	expect_grep '^out/$' "$T/index"
	make_files out/deep/file.pyc
	# as git's own fsmonitor has one
	perl -MSocket -e 'my $s; socket($s, AF_UNIX, SOCK_STREAM, 0) && bind($s, sockaddr_un(".git/fsmonitor--daemon.ipc"))
		or die $!'
	save
	expect_captured in/file out/deep/file.pyc
}

# Left out themselves, they are there only for the sake of what is tracked in them.
test_ignored_directories_whose_tracked_files_are_gone() {
	git init -q
	make_files build/deep/tracked ignored/a/b/tracked file
	echo ignored >.gitignore
	git add -f .
	rm build/deep/tracked ignored/a/b/tracked
	make_files build/deep/untracked ignored/a/b/untracked
	save
	expect_captured .gitignore file
}

test_staged_but_never_committed_is_tracked() {
	git init -q
	make_files build/a build/b c.log
	echo '*.log' >.gitignore
	git add -f build/a c.log
	save
	expect_captured .gitignore build/a c.log
	git rm -q --cached build/a c.log
	save
	expect_captured .gitignore
}

test_an_unmerged_file_is_tracked() {
	git init -q
	make_files build/a
	git add -f .
	git commit -q -m base
	git checkout -q -b side
	echo side >build/a
	git commit -q -a -m side
	git checkout -q main
	echo main >build/a
	git commit -q -a -m main
	expect_exit 1 git merge -q side >/dev/null 2>&1
	save
	expect_captured build/a
	git checkpoint show --json @ >"$T/show.json"
	expect_eq merge "$(json .project.operation "$T/show.json")"
}

test_the_index_of_a_nested_repository_and_its_exclude_count() {
	git init -q
	echo '*.log' >.gitignore
	make_files nested/tracked.log nested/other.log nested/build/tracked nested/build/other \
		nested/private nested/sub/private private
	git init -q nested
	git -C nested add -f tracked.log build/tracked
	echo private >nested/.git/info/exclude
	save
	expect_captured .gitignore nested/build/tracked nested/sub/ nested/tracked.log private
	# a commit is not needed, and changes nothing of it
	git -C nested commit -q -m base
	save
	expect_captured .gitignore nested/build/tracked nested/sub/ nested/tracked.log private
}

test_an_ignored_directory_that_is_a_repository_itself() {
	git init -q
	echo vendor/ >.gitignore
	make_files vendor/tracked vendor/untracked vendor/sub/tracked build/tracked build/untracked
	git init -q vendor
	git -C vendor add tracked sub/tracked
	git init -q build
	git -C build add tracked
	save
	expect_captured .gitignore build/tracked vendor/sub/tracked vendor/tracked
	expect_warning "^'build/' was left out by a default pattern"
	expect_no_warning vendor
}

run_tests
