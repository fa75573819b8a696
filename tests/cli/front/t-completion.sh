#!/bin/sh
# SPDX-License-Identifier: MIT
# What can stand at the cursor of `git checkpoint`: what the program answers, and that shells say
# nothing without it.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"
. "$(dirname "$0")/../../lib/completion.sh"

# offered_to <word>...: only the words
offered_to() {
	ask "$@" | sed 's/^[ -]//; s/	.*//'
}

test_every_place_of_every_command_is_known() {
	two_checkpoints
	for command in $(names); do
		ask "$command" '' >out
		ask "$command" one '' >out
		ask "$command" one two '' >out
		ask "$command" one -- '' >out
		options "$command" | sed -n 's/=$//p' | while read -r option; do
			ask "$command" "$option" '' >out
			ask "$command" "$option=" >out
		done
		git-checkpoint "$command" -h | sed -n 's/^ *\(usage\|or\): git checkpoint [a-z]* \([a-z][a-z]*\).*/\2/p' |
			while read -r verb; do
				ask "$command" "$verb" '' >out
				ask "$command" "$verb" one '' >out
			done
	done
}

test_commands_and_options() {
	git-checkpoint --list-cmds | sed 's/^/ /' >expected
	ask '' >actual
	expect_same expected actual
	git-checkpoint --complete git -C / -c x=y --no-pager ck '' >actual
	expect_same expected actual
	for command in $(names); do
		options "$command" >expected
		offered_to "$command" - >actual
		expect_same expected actual
	done
	ask save -- >actual
	expect_grep '^---message=	why' actual
	expect_grep '^ --pin	' actual
	# not twice, but for lists
	ask save --pin --state a=b --source x --pi >actual
	expect_no_grep '^ --pin\|source' actual
	expect_grep '^---state=' actual
	expect_eq '!files' "$(ask save -- --)"
	offered_to hooks uninstall - >actual
	hooks_words
	expect_same of-uninstall actual
}

brief_is_expired() {
	ask show '' | grep -q 'brief \[expired\]$'
}

test_positions_are_those_of_all_and_not_of_safety_checkpoints() {
	two_checkpoints
	echo three >apple.txt
	git checkpoint restore -q --yes @~1
	git checkpoint list | cut -d ' ' -f 1 >three
	# each alone, by all of its id
	expect_grep '	[0-9].*ago, before: restoring step 7 (the first one)' "$(ask show "$(sed -n 1p three)" >out && echo out)"
	expect_grep '	@, .*the second' "$(ask show "$(sed -n 2p three)" >out && echo out)"
	expect_grep '	@~1, .*the first' "$(ask show "$(sed -n 3p three)" >out && echo out)"
	expect_eq '@ @~1' "$(offered_to show @ | xargs)"
}

test_checkpoints_have_their_age_and_reason() {
	two_checkpoints
	for command in show restore verify drop pin unpin diff; do
		ask $command '' | grep chk_ >actual
		expect_grep "^ $(sed -n 1p ids)	@, [0-9]* seconds* ago, the second: one (agent) \[pinned\]\$" actual
		expect_grep "^ $(sed -n 2p ids)	@~1, [0-9]* seconds* ago, the first one\$" actual
		cut -c 2- actual | cut -f 1 >words
		expect_same ids words
	done
	# one is enough for some, and nobody names one twice
	expect_eq '' "$(ask pin @ '')$(ask unpin @ '')$(ask show --state x @ '')"
	# what may follow are paths, of which it holds these
	expect_eq 'apple.txt' "$(offered_to show @ apple | grep -x apple.txt)"
	expect_eq "$(sed -n 2p ids)" "$(offered_to drop "$(sed -n 1p ids)" '')"
	# other names only where one begins so
	expect_eq '@ @~1' "$(offered_to show @ | xargs)"
	expect_grep '^ @~1	.*the first one' "$(ask show @ >out && echo out)"
	expect_eq step:7 "$(offered_to show s | grep step)"
	expect_eq "$(cat ids)" "$(offered_to show c)"
	# what a terminal must not get
	printf '1' >apple.txt
	git checkpoint save -q -m "$(printf 'red \033[31m\tred\nmore')" --source "$(printf 'a\nb')"
	expect_grep ' ago, red  \[31m red (a b)$' "$(ask show '' >out && echo out)"
	# expired ones, and no more than fit
	echo 3 >apple.txt
	git checkpoint save -q -m brief --expires 1s
	wait_until brief_is_expired
	git config checkpoint.maxCount none
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 \
		31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50; do
		git checkpoint save -q --allow-empty -m "number $i"
	done
	expect_eq 50 "$(ask show '' | wc -l)"
	expect_no_grep "$(sed -n 2p ids)" "$(ask show '' >out && echo out)"
	# which come into reach by their beginning
	expect_eq "$(sed -n 2p ids)" "$(offered_to show "$(sed -n 2p ids)")"
}

