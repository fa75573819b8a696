#!/bin/sh
# SPDX-License-Identifier: MIT
# The project's .git is never written, nothing of the user's runs, nobody else gets in.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/capture.sh"

# A repository with a tracked file that an ignore rule matches, so that its index has to be read.
setup() {
	git init -q "$@" .
	echo '*.log' >.gitignore
	mkdir dir
	echo 1 >tracked.log
	echo 1 >dir/file
	git add -f .
	git commit -q -m base
	echo 2 >dir/file
	echo 2 >untracked
	echo 2 >ignored.log
}

# use: every command that exists, twice, in a worktree that changes in between
use() {
	save -m first
	git checkpoint status >/dev/null
	echo "$1" >>untracked
	git checkpoint diff >/dev/null
	git checkpoint diff --stat >/dev/null
	git checkpoint status --json >/dev/null
	save
	git checkpoint list >/dev/null
	git checkpoint show --patch @ >/dev/null
	git checkpoint show --hashes @ >/dev/null
	git checkpoint log >/dev/null
	git checkpoint config >/dev/null
}

# expect_untouched: all of that leaves .git as it is, to the time of the last byte
expect_untouched() {
	fingerprint_raw .git >"$T/before"
	stat -c '%i %y %z' .git >>"$T/before"
	use again
	fingerprint_raw .git >"$T/after"
	stat -c '%i %y %z' .git >>"$T/after"
	expect_same "$T/before" "$T/after"
	captured >"$T/captured"
	expect_grep '^tracked.log$' "$T/captured"
	expect_grep '^untracked$' "$T/captured"
}

# hooks <dir>: of every kind, each of which leaves a mark
make_hooks() {
	mkdir -p "$1"
	for hook in applypatch-msg pre-applypatch post-applypatch pre-commit pre-merge-commit \
		prepare-commit-msg commit-msg post-commit pre-rebase post-checkout post-merge pre-push \
		pre-receive update post-receive post-update push-to-checkout pre-auto-gc post-rewrite \
		reference-transaction fsmonitor-watchman post-index-change proc-receive; do
		printf '#!/bin/sh\necho %s >>"%s/mark"\nexit 1\n' $hook "$T" >"$1/$hook"
		chmod +x "$1/$hook"
	done
}

test_a_plain_repository() {
	setup
	expect_untouched
}

test_an_index_of_version_4() {
	setup
	git update-index --index-version 4
	expect_untouched
}

test_a_split_index() {
	setup
	git update-index --split-index
	echo 3 >dir/more
	git add dir/more
	expect_untouched
}

test_a_sparse_index() {
	setup
	mkdir -p outside/deep
	echo 1 >outside/deep/file
	git add outside
	git commit -q -m outside
	git sparse-checkout init --cone --sparse-index
	git sparse-checkout set dir
	git ls-files --sparse >"$T/index"
	expect_grep '^outside/$' "$T/index"
	# the trees of what is staged are not in the repository, and do not come into it
	echo 3 >dir/staged
	git add dir/staged
	expect_untouched
}

test_a_repository_with_sha256() {
	setup --object-format=sha256
	expect_untouched
}

test_an_untracked_cache_and_a_stale_index() {
	setup
	git update-index --untracked-cache
	git status >/dev/null
	touch -d '2001-01-01' dir/file tracked.log
	expect_untouched
}

test_an_index_that_is_locked() {
	setup
	: >.git/index.lock
	: >.git/HEAD.lock
	: >.git/config.lock
	expect_untouched
}

test_packed_refs_detached_head_and_a_merge() {
	setup
	git commit -q -a -m more
	git checkout -q -b side HEAD~1
	echo 3 >dir/file
	git commit -q -a -m side
	expect_exit 1 git merge main >/dev/null 2>&1
	git pack-refs --all
	expect_untouched
}

