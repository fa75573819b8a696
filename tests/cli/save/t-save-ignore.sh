#!/bin/sh
# SPDX-License-Identifier: MIT
# What is left out: the project's own rules as git reads them, and the default patterns.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

test_every_source_of_rules_counts_and_the_nearer_wins() {
	git init -q
	git config --global core.excludesFile "$HOME/rules"
	printf '%s\n' from-global global-not-info global-not-top global-not-sub >"$HOME/rules"
	printf '%s\n' from-info '!global-not-info' info-not-top >.git/info/exclude
	printf '%s\n' from-top '!info-not-top' '!global-not-top' top-not-sub >.gitignore
	mkdir sub
	printf '%s\n' from-sub '!top-not-sub' '!global-not-sub' >sub/.gitignore
	for name in from-global from-info from-top from-sub global-not-info global-not-top \
		global-not-sub info-not-top top-not-sub; do
		make_files $name sub/$name
	done
	save
	expect_captured .gitignore from-sub global-not-info global-not-top info-not-top \
		sub/.gitignore sub/global-not-info sub/global-not-sub sub/global-not-top \
		sub/info-not-top sub/top-not-sub
	git ls-files -co --exclude-standard | sort >"$T/git"
	captured >"$T/ours"
	expect_same "$T/git" "$T/ours"
	expect_no_warning
}

test_default_patterns() {
	git init -q
	make_files node_modules/a __pycache__/a venv/a .venv/a dist/a build/a .next/a a.pyc .DS_Store \
		sub/node_modules/a sub/build/deep/a sub/a.pyc sub/.DS_Store keep notbuild/a buildx/a
	mkdir files
	make_files files/build files/dist files/venv
	save
	expect_captured buildx/a files/build files/dist files/venv keep notbuild/a sub/
	for name in node_modules/ __pycache__/ venv/ .venv/ dist/ build/ .next/ a.pyc .DS_Store \
		sub/node_modules/ sub/build/ sub/a.pyc sub/.DS_Store; do
		expect_warning "^'$name' was left out by a default pattern"
	done
	expect_no_warning 'deep\|build/a'
	expect_eq '0 1 0' "$? $(answer .confidence) $(answer '.skipped | length')"
	git checkpoint save --allow-empty 2>"$T/stderr"
	expect_grep "warning:.* 'build/' was left out" "$T/stderr"
	# for people it is news once
	make_files other/build/a
	git checkpoint save --allow-empty 2>"$T/stderr"
	expect_no_grep "'build/'" "$T/stderr"
	# again from the checkpoint that is named when nothing changed
	save
	expect_eq false "$(answer .checkpoint_created)"
	expect_warning "^'build/' was left out"
}

# It is not a change, so no checkpoint is taken: not the time to be silent about it.
test_what_was_made_since_is_named_without_a_change() {
	git init -q
	make_files file
	save
	expect_no_warning
	make_files build/a .env
	save
	expect_eq false "$(answer .checkpoint_created)" created
	expect_warning "^'build/' was left out by a default pattern"
	expect_warning "^'\.env' looks like a secret and was left out"
	# once, also where the checkpoint knows of it
	save --allow-empty
	save
	expect_eq false "$(answer .checkpoint_created)" created
	expect_eq 2 "$(answer '.warnings | length')" warnings
}

test_what_the_project_leaves_out_itself_is_no_news() {
	git init -q
	make_files build/a sub/dist/a
	printf '%s\n' build/ 'dist' >.gitignore
	save
	expect_captured .gitignore sub/
	expect_no_warning
}

test_the_project_overrides_default_patterns() {
	git init -q
	make_files build/a dist/a sub/build/a sub/dist/a a.pyc b.pyc
	printf '%s\n' '!build/' '!b.pyc' >.gitignore
	echo '!dist/' >sub/.gitignore
	save
	expect_captured .gitignore b.pyc build/a sub/.gitignore sub/build/a sub/dist/a
	expect_warning "^'dist/' was"
	echo '!dist/' >.git/info/exclude
	git config core.excludesFile "$HOME/rules"
	echo '!a.pyc' >"$HOME/rules"
	save
	expect_captured .gitignore a.pyc b.pyc build/a dist/a sub/.gitignore sub/build/a sub/dist/a
	expect_no_warning
}

test_the_default_patterns_are_the_users_to_edit() {
	git init -q
	make_files build/a out/a
	save
	expect_captured out/a
	echo out/ >"$(store_dir)/info/exclude"
	save
	expect_captured build/a
	expect_warning "^'out/' was left out by a default pattern"
}

test_the_excludes_file_of_the_user() {
	git init -q
	make_files a b c
	# at its default place, with and without XDG_CONFIG_HOME
	mkdir -p "$HOME/.config/git" "$XDG_CONFIG_HOME/git"
	echo a >"$XDG_CONFIG_HOME/git/ignore"
	echo b >"$HOME/.config/git/ignore"
	save
	expect_captured b c
	(
		unset XDG_CONFIG_HOME
		save
		expect_captured a c
	)
	# by name, through a link, below the home directory
	echo c >"$T/rules"
	ln -s "$T/rules" "$HOME/rules"
	# shellcheck disable=SC2088 # for git to expand
	git config --global core.excludesFile '~/rules'
	save
	expect_captured a b
	# the repository's word is the last
	echo b >.git/mine
	git config core.excludesFile "$PWD/.git/mine"
	save
	expect_captured a c
	# one that is not there has no rules
	git config core.excludesFile "$T/nowhere"
	save
	expect_captured a b c
	expect_no_warning
}

