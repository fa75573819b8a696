# SPDX-License-Identifier: MIT
#
# fish completion for `git checkpoint`. fish reads this when it starts, because its completion for
# git does not use that of `git-checkpoint`.

function __git_checkpoint_from_git
    # The function is loaded when `git-checkpoint` is first completed.
    functions -q __git_checkpoint_complete
    or complete -C 'git-checkpoint ' >/dev/null
    __git_checkpoint_complete git
end

complete -c git -n __fish_git_needs_command -f -a checkpoint \
    -d 'save and restore the state of a working directory'
complete -c git -k -n '__fish_git_using_command checkpoint' -f -a '(__git_checkpoint_from_git)'
