#!/bin/sh
# SPDX-License-Identifier: MIT
# What goes between machines asks the other side once, and starts few git processes. Those that git
# itself starts are not counted.

. "$(dirname "$0")/../../lib/harness.sh"
. "$LIB_DIR/machines.sh"

# count_git <machine> <command>...: the calls of git that the program makes are in $T/calls
count_git() {
	strace -f -o /dev/null true 2>/dev/null || skip 'cannot trace'
	count_machine=$1
	shift
	on "$count_machine" strace -f -qq -e trace=execve,fork,vfork,clone,clone3 -s 4096 -o "$T/trace" "$@" >/dev/null
	# the program is the first process; a thread of it, or what it forks, runs git by one exec
	perl -e '
		my (%parent, %asked, %git, @calls);
		while (<>) {
			my ($pid) = /^(\d+)/ or next;
			if (/(?:fork|clone3?)\(.*= (\d+)$/ || /<\.\.\. (?:v?fork|clone3?) resumed>.*= (\d+)$/) {
				$parent{$1} = $pid;
			}
			$asked{$pid} = $1 if /execve\("[^"]*\/git", (\[.*?\])/;
			next if !$asked{$pid} || !/execve.* = 0$/;
			push @calls, [$pid, delete $asked{$pid}];
			$git{$pid} = 1;
		}
		for my $call (@calls) {
			my ($pid, $args) = @$call;
			my $above = $parent{$pid};
			$above = $parent{$above} while defined $above && !$git{$above};
			print "$args\n" unless defined $above;
		}' "$T/trace" >"$T/calls"
}

# at_most <number>: processes; and one question to the remote
at_most() {
	test "$(wc -l <"$T/calls")" -le "$1" || fail "more than $1: $(cat "$T/calls")"
	test "$(wc -l <"$T/calls")" -gt 2 || fail "the trace is not understood: $(cat "$T/calls")"
	expect_eq 1 "$(grep -c '"ls-remote"' "$T/calls")"
}

one_of_each() {
	on one sh -e -c 'echo edited >file; echo staged >staged; git add staged; echo new >new'
}

test_takeover() {
	machines
	one_of_each
	on one git-checkpoint handoff -q hub
	count_git two git-checkpoint takeover -q -y hub
	same
	at_most 10
}

test_handoff() {
	machines
	one_of_each
	count_git one git-checkpoint handoff -q hub
	# two pushes: that it was handed off is told when all of it is there
	at_most 9
	on two git-checkpoint takeover -q -y hub
	same
}

test_push_and_fetch() {
	machines
	one_of_each
	on one git-checkpoint save -q
	count_git one git-checkpoint push -q
	at_most 3
	count_git two git-checkpoint fetch -q
	at_most 3
	on two git-checkpoint verify -q one/@
}

run_tests
