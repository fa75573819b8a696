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
    # Behind the command that is run they are its own.
    if test "$command" = run; and not __git_checkpoint_first_argument run
        return
    end
    set -l typed (commandline -ct)
    if set -l parts (string match -r -- '^(--[a-z-]+)=(.*)$' $typed)
        for value in (git-checkpoint --list-values $command $parts[2] $parts[3] 2>/dev/null)
            echo $parts[2]=$value
        end
        return
    end
    git-checkpoint --list-opts $command (__git_checkpoint_verb) 2>/dev/null
end

# What the command was told to do, as "install" of hooks.
function __git_checkpoint_verb
    __git_checkpoint_parse
    contains -- "$command" hooks flow
    or return
    set -l tokens (commandline -opc)[2..-1]
    set -e tokens[1..(contains -i -- $command $tokens)]
    while set -q tokens[1]
        if not string match -q -- '-*' $tokens[1]
            echo $tokens[1]
            return
        end
        if __git_checkpoint_takes_value $command $tokens[1]
            set -e tokens[1]
        end
        set -e tokens[1]
    end
end

function __git_checkpoint_verbs
    __git_checkpoint_parse
    git-checkpoint --list-verbs $command 2>/dev/null
end

# The values of the option before the cursor, where they are known.
function __git_checkpoint_values
    __git_checkpoint_parse
    git-checkpoint --list-values $command (commandline -opc)[-1] (commandline -ct) 2>/dev/null
end

function __git_checkpoint_checkpoints
    __git_checkpoint_parse
    git-checkpoint $where list -n 50 2>/dev/null | string replace -r '^(\S+)\s+' '$1\t'
end

# What relink can adopt: old paths of folders that are not there any more, or the keys of stores.
function __git_checkpoint_old_folders
    __git_checkpoint_parse
    for line in (git-checkpoint $where stores 2>/dev/null)
        set -l row (string match -r -- '^([0-9a-f]{16}) .*  (missing|moved|damaged) +(.*)$' $line)
        or continue
        # One that is shown quoted, or not at all, can only be named by its key.
        if string match -q -- '/*' $row[4]; and not string match -q -r -- '^[0-9a-f]' (commandline -ct)
            printf '%s\t%s\n' $row[4] "$row[3], $row[2]"
        else
            printf '%s\t%s\n' $row[2] $row[4]
        end
    end
end

complete -c git-checkpoint -n '__git_checkpoint_needs_command' -f -a '(git-checkpoint --list-cmds)'
complete -c git-checkpoint -n '__git_checkpoint_needs_command' -s C -x -a '(__fish_complete_directories)' \
    -d 'run as if started in that directory'
complete -c git-checkpoint -n '__git_checkpoint_needs_command' -s h -d 'show the commands'
complete -c git-checkpoint -n '__git_checkpoint_needs_command' -l version -d 'show the version'

complete -c git-checkpoint -n 'not __git_checkpoint_needs_command; and __git_checkpoint_needs_value' -f -k \
    -a '(__git_checkpoint_values)'
complete -c git-checkpoint -n 'not __git_checkpoint_needs_command; and not __git_checkpoint_needs_value' \
    -a '(__git_checkpoint_options)'
complete -c git-checkpoint -k -n '__git_checkpoint_using show diff verify drop; and not __git_checkpoint_needs_value' \
    -a '(__git_checkpoint_checkpoints)'
complete -c git-checkpoint -k -n '__git_checkpoint_first_argument restore pin unpin; and not __git_checkpoint_needs_value' \
    -f -a '(__git_checkpoint_checkpoints)'
complete -c git-checkpoint -k -n '__git_checkpoint_first_argument hooks flow; and not __git_checkpoint_needs_value' \
    -f -a '(__git_checkpoint_verbs)'
complete -c git-checkpoint -k -n '__git_checkpoint_first_argument relink; and not __git_checkpoint_needs_value' \
    -f -a '(__git_checkpoint_old_folders)'
complete -c git-checkpoint -n '__git_checkpoint_first_argument run; and not __git_checkpoint_needs_value' \
    -a '(__fish_complete_command)'
complete -c git-checkpoint -n '__git_checkpoint_using list show status undo redo verify log pin unpin drop prune gc doctor \
    stores relink hooks config' -f
