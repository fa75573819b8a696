# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# A repository in which everything that, by git's documentation, can run, fetch or write something
# does so, and leaves a mark in $T/marks. For t-traps.sh.

# snare <name> [<text>]: a program that leaves the mark <name>, then runs <text>
snare() {
	mkdir -p "$T/snares" "$T/marks"
	printf '#!/bin/sh\n: >"%s"\n%s\n' "$T/marks/$1" "${2:-exit 1}" >"$T/snares/$1"
	chmod +x "$T/snares/$1"
}

# snare_hooks <directory> <name>
snare_hooks() {
	mkdir -p "$1"
	snare "$2" 'exit 0'
	for hook in pre-commit post-commit reference-transaction post-index-change post-checkout \
		pre-rebase pre-auto-gc update pre-receive post-update fsmonitor-watchman; do
		cp "$T/snares/$2" "$1/$hook"
	done
}

other_repository() {
	test -d "$T/other.git" || git init -q --bare "$T/other.git"
}

# trap_transport: remotes that run a command when something is fetched, all of them promisors
trap_transport() {
	other_repository
	snare ssh
	snare proxy
	snare uploadpack
	snare ext
	git config core.sshCommand "$T/snares/ssh"
	git config core.gitProxy "$T/snares/proxy"
	git config protocol.ext.allow always
	git config protocol.file.allow always
	for remote in "origin ssh://example.org/x" "proxied git://example.org/x" \
		"local $T/other.git" "ext ext::$T/snares/ext"; do
		git config "remote.${remote%% *}.url" "${remote#* }"
		git config "remote.${remote%% *}.fetch" "+refs/heads/*:refs/remotes/${remote%% *}/*"
		git config "remote.${remote%% *}.promisor" true
	done
	git config remote.local.uploadpack "$T/snares/uploadpack"
	git config core.repositoryFormatVersion 1
	git config extensions.partialClone origin
	git config fetch.bundleURI "ext::$T/snares/ext"
	git config transfer.bundleURI true
}

# trap_contents: attributes, and programs that look at contents
trap_contents() {
	for name in external textconv command merge; do
		snare $name
	done
	for name in clean smudge; do
		snare $name cat
	done
	snare process
	git config diff.external "$T/snares/external"
	git config diff.x.textconv "$T/snares/textconv"
	git config diff.y.command "$T/snares/command"
	git config filter.x.clean "$T/snares/clean"
	git config filter.x.smudge "$T/snares/smudge"
	git config filter.y.process "$T/snares/process"
	git config merge.x.driver "$T/snares/merge"
	printf '*.txt filter=x diff=x merge=x\n*.dat diff=y\n*.prc filter=y\n' >.gitattributes
	mkdir -p .git/info
	echo '*.txt filter=x diff=x' >.git/info/attributes
}

# trap_programs: what git asks, shows and signs with, and hooks
trap_programs() {
	other_repository
	for name in fsmonitor included editor sequence gpg credential askpass alias submodule viewer \
		alternate recent packhook filterview; do
		snare $name
	done
	# one that refuses would keep the others from being sprung
	snare confighook 'exit 0'
	snare pager cat
	git config core.fsmonitor "$T/snares/fsmonitor"
	printf '[core]\n\tfsmonitor = %s\n' "$T/snares/included" >"$T/included"
	git config core.pager "$T/snares/pager"
	git config core.editor "$T/snares/editor"
	git config sequence.editor "$T/snares/sequence"
	git config gpg.program "$T/snares/gpg"
	git config gpg.ssh.program "$T/snares/gpg"
	git config commit.gpgSign true
	git config log.showSignature true
	git config credential.helper "$T/snares/credential"
	git config core.askPass "$T/snares/askpass"
	for name in ls-files ls-tree config version pack-objects index-pack checkpoint; do
		git config "alias.$name" "!$T/snares/alias"
	done
	git config submodule.sub.update "!$T/snares/submodule"
	git config submodule.sub.url "$T/other.git"
	printf '[submodule "sub"]\n\tpath = sub\n\turl = ext::%s\n' "$T/snares/ext" >.gitmodules
	git config man.viewer trap
	git config man.trap.cmd "$T/snares/viewer; :"
	git config core.alternateRefsCommand "$T/snares/alternate"
	git config gc.recentObjectsHook "$T/snares/recent"
	git config gc.auto 1
	git config uploadpack.packObjectsHook "$T/snares/packhook"
	git config interactive.diffFilter "$T/snares/filterview"
	git config hook.trap.command "$T/snares/confighook"
	git config --add hook.trap.event post-index-change
	git config --add hook.trap.event reference-transaction
	mkdir -p .git/objects/info
	echo "$T/other.git/objects" >.git/objects/info/alternates
}

# trap_includes: the same program, through included files
trap_includes() {
	git config include.path "$T/included"
	git config "includeIf.gitdir:**.path" "$T/included"
	git config "includeIf.onbranch:main.path" "$T/included"
}

# trap_environment: what the caller may have set, and files that would be written
trap_environment() {
	snare env
	mkdir -p "$T/outside"
	for name in GIT_TRACE GIT_TRACE_SETUP GIT_TRACE_PERFORMANCE GIT_TRACE_PACKET GIT_TRACE_CURL \
		GIT_TRACE_PACK_ACCESS GIT_TRACE_FSMONITOR GIT_TRACE2 GIT_TRACE2_EVENT GIT_TRACE2_PERF; do
		export "$name=$T/outside/$name"
	done
	export GIT_CURL_VERBOSE=1 GIT_EXTERNAL_DIFF="$T/snares/env" GIT_SSH_COMMAND="$T/snares/env" \
		GIT_PROXY_COMMAND="$T/snares/env" GIT_ASKPASS="$T/snares/env" \
		GIT_EDITOR="$T/snares/env" GIT_ALLOW_PROTOCOL=ssh:git:ext:file:https
}

# set_traps [<hooks directory>]: all of them, in the current repository
set_traps() {
	trap_transport
	trap_contents
	snare_hooks .git/hooks hooks
	trap_programs
	trap_includes
	git config --global trace2.eventTarget "$T/outside/trace2-of-the-user"
	if test -n "${1:-}"; then
		snare_hooks "$1" hookspath
		git config core.hooksPath "$1"
	fi
	trap_environment
	rm -f "$T/marks"/* "$T/outside"/*
}

# lose <revision>: an object of the repository, as in a partial clone that never had it
lose() {
	lost=$(env -u GIT_TRACE2 -u GIT_TRACE2_EVENT git rev-parse "$1")
	rm -f ".git/objects/$(echo "$lost" | cut -c1-2)/$(echo "$lost" | cut -c3-)"
}
