# SPDX-License-Identifier: MIT
# shellcheck shell=sh
#
# A client of `git checkpoint mcp`: one request at a time.
#
#   mcp_open 2025-11-25           start it and begin as a client of that revision does
#   mcp_call checkpoint_save '{"reason":"x"}'     the result of a tool, checked against its schema
#   mcp_ask prompts/list '{}'     the whole answer to any other request
#   mcp_close                     end it; fails if it did not end well

MODERN='{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
	"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"1"},
	"io.modelcontextprotocol/clientCapabilities":{}}'

# mcp_begin [<argument>...]: start it, and say nothing
mcp_begin() {
	rm -f "$T/to" "$T/from"
	mkfifo "$T/to" "$T/from"
	git-checkpoint mcp "$@" <"$T/to" >"$T/from" 2>"$T/mcp-said" &
	mcp_pid=$!
	exec 3>"$T/to" 4<"$T/from"
	echo 0 >"$T/mcp-id"
	REVISION=
}

# mcp_line: the next line that it writes
mcp_line() {
	IFS= read -r line <&4
	printf '%s\n' "$line"
}

mcp_send() {
	printf '%s\n' "$1" >&3
}

# mcp_ask <method> <parameters>
mcp_ask() {
	id=$(($(cat "$T/mcp-id") + 1))
	echo $id >"$T/mcp-id"
	case $REVISION in
	2026*) meta=$MODERN ;;
	*) meta='{}' ;;
	esac
	mcp_send "$(jq -cn --argjson id $id --arg method "$1" --argjson params "$2" --argjson meta "$meta" \
		'{jsonrpc: "2.0", id: $id, method: $method, params: ($params + {_meta: (($params._meta // {}) + $meta)})}')"
	mcp_line | jq -ce --argjson id $id 'if .id == $id then . else error("another answer: \(.)") end'
}

# mcp_open <revision> [<argument>...]
mcp_open() {
	wanted=$1
	shift
	mcp_begin "$@"
	REVISION=$wanted
	case $REVISION in
	2026*) mcp_ask server/discover '{}' ;;
	*)
		mcp_ask initialize "{\"protocolVersion\":\"$REVISION\",\"capabilities\":{},
			\"clientInfo\":{\"name\":\"tester\",\"version\":\"1\"}}"
		mcp_send '{"jsonrpc":"2.0","method":"notifications/initialized"}'
		;;
	esac >"$T/mcp-opened"
	mcp_ask tools/list '{}' | jq -c .result >"$T/tools"
}

# mcp_call <tool> <arguments>
mcp_call() {
	mcp_ask tools/call "{\"name\":\"$1\",\"arguments\":$2}" | jq -ce .result >"$T/result"
	perl "$LIB_DIR/schema.pl" "$1" "$T/tools" "$T/result"
	cat "$T/result"
}

# mcp_ok <tool> <arguments>: what it answers
mcp_ok() {
	mcp_call "$1" "$2" | jq -ce 'if .isError then error(.content[0].text) else .structuredContent end'
}

# mcp_refuses <tool> <arguments> <code>: the sentence
mcp_refuses() {
	mcp_call "$1" "$2" | jq -re --argjson code "$3" 'if .isError | not then error("not refused: \(.)")
		else .content[0].text | fromjson.error | if .code == $code then .message else error(.) end end'
}

mcp_close() {
	exec 3>&-
	wait $mcp_pid
	test -z "$(cat <&4)"
	exec 4<&-
	test ! -s "$T/mcp-said"
}
