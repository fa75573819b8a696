# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# bash completion for `git checkpoint`, through git's own completion, which calls _git_checkpoint,
# and for `git-checkpoint`. The program itself tells what fits at the cursor; lib/cmd/complete.h in its
# source describes the protocol.

# bash 3 has no compopt; in later versions it works only during completion.
__git_checkpoint_compopt() {
	compopt "$@" 2>/dev/null
}

# Offer the words, which have quotes: the space belongs after the closing quote, so readline adds it.
__git_checkpoint_quoted() {
	local space=+o

	[[ ${ends[0]} ]] || space=-o
	__git_checkpoint_compopt "$space" nospace
	COMPREPLY=("${words[@]}")
}

# Offer the words as file names, which readline quotes.
__git_checkpoint_names() {
	local i

	__git_checkpoint_quoted
	if ! __git_checkpoint_compopt -o filenames; then
		for i in "${!COMPREPLY[@]}"; do
			printf -v "COMPREPLY[$i]" %q "${COMPREPLY[i]}"
		done
		return
	fi
	# readline adds the slash after an existing directory, and after quotes a second one.
	for i in "${!COMPREPLY[@]}"; do
		[[ ${COMPREPLY[i]} != */ || ! -d ${COMPREPLY[i]} ]] || COMPREPLY[i]=${COMPREPLY[i]%/}
	done
}

# Offer plain words. As in git's completion, we add the space after them. If several are only listed,
# show the description of each beside it.
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

# Complete the command line that begins at $1 as if it stood alone.
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

# $1: the name with which the line begins.
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

	# readline falls back to file names if there is nothing else, and only then.
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
	# With a shell alias for `git checkpoint`, only its name precedes the arguments.
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
