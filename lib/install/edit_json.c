/* SPDX-License-Identifier: MIT */
#include "install/install_internal.h"

#define BLANKS " \t\r\n"

/* ---- what is JSON ---- */

static void blank_out(struct strbuf *plain, size_t from, size_t to)
{
	for (; from < to; from++)
		if (!strchr("\r\n", plain->buf[from]))
			plain->buf[from] = ' ';
}

static size_t skip_string(const struct strbuf *plain, size_t pos)
{
	for (pos++; pos < plain->len && plain->buf[pos] != '"'; pos++)
		if (plain->buf[pos] == '\\')
			pos++;
	return pos < plain->len ? pos + 1 : plain->len;
}

/* The end of the comment at `pos`, or `pos`. One without an end is left, and is no JSON. */
static size_t skip_comment(const struct strbuf *plain, size_t pos)
{
	const char *at = plain->buf + pos, *end;

	if (at[0] != '/')
		return pos;
	if (at[1] == '/')
		return pos + strcspn(at, "\r\n");
	end = at[1] == '*' ? strstr(at + 2, "*/") : NULL;
	return end ? (size_t)(end - plain->buf) + 2 : pos;
}

static void blank_comments(struct strbuf *plain)
{
	for (size_t pos = 0, end; pos < plain->len; pos = end) {
		if (plain->buf[pos] == '"') {
			end = skip_string(plain, pos);
			continue;
		}
		end = skip_comment(plain, pos);
		blank_out(plain, pos, end);
		end += end == pos;
	}
}

/* After a byte order mark. */
static size_t find_begin(const struct strbuf *plain)
{
	return strncmp(plain->buf, "\xef\xbb\xbf", 3) ? 0 : 3;
}

static size_t find_root(const struct strbuf *plain)
{
	size_t begin = find_begin(plain);

	return begin + strspn(plain->buf + begin, BLANKS);
}

static json_t *load_value(const struct strbuf *plain, size_t start, size_t end, json_error_t *error)
{
	return json_loadb(plain->buf + start, end - start,
			  JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, error);
}

int edit_json_open(struct edit_json *out, const struct strbuf *text, bool comments)
{
	json_error_t error;
	json_t *value;
	int err = 0;

	strbuf_init(&out->text);
	strbuf_init(&out->plain);
	strbuf_add(&out->text, text->buf, text->len);
	strbuf_add(&out->plain, text->buf, text->len);
	if (comments)
		blank_comments(&out->plain);
	value = load_value(&out->plain, find_begin(&out->plain), out->plain.len, &error);
	if (!value)
		err = ckpt_error_set(CKPT_ERROR, "line %d, column %d: %s", error.line, error.column,
				     error.text);
	else if (!json_is_object(value))
		err = ckpt_error_set(CKPT_ERROR, "it should be an object");
	json_decref(value);
	return err;
}

void edit_json_release(struct edit_json *doc)
{
	strbuf_release(&doc->text);
	strbuf_release(&doc->plain);
}

/* ---- finding the way in it ---- */

/* A member of an object or an element of an array: [key, key_end) : [start, end). */
struct item {
	size_t key, key_end; /* equal to `start` in an array */
	size_t start, end;
};

static size_t skip_blanks(const struct strbuf *plain, size_t pos)
{
	return pos + strspn(plain->buf + pos, BLANKS);
}

static size_t skip_value(const struct strbuf *plain, size_t pos)
{
	size_t depth = 0;

	do {
		char c = plain->buf[pos];

		if (c == '"')
			pos = skip_string(plain, pos);
		else if (depth || strchr("{[", c))
			pos++;
		else
			pos += strcspn(plain->buf + pos, ",]}" BLANKS);
		depth += c == '{' || c == '[';
		depth -= depth && (c == '}' || c == ']');
	} while (depth);
	return pos;
}

/* The one after `item`, whose `end` is that of the opening bracket to begin with. */
static bool next_item(struct item *item, const struct strbuf *plain, size_t container)
{
	size_t pos = skip_blanks(plain, item->end);

	if (plain->buf[pos] == ',')
		pos = skip_blanks(plain, pos + 1);
	if (strchr("}]", plain->buf[pos]))
		return false;
	item->key = item->key_end = pos;
	if (plain->buf[container] == '{') {
		item->key_end = skip_string(plain, pos);
		pos = skip_blanks(plain, skip_blanks(plain, item->key_end) + 1);
	}
	item->start = pos;
	item->end = skip_value(plain, pos);
	return true;
}