test_paths_are_those_of_the_checkpoint() {
	git init -q
	mkdir -p src/deep empty
	touch src/a src/deep/b top ./-dash '~x' "$(printf 'new\nline')" "$(printf 'ta\tb')"
	git checkpoint save -q
	rm -r src/deep top
	touch new src/new
	mkdir newdir
	cat >expected <<-'END'
		 -dash
		-empty/
		-src/
		 top	only in the checkpoint
		 ./~x
		-newdir/	not in the checkpoint
		 expected	not in the checkpoint
		 new	not in the checkpoint
	END
	ask restore @ -- '' >"$T/actual"
	expect_same expected "$T/actual"
	# with no "--" it would be an option
	sed 's/^ -dash/ .\/-dash/' expected >"$T/expected"
	ask restore @ '' >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	rm expected
	# one level at a time
	printf '%s\n' ' src/a' '-src/deep/	only in the checkpoint' ' src/new	not in the checkpoint' \
		>"$T/expected"
	ask restore -n @ src/ >"$T/actual"
	expect_same "$T/expected" "$T/actual"
	expect_eq ' src/deep/b	only in the checkpoint' "$(ask restore @ -- src/deep/)"
	# as they are typed
	cd src
	expect_eq '../top' "$(offered_to restore @ ../to | grep top)"
	expect_eq "$T/work/src/deep/" "$(offered_to restore @ "$T/work/src/d" | grep deep)"
	expect_eq 'a deep/ new' "$(offered_to restore @ '' | xargs)"
	expect_eq '' "$(ask restore '' | grep -v chk_)"
	expect_eq '' "$(ask restore @ ../../)$(ask restore @ -- ../.git/)$(ask restore nothing '')"
	cd ..
	# of the directory that the line names
	expect_eq 'a deep/ new' "$(git-checkpoint --complete git -C src checkpoint restore @ '' |
		cut -c 2- | cut -f 1 | xargs)"
	# diff: existing paths, but after "--" others, too; the newest if none is named
	expect_eq './-dash empty/ src/ ./~x newdir/ new' "$(offered_to diff '' | grep -v chk_ | xargs)"
	expect_grep '^ top	only' "$(ask diff -- '' >"$T/out" && echo "$T/out")"
	expect_grep '^ top	only' "$(ask diff @ -- '' >"$T/out" && echo "$T/out")"
	# a checkpoint of some paths is about these
	git checkpoint save -q -m scoped src
	expect_eq 'src/' "$(offered_to restore @ '' | xargs)"
	git checkpoint save -q --state a=b --state-only
	expect_eq '' "$(ask restore @ '')"
}

# A list on a terminal begins each row with them.
test_the_six_digits_are_completed() {
	two_checkpoints
	short=$(sed -n 's/.*_//; 2p' ids)
	expect_eq "$short" "$(offered_to show "$short")"
	expect_eq "$short" "$(offered_to restore "${short%?}" | grep -x "$short")"
	expect_grep "^ $short	@~1, .*the first one\$" "$(ask drop "$short" >out && echo out)"
	# a checkpoint is not named twice
	expect_eq '' "$(ask drop "$(sed -n 2p ids)" "$short")"
	# one letter may begin anything
	expect_eq "$(cat ids)" "$(offered_to show c)"
}