test_reftables_and_formats_of_the_future_do_no_harm() {
	setup
	git config core.repositoryFormatVersion 1
	git config extensions.partialClone origin
	git config extensions.worktreeConfig true
	expect_untouched
}

test_programs_that_the_configuration_names_do_not_run() {
	setup
	printf '#!/bin/sh\necho "$0" >>"%s/mark"\nexit 1\n' "$T" >"$T/program"
	chmod +x "$T/program"
	make_hooks .git/hooks
	make_hooks "$T/hooks"
	for where in --global --local; do
		for key in core.fsmonitor core.pager core.editor core.sshCommand core.askPass \
			credential.helper gpg.program diff.external interactive.diffFilter \
			uploadpack.packObjectsHook pager.log pager.checkpoint alias.ls-files \
			core.gitProxy sequence.editor trace2.eventTarget; do
			git config $where $key "$T/program"
		done
		git config $where filter.x.clean "$T/program"
		git config $where filter.x.process "$T/program"
		git config $where alias.checkpoint "!$T/program"
		git config $where core.hooksPath "$T/hooks"
		git config $where commit.gpgSign true
		git config $where tag.gpgSign true
		git config $where checkpoint.verifyCommand "$T/program"
		git config $where checkpoint.capture.x.command "$T/program"
	done
	git config --unset trace2.eventTarget
	git config --global --unset trace2.eventTarget
	echo '* filter=x diff=x' >.gitattributes
	mkdir -p .git/info
	echo '* filter=x' >.git/info/attributes
	rm -f "$T/mark"
	# an index that only git itself can read
	for form in plain sparse; do
		if test $form = sparse; then
			git -c core.hooksPath=/dev/null -c core.fsmonitor= -c filter.x.clean= -c filter.x.process= \
				sparse-checkout set --cone --sparse-index dir
			rm -f "$T/mark"
		fi
		fingerprint_raw .git >"$T/before"
		use $form 2>/dev/null
		fingerprint_raw .git >"$T/after"
		expect_same "$T/before" "$T/after"
		expect_missing "$T/mark"
	done
}

test_templates_do_not_reach_the_store() {
	make_hooks "$T/templates/hooks"
	mkdir -p "$T/templates/info"
	echo '*' >"$T/templates/info/exclude"
	git config --global init.templateDir "$T/templates"
	GIT_TEMPLATE_DIR=$T/templates
	export GIT_TEMPLATE_DIR
	git init -q --template= .
	echo x >file
	save
	expect_captured file
	expect_missing "$(store_dir)/hooks" "$T/mark"
}

# victim: another repository, which must come to no harm
make_victim() {
	git init -q "$T/victim"
	echo 1 >"$T/victim/file"
	git -C "$T/victim" add file
	git -C "$T/victim" commit -q -m victim
	echo 2 >"$T/victim/file"
	fingerprint_raw "$T/victim" >"$T/victim.before"
}

expect_victim_unharmed() {
	fingerprint_raw "$T/victim" >"$T/victim.after"
	expect_same "$T/victim.before" "$T/victim.after"
}

