# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154,SC2207
#
# Completion for bash: of `git checkpoint`, through git's own completion, which calls
# _git_checkpoint, and of `git-checkpoint`. What there is to complete is asked of the program.

# Offer the lines of $1 that begin with the word at the cursor, or with $2 if that is given. As in
# git's completion, the space behind a word is ours to add, so that --name= can do without.
__git_checkpoint_offer() {
	local IFS=$'\n' line
	for line in $1; do
		[[ $line == "${2-$cur}"* ]] || continue
		[[ $line == *= ]] || line+=${3- }
		COMPREPLY+=("$line")
	done
}

# The first column of what the program prints: $1 is what separates it from the rest.
__git_checkpoint_ask() {
	local separator=$1
	shift
	git-checkpoint "$@" 2>/dev/null </dev/null | cut -d "$separator" -f 1
}

# True if the option $2 of the command $1 is followed by a value.
__git_checkpoint_takes_value() {
	case $2 in
	--*=*) return 1 ;;
	--*) __git_checkpoint_ask $'\t' --list-opts "$1" | grep -q -x -e "$2=" ;;
	-?) git-checkpoint "$1" -h 2>/dev/null | grep -q -e "^    $2, --[a-z-]* <" ;;
	*) return 1 ;;
	esac
}

# True if no argument of the command, which is the word $1, stands before the cursor.
__git_checkpoint_first_argument() {
	local i command=${words[$1]}

	for ((i = $1 + 1; i < cword; i++)); do
		[[ ${words[i]} == -* ]] || return 1
		! __git_checkpoint_takes_value "$command" "${words[i]}" || ((i++))
	done
}

# The argument that says what to do, as "install" of hooks, of the command that is the word $1.
__git_checkpoint_verb() {
	local i command=${words[$1]}

	for ((i = $1 + 1; i < cword; i++)); do
		if [[ ${words[i]} != -* ]]; then
			echo "${words[i]}"
			return
		fi
		! __git_checkpoint_takes_value "$command" "${words[i]}" || ((i++))
	done
}

# Offer the values of the option $2 of the command $1, if they are known, for what is typed in $3.
__git_checkpoint_values() {
	local end=' '

	# A list may go on.
	! git-checkpoint "$1" -h 2>/dev/null | grep -q -e "^    $2 <list>" || end=''
	__git_checkpoint_offer "$(__git_checkpoint_ask $'\t' --list-values "$1" "$2" "$3")" "$3" "$end"
}

# What relink can adopt: the old paths of folders that are not there any more, as they are typed.
# The key of a store takes the place of a path that is hard to type, or that cannot be told; keys
# are offered, too, where a word begins as one.
__git_checkpoint_old_folders() {
	local line path row='^([0-9a-f]{16}) .*  (missing|moved|damaged) +(.*)$'

	while IFS= read -r line; do
		[[ $line =~ $row ]] || continue
		printf -v path %q "${BASH_REMATCH[3]}"
		# A colon or an = ends a word for readline.
		if [[ $path == /* && $path != *[:=]* && $cur != [0-9a-f]* ]]; then
			echo "$path"
		else
			echo "${BASH_REMATCH[1]}"
		fi
	done < <(git-checkpoint "$@" stores 2>/dev/null </dev/null)
}

# $1 is the place of "checkpoint" in the words.
__git_checkpoint_words() {
	local i=$(($1 + 1)) at command='' where=() after_dashes=''

	[[ -z ${__git_C_args[*]-} ]] || where=("${__git_C_args[@]}")
	for (( ; i < cword; i++)); do
		case ${words[i]} in
		-C) where+=(-C "${words[++i]}") ;;
		-*) ;;
		*)
			command=${words[i]}
			break
			;;
		esac
	done
	for ((at = i; i < cword; i++)); do
		[[ ${words[i]} != -- ]] || after_dashes=1
	done

	if [[ -z $command ]]; then
		if [[ ${words[cword - 1]} == -C ]]; then
			compopt -o dirnames 2>/dev/null
		elif [[ $cur == -* ]]; then
			__git_checkpoint_offer $'-C\n-h\n--version'
		else
			__git_checkpoint_offer "$(__git_checkpoint_ask $'\t' --list-cmds)"
		fi
		return
	fi
	# From here on an empty answer means names of files.
	if [[ $command == run ]] && ! __git_checkpoint_first_argument "$at"; then
		return
	fi
	[[ -z $after_dashes || $command == run ]] || return
	if [[ $cur == --*=* && -z $after_dashes ]]; then
		__git_checkpoint_values "$command" "${cur%%=*}" "${cur#*=}"
	elif [[ $cur == -* && -z $after_dashes ]]; then
		__git_checkpoint_offer "$(__git_checkpoint_ask $'\t' --list-opts "$command" \
			"$(__git_checkpoint_verb "$at")")"
	elif __git_checkpoint_takes_value "$command" "${words[cword - 1]}"; then
		__git_checkpoint_values "$command" "${words[cword - 1]}" "$cur"
	else
		case $command in
		show | diff | verify | drop) ;;
		run)
			__git_checkpoint_offer "$(compgen -c -- "$cur" | sort -u)"
			return
			;;
		restore | pin | unpin) __git_checkpoint_first_argument "$at" || return ;;
		hooks | flow)
			! __git_checkpoint_first_argument "$at" ||
				__git_checkpoint_offer "$(__git_checkpoint_ask $'\t' --list-verbs "$command")"
			return
			;;
		relink)
			! __git_checkpoint_first_argument "$at" ||
				__git_checkpoint_offer "$(__git_checkpoint_old_folders "${where[@]}")"
			return
			;;
		*) return ;;
		esac
		__git_checkpoint_offer "$(__git_checkpoint_ask ' ' "${where[@]}" list -n 50)"
	fi
}

_git_checkpoint() {
	local i=1

	while ((i < cword)) && [[ ${words[i]} != checkpoint ]]; do
		((i++))
	done
	# Behind an alias the word is another one.
	((i < cword)) || i=${__git_cmd_idx:-1}
	__git_checkpoint_words "$i"
}

__git_checkpoint_main() {
	local cur words cword

	COMPREPLY=()
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur words cword
	else
		words=("${COMP_WORDS[@]}") cword=$COMP_CWORD cur=${COMP_WORDS[COMP_CWORD]}
	fi
	__git_checkpoint_words 0
}

complete -o bashdefault -o default -o nospace -F __git_checkpoint_main git-checkpoint
