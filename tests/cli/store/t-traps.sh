#!/bin/sh
# SPDX-License-Identifier: MIT
# Nothing that a repository contains makes this program run, fetch or write anything: every command
# in a repository that is trapped in every way that git offers, and git started in one place only.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/traps.sh"
. "$LIB_DIR/watch.sh"

# ---- one place that starts git ---------------------------------------------------

# starters <root>: what could start git, outside of the one function that may
starters() {
	(
		cd "$1"
		# its name as a word to be run; to compare with it, or to name an entry, is something else
		grep -nE '"(/[a-z/]*/)?(git|env)"' -r lib git-checkpoint.c --include='*.[ch]' |
			grep -v '^lib/git/gitrun\.c:' | grep -vE '(str|mem)cmp\(|:[ 	]*/?[*] |meta_add_entry\(|json_object_|row_json\(|text\(entry, |OPT_FLAG, |[?] "git" :|subject = { out, |:[ 	]*/[*][*] |\] = "git",|key [?] key : "env",|"ssh", "git",$'
		# what can run programs; who does is known by name
		grep -nE '\<(exec[lv]p?e?|fexecve|execveat|posix_spawnp?|popen|system)\(' \
			-r lib git-checkpoint.c --include='*.[ch]' |
			grep -vE '^lib/(base/(spawn|command)|run/run|cmd/(help|hook)|show/pick|mcp/mcp_call|watch/watch_save)\.c:'
		grep -nE '\<(spawn_run|spawn_capture)\(' -r lib git-checkpoint.c --include='*.[ch]' |
			grep -vE '^lib/(base/spawn\.[ch]|git/gitrun\.c|cmd/help\.c|show/pick\.c):'
	) || :
}

test_one_function_starts_git() {
	starters "$ROOT_DIR" >out
	expect_eq '' "$(cat out)" 'others that start git'
	# and this would be seen
	mkdir -p lib/save
	: >git-checkpoint.c
	for line in 'const char *argv[] = { "git", "status", NULL };' 'popen("git status", "r");' \
		'execlp("x", "x", NULL);' 'spawn_capture(&out, NULL, argv);' \
		'const char *argv[] = { "env", "A=b", "git" };' 'static char *argv[] = { "/usr/bin/git", "gc" };'; do
		echo "$line" >lib/save/x.c
		starters . >out
		test -s out || fail "not seen: $line"
	done
	echo 'if (!strcmp(name, "git"))' >lib/save/x.c
	expect_eq '' "$(starters .)"
}

test_every_git_that_is_started_is_hardened() {
	setup
	git sparse-checkout set --cone --sparse-index dir
	mkdir "$T/bin"
	cat >"$T/bin/git" <<-END
	#!/bin/sh
	{
		echo "command \$*"
		env | grep '^GIT_' | sort
		echo end
	} >>"$T/gits"
	exec "$(command -v git)" "\$@"
	END
	chmod +x "$T/bin/git"
	trap_environment
	PATH=$T/bin:$PATH
	git-checkpoint save -q
	echo 2 >>a.txt
	git-checkpoint save -q
	git-checkpoint gc -q
	git-checkpoint hooks install --guard >/dev/null 2>&1
	for command in for-each-ref ls-tree pack-objects index-pack; do
		expect_grep "^command .* $command " "$T/gits"
	done
	starts=$(grep -c '^command' "$T/gits")
	for line in GIT_ALLOW_PROTOCOL= GIT_NO_LAZY_FETCH=1 GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 \
		GIT_TRACE2=0 GIT_TRACE2_EVENT=0 GIT_TRACE2_PERF=0 GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1; do
		expect_eq "$starts" "$(grep -c "^$line\$" "$T/gits")" "$line"
	done
	for word in 'core.hooksPath=/dev/null' 'core.fsmonitor=false' 'protocol.allow=never' 'credential.helper=' \
		'core.sshCommand=false'; do
		expect_eq "$(grep -c '^command .*--git-dir' "$T/gits")" \
			"$(grep -c "^command .*-c $word " "$T/gits")" "$word"
	done
	expect_no_grep "^GIT_[A-Z_]*=.*$T/outside" "$T/gits"
	expect_no_grep '^GIT_CURL_VERBOSE\|^GIT_TRACE_\|^GIT_TRACE=' "$T/gits"
}

# ---- the traps work --------------------------------------------------------------

