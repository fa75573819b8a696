# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# bash completion for `git checkpoint`, through git's own completion, which calls _git_checkpoint,
# and for `git-checkpoint`. The program itself tells what fits at the cursor; lib/cmd/cmd.h in its
# source describes the protocol.

# bash 3 has no compopt; in later versions it works only during completion.
__git_checkpoint_compopt() {
	compopt "$@" 2>/dev/null
}

# Split the line $1 into `words` without quotes; nothing is expanded. `starts`: where each begins;
# `quote`: the one that is open at the end; `fixed`: characters of the last word that readline leaves
# alone; `target`: set if that is the file of a redirection.
__git_checkpoint_split() {
	local line=$1 char word='' begun='' at=0 outside=0

	words=() starts=() quote='' fixed=0 target=''
	for ((; at < ${#line}; at++)); do
		char=${line:at:1}
		if [[ $quote ]]; then
			if [[ $char == "$quote" ]]; then
				quote='' fixed=$outside
				continue
			fi
			[[ $quote == '"' && $char == \\ && ${line:at+1:1} == [\$\`\"\\] ]] && char=${line: ++at:1}
			word+=$char
			continue
		fi
		if [[ $char == [$' \t\n<>'] ]]; then
			# "2>file": the descriptor belongs to the redirection
			[[ ! $begun || $target || $char$word =~ ^[\<\>][0-9]+$ ]] || words+=("$word")
			[[ $begun || $char == [\<\>] ]] && target=''
			word='' begun='' fixed=0
			[[ $char == [\<\>] ]] || continue
			target=1
			while [[ ${line:at+1:1} == [\<\>\&\|] ]]; do ((at++)); done
			continue
		fi
		[[ $begun ]] || starts[${#words[@]}]=$at
		begun=1
		case $char in
		[\'\"])
			quote=$char outside=$fixed fixed=${#word}
			continue
			;;
		\\) word+=${line: ++at:1} ;;
		*)
			word+=$char
			# To readline "@" begins what follows; after the others something new begins.
			[[ $COMP_WORDBREAKS != *"$char"* ]] || fixed=${#word}
			[[ $char != @ ]] || ((fixed -= fixed == ${#word}))
			;;
		esac
	done
	[[ $begun ]] || starts[${#words[@]}]=$at
	words+=("$word")
}

# Quote $1 to follow `quote`, into `quoted`.
__git_checkpoint_quote() {
	local i

	quoted=$1
	case $quote in
	\') quoted=${1//\'/\'\\\'\'} ;;
	\")
		quoted=
		for ((i = 0; i < ${#1}; i++)); do
			[[ ${1:i:1} != [\$\`\"\\] ]] || quoted+=\\
			quoted+=${1:i:1}
		done
		;;
	*) [[ $1 != *[![:alnum:]_@%+=:,./~-]* ]] || printf -v quoted %q "$1" ;;
	esac
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

# Offer the candidates in `answer`: if there are several to be listed, with a description beside each.
__git_checkpoint_offer() {
	local line quoted wide=0 i end texts=() space

	while IFS= read -r line; do
		[[ ${line:1} == "${words[${#words[@]} - 1]}"* && $line == [\ -]* ]] || continue
		end=' ' space=+o
		[[ $line != -* ]] || end='' space=-o
		[[ $line != *$'\t'* ]] || texts[${#COMPREPLY[@]}]=${line#*$'\t'}
		line=${line:1}
		line=${line%%$'\t'*}
		__git_checkpoint_quote "${line:fixed}"
		# After an open quote readline adds the space: it belongs after the closing one.
		[[ ! $quote ]] || end=''
		COMPREPLY+=("$quoted$end")
		((${#quoted} <= wide)) || wide=${#quoted}
	done <<<"$answer"
	[[ $quote ]] || space=-o
	__git_checkpoint_compopt "$space" nospace
	[[ ! $quote && ${#COMPREPLY[@]} -gt 1 && ${COMP_TYPE-} != 37 && ${COMP_TYPE-} != 42 ]] || return 0
	for i in "${!texts[@]}"; do
		printf -v line '%-*s  %s' "$wide" "${COMPREPLY[i]% }" "${texts[i]}"
		COMPREPLY[i]=${line:0:${COLUMNS:-80}-1}
	done
}

# $1: the name with which the line begins.
__git_checkpoint_ask() {
	local answer='!files' words starts quote fixed target

	COMPREPLY=()
	__git_checkpoint_split "${COMP_LINE:0:COMP_POINT}"
	[[ $target ]] || answer=$(git-checkpoint --complete "$1" "${words[@]:1}" 2>/dev/null </dev/null)
	# readline falls back to file names if there is nothing else, and only then.
	[[ $answer == '!'[fc]* ]] || __git_checkpoint_compopt +o bashdefault +o default
	__git_checkpoint_compopt -o nosort
	case $answer in
	'!files') __git_checkpoint_compopt +o nospace ;;
	'!directories') __git_checkpoint_compopt -o dirnames ;;
	'!command '*) __git_checkpoint_command "${COMP_LINE:starts[${answer#* }]:COMP_POINT-starts[${answer#* }]}" ;;
	*) __git_checkpoint_offer ;;
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
