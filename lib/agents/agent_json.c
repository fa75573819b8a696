/* SPDX-License-Identifier: MIT */
#include "agents/agent_json_internal.h"

#include "agents/jsonedit_internal.h"
#include "base/base.h"

static int misshapen(const struct strbuf *text, size_t offset, const char *what,
		     const char *shape)
{
	struct strbuf place = STRBUF_INIT;
	int err;

	jsonedit_place(&place, text, offset);
	err = ckpt_error_set(CKPT_ERROR, "%s: %s should be %s", place.buf, what, shape);
	strbuf_release(&place);
	return err;
}

int agent_json_check(const struct strbuf *text, const struct agent *agent)
{
	int err = jsonedit_check(text, agent->flags);
	size_t root = jsonedit_root(text);

	if (!err && text->buf[root] != '{')
		err = misshapen(text, root, "the top level", "an object");
	return err;
}

/* ---- finding ours ---- */

/* Where our entry is; the containers around it keep their place when it is removed. */
struct place {
	const char *name;    /* of the event */
	size_t hooks, event; /* the object of all hooks, the array of one event */
	size_t container, item;
	unsigned added;
	enum agent_version version;
};

/*
 * The value at [start, end); NULL if it has something that only a person writes: a duplicate name,
 * a comment.
 */
