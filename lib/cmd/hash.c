/* SPDX-License-Identifier: MIT */
#include "cmd/cmd.h"

static int hash(struct session *session UNUSED, const struct strlist *args)
{
	const char *dir = args->nr ? args->items[0] : ".";
	struct verify_directory result;
	struct row row = ROW_INIT;
	int err = verify_directory(&result, dir, pool_default_threads());

	if (err)
		return err;
	if (!opt_common.json) {
		report_text("%s\n", result.hash);
		return EXIT_DONE;
	}
	row_path(&row, "path", dir);
	row_text(&row, "hash", result.hash);
	row_number(&row, "hash_version", STATEHASH_VERSION);
	row_number(&row, "files", result.files);
	row_number(&row, "bytes", result.bytes);
	return report_json(row_object(&row), EXIT_DONE);
}

const struct opt_spec cmd_hash_spec = {
	.command = "hash",
	.summary = "compute the state hash of a directory",
	.args = OPT_ARGS({ { "<dir>" }, 0, 1 }),
	.alone = true,
	.run = hash,
};
