/* SPDX-License-Identifier: MIT */
#include "cmd/gone_internal.h"

#include "base/base.h"
#include "cmd/report.h"

bool gone_print(const struct inventory_item *item)
{
	struct strbuf path = STRBUF_INIT, command = STRBUF_INIT;
	bool gone = inventory_way_back(&command, item);

	if (gone) {
		quote_path(&path, item->path);
		report_text("'%s' is gone; to bring it back: %s\n", path.buf, command.buf);
	}
	strbuf_release(&path);
	strbuf_release(&command);
	return gone;
}

json_t *gone_json(const struct inventory_list *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->nr; i++) {
		const struct inventory_item *item = &list->items[i];
		struct strbuf command = STRBUF_INIT;

		if (inventory_way_back(&command, item))
			json_array_append_new(array, json_pack("{s:o,s:o,s:o}", "key",
							       json_text(item->key), "path",
							       json_path(item->path),
							       "restore_command",
							       json_text(command.buf)));
		strbuf_release(&command);
	}
	return array;
}