setup() {
	git init -q
	mkdir dir outside
	for file in a.txt a.dat a.prc dir/b.txt dir/b.dat outside/c.txt; do
		echo $file >$file
	done
	mkdir outside/hooks
	echo 1 >outside/hooks/README
	# only where something is ignored does it matter what is tracked
	echo '*.log' >.gitignore
	echo 1 >x.log
	git add .
	git commit -q -m one
	git -c gc.auto=0 repack -q -d
	# loose objects can be lost one by one
	mv .git/objects/pack/*.pack "$T/pack"
	rm -rf .git/objects/pack/*
	git unpack-objects -q <"$T/pack"
}

# springs <mark> <command>...: with plain git, it leaves the mark
springs() {
	mark=$1
	shift
	rm -f "$T/marks"/*
	"$@" >/dev/null 2>&1 </dev/null || :
	if test -e "$T/marks/$mark"; then
		echo "$mark" >>"$T/sprung"
	else
		echo "# this git does not spring the trap '$mark': $*"
	fi
}

# with_only <function>...: a fresh repository with these traps alone
with_only() {
	rm -rf "$T/work" "$T/marks" "$T/other.git" "$T/pack"
	mkdir "$T/work" "$T/marks"
	cd "$T/work"
	setup
	for function; do
		$function
	done
}

spring_contents() {
	with_only trap_contents
	# git dies of such a filter, and may ask it about a file that is as young as the index
	git config --unset filter.y.process
	echo 2 >>a.txt
	springs external git diff
	git config --unset diff.external
	springs textconv git diff
	echo 2 >>a.dat
	springs command git diff a.dat
	springs clean git add a.txt
	springs smudge git checkout -f HEAD -- a.txt
	echo 2 >>a.prc
	git config filter.y.process "$T/snares/process"
	springs process git add a.prc
	git config --unset filter.y.process
	echo 2 >>a.txt
	git commit -q -m two a.txt
	git checkout -q -f -b side HEAD~1
	echo 3 >>a.txt
	git commit -q -m three a.txt
	springs merge git merge main
}

spring_transport() {
	with_only trap_transport
	springs ssh git fetch origin
	springs proxy git fetch proxied
	springs uploadpack git fetch local
	springs ext git fetch ext
	# and without being asked to fetch anything
	git config --unset fetch.bundleURI
	git sparse-checkout set --cone --sparse-index dir
	lose HEAD:a.txt
	springs ssh git cat-file -p HEAD:a.txt
	lose HEAD:outside
	springs ssh git ls-files -- outside/hooks
}

spring_programs() {
	with_only trap_programs
	springs fsmonitor git status
	git config core.fsmonitor false
	echo 2 >>a.txt
	springs gpg git commit -q -m two a.txt
	git config commit.gpgSign false
	springs editor git commit -q a.txt
	git checkout -q -f
	springs sequence git rebase -i --root
	springs credential sh -c 'printf "protocol=https\nhost=x\n\n" | git credential fill'
	git config --unset credential.helper
	springs askpass sh -c 'printf "protocol=https\nhost=x\n\n" | git credential fill'
	springs alternate git receive-pack --http-backend-info-refs .
	springs viewer git help -m git
	springs confighook git update-index --force-remove a.dat
	springs recent git prune
	git init -q sub
	git -C sub commit -q --allow-empty -m sub
	git update-index --add --cacheinfo "160000,$(git -C sub rev-parse HEAD),sub"
	git -C sub commit -q --allow-empty -m more
	git config submodule.sub.active true
	springs submodule git submodule update
	! has_terminal || springs pager script -q -c 'git log' /dev/null
}

spring_hooks() {
	with_only
	snare_hooks .git/hooks hooks
	springs hooks git update-ref refs/heads/x HEAD
	snare_hooks outside/hooks hookspath
	git config core.hooksPath outside/hooks
	springs hookspath git update-ref refs/heads/y HEAD
	git config --unset core.hooksPath
	rm -r .git/hooks
	trap_programs
	git config --unset core.fsmonitor
	trap_includes
	springs included git status
}

test_the_traps_work() {
	: >"$T/sprung"
	spring_contents
	spring_transport
	spring_programs
	spring_hooks
	with_only trap_environment
	rm -f "$T/outside"/*
	git status >/dev/null 2>&1
	for name in GIT_TRACE GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE_SETUP; do
		expect_exists "$T/outside/$name"
	done
	# what every git that is supported springs; others may be too new, or need a terminal
	for mark in external textconv command clean process smudge merge ssh proxy uploadpack ext \
		fsmonitor gpg editor sequence credential askpass alternate submodule hooks hookspath included; do
		expect_grep "^$mark\$" "$T/sprung"
	done
}

# ---- nothing of ours springs them ------------------------------------------------

# state_of_the_world: all that must stay as it is
state_of_the_world() {
	fingerprint_raw .git
	for dir in "$HOME" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME" "$XDG_DATA_HOME" "$TMPDIR" "$T/outside" \
		"$T/other.git" "$T/elsewhere"; do
		fingerprint_raw "$dir"
	done
}

# try <statuses> <argument>...: a command of ours; no trap is sprung, nothing is written
try() {
	statuses=$1
	shift
	echo "--- $*"
	tried="$tried $1"
	status=0
	timeout 60 git-checkpoint "$@" >"$T/out" 2>&1 </dev/null || status=$?
	case " $statuses " in
	*" $status "*) ;;
	*)
		cat "$T/out"
		fail "exit status $status instead of $statuses: $*"
		;;
	esac
	expect_eq '' "$(ls "$T/marks")" "traps sprung by '$*'"
	state_of_the_world >"$T/world.now"
	case "$*" in
	# these write there, or below TMPDIR, and are meant to
	'hooks install'* | 'hooks uninstall'* | 'branch '* | *' --worktree '* | 'try '* | 'bisect '* | 'takeover '*) mv "$T/world.now" "$T/world" ;;
	*) expect_same "$T/world" "$T/world.now" ;;
	esac
}

# What repositories are like may prevent some of it; no trap is sprung in any case.
try_surgery() {
	try '0 1' grep more
	try 0 list -- a.txt
	try 0 list -p -- a.txt
	try '0 3 128' revert --dry-run @
	try '0 3 128' revert --yes @~1..@
	try '0 3 128' pick --dry-run @
	try '0 3 128' pick --yes @~1..@
	echo n | try '0 3' restore --yes -p @~1
	try '0 3' restore --yes --into "$T/copied" @
	try '0 3 5 128' restore --yes --into "$T/linked-copy" --worktree @
	try '0 1' try @ -- true
	try '0 1 3' bisect @~1 @ -- true
	try 0 hash dir
}

try_elsewhere() {
	try '0 128' export --patch -o "$T/export.patch" @
	try 0 export --tar -o "$T/export.tar" @
	try 0 export --bundle -o "$T/export.bundle" @
	try 0 import "$T/export.bundle"
	try '0 3 5 128' branch made-here @
	try 0 remote add there "$T/there.git"
	try '0 3 5 128' push there @
	try '0 1 3 5 128' fetch there
	try '0 3 5 128' handoff there
	try '0 1 3 5 128' takeover --yes there
	try 0 mcp
}

# What saves by itself springs none, either.
try_watching() {
	trap 'git-checkpoint watch stop >/dev/null 2>&1 || :' EXIT
	try '0 3' watch add
	GIT_CHECKPOINT_WATCH_QUIET=0s try 0 watch start
	echo seen >>a.txt
	await saved_by_watcher
	try 0 watch status
	try 0 watch stop
	try 0 watch remove
	trap - EXIT
}

saved_by_watcher() {
	git-checkpoint list -n 1 --json | jq -e '.checkpoints[0].reason == "after changes"'
}

# try_everything <statuses of hooks install>
try_everything() {
	mkdir -p "$T/elsewhere"
	env -i PATH="$PATH" git init -q --bare "$T/there.git"
	unset GIT_CHECKPOINT_HOME
	tried=
	state_of_the_world >"$T/world"
	try '0 3' save -m first --state k=v
	echo more >>a.txt
	echo more >>dir/b.dat
	rm dir/b.txt
	echo new >new.txt
	try 0 status
	try 0 status --json
	try 0 diff
	try 0 diff --stat
	try '0 3' save -m second --include-ignored
	try 0 list --stat
	try 0 show -p @
	try 0 show --files @
	try 0 show --hashes @
	try 0 diff @~1 @
	echo again >>a.txt
	try '0 3' restore --dry-run @~1
	try '0 3' restore --yes @~1
	try '0 3' undo --yes
	try '0 3' redo --yes
	try '0 3' restore --yes @ -- a.txt
	try 0 run -- sh -c 'echo run >>a.dat'
	try 1 run --rollback -- sh -c 'echo run >>a.dat; exit 1'
	try 0 verify --all
	try_surgery
	try_elsewhere
	try 0 log
	try 0 pin @
	try 0 unpin @
	try 0 drop --force @~1
	try 0 prune --max-count 3
	try 0 gc
	try '0 1' doctor
	try '0 1' doctor --fix
	try 0 stores
	try '1 5 128' relink "$T/nowhere"
	try '0 1' hooks status
	try "$1" hooks install --events rebase,merge --guard
	try '0 1' hooks status
	try 0 status
	try '0 1' doctor
	try 0 hooks uninstall
	try '0 1' hooks install --agent claude-code
	try '0 1' hooks uninstall --agent claude-code
	try 0 flow start one --phases a,b
	try '0 3' flow phase a start
	try '0 3' flow phase a complete
	try 0 flow status
	try '0 3' flow resume --restore --yes
	try 0 config
	try 0 config --origin
	try_watching
	try '0 1' help
	try 0 help undo
	for command in $(git-checkpoint help --json </dev/null | jq -r '.commands[].name'); do
		case " $tried " in
		*" $command "*) ;;
		*) fail "the command '$command' was not tried" ;;
		esac
	done
	# what the completions ask
	try 0 --complete git checkpoint show ''
	rm -rf "$T/world"
}

test_a_plain_repository() {
	setup
	set_traps
	git config core.worktree "$T/elsewhere"
	rm -f "$T/marks"/* "$T/outside"/*
	try_everything '0 1'
}

# What is in the worktree under the name of a program is not that program, wherever PATH leads.
test_programs_in_the_worktree() {
	setup
	snare worktree 'exit 0'
	mkdir sub
	for name in git less page-it more pager man fzf cat sh timeout git-checkpoint; do
		cp "$T/snares/worktree" $name
		cp "$T/snares/worktree" sub/$name
	done
	git sparse-checkout set --cone --sparse-index dir sub
	with_pager=true
	has_terminal || {
		with_pager=false
		echo '# no pseudo terminal: pagers are not tried'
	}
	program=$(command -v git-checkpoint)
	given=$PATH
	for path in ".:$given" ":$given" "sub:$given" "../work:$given" "./sub::$given:"; do
		for arguments in save list 'show -p @' diff status 'hooks install --guard' 'hooks uninstall' gc \
			doctor 'help save'; do
			echo "--- PATH=$path $arguments"
			echo more >>a.txt
			# shellcheck disable=SC2086 # words
			"$(command -v env)" PATH="$path" "$program" $arguments >out 2>&1 </dev/null || cat out
			case $arguments in
			list | show* | diff)
				! $with_pager ||
					PAGER=page-it "$(command -v script)" -q -c "PATH='$path' '$program' $arguments" \
						/dev/null >out 2>&1 </dev/null
				;;
			esac
			expect_eq '' "$(ls "$T/marks")" "run from the worktree with PATH=$path by '$arguments'"
		done
	done
	# a command of the user's is found as the user finds it
	PATH=sub:$given "$program" run -q -- page-it
	expect_exists "$T/marks/worktree"
}

# A worktree may come with a directory that the user's GIT_CHECKPOINT_HOME names.
test_a_store_in_the_worktree_runs_nothing() {
	git init -q
	echo 1 >a
	snare verify 'exit 0'
	snare capture 'exit 0'
	GIT_CHECKPOINT_HOME=$PWD/.stores
	export GIT_CHECKPOINT_HOME
	git-checkpoint save -q
	printf '%s\n' "verifyCommand = $T/snares/verify" 'maxCount = 7' '[capture "x"]' \
		"save = $T/snares/capture" 'auto = true' >"$(store_dir)/checkpoint/config"
	echo 2 >a
	git-checkpoint save >"$T/out" 2>&1
	expect_grep "captures run commands and are ignored: the file is in the worktree" "$T/out"
	expect_exit 128 git-checkpoint save --capture x
	git-checkpoint restore --yes @~1 >"$T/out" 2>&1
	expect_grep "'verifyCommand' runs a command and is ignored: the file is in the worktree" "$T/out"
	git-checkpoint config >"$T/out" 2>&1
	expect_grep '7' "$T/out"
	expect_eq '' "$(ls "$T/marks")" 'what was run'
	# elsewhere it is the user's word
	mv .stores "$T/stores"
	GIT_CHECKPOINT_HOME=$T/stores
	git-checkpoint restore --yes @ >"$T/out" 2>&1
	expect_exists "$T/marks/verify"
}

# The one time that filters run is a rebase that puts changes aside, where git runs them itself.
test_a_hook_without_git() {
	setup
	echo more >>a.txt
	id=$(git stash create)
	git checkout -q -f
	set_traps
	mkdir .git/rebase-merge
	echo "$id" >.git/rebase-merge/autostash
	mkdir -p "$T/elsewhere"
	tried=
	rm -f "$T/marks"/* "$T/outside"/*
	state_of_the_world >"$T/world"
	try 0 hook pre-rebase main
	expect_grep 'no git command is in progress' "$T/out"
}

test_a_sparse_index_with_a_tree_that_is_missing() {
	setup
	git sparse-checkout set --cone --sparse-index dir
	git ls-files --sparse >"$T/index"
	expect_grep '^outside/$' "$T/index"
	lose HEAD:outside
	set_traps outside/hooks
	rm -f "$T/marks"/* "$T/outside"/*
	try_everything '0 1'
}

run_tests
