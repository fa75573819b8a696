#!/bin/sh
# git-checkpoint: a checkpoint before and after each tool.
# 'git checkpoint hooks uninstall --agent cline' removes this file.
exec git-checkpoint agent-hook cline @EVENT@