test_no_variable_leads_elsewhere() {
	setup
	make_victim
	victim=$T/victim/.git
	set -- GIT_DIR="$victim" GIT_WORK_TREE="$T/victim" GIT_INDEX_FILE="$victim/index" \
		GIT_OBJECT_DIRECTORY="$victim/objects" \
		GIT_ALTERNATE_OBJECT_DIRECTORIES="$victim/objects" GIT_COMMON_DIR="$victim" \
		GIT_NAMESPACE=victim GIT_CEILING_DIRECTORIES="$PWD:$T" GIT_PREFIX=dir/ \
		GIT_DISCOVERY_ACROSS_FILESYSTEM=1 GIT_SHALLOW_FILE="$victim/shallow" \
		GIT_GRAFT_FILE="$victim/grafts" GIT_REPLACE_REF_BASE=refs/victim/ \
		GIT_CONFIG="$victim/config" GIT_CONFIG_GLOBAL="$victim/config" \
		GIT_CONFIG_SYSTEM="$victim/config" GIT_LITERAL_PATHSPECS=1 GIT_ICASE_PATHSPECS=1 \
		GIT_GLOB_PATHSPECS=1 GIT_DEFAULT_HASH=sha256 GIT_QUARANTINE_PATH="$victim/objects" \
		GIT_INTERNAL_SUPER_PREFIX=sub/ GIT_IMPLICIT_WORK_TREE=0 GIT_ATTR_SOURCE=HEAD \
		GIT_INDEX_VERSION=4 GIT_OPTIONAL_LOCKS=1 GIT_TRACE="$T/mark" \
		GIT_AUTHOR_DATE=garbage GIT_COMMITTER_DATE=garbage GIT_AUTHOR_NAME= GIT_COMMITTER_EMAIL=
	for variable; do
		case $variable in
		GIT_TRACE=*) continue ;;
		esac
		echo "$variable" >>untracked
		env "$variable" git-checkpoint save --json >"$T/save.json"
		expect_eq true "$(answer .checkpoint_created)" "created with $variable"
		expect_state_of_files ignored.log
		fingerprint_raw .git >"$T/before"
		env "$variable" git-checkpoint status >/dev/null
		env "$variable" git-checkpoint diff --stat >/dev/null
		env "$variable" git-checkpoint list >/dev/null
		fingerprint_raw .git >"$T/after"
		expect_same "$T/before" "$T/after"
		expect_missing "$(store_dir "$T/victim")"
	done
	expect_victim_unharmed
}

test_all_variables_of_a_hook_at_once() {
	setup
	make_victim
	victim=$T/victim/.git
	env GIT_DIR="$victim" GIT_INDEX_FILE="$victim/index.lock" GIT_PREFIX=dir/ GIT_EDITOR=: \
		GIT_OBJECT_DIRECTORY="$victim/objects" GIT_COMMON_DIR="$victim" GIT_NAMESPACE=x \
		GIT_ALTERNATE_OBJECT_DIRECTORIES="$victim/objects" GIT_EXEC_PATH="$T" \
		git-checkpoint save --json >"$T/save.json"
	expect_state_of_files ignored.log
	expect_victim_unharmed
}

test_a_save_inside_of_a_hook() {
	setup
	cat >.git/hooks/pre-commit <<-'END2'
	#!/bin/sh
	env | grep ^GIT_INDEX_FILE= >"$T/env"
	git checkpoint save --json >"$T/save.json"
	END2
	chmod +x .git/hooks/pre-commit
	git commit -q -a -m more
	expect_grep . "$T/env"
	git status --short >"$T/status"
	expect_eq '?? untracked' "$(cat "$T/status")"
	expect_state_of_files ignored.log
	git fsck --strict >/dev/null 2>&1
}

test_configuration_in_variables_is_not_followed() {
	setup
	make_victim
	env GIT_CONFIG_COUNT=3 GIT_CONFIG_KEY_0=core.worktree GIT_CONFIG_VALUE_0="$T/victim" \
		GIT_CONFIG_KEY_1=core.hooksPath GIT_CONFIG_VALUE_1="$T/hooks" \
		GIT_CONFIG_KEY_2=core.bare GIT_CONFIG_VALUE_2=true \
		git-checkpoint save --json >"$T/save.json"
	expect_state_of_files ignored.log
	echo 3 >>untracked
	env GIT_CONFIG_PARAMETERS="'core.worktree'='$T/victim' 'core.bare'='true'" \
		git-checkpoint save --json >"$T/save.json"
	expect_state_of_files ignored.log
	expect_victim_unharmed
	# but the program's own keys are read from there
	expect_exit 3 git -c checkpoint.maxFileSize=1 checkpoint save --json >"$T/save.json"
	expect_warning maxFileSize
}

