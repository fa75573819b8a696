# SPDX-License-Identifier: MIT
#
# Completion of `git-checkpoint` for fish. What there is to complete is asked of the program.

# The words behind git-checkpoint, without -C and its value, which go into a list of their own.
function __git_checkpoint_parse --no-scope-shadowing
    set -l tokens (commandline -opc)[2..-1]
    set command
    set where
    while set -q tokens[1]
        switch $tokens[1]
            case -C
                set where -C $tokens[2]
                set -e tokens[1]
            case '-*'
            case '*'
                set command $tokens[1]
                break
        end
        set -e tokens[1]
    end
end

function __git_checkpoint_needs_command
    __git_checkpoint_parse
    test -z "$command"
end

# True if the command is one of those given.
function __git_checkpoint_using
    __git_checkpoint_parse
    contains -- "$command" $argv
end

# True if the option $argv[2] of the command $argv[1] is followed by a value.
function __git_checkpoint_takes_value
    switch $argv[2]
        case '--*=*'
            return 1
        case '--*'
            git-checkpoint --list-opts $argv[1] 2>/dev/null | string match -q -- "$argv[2]="\t'*'
        case '-?'
            git-checkpoint $argv[1] -h 2>/dev/null | string match -q -r -- "^    $argv[2], --[a-z-]+ <"
        case '*'
            return 1
    end
end

# True if the word before the cursor waits for its value.
function __git_checkpoint_needs_value
    __git_checkpoint_parse
    __git_checkpoint_takes_value "$command" (commandline -opc)[-1]
end

# True if the command is one of those given, and has no argument before the cursor.
function __git_checkpoint_first_argument
    __git_checkpoint_parse
    contains -- "$command" $argv
    or return
    set -l tokens (commandline -opc)[2..-1]
    set -e tokens[1..(contains -i -- $command $tokens)]
    while set -q tokens[1]
        string match -q -- '-*' $tokens[1]
        or return 1
        test "$tokens[1]" != --
        or return 1
        if __git_checkpoint_takes_value $command $tokens[1]
            set -e tokens[1]
        end
        set -e tokens[1]
    end
end

function __git_checkpoint_options
    string match -q -- '-*' (commandline -ct)
    or return
    __git_checkpoint_parse
    git-checkpoint --list-opts $command 2>/dev/null
end

function __git_checkpoint_checkpoints
    __git_checkpoint_parse
    git-checkpoint $where list -n 50 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

complete -c git-checkpoint -n '__git_checkpoint_needs_command' -f -a '(git-checkpoint --list-cmds)'
complete -c git-checkpoint -n '__git_checkpoint_needs_command' -s C -x -a '(__fish_complete_directories)' \
    -d 'run as if started in that directory'
complete -c git-checkpoint -n '__git_checkpoint_needs_command' -s h -d 'show the commands'
complete -c git-checkpoint -n '__git_checkpoint_needs_command' -l version -d 'show the version'

complete -c git-checkpoint -n 'not __git_checkpoint_needs_command; and __git_checkpoint_needs_value' -f
complete -c git-checkpoint -n 'not __git_checkpoint_needs_command; and not __git_checkpoint_needs_value' \
    -a '(__git_checkpoint_options)'
complete -c git-checkpoint -k -n '__git_checkpoint_using show diff verify; and not __git_checkpoint_needs_value' \
    -a '(__git_checkpoint_checkpoints)'
complete -c git-checkpoint -k -n '__git_checkpoint_first_argument restore; and not __git_checkpoint_needs_value' \
    -f -a '(__git_checkpoint_checkpoints)'
complete -c git-checkpoint -n '__git_checkpoint_using list show status undo redo verify log config' -f