test_paths_after_a_colon_are_those_in_the_checkpoint() {
	git init -q
	mkdir -p src/deep
	touch src/a src/deep/b '~x' top
	git checkpoint save -q --name good
	rm -r src top
	mkdir src
	touch new src/new
	for command in show diff; do
		expect_eq '@:src/ @:top @:~x' "$(offered_to $command @: | grep : | xargs)"
		expect_eq 'good:src/a good:src/deep/' "$(offered_to $command good:src/ | grep : | xargs)"
	done
	cd src
	expect_eq '@:./a @:./deep/' "$(offered_to show @:./ | xargs)"
	expect_eq '@:../src/ @:../top @:../~x' "$(offered_to show @:../ | xargs)"
	expect_eq '' "$(offered_to show nothing: | grep :)$(ask show @:nothing/)$(ask show @:../../)"
	# these take none
	expect_eq '' "$(offered_to pin @: | grep src)"
}

test_files_are_found_by_the_shell_unless_it_cannot() {
	mkdir dir
	touch file .hidden
	for place in 'save' 'save --' 'run --json-file' 'flow task x running --output' \
		'run --verify' 'restore --verify-command'; do
		# shellcheck disable=SC2086
		expect_eq '!files' "$(ask $place '')" "after '$place'"
	done
	expect_eq '!directories' "$(ask flow start x --state-dir '')"
	expect_eq '!directories' "$(ask -C '')"
	expect_eq '--json-file=dir/ --json-file=file' "$(offered_to run --json-file= | xargs)"
	expect_eq '--state-dir=dir/' "$(offered_to flow start x --state-dir=)"
	expect_eq 'k=dir/ k=file' "$(offered_to save --state-file k= | xargs)"
	expect_eq 'k=.hidden' "$(offered_to save --state-file k=. | grep -F k=.)"
	expect_eq '' "$(ask save --state-file k)"
	expect_eq 'dir/ file' "$(offered_to -C . save '' | xargs)"
	expect_eq '' "$(ask -C nothing save '')"
	# a text of the user's own
	expect_eq '' "$(ask save -m '')$(ask list -n '')$(ask restore --reason '')$(ask undo '')"
	expect_eq '' "$(ask gc '')$(ask nonsense '')$(ask hook '')$(ask prune --max-size '')"
}

test_a_command_to_run_is_a_command_line() {
	expect_eq '!command 2' "$(ask run '')"
	expect_eq '!command 5' "$(ask run -m why --rollback ma)"
	expect_eq '!command 3' "$(ask run -- make --ro)"
	expect_eq '!command 6' "$(git-checkpoint --complete git -C . checkpoint run --json make '')"
	expect_eq '--rollback' "$(offered_to run --verify x --ro | grep ro)"
}

test_what_only_one_command_knows() {
	hooks_words
	offered_to hooks '' >actual
	expect_same verbs actual
	offered_to hooks install --events '' >actual
	expect_same events actual
	offered_to hooks uninstall --agent '' >actual
	expect_same agents actual
	expect_eq '' "$(ask hooks install '')"
	# a list goes on
	expect_eq '-merge,am,bisect' "$(ask hooks install --events merge,am,b | grep bis)"
	expect_eq '---events=stash,rebase' "$(ask hooks install --events=stash,re | grep reb)"
	expect_no_grep ',merge' "$(ask hooks install --events=merge, >out && echo out)"
	# settings
	expect_grep '^ maxCount	how many checkpoints that were asked for' "$(ask config '' >out && echo out)"
	git checkpoint config | cut -d = -f 1 >expected
	offered_to config '' >actual
	expect_same expected actual
	expect_no_grep '^ maxCount' "$(ask config --origin maxCount '' >out && echo out)"
	# sources and captures
	git checkpoint save -q --source "$(printf 'odd $(touch evil)')"
	echo 1 >f
	git checkpoint save -q
	expect_eq ' cli odd $(touch evil)' " $(offered_to list --source '' | xargs)"
	expect_eq '' "$(ask save --source '')"
	mkdir -p "$XDG_CONFIG_HOME/git-checkpoint"
	printf '[capture "db"]\ntype = database_savepoint\nsave = touch evil\n' \
		>"$XDG_CONFIG_HOME/git-checkpoint/config"
	expect_eq ' db	database_savepoint' "$(ask save --capture '')"
	expect_missing evil
}

