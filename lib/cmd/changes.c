/* SPDX-License-Identifier: MIT */
#include "cmd/changes_internal.h"

#include "base/base.h"
#include "inspect/inspect.h"
#include "ui/ui.h"

/* Both contents of one change, and the input for patch.h that points at them. */
struct pair {
	struct strbuf old, new;
	struct patch_input in;
};

static int pair_load(struct pair *pair, struct diff *diff, const struct change *change)
{
	uint64_t old_large = 0, new_large = 0;
	int err = 0;

	strbuf_init(&pair->old);
	strbuf_init(&pair->new);
	if (!change->is_dir && change->kind != CHANGE_ADDED)
		err = diff_content(&pair->old, &old_large, diff, change, DIFF_OLD);
	if (!err && !change->is_dir && change->kind != CHANGE_DELETED)
		err = diff_content(&pair->new, &new_large, diff, change, DIFF_NEW);
	pair->in = (struct patch_input){
		.old_path = change->kind == CHANGE_ADDED ? NULL : change->path,
		.new_path = change->kind == CHANGE_DELETED ? NULL : change->path,
		.old_mode = change->old_mode,
		.new_mode = change->new_mode,
		.old_oid = change->old_oid,
		.new_oid = change->new_oid,
		.old_data = old_large ? NULL : pair->old.buf,
		.old_len = old_large ? old_large : pair->old.len,
		.new_data = new_large ? NULL : pair->new.buf,
		.new_len = new_large ? new_large : pair->new.len,
	};
	return err;
}

static void pair_release(struct pair *pair)
{
	strbuf_release(&pair->old);
	strbuf_release(&pair->new);
}

int changes_print_patch(struct diff *diff)
{
	bool color = *term_color(TERM_RED) != '\0';
	int err = 0;

	for (size_t i = 0; i < diff->changes.nr && !err; i++) {
		struct strbuf out = STRBUF_INIT;
		struct pair pair;

		err = cancel_check();
		if (err)
			break;
		err = pair_load(&pair, diff, &diff->changes.items[i]);
		if (!err)
			err = patch_print(&out, &pair.in, color);
		if (!err)
			fwrite(out.buf, 1, out.len, stdout);
		pair_release(&pair);
		strbuf_release(&out);
	}
	return err;
}

int changes_print_stat(struct diff *diff)
{
	struct diffstat_file *files = xcalloc(diff->changes.nr + 1, sizeof(*files));
	char **names = xcalloc(diff->changes.nr + 1, sizeof(*names));
	int err = 0;

	for (size_t i = 0; i < diff->changes.nr && !err; i++) {
		const struct change *change = &diff->changes.items[i];
		struct pair pair;

		err = cancel_check();
		if (err)
			break;
		names[i] = xstrfmt("%s%s", change->path, change->is_dir ? "/" : "");
		files[i].path = names[i];
		err = pair_load(&pair, diff, change);
		if (!err)
			err = patch_count(&files[i].added, &files[i].removed, &files[i].binary, &pair.in);
		if (files[i].binary && !oid_equal(&change->old_oid, &change->new_oid)) {
			files[i].old_size = pair.in.old_len;
			files[i].new_size = pair.in.new_len;
		}
		pair_release(&pair);
	}
	if (!err)
		diffstat_print(files, diff->changes.nr);
	for (size_t i = 0; i < diff->changes.nr; i++)
		free(names[i]);
	free(names);
	free(files);
	return err;
}

void changes_print_names(const struct diff *diff, bool nul)
{
	for (size_t i = 0; i < diff->changes.nr; i++) {
		const struct change *change = &diff->changes.items[i];
		const char *slash = change->is_dir ? "/" : "";
		struct strbuf quoted = STRBUF_INIT;
		char *name;

		if (nul) {
			printf("%c%c%s%s%c", (char)change->kind, 0, change->path, slash, 0);
			continue;
		}
		name = xstrfmt("%s%s", change->path, slash);
		quote_path(&quoted, name);
		printf("%c\t%s\n", (char)change->kind, quoted.buf);
		strbuf_release(&quoted);
		free(name);
	}
}

json_t *changes_json(const struct diff *diff)
{
	json_t *array = json_array();

	for (size_t i = 0; i < diff->changes.nr; i++) {
		const struct change *change = &diff->changes.items[i];
		char *name = xstrfmt("%s%s", change->path, change->is_dir ? "/" : "");
		char status[2] = { (char)change->kind, '\0' };
		json_t *object = json_object();

		json_object_set_new(object, "file", json_path(name));
		json_object_set_new(object, "status", json_string(status));
		json_array_append_new(array, object);
		free(name);
	}
	return array;
}

static int diff_with_previous(struct diff *out, struct session *session,
			      const struct ckpt_record *record)
{
	struct ckpt_record previous = CKPT_RECORD_INIT;
	int err = diff_previous(&previous, session, record);

	if (err && err != CKPT_ENOTFOUND)
		return err;
	err = diff_checkpoints(out, session, err ? NULL : &previous, record, NULL);
	record_release(&previous);
	return err;
}

int changes_print_stat_of(struct session *session, const struct ckpt_record *record)
{
	struct diff diff;
	int err = diff_with_previous(&diff, session, record);

	if (err)
		return err;
	err = changes_print_stat(&diff);
	diff_release(&diff);
	return err;
}

int changes_print_patch_of(struct session *session, const struct ckpt_record *record)
{
	struct diff diff;
	int err = diff_with_previous(&diff, session, record);

	if (err)
		return err;
	err = changes_print_patch(&diff);
	diff_release(&diff);
	return err;
}

int changes_json_of(json_t **out, struct session *session, const struct ckpt_record *record)
{
	struct diff diff;
	int err = diff_with_previous(&diff, session, record);

	if (err)
		return err;
	*out = changes_json(&diff);
	diff_release(&diff);
	return 0;
}
