# SPDX-License-Identifier: MIT
#
# Completion of `git checkpoint` for fish, which reads this when it starts: git's own completion
# hands nothing on to that of `git-checkpoint`.

function __git_checkpoint_from_git
    # What is defined there is loaded when `git-checkpoint` is first completed.
    functions -q __git_checkpoint_complete
    or complete -C 'git-checkpoint ' >/dev/null
    __git_checkpoint_complete git
end

complete -c git -n __fish_git_needs_command -f -a checkpoint \
    -d 'save and restore the state of a working directory'
complete -c git -k -n '__fish_git_using_command checkpoint' -f -a '(__git_checkpoint_from_git)'