test_phases_and_tasks_of_the_workflow() {
	expect_eq '' "$(ask flow phase '')"
	git checkpoint flow start work --phases plan,build --approve plan >out
	git checkpoint flow phase plan start >out
	git checkpoint flow task 'odd one' running >out
	expect_eq ' plan	in_progress  build' "$(ask flow phase '' | xargs -d '\n')"
	expect_eq 'start complete fail' "$(offered_to flow phase plan '' | xargs)"
	expect_eq 'plan build' "$(offered_to flow approve '' | xargs)"
	expect_eq ' odd one	running' "$(ask flow task '')"
	expect_eq 'pending running complete failed' "$(offered_to flow task x '' | xargs)"
	expect_eq '--output= --note= --help --quiet --json' "$(offered_to flow phase x start - | xargs)"
}

test_old_folders() {
	three_old_folders
	ask relink '' | sort >actual
	printf ' %s\n' "$T/gone	missing, $gone" "$T/old one	moved, $(key_of "$T/old one")" \
		"$odd	missing, \"$T/od\\td\"" | sort >expected
	expect_same expected actual
	ask relink "$(echo "$gone" | cut -c1-6)" >actual
	expect_grep "^ $gone	missing, $T/gone\$" actual
	expect_eq '' "$(ask relink "$T/gone" '')"
}

# Completion only looks.
test_remotes_and_machines() {
	machines
	edit one x
	on one git-checkpoint handoff -q
	on two git-checkpoint fetch -q
	on two git remote add origin "$T/project"
	expect_eq 'hub one' "$(on two offered_to takeover '' | xargs)"
	expect_eq one "$(on two offered_to takeover hub '')"
	expect_eq one "$(on two offered_to remote prune hub '')"
	expect_eq origin "$(on two offered_to remote add --project-remote '')"
	for command in show diff restore export verify; do
		on two offered_to $command '' >out
		expect_grep '^one/@$' out
	done
	expect_eq '' "$(on two offered_to pin '')"
}

test_nothing_is_written() {
	two_checkpoints
	store=$(store_dir)
	rm "$store/checkpoint-manifest.md" "$store/HEAD" ids
	chmod 755 "$store"
	fingerprint_raw "$store" >"$T/before"
	exec 9>>"$store/checkpoint/lock"
	flock 9
	expect_eq 2 "$(ask show '' | wc -l)"
	expect_grep apple "$(ask restore @ '' >"$T/out" && echo "$T/out")"
	ask list --source '' >"$T/out"
	exec 9>&-
	fingerprint_raw "$store" >"$T/after"
	expect_same "$T/before" "$T/after"
	# a wrong setting does not silence it
	git config checkpoint.maxCount nonsense
	expect_eq 2 "$(ask show '' | wc -l)"
	# nor is there anything to be made
	mkdir "$T/empty"
	cd "$T/empty"
	expect_eq '' "$(ask show '')$(ask restore @ '')$(ask diff '')"
	expect_missing "$(store_dir)"
}

# Without the program there is nothing to offer, and nothing to complain about.
test_shells_are_quiet_without_the_program() {
	use_bash
	use_fish
	mkdir "$T/bin"
	for program in bash fish zsh git sed cat; do
		ln -s "$(command -v $program)" "$T/bin/$program"
	done
	PATH=$T/bin
	"$LIB_DIR/complete-bash.sh" 'git-checkpoint sh' >out 2>&1
	test ! -s out
	fish -c "complete -C 'git-checkpoint zzz'" >out 2>&1
	test ! -s out
}

run_tests