static json_t *load(const struct strbuf *text, size_t start, size_t end)
{
	return json_loadb(text->buf + start, end - start, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
}

/* How exactly an entry is looked for. */
enum likeness {
	LIKE_OURS, /* does the same: once is enough */
	IS_OURS,   /* an entry that we wrote: we may remove only that */
};

static bool is_our_handler(struct place *out, const struct strbuf *text, const struct agent *agent,
			   const struct jsonedit_item *item, enum likeness likeness)
{
	json_t *handler = load(text, item->start, item->end);
	const char *command = json_string_value(json_object_get(handler, agent_command_key(agent)));
	bool ours = likeness == IS_OURS ? handler && agent_is_handler(agent, handler, out->name,
								      &out->added, &out->version)
					: command && agent_mentioned(agent, command);

	json_decref(handler);
	return ours;
}

/* Only "hooks", and the "matcher" of older versions: a group with more belongs to somebody else. */
static bool is_our_group(const struct strbuf *text, const struct agent *agent,
			 const struct jsonedit_item *group, enum agent_version version)
{
	json_t *value = load(text, group->start, group->end);
	const char *matcher = json_string_value(json_object_get(value, "matcher"));
	bool ours = version >= AGENT_THIRD ? json_object_size(value) == 1
					     : json_object_size(value) == 2 && matcher &&
						       agent->matcher &&
						       !strcmp(matcher, agent->matcher);

	json_decref(value);
	return ours;
}

/* In a group: if there is no other command in it, the group is the entry. */
static bool find_in_group(struct place *out, const struct strbuf *text, const struct agent *agent,
			  const struct jsonedit_item *group, enum likeness likeness)
{
	struct jsonedit_item list, item;
	struct jsonedit_iter iter;
	bool found = false;
	int others = 0;

	if (text->buf[group->start] != '{' || !jsonedit_find(&list, text, group->start, "hooks") ||
	    text->buf[list.start] != '[')
		return false;
	jsonedit_begin(&iter, text, list.start);
	while (jsonedit_next(&iter, &item)) {
		if (!found && is_our_handler(out, text, agent, &item, likeness) &&
		    (likeness == LIKE_OURS || is_our_group(text, agent, group, out->version))) {
			found = true;
			out->container = list.start;
			out->item = item.start;
		} else {
			others++;
		}
	}
	if (found && !others) {
		out->container = out->event;
		out->item = group->start;
	}
	return found;
}

/* Right in the list of the event. */
static bool find_flat(struct place *out, const struct strbuf *text, const struct agent *agent,
		      const struct jsonedit_item *item, enum likeness likeness)
{
	if (!is_our_handler(out, text, agent, item, likeness))
		return false;
	out->container = out->event;
	out->item = item->start;
	return true;
}

static bool find_in_event(struct place *out, const struct strbuf *text, const struct agent *agent,
			  enum likeness likeness)
{
	struct jsonedit_iter iter;
	struct jsonedit_item item;

	if (text->buf[out->event] != '[')
		return false;
	jsonedit_begin(&iter, text, out->event);
	while (jsonedit_next(&iter, &item))
		if (agent->format == AGENT_FLAT ? find_flat(out, text, agent, &item, likeness)
						: find_in_group(out, text, agent, &item, likeness))
			return true;
	return false;
}

/* Anywhere, even in what a later member of the same name hides. */
static bool find_entry(struct place *out, const struct strbuf *text, const struct agent *agent,
		       const char *name)
{
	struct jsonedit_iter members, events;
	struct jsonedit_item member, event;

	out->name = name;
	jsonedit_begin(&members, text, jsonedit_root(text));
	while (jsonedit_next(&members, &member)) {
		if (text->buf[member.start] != '{' ||
		    !jsonedit_equals(text, member.key, "hooks"))
			continue;
		out->hooks = member.start;
		jsonedit_begin(&events, text, member.start);
		while (jsonedit_next(&events, &event)) {
			out->event = event.start;
			if (jsonedit_equals(text, event.key, name) &&
			    find_in_event(out, text, agent, IS_OURS))
				return true;
		}
	}
	return false;
}

/* ---- inserting it ---- */

/* The container that gets the entry, or under `key` what must be created around it. */
struct attachment {
	size_t container;
	const char *key;
	enum agent_depth depth;
	unsigned added;
};

static int find_attachment(struct attachment *out, const struct strbuf *text, const char *name)
{
	struct jsonedit_item hooks, event;

	*out = (struct attachment){ .container = jsonedit_root(text), .key = "hooks" };
	if (!jsonedit_find(&hooks, text, out->container, "hooks")) {
		out->depth = AGENT_HOOKS;
		out->added = ADDED_HOOKS;
	} else if (text->buf[hooks.start] != '{') {
		return misshapen(text, hooks.start, "'hooks'", "an object");
	} else if (!jsonedit_find(&event, text, hooks.start, name)) {
		out->container = hooks.start;
		out->key = name;
		out->depth = AGENT_EVENT;
		out->added = ADDED_EVENT;
	} else if (text->buf[event.start] != '[') {
		return misshapen(text, event.start, name, "an array");
	} else {
		out->container = event.start;
		out->key = NULL;
		out->depth = AGENT_ENTRY;
	}
	if (jsonedit_opens_up(text, out->container))
		out->added |= ADDED_LINE;
	return 0;
}

/* Every event in turn: removing them in the opposite order undoes it. */
static int attach_all(struct strbuf *text, const struct agent *agent, unsigned extra)
{
	for (int i = 0; agent->events[i]; i++) {
		struct attachment at;
		int err = find_attachment(&at, text, agent->events[i]);
		json_t *value;

		if (err)
			return err;
		value = agent_entry(agent, at.added | extra, at.depth, agent->events[i]);
		jsonedit_insert(text, at.container, at.key, value);
		json_decref(value);
	}
	return 0;
}

/* Whether `with`, once the entries are removed again, is `text`. */
static int check_way_back(const struct strbuf *with, const struct strbuf *text,
			  const struct agent *agent)
{
	struct strbuf without = STRBUF_INIT;
	bool changed, empty;
	unsigned added;
	int err;

	strbuf_add(&without, with->buf, with->len);
	err = agent_json_remove(&without, agent, &changed, &added, &empty);
	if (!err && !strbuf_equal(&without, text))
		err = CKPT_EREFUSED;
	strbuf_release(&without);
	return err ? ckpt_error_set(CKPT_EREFUSED, "the entry could not be removed again without a "
						   "trace") : 0;
}

/* Without what we wrote, and with the current entries instead. */
static int replace_all(struct strbuf *with, const struct agent *agent, unsigned extra)
{
	struct strbuf without = STRBUF_INIT;
	bool changed, empty;
	unsigned added;
	int err = agent_json_remove(with, agent, &changed, &added, &empty);

	if (!err && empty && added & ADDED_FILE) {
		strbuf_reset(with);
		agent_file(with, agent,
			   extra | (added & (ADDED_FILE | agent_dirs_flag(agent_dirs_of(added)))));
		return 0;
	}
	if (!err) {
		strbuf_add(&without, with->buf, with->len);
		err = attach_all(with, agent, extra | (added & ADDED_PRIMARY));
	}
	if (!err)
		err = check_way_back(with, &without, agent);
	strbuf_release(&without);
	return err;
}

int agent_json_insert(struct strbuf *text, const struct agent *agent, unsigned extra, bool *changed)
{
	struct strbuf with = STRBUF_INIT, old = *text;
	enum agents_state state;
	int err = agent_json_state(&state, text, agent);

	*changed = !err && state != AGENTS_INSTALLED;
	if (!*changed)
		return err;
	strbuf_add(&with, text->buf, text->len);
	err = replace_all(&with, agent, extra);
	if (!err) {
		*text = with;
		with = old;
	}
	strbuf_release(&with);
	return err;
}

/*
 * Our entry for each event. What does the same before a tool is as good: it belongs to the user, who
 * may want it for that event alone. At the end alone, it protects nothing.
 */
int agent_json_state(enum agents_state *out, const struct strbuf *text, const struct agent *agent)
{
	int err = agent_json_check(text, agent), current = 0, older = 0, alike = 0, events = 0;
	bool before = false;

	for (int i = 0; agent->events[i] && !err; i++, events++) {
		struct attachment at;
		struct place place;

		err = find_attachment(&at, text, agent->events[i]);
		if (err || at.depth != AGENT_ENTRY)
			continue;
		place = (struct place){ .name = agent->events[i], .event = at.container };
		if (!find_in_event(&place, text, agent, IS_OURS)) {
			bool like = find_in_event(&place, text, agent, LIKE_OURS);

			alike += like;
			before = before || (like && i == 0);
		} else if (place.version == AGENT_CURRENT) {
			current++;
		} else {
			older++;
		}
	}
	*out = older || (current && current + alike < events) ? AGENTS_OUTDATED
	       : current || before				    ? AGENTS_INSTALLED
								    : AGENTS_ABSENT;
	return err;
}

/* ---- removing it ---- */

/* Nothing is left but what a new file begins with. */
static bool is_bare(const struct strbuf *text, const struct agent *agent)
{
	size_t root = jsonedit_root(text);
	struct jsonedit_iter iter;
	struct jsonedit_item item;

	if (jsonedit_is_empty(text, root))
		return true;
	jsonedit_begin(&iter, text, root);
	return agent->version && jsonedit_next(&iter, &item) &&
	       jsonedit_equals(text, item.key, "version") && !jsonedit_next(&iter, &item);
}

static void remove_entry(struct strbuf *text, const struct place *p)
{
	size_t root = jsonedit_root(text), attached_to = p->event;

	jsonedit_remove(text, p->container, p->item);
	if (p->added & (ADDED_EVENT | ADDED_HOOKS | ADDED_FILE)) {
		attached_to = p->hooks;
		if (jsonedit_is_empty(text, p->event))
			jsonedit_remove(text, p->hooks, p->event);
	}
	if (p->added & (ADDED_HOOKS | ADDED_FILE)) {
		attached_to = root;
		if (jsonedit_is_empty(text, p->hooks))
			jsonedit_remove(text, root, p->hooks);
	}
	if (p->added & ADDED_LINE)
		jsonedit_close_up(text, attached_to);
}

int agent_json_remove(struct strbuf *text, const struct agent *agent, bool *changed,
		      unsigned *added, bool *empty)
{
	int err = agent_json_check(text, agent);
	struct place place;

	*changed = *empty = false;
	*added = 0;
	if (err)
		return err;
	for (int i = AGENT_EVENTS - 1; i >= 0; i--) {
		if (!agent->events[i])
			continue;
		while (find_entry(&place, text, agent, agent->events[i])) {
			remove_entry(text, &place);
			*added |= place.added;
			*changed = true;
		}
	}
	*empty = is_bare(text, agent);
	return 0;
}