#define EACH_ITEM(item, plain, container) \
	for ((item).end = (container) + 1; next_item(&(item), plain, container);)

static bool has_value(const struct strbuf *plain, size_t start, size_t end, const json_t *value)
{
	json_t *present = load_value(plain, start, end, NULL), *wanted;
	char *dump = json_dumps(value, JSON_ENCODE_ANY);
	bool same;

	/* In the same form: a number is a real one here. */
	wanted = json_loads(dump, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, NULL);
	same = json_equal(present, wanted);
	json_decref(present);
	json_decref(wanted);
	free(dump);
	return same;
}

/* The last member of that name, which is the one that parsers take. */
static bool find_member(struct item *out, const struct strbuf *plain, size_t object, const char *name)
{
	json_t *key = json_string(name);
	bool found = false;
	struct item item;

	EACH_ITEM(item, plain, object) {
		if (!has_value(plain, item.key, item.key_end, key))
			continue;
		*out = item;
		found = true;
	}
	json_decref(key);
	return found;
}

/* How far the way to a slot leads: as many of these as `depth`. */
struct trail {
	size_t root;
	struct item outer, inner;
	int depth;
};

static void follow_slot(struct trail *out, const struct strbuf *plain, const struct edit_json_slot *slot)
{
	*out = (struct trail){ .root = find_root(plain) };
	if (!find_member(&out->outer, plain, out->root, slot->outer))
		return;
	out->depth = 1;
	if (plain->buf[out->outer.start] == '{' &&
	    find_member(&out->inner, plain, out->outer.start, slot->inner))
		out->depth = 2;
}

static bool find_exactly(struct item *out, const struct strbuf *plain, size_t array,
			 const json_t *value)
{
	EACH_ITEM(*out, plain, array)
		if (has_value(plain, out->start, out->end, value))
			return true;
	return false;
}

/* The array of an object that has nothing else, under this name. */
static bool find_only_array(size_t *out, const struct strbuf *plain, size_t object, const json_t *name)
{
	struct item item = { .end = object + 1 };

	if (plain->buf[object] != '{' || !next_item(&item, plain, object) ||
	    !has_value(plain, item.key, item.key_end, name) || plain->buf[item.start] != '[')
		return false;
	*out = item.start;
	return !next_item(&item, plain, object);
}

/*
 * {"hooks": [<ours>]} may have become {"hooks": [<theirs>, <ours>]} since: so ours is looked for one
 * level further down. `array` is the one that it is in.
 */
static bool find_in_group(struct item *out, const struct strbuf *plain, size_t *array,
			  const json_t *value)
{
	json_t *object = (json_t *)value, *list = json_object_iter_value(json_object_iter(object));
	json_t *name = json_string(json_object_iter_key(json_object_iter(object)));
	bool found = false;
	struct item group = { .end = 0 };
	size_t inner;

	if (json_object_size(value) == 1 && json_array_size(list) == 1)
		EACH_ITEM(group, plain, *array)
			if (find_only_array(&inner, plain, group.start, name) &&
			    find_exactly(out, plain, inner, json_array_get(list, 0))) {
				*array = inner;
				found = true;
				break;
			}
	json_decref(name);
	return found;
}

static bool find_element(struct item *out, const struct strbuf *plain, size_t *array,
			 const json_t *value)
{
	return find_exactly(out, plain, *array, value) || find_in_group(out, plain, array, value);
}

int edit_json_find(enum edit_json_found *out, struct strbuf *raw, const struct edit_json *doc,
		  const struct edit_json_slot *slot, const json_t *value)
{
	const struct strbuf *plain = &doc->plain;
	struct trail trail;
	struct item item;
	size_t array;

	follow_slot(&trail, plain, slot);
	*out = EDIT_JSON_NOTHING;
	if (trail.depth && plain->buf[trail.outer.start] != '{')
		return ckpt_error_set(CKPT_ERROR, "'%s' should be an object", slot->outer);
	if (trail.depth < 2)
		return 0;
	if (slot->element && plain->buf[trail.inner.start] != '[')
		return ckpt_error_set(CKPT_ERROR, "'%s' should be an array", slot->inner);
	array = trail.inner.start;
	*out = (slot->element ? find_element(&item, plain, &array, value)
			       : has_value(plain, trail.inner.start, trail.inner.end, value))
		       ? EDIT_JSON_SAME
		       : EDIT_JSON_OTHER;
	strbuf_add(raw, plain->buf + trail.inner.start, trail.inner.end - trail.inner.start);
	return 0;
}

