/* SPDX-License-Identifier: MIT */
#ifndef CKPT_BASE_TRAFFIC_H
#define CKPT_BASE_TRAFFIC_H

#include "base/std.h"

/**
 * Whether anything moves: a number that grows with each byte that `pid` and its descendants read,
 * write, receive or send. While it stays the same, they all wait. Without /proc it is 0.
 *
 * Those called "ssh" do not count: they talk to the other side even if the program there hangs,
 * and what they bring is read by others.
 */
uint64_t traffic_of(pid_t pid);

/** Kill (SIGKILL) all descendants of `pid`: some do not notice that whom they work for is gone. */
void traffic_end(pid_t pid);

#endif
