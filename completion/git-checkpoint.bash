# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# Completion for bash: of `git checkpoint`, through git's own completion, which calls
# _git_checkpoint, and of `git-checkpoint`. What can stand at the cursor is asked of the program;
# lib/cmd/complete.h in its sources says how.

# bash 3 has no compopt; elsewhere it works only while a word is being completed.
__git_checkpoint_compopt() {
	compopt "$@" 2>/dev/null
}

# The words that were offered, with quotes: the space goes behind these, so readline has to add it.
__git_checkpoint_quoted() {
	local space=+o

	[[ ${ends[0]} ]] || space=-o
	__git_checkpoint_compopt "$space" nospace
	COMPREPLY=("${words[@]}")
}

# The same, but readline quotes them, as names of files.
__git_checkpoint_names() {
	local i

	__git_checkpoint_quoted
	if ! __git_checkpoint_compopt -o filenames; then
		for i in "${!COMPREPLY[@]}"; do
			printf -v "COMPREPLY[$i]" %q "${COMPREPLY[i]}"
		done
		return
	fi
	# The slash behind a directory that is there comes from readline, and behind quotes twice.
	for i in "${!COMPREPLY[@]}"; do
		[[ ${COMPREPLY[i]} != */ || ! -d ${COMPREPLY[i]} ]] || COMPREPLY[i]=${COMPREPLY[i]%/}
	done
}

# The same as plain words. As in git's completion, the space behind them is ours to add. Where there
# is a choice, and it is only shown, what there is to say about each stands beside it.
__git_checkpoint_plain() {
	local i line wide=0

	__git_checkpoint_compopt -o nospace
	for i in "${!words[@]}"; do
		COMPREPLY[i]=${words[i]}${ends[i]}
		((${#words[i]} <= wide)) || wide=${#words[i]}
	done
	[[ ${#words[@]} -gt 1 && ${COMP_TYPE-} != 37 && ${COMP_TYPE-} != 42 ]] || return 0
	for i in "${!words[@]}"; do
		[[ ${texts[i]} ]] || continue
		printf -v line '%-*s  %s' "$wide" "${words[i]}" "${texts[i]}"
		COMPREPLY[i]=${line:0:${COLUMNS:-80}-1}
	done
}

# A command line of its own, of which there is $1.
__git_checkpoint_command() {
	local i=0 line=${COMP_LINE:0:COMP_POINT}

	line=${line%"$1"}
	while [[ $line == *[![:space:]]* ]] && ((i < COMP_CWORD)); do
		line=${line#*"${COMP_WORDS[i]}"}
		((++i))
	done
	__git_checkpoint_compopt +o nospace
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset "$i"
	elif declare -F _command_offset >/dev/null; then
		_command_offset "$i"
	elif ((i == COMP_CWORD)); then
		while IFS= read -r line; do
			COMPREPLY+=("$line")
		done < <(compgen -c -- "${COMP_WORDS[i]}")
	fi
}

# $1: the name that the line begins with.
__git_checkpoint_ask() {
	local answer line also='' how=plain words=() texts=() ends=()

	COMPREPLY=()
	answer=$(git-checkpoint --complete-line "$1" "$COMP_WORDBREAKS" "${COMP_LINE:0:COMP_POINT}" \
		2>/dev/null </dev/null)
	while IFS= read -r line; do
		case $line in
		'!names' | '!quoted') how=${line#!} ;;
		'!'*) also=${line#!} ;;
		' '* | -*)
			[[ $line == -* ]] && ends+=('') || ends+=(' ')
			line=${line:1}
			words+=("${line%%$'\t'*}")
			[[ $line == *$'\t'* ]] && texts+=("${line#*$'\t'}") || texts+=('')
			;;
		esac
	done <<<"$answer"

	# Names of files are what readline goes on to if there is nothing else, and only then.
	[[ $also == files || $also == command* ]] || __git_checkpoint_compopt +o bashdefault +o default
	__git_checkpoint_compopt -o nosort
	case $also in
	files) __git_checkpoint_compopt +o nospace ;;
	directories) __git_checkpoint_compopt -o dirnames ;;
	command*) __git_checkpoint_command "${also#command }" ;;
	*)
		((${#words[@]} == 0)) || "__git_checkpoint_$how"
		;;
	esac
}

_git_checkpoint() {
	# With an alias of the shell for `git checkpoint` its name is all that comes before.
	if [[ ${__git_cmd_idx-1} == 0 ]]; then
		__git_checkpoint_ask git-checkpoint
	else
		__git_checkpoint_ask git
	fi
}

__git_checkpoint_main() {
	__git_checkpoint_ask git-checkpoint
}

complete -o bashdefault -o default -o nospace -F __git_checkpoint_main git-checkpoint
