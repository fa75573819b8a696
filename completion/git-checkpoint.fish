# SPDX-License-Identifier: MIT
#
# fish completion for `git-checkpoint`. The program itself tells what fits at the cursor;
# lib/cmd/cmd.h in its source describes the protocol.

# $argv[1]: the name with which the line begins, "git" or "git-checkpoint".
function __git_checkpoint_complete
    command -q git-checkpoint
    or return
    set -l tokens (commandline -opc)
    set -l typed (string unescape -- (commandline -ct))
    set -l answer (command git-checkpoint --complete $argv[1] $tokens[2..-1] "$typed" 2>/dev/null </dev/null)

    string replace -r -f -- '^[ -]' '' $answer
    switch "$answer[1]"
        case '!files'
            __fish_complete_path (commandline -ct)
        case '!directories'
            __fish_complete_directories (commandline -ct) ''
        case '!command *'
            set -l first (math 1 + (string replace '!command ' '' -- $answer[1]))
            complete -C (string join ' ' -- (string escape -- $tokens[$first..-1]) (commandline -ct))
    end
end

complete -c git-checkpoint -f -k -a '(__git_checkpoint_complete git-checkpoint)'