/* ---- the style of a text ---- */

static bool has_newline(const struct strbuf *plain, size_t from, size_t to)
{
	return to > from && memchr(plain->buf + from, '\n', to - from);
}

static const char *line_end(const struct strbuf *plain)
{
	const char *newline = memchr(plain->buf, '\n', plain->len);

	return newline && newline > plain->buf && newline[-1] == '\r' ? "\r\n" : "\n";
}

/* The white space at the beginning of the line that contains `pos`. */
static void add_indent(struct strbuf *out, const struct strbuf *plain, size_t pos)
{
	while (pos > 0 && plain->buf[pos - 1] != '\n')
		pos--;
	strbuf_add(out, plain->buf + pos, strspn(plain->buf + pos, " \t"));
}

/* How much deeper one level is indented than the one around it. */
static void add_unit(struct strbuf *out, const struct strbuf *plain)
{
	size_t root = find_root(plain), before = out->len;
	struct item first = { .end = root + 1 };

	if (next_item(&first, plain, root) && has_newline(plain, root, first.key))
		add_indent(out, plain, first.key);
	if (out->len == before)
		strbuf_addstr(out, "  ");
}

/* Whether there is a space after colons; taken from the first one. */
static bool is_spaced(const struct strbuf *plain)
{
	size_t root = find_root(plain);
	struct item first = { .end = root + 1 };

	return !next_item(&first, plain, root) ||
	       (first.key_end < first.start && plain->buf[first.start - 1] != ':');
}

/* ---- editing ---- */

static void splice_text(struct edit_json *doc, size_t from, size_t to, const struct strbuf *in)
{
	strbuf_splice(&doc->text, from, to, in ? in->buf : "", in ? in->len : 0);
	strbuf_splice(&doc->plain, from, to, in ? in->buf : "", in ? in->len : 0);
}

/* A member or an element; `indent` is that of its first line, NULL puts it on one line. */
static void add_formatted(struct strbuf *out, const struct strbuf *plain, const char *key,
			  const json_t *value, const struct strbuf *indent)
{
	bool spaced = indent || is_spaced(plain);
	char *dump = json_dumps(value, JSON_ENCODE_ANY | (indent   ? JSON_INDENT(1)
							  : spaced ? 0
								   : JSON_COMPACT));

	if (key)
		strbuf_addf(out, "\"%s\":%s", key, spaced ? " " : "");
	for (const char *p = dump; *p; p++) {
		if (!indent || *p != '\n') {
			strbuf_addch(out, *p);
			continue;
		}
		/* There is no newline in a string, and one space for each level. */
		strbuf_addf(out, "%s%s", line_end(plain), indent->buf);
		for (; p[1] == ' '; p++)
			add_unit(out, plain);
	}
	free(dump);
}

static void insert_after(struct edit_json *doc, const struct item *last, size_t before,
			 const char *key, const json_t *value)
{
	struct strbuf in = STRBUF_INIT, indent = STRBUF_INIT;
	const struct strbuf *plain = &doc->plain;
	bool own_line = has_newline(plain, before, last->key);

	add_indent(&indent, plain, last->key);
	if (own_line)
		strbuf_addf(&in, ",%s%s", line_end(plain), indent.buf);
	else
		strbuf_addstr(&in, is_spaced(plain) ? ", " : ",");
	add_formatted(&in, plain, key, value, own_line ? &indent : NULL);
	splice_text(doc, last->end, last->end, &in);
	strbuf_release(&in);
	strbuf_release(&indent);
}