test_a_gitignore_that_is_a_link_is_not_read() {
	git init -q
	echo a >"$T/rules"
	ln -s "$T/rules" .gitignore
	make_files a
	save
	expect_captured .gitignore a
}

test_a_directory_that_is_left_out_hides_the_rules_below() {
	git init -q
	make_files out/deep/a
	echo out/ >.gitignore
	echo '!*' >out/.gitignore
	echo '!*' >out/deep/.gitignore
	save
	expect_captured .gitignore
	# a rule for all that it holds hides nothing
	echo 'out/*' >.gitignore
	save
	expect_captured .gitignore out/.gitignore out/deep/.gitignore out/deep/a
	rm out/.gitignore
	printf '%s\n' 'out/*' '!out/deep' >.gitignore
	save
	expect_captured .gitignore out/deep/.gitignore out/deep/a
}

test_outside_of_git_rules_count_as_well() {
	git config --global core.excludesFile "$HOME/rules"
	echo from-global >"$HOME/rules"
	printf '%s\n' from-top '!build/' >.gitignore
	make_files from-global from-top kept build/a dist/a sub/from-top sub/x
	echo x >sub/.gitignore
	save
	expect_captured .gitignore build/a kept sub/.gitignore
	expect_warning "^'dist/' was"
	expect_eq file_backup "$(answer .checkpoint.type)"
}

test_include_ignored_lifts_both() {
	git init -q
	echo ignored >.gitignore
	make_files ignored sub/ignored build/a node_modules/b/a .env
	save
	expect_captured .gitignore sub/
	save --include-ignored
	expect_captured .gitignore build/a ignored node_modules/b/a sub/ignored
	expect_no_warning 'default pattern'
	expect_warning "^'.env' looks like a secret"
}

test_a_path_given_by_name_is_captured_although_ignored() {
	git init -q
	printf '%s\n' 'ignored*' '*.log' >.gitignore
	make_files ignored ignored-dir/a ignored-dir/b.log build/a build/deep/b sub/x.log other
	save -- ignored
	expect_captured ignored
	expect_eq '["ignored"]' "$(answer '.checkpoint.scope.files | tostring')"
	save -- ignored-dir
	expect_captured ignored-dir/a
	save -- build
	expect_captured build/a build/deep/b
	save -- build/deep/b sub/x.log
	expect_captured build/deep/b sub/x.log
	# a directory that is not ignored itself: rules apply below
	save -- sub
	expect_captured sub/
	save
	expect_captured .gitignore other sub/
}

test_a_scope_of_patterns_is_a_scope_of_names() {
	git init -q
	make_files 'a*' ab 'b?' 'bc' '[x]' x ':(glob)y' y
	save -- 'a*' 'b?' '[x]' ':(glob)y'
	expect_captured ':(glob)y' '[x]' 'a*' 'b?'
	expect_exit 128 git checkpoint save -q -- 'x*'
	expect_exit 128 git checkpoint save -q -- nowhere
}

test_the_setting_exclude() {
	git init -q
	make_files a.tmp b.tmp keep sub/a.tmp tracked.tmp
	git add -f tracked.tmp
	git config checkpoint.exclude '*.tmp'
	git config --add checkpoint.exclude '!b.tmp'
	save
	expect_captured b.tmp keep sub/ tracked.tmp
	expect_no_warning
	# not an ignore rule: asked for by name in the configuration, it stays out
	save --include-ignored
	expect_captured b.tmp keep sub/ tracked.tmp
}

test_rules_that_change_between_checkpoints() {
	git init -q
	make_files a b
	save
	echo a >.gitignore
	save
	expect_captured .gitignore b
	rm .gitignore
	save
	expect_captured a b
}

