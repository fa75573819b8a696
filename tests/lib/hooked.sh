# SPDX-License-Identifier: MIT
# shellcheck shell=sh disable=SC2034,SC2120,SC2164 # cases run with set -e
#
# For the tests of what hooks do; sourced after harness.sh. A repository is made once, copied to
# $T/template for each case, and from there to $T/work/r for each command that is tried in it.

# install_hooks [<option>...]: into the repository around the current directory, for all events
install_hooks() {
	git-checkpoint hooks install -q --events rebase,merge,am,stash,bisect "$@" >/dev/null
}

# guard_only: the guard alone, which sees commands that run no hook
guard_only() {
	git-checkpoint hooks install -q --guard --no-ref-transaction >/dev/null
}

# commit <message> [<file> <text>]...
commit() {
	commit_message=$1
	shift
	while test $# -gt 0; do
		mkdir -p "$(dirname "$1")"
		printf '%s\n' "$2" >"$1"
		shift 2
	done
	git add -A
	git commit -q -m "$commit_message"
}

# make_template [<function>]: a repository, made once by first_template or by another function
make_template() {
	maker=${1:-first_template}
	test -e "$SCRATCH/$maker" || {
		git init -q "$SCRATCH/$maker"
		(
			cd "$SCRATCH/$maker"
			git config gc.auto 0
			"$maker"
		)
	}
	cp -a "$SCRATCH/$maker" "$T/template"
	git -C "$T/template" update-index -q --refresh
}

# first_template: branches main, feat (apart from main), other (a third way), ffb (ahead of main),
# conf (conflicts with main), over (ahead of main, changes d.txt); on main
first_template() {
	ln -s d.txt lnk
	printf '#!/bin/sh\n' >run.sh
	chmod 755 run.sh
	printf '*.log\n' >.gitignore
	commit base d.txt d e.txt e sub/e.txt e sub/deep/g.txt g
	git branch feat
	git branch other
	git branch conf
	commit main m.txt m
	git checkout -q feat
	commit feat f.txt f sub/e.txt feat
	git checkout -q other
	commit other o.txt o
	git checkout -q conf
	commit conf m.txt conf
	git checkout -q -b ffb main
	commit ffb ff.txt ff
	git checkout -q -b over main
	commit over d.txt over
	git checkout -q main
}

# dirty: changed, untracked and ignored files, and modes and links that git does not record
dirty() {
	echo changed >>d.txt
	untracked
}

untracked() {
	echo u >u.txt
	chmod 600 u.txt
	mkdir -p ud empty
	chmod 700 ud
	echo x >ud/x
	ln -sfn nowhere ul
	echo l >x.log
}

# state [all]: of the current directory, a line for each thing that a checkpoint of it has to hold;
# without ignored files (*.log) unless all are asked for
state() {
	fingerprint . | ALL="${1:-}" perl -MDigest::SHA=sha256_hex -e '
		my (@dirs, %lines);
		while (<STDIN>) {
			/^(\d+) (\w+) (\S+) (.*)$/ or die $_;
			my ($mode, $kind, $what, $path) = ($1, $2, $3, $4);
			next if $path =~ /\.log$/ && !$ENV{ALL};
			if ($kind eq "dir") { push @dirs, $path; next; }
			$lines{$path} = $kind eq "link" ? "120000 " . sha256_hex($what) : "10$mode $what";
		}
		for my $dir (@dirs) {
			next if grep { index($_, "$dir/") == 0 } keys %lines, @dirs;
			$lines{$dir} = "040000 " . sha256_hex("");
		}
		print "$lines{$_} $_\n" for sort keys %lines;
	'
}

# stored [<checkpoint>]: the same of a checkpoint
stored() {
	git-checkpoint show --hashes "${1:-@}" | tr '\0' '\n'
}

# checkpoints: "<reason> <source>" of each, the oldest first
checkpoints() {
	git-checkpoint list --json 2>/dev/null | jq -r '.checkpoints | reverse[] | "\(.reason) \(.source)"'
}

# fresh <setup>: a new copy of the template as the current directory, dirty, without a store
fresh() {
	cd "$T/work"
	rm -rf r "$(checkpoint_home)"
	cp -a "$T/template" r
	cd r
	git update-index -q --refresh
	eval "$1"
}

# run <command>...: what it says is left in $T/out and $T/err, its status in $status
run() {
	status=0
	"$@" >"$T/out" 2>"$T/err" </dev/null || status=$?
}

# is_turn: try one row in $ROWS, chosen by TEST_SEED, unless all are asked for
ROWS=${ROWS:-2}
turn=$TEST_SEED
tried=
is_turn() {
	turn=$((turn + 1)) tried=
	all_rounds || test $((turn % ROWS)) = 0 || return 1
	tried=1
}

# if_tried <command>...: a check of the previous row, if that was tried
if_tried() {
	test -z "$tried" || "$@"
}

# saves <reason> <setup> <command>...: in a fresh copy the command takes exactly one checkpoint,
# which holds the state before it; +i after the reason: with ignored files
saves() {
	is_turn || return 0
	saves_reason=${1%+i} saves_all='' saves_lines=1
	# a git that is told to be quiet may be in the setup, too: an alias, a hook
	case " $* " in
	*' -q '* | *' --quiet '*) saves_lines='[01]' ;;
	esac
	test "$1" = "$saves_reason" || saves_all=all
	fresh "$2"
	shift 2
	$INSTALL
	state $saves_all >"$T/before"
	run "$@"
	expect_eq "$saves_reason hook" "$(checkpoints | tr '\n' ',' | sed 's/,$//')" "checkpoints of '$*'"
	stored >"$T/stored"
	expect_same "$T/before" "$T/stored"
	# as quiet as git was told to be
	grep -c '^checkpoint: saved chk_[0-9_a-f]* before ' "$T/err" | grep -qx "$saves_lines" ||
		fail "not $saves_lines lines about '$*'"
	expect_no_grep '^checkpoint: not\|Sanitizer\|runtime error' "$T/err"
}

# saves_none <setup> <command>...
saves_none() {
	is_turn || return 0
	fresh "$1"
	shift
	$INSTALL
	run "$@"
	expect_eq '' "$(checkpoints)" "checkpoints of '$*'"
	expect_no_grep '^checkpoint:' "$T/err"
}

# all_rounds: whether rows that are much like others are tried too
all_rounds() {
	test "${CKPT_TEST_ROUNDS:-}" = all
}