static void insert_first(struct edit_json *doc, size_t container, const char *key,
			 const json_t *value)
{
	const struct strbuf *plain = &doc->plain;
	size_t root = find_root(plain), close = skip_blanks(plain, container + 1), at = container + 1;
	struct strbuf in = STRBUF_INIT, indent = STRBUF_INIT, outer = STRBUF_INIT;
	/* A text on one line stays on one line; "{}" alone does not count as such a style. */
	bool opens_up = close == at && (container == root ||
					has_newline(plain, root, skip_value(plain, root)));

	add_indent(&outer, plain, container);
	strbuf_addstr(&indent, outer.buf);
	add_unit(&indent, plain);
	if (opens_up || has_newline(plain, at, close)) {
		strbuf_addf(&in, "%s%s", line_end(plain), indent.buf);
		add_formatted(&in, plain, key, value, &indent);
		if (opens_up)
			strbuf_addf(&in, "%s%s", line_end(plain), outer.buf);
	} else {
		strbuf_add(&in, plain->buf + at, close - at);
		add_formatted(&in, plain, key, value, NULL);
	}
	splice_text(doc, at, at, &in);
	strbuf_release(&in);
	strbuf_release(&indent);
	strbuf_release(&outer);
}

static void insert_value(struct edit_json *doc, size_t container, const char *key, const json_t *value)
{
	struct item item, last = { .end = container };
	size_t before = container;

	EACH_ITEM(item, &doc->plain, container) {
		before = last.end;
		last = item;
	}
	if (last.end > container)
		insert_after(doc, &last, before, key, value);
	else
		insert_first(doc, container, key, value);
}

void edit_json_add(struct edit_json *doc, const struct edit_json_slot *slot, const json_t *value)
{
	json_t *wrapped = json_deep_copy(value);
	struct trail trail;

	follow_slot(&trail, &doc->plain, slot);
	if (slot->element && trail.depth < 2)
		wrapped = json_pack("[o]", wrapped);
	if (!trail.depth)
		wrapped = json_pack("{s:o}", slot->inner, wrapped);
	insert_value(doc,
	       trail.depth == 2	  ? trail.inner.start
	       : trail.depth == 1 ? trail.outer.start
				  : trail.root,
	       trail.depth == 2	  ? NULL
	       : trail.depth == 1 ? slot->inner
				  : slot->outer,
	       wrapped);
	json_decref(wrapped);
}

/* With one comma. */
static void remove_item(struct edit_json *doc, size_t container, size_t start)
{
	const struct strbuf *plain = &doc->plain;
	struct item item, previous = { .end = container + 1 };
	size_t from, to, comma;
	bool first = true;

	EACH_ITEM(item, plain, container) {
		if (item.start == start)
			break;
		previous = item;
		first = false;
	}
	to = item.end;
	from = item.key;
	while (from > previous.end && strchr(BLANKS, doc->text.buf[from - 1]))
		from--;
	comma = skip_blanks(plain, to);
	if (plain->buf[comma] == ',') {
		to = comma + 1;
		if (first) { /* the following one takes its place */
			from = item.key;
			to += strspn(doc->text.buf + to, BLANKS);
		}
		comma = 0;
	} else if (!first) {
		comma = skip_blanks(plain, previous.end);
	} else {
		comma = 0;
	}
	/* What follows must not become part of a comment that ends with the line. */
	if (has_newline(plain, from, item.key) && !strchr("\r\n", plain->buf[to]))
		from = item.key;
	splice_text(doc, from, to, NULL);
	if (comma)
		splice_text(doc, comma, comma + 1, NULL);
}

/* A comment in it keeps it. */
static bool is_empty(const struct edit_json *doc, size_t container)
{
	return strchr("}]", doc->text.buf[skip_blanks(&doc->text, container + 1)]);
}

bool edit_json_remove(struct edit_json *doc, const struct edit_json_slot *slot, const json_t *value)
{
	enum edit_json_found found;
	struct strbuf raw = STRBUF_INIT;
	struct trail trail;
	struct item item;
	size_t array;
	int err = edit_json_find(&found, &raw, doc, slot, value);

	strbuf_release(&raw);
	if (err || found != EDIT_JSON_SAME)
		return false;
	follow_slot(&trail, &doc->plain, slot);
	array = trail.inner.start;
	if (slot->element && find_element(&item, &doc->plain, &array, value))
		remove_item(doc, array, item.start);
	if (!slot->element || is_empty(doc, trail.inner.start))
		remove_item(doc, trail.outer.start, trail.inner.start);
	if (is_empty(doc, trail.outer.start))
		remove_item(doc, trail.root, trail.outer.start);
	return true;
}