test_without_a_name_of_the_user() {
	setup
	git config --global --unset user.name
	git config --global --unset user.email
	git config --global user.useConfigOnly true
	save
	expect_state_of_files ignored.log
}

test_without_a_home() {
	setup
	(
		unset HOME XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME XDG_DATA_HOME GIT_CONFIG_GLOBAL
		GIT_CHECKPOINT_HOME=$T/stores
		export GIT_CHECKPOINT_HOME
		save
		expect_state_of_files ignored.log
		unset GIT_CHECKPOINT_HOME
		expect_exit 128 git checkpoint save -q 2>"$T/stderr"
		expect_grep 'HOME' "$T/stderr"
	)
}

test_with_a_home_that_cannot_be_written() {
	setup
	mkdir "$T/stores"
	give_to_nobody . "$T/stores"
	GIT_CHECKPOINT_HOME=$T/stores
	export GIT_CHECKPOINT_HOME
	as_nobody true
	chmod 555 "$HOME"
	as_nobody git checkpoint save --json >"$T/save.json"
	expect_state_of_files ignored.log
	unset GIT_CHECKPOINT_HOME XDG_STATE_HOME
	test "$(id -u)" != 0 || {
		chown 0:0 "$HOME"
		expect_exit 128 run_as_nobody git checkpoint save -q 2>"$T/stderr"
	}
}

test_the_store_is_for_its_owner_alone() {
	umask 000
	git init -q
	echo x >file
	mkdir dir
	git checkpoint save -q
	echo y >file
	git checkpoint save -q
	git checkpoint list >/dev/null
	find "$XDG_STATE_HOME/git-checkpoint" -perm /077 >"$T/open"
	expect_same /dev/null "$T/open"
	find "$XDG_STATE_HOME/git-checkpoint" -type d ! -perm 0700 >"$T/open"
	expect_same /dev/null "$T/open"
	# the files of the user have kept theirs
	expect_eq 666 "$(stat -c %a file)"
}

# What root saves among somebody's checkpoints is of use to that somebody.
test_root_in_a_store_of_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root'
	echo 1 >file
	mkdir -m 700 "$XDG_STATE_HOME/git-checkpoint"
	give_to_nobody . "$XDG_STATE_HOME"
	git checkpoint save -q -m one
	echo 2 >file
	git checkpoint save -q -m two
	git checkpoint pin -q @~1
	git checkpoint gc -q
	find "$XDG_STATE_HOME" -user 0 >"$T/roots"
	expect_same /dev/null "$T/roots"
	echo 3 >file
	as_nobody git-checkpoint save -q -m three
	as_nobody git-checkpoint prune -q --max-count 1
	expect_eq 2 "$(as_nobody git-checkpoint list | grep -c .)"
	as_nobody git-checkpoint verify -q --all
	as_nobody git-checkpoint gc -q
}

test_a_repository_of_somebody_else() {
	test "$(id -u)" = 0 || skip 'needs root'
	setup
	give_to_nobody .
	expect_exit 128 git status >/dev/null 2>&1
	expect_exit 128 git-checkpoint save -q 2>"$T/err"
	expect_grep "the repository in '$PWD' belongs to another user" "$T/err"
	# its own word does not count, the user's does
	git config -f .git/config safe.directory '*'
	expect_exit 128 git-checkpoint save -q 2>/dev/null
	git config --global safe.directory "$PWD"
	git status >/dev/null
	expect_untouched
	expect_state_of_files ignored.log
	expect_eq git_stash "$(answer .checkpoint.type)"
}

test_a_repository_that_may_only_be_read() {
	setup
	chmod -R a-w,a+rX .
	test "$(id -u)" != 0 || chown -hR 0:0 .
	as_nobody git checkpoint save --json >"$T/save.json"
	expect_state_of_files ignored.log
	chmod -R u+w .
}

run_tests
