# SPDX-License-Identifier: MIT
#
# Completion of `git checkpoint` for fish: git's own hands nothing on to git-checkpoint, so this,
# which fish reads when it starts, asks the completion of `git-checkpoint` instead.

function __git_checkpoint_from_git
    set -l tokens (commandline -opc)
    set -l at (contains -i -- checkpoint $tokens)
    or return
    set -l words git-checkpoint
    set -l i (contains -i -- -C $tokens[1..$at])
    and set words $words -C $tokens[(math $i + 1)]
    set words $words $tokens[(math $at + 1)..-1]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end

complete -c git -n __fish_git_needs_command -f -a checkpoint \
    -d 'save and restore the state of a working directory'
complete -c git -k -n '__fish_git_using_command checkpoint' -f -a '(__git_checkpoint_from_git)'