# The times of directories tell nothing about any of these.
test_rules_that_change_while_no_directory_does() {
	git init -q
	git config --global core.excludesFile "$HOME/rules"
	make_files x sub/x sub/deep/x nested/x nested/sub/x t.log sub/t.log
	git init -q nested
	for file in .gitignore sub/.gitignore nested/.git/info/exclude "$HOME/rules" "$T/other"; do
		: >"$file"
	done
	echo x >"$T/other"
	: >.git/info/exclude
	git add t.log
	# so old that nothing can hide in the same tick
	sleep 0.05
	save
	captured >"$T/all"
	# what no longer exists, a change, and the way back
	while IFS='|' read -r gone change back; do
		eval "$change"
		save
		captured >"$T/captured"
		grep -vx "$gone" "$T/all" >"$T/expected" || :
		sed '/\/$/d' "$T/captured" >"$T/files"
		expect_same "$T/expected" "$T/files"
		eval "$back"
		save
		captured >"$T/captured"
		expect_same "$T/all" "$T/captured"
	done <<-'END'
	sub/.*|echo /sub >.gitignore|: >.gitignore
	sub/\(deep/\)\?x|echo x >sub/.gitignore|: >sub/.gitignore
	.*x|echo x >.git/info/exclude|: >.git/info/exclude
	nested/.*|echo x >nested/.git/info/exclude|: >nested/.git/info/exclude
	.*x|echo x >"$HOME/rules"|: >"$HOME/rules"
	.*x|echo x >"$(store_dir)/info/exclude"|: >"$(store_dir)/info/exclude"
	.*x|git config checkpoint.exclude x|git config --unset checkpoint.exclude
	.*x|git config checkpoint.sensitive x|git config --unset checkpoint.sensitive
	.*x|git config core.excludesFile "$T/other"|git config --unset core.excludesFile
	.*x|GIT_CHECKPOINT_EXCLUDE=x; export GIT_CHECKPOINT_EXCLUDE|unset GIT_CHECKPOINT_EXCLUDE
	END
	# tracked or not
	echo '*.log' >.gitignore
	save
	captured >"$T/captured"
	expect_grep '^t.log$' "$T/captured"
	expect_no_grep 'sub/t.log' "$T/captured"
	git rm -q --cached t.log
	git add -f sub/t.log
	save
	captured >"$T/captured"
	expect_no_grep '^t.log$' "$T/captured"
	expect_grep '^sub/t.log$' "$T/captured"
	# a repository that was none
	git rm -q --cached sub/t.log
	save
	git init -q "$T/new"
	(cd sub && git --git-dir="$T/new/.git" --work-tree=. add -f t.log)
	echo "gitdir: $T/new/.git" >sub/.git
	save
	captured >"$T/captured"
	expect_grep '^sub/t.log$' "$T/captured"
	git --git-dir="$T/new/.git" --work-tree=sub rm -q -f --cached t.log
	save
	captured >"$T/captured"
	expect_no_grep 'sub/t.log' "$T/captured"
}

# Random rules on random trees, against git's own answer.
test_random_rules_are_read_as_git_reads_them() {
	for seed in 1 2 3 4 5 6; do
		mkdir $seed
		cd $seed
		git init -q
		perl -e '
			srand shift;
			my @words = qw(a b ab abc a.c b.c x.o foo Foo bar-1 _z);
			push @words, "a b", "#c", "!d", "e ", "f\\", "[g]", "\xc3\xa4";
			sub word { $words[rand @words] }
			my @dirs = ("");
			for (1 .. 14) {
				my $dir = $dirs[rand @dirs] . word() . "/";
				push @dirs, $dir if mkdir $dir;
			}
			for (1 .. 90) {
				my $path = $dirs[rand @dirs] . word();
				next if -e $path;
				open my $file, ">", $path or die;
				print $file $path;
			}
			my @forms = ("%", "%", "*%", "%*", "/%", "%/", "%/%", "/%/", "%/**", "**/%", "%/**/%",
				"*.c", "*.[co]", "?", "??", "[a-c]*", "[!a]*", "[^b]", "a\\b", "\\#c", "\\!d",
				"%/*", "*/%", "*/*/%", "  %", "% ", "%\\ ", "# %", "", "[[:upper:]]*", "%\\", "[",
				"**", "/*", "*/", "%\t", "%\r");
			for my $dir ("", grep { rand() < .4 } @dirs) {
				open my $file, ">", "$dir.gitignore" or die;
				print $file "\xef\xbb\xbf" if rand() < .1;
				for (1 .. 1 + rand 4) {
					my $line = $forms[rand @forms];
					next if $dir eq "" && $line =~ /^(\*\*|\/\*|\*\/)$/ && rand() < .8;
					$line =~ s/%/word()/ge;
					print $file rand() < .3 ? "!" : "", $line, rand() < .05 ? "\r\n" : "\n";
				}
				print $file "foo" if rand() < .3;
			}
		' $seed
		# some are tracked, rule or no rule
		find . -name .git -prune -o -type f -name '*a*' -print0 |
			GIT_LITERAL_PATHSPECS=1 git add -f --pathspec-from-file=- --pathspec-file-nul
		echo "/$(find . -name .git -prune -o -type d -print | sed -n '4s/^..//p')" >.git/info/exclude
		git ls-files -z -co --exclude-standard | sort -z >"$T/git"
		save
		# directories without any file end in a slash
		git checkpoint show --files -z @ | perl -0 -ne 'print unless /\/\0$/' | sort -z >"$T/ours"
		cmp "$T/git" "$T/ours" || {
			for side in git ours; do
				tr '\0' '\n' <"$T/$side" >"$T/$side.text"
			done
			diff -u "$T/git.text" "$T/ours.text" || :
			head -n 50 .gitignore ./*/.gitignore .git/info/exclude
			fail "seed $seed"
		}
		test -s "$T/git"
		cd ..
	done
}

run_tests
