#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What bash offers when Tab is pressed at the end of each line given, one candidate a line, with
# bash-completion loading the completions as it does for everybody.
# usage: complete-bash.sh <line>...

. /usr/share/bash-completion/bash_completion || exit 2

for line; do
	COMP_LINE=$line COMP_POINT=${#line}
	read -r -a COMP_WORDS <<<"$line"
	[[ $line != *' ' ]] || COMP_WORDS+=('')
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_TYPE=9 COMP_KEY=9
	COMPREPLY=()
	program=${COMP_WORDS[0]}
	complete -p "$program" >/dev/null 2>&1 || _completion_loader "$program"
	function=$(complete -p "$program" | sed -n 's/.* -F \([^ ]*\) .*/\1/p')
	"$function" "$program" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
	((${#COMPREPLY[@]})) && printf '%s\n' "${COMPREPLY[@]}"
done
exit 0
