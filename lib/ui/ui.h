/* SPDX-License-Identifier: MIT */
#ifndef CKPT_UI_UI_H
#define CKPT_UI_UI_H

/**
 * A toolkit for terminals and programs. It decides nothing and starts nothing but a pager.
 *
 * This is what other folders include.
 */
#include "ui/opt.h"
#include "ui/patch.h"
#include "ui/table.h"
#include "ui/term.h"

/*
 * In this folder:
 *
 *   opt opt_check opt_usage opt_look  command lines from tables: parsing, checks, usage, completion
 *   row                     what is shown of a thing: JSON, columns, lines
 *   table patch diffstat    aligned columns, one file's patch, the histogram
 *   term pager progress prompt  colour and width, the pager, questions
 */

#endif
