/* SPDX-License-Identifier: MIT */
/*
 * In three steps: which contents files have in which checkpoints (versions.c), which lines of
 * each content match (grep_blob.c), and from both, for each line of a file, the checkpoints that
 * have it.
 */
#include "look/grep.h"

#include "base/base.h"
#include "look/grep_internal.h"
#include "look/versions_internal.h"
#include "record/record.h"
#include "session/session.h"
#include "store/store.h"

void grep_release(struct grep_result *result)
{
	for (size_t i = 0; i < result->nr; i++)
		free(result->items[i].lines);
	free(result->items);
	strlist_release(&result->damaged);
	intern_release(&result->paths);
	intern_release(&result->texts);
	memset(result, 0, sizeof(*result));
}

/* --- reading --- */

/* How many are read before their lines are counted, so that not all are held at once. */
enum { BATCH = 4096 };

struct search {
	struct session *session;
	const struct grep_opts *opts;
	struct patterns **patterns; /* for each worker */
	const struct versions *versions;
	struct grep_blob *blobs; /* by number - 1 */
	size_t first;		 /* of the batch */
};

static int search_one(size_t index, unsigned worker, void *payload)
{
	struct search *search = payload;
	size_t at = search->first + index;
	struct oid oid;
	int err = cancel_check();

	if (err)
		return err;
	if (!search->patterns[worker])
		err = patterns_new(&search->patterns[worker], search->opts->texts,
				   &search->opts->how);
	memcpy(oid.id, search->versions->blobs.items[at].text, OID_SIZE);
	if (!err)
		err = grep_blob(&search->blobs[at], search->session->store, &oid,
				search->patterns[worker], search->opts->files_only);
	if (err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND) {
		search->blobs[at].unread = true;
		err = 0;
	}
	return err;
}

/* Lines are held once, however many contents have them. */
static void name_lines(struct grep_blob *blob, struct intern *texts)
{
	for (size_t i = 0; i < blob->nr; i++)
		blob->lines[i].text = intern_add(texts, blob->held.buf + blob->lines[i].start,
						 blob->lines[i].len);
	strbuf_release(&blob->held);
}

static int search_all(struct search *search, struct grep_result *out)
{
	size_t nr = search->versions->blobs.nr;
	unsigned threads = search->session->threads;
	int err = objects_open(search->session->store);

	search->patterns = xcalloc(threads, sizeof(struct patterns *));
	search->blobs = xcalloc(nr + 1, sizeof(*search->blobs));
	for (; search->first < nr && !err; search->first += BATCH) {
		size_t left = nr - search->first, here = left < BATCH ? left : BATCH;

		if (search->opts->progress)
			search->opts->progress("Searching files", search->first, nr, NULL);
		err = pool_for(threads, here, search_one, search);
		for (size_t i = 0; i < here && !err; i++)
			name_lines(&search->blobs[search->first + i], &out->texts);
	}
	for (unsigned i = 0; i < threads; i++)
		patterns_free(search->patterns[i]);
	free(search->patterns);
	return err;
}

/* --- putting it together --- */

/* A line of a file, in all its versions. */
struct trace {
	size_t path, text; /* 0: something that is not shown matches */
	size_t newest, oldest, count, gone;
	size_t blob; /* of the newest */
};

struct traces {
	struct trace *items;
	size_t nr, alloc;
	size_t *of_text; /* 1 + index, by the number of a text; valid if it is of the same path */
};

static void trace(struct traces *traces, const struct version *version, size_t text)
{
	size_t *at = &traces->of_text[text];
	struct trace *found;

	if (!*at || traces->items[*at - 1].path != version->path) {
		ALLOC_GROW(traces->items, traces->nr + 1, traces->alloc);
		traces->items[traces->nr++] = (struct trace){ .path = version->path,
							      .text = text,
							      .newest = version->newest,
							      .oldest = version->oldest,
							      .blob = version->blob };
		*at = traces->nr;
	}
	found = &traces->items[*at - 1];
	found->count += version->count;
	if (version->oldest < found->oldest)
		found->oldest = version->oldest;
	if (version->newest > found->newest) {
		found->newest = version->newest;
		found->blob = version->blob;
	}
}

static void trace_version(struct traces *traces, const struct version *version,
			  const struct grep_blob *blob, size_t *seen, size_t stamp)
{
	if (blob->matches && !blob->nr)
		trace(traces, version, 0);
	for (size_t i = 0; i < blob->nr; i++) {
		size_t text = blob->lines[i].text;

		/* The same line may be in it twice. */
		if (seen[text] == stamp)
			continue;
		seen[text] = stamp;
		trace(traces, version, text);
	}
}

static int by_file(const void *a, const void *b)
{
	const struct version *one = a, *other = b;

	if (one->path != other->path)
		return one->path < other->path ? -1 : 1;
	return one->newest < other->newest ? -1 : one->newest > other->newest;
}

static void trace_all(struct traces *out, struct versions *versions, const struct search *search,
		      size_t texts)
{
	size_t *seen = xcalloc(texts + 1, sizeof(*seen));

	out->of_text = xcalloc(texts + 1, sizeof(*out->of_text));
	if (versions->nr)
		qsort(versions->items, versions->nr, sizeof(*versions->items), by_file);
	for (size_t i = 0; i < versions->nr; i++)
		trace_version(out, &versions->items[i],
			      &search->blobs[versions->items[i].blob - 1], seen, i + 1);
	free(seen);
}

/* The first after `newest` that tells something about the path. */
static size_t find_gone(const struct versions *versions, const struct ckpt_records *records,
			size_t newest, const char *path)
{
	for (size_t i = newest + 1; i < records->nr; i++)
		if (!versions->bad[i] && compare_in_scope(&records->items[i].scope, path))
			return i;
	return SIZE_MAX;
}

static int by_age(const void *a, const void *b, void *paths)
{
	const struct intern_item *names = paths;
	const struct trace *one = a, *other = b;

	if (one->newest != other->newest)
		return one->newest > other->newest ? -1 : 1;
	if (one->path != other->path)
		return strcmp(names[one->path - 1].text, names[other->path - 1].text);
	if (one->oldest != other->oldest)
		return one->oldest > other->oldest ? -1 : 1;
	if (one->count != other->count)
		return one->count < other->count ? -1 : 1;
	return one->text < other->text ? -1 : one->text > other->text;
}

static int by_number(const void *a, const void *b)
{
	const struct grep_line *one = a, *other = b;

	return one->number < other->number ? -1 : one->number > other->number;
}

/* The lines of traces [from, to), which the same checkpoints have. */
static void add_hit(struct grep_result *out, const struct trace *traces, size_t from, size_t to,
		    const struct grep_blob *blob)
{
	const struct trace *first = &traces[from];
	struct grep_hit *hit;
	size_t alloc = 0;

	ALLOC_GROW(out->items, out->nr + 1, out->alloc);
	hit = &out->items[out->nr++];
	*hit = (struct grep_hit){ .path = out->paths.items[first->path - 1].text,
				  .newest = first->newest,
				  .oldest = first->oldest,
				  .count = first->count,
				  .gone = first->gone,
				  .binary = blob->binary };
	for (size_t i = 0; i < blob->nr; i++) {
		const struct grep_blob_line *line = &blob->lines[i];
		size_t at;

		LOWER_BOUND(at, to - from, traces[from + at].text < line->text);
		if (at == to - from || traces[from + at].text != line->text)
			continue;
		ALLOC_GROW(hit->lines, hit->nr + 1, alloc);
		hit->lines[hit->nr++] =
			(struct grep_line){ line->number, out->texts.items[line->text - 1].text,
					    out->texts.items[line->text - 1].len };
	}
	if (hit->nr)
		qsort(hit->lines, hit->nr, sizeof(*hit->lines), by_number);
}

static void add_hits(struct grep_result *out, struct traces *traces, const struct search *search)
{
	struct trace *items = traces->items;

	if (traces->nr)
		qsort_r(items, traces->nr, sizeof(*items), by_age, out->paths.items);
	for (size_t i = 0, next; i < traces->nr; i = next) {
		for (next = i + 1; next < traces->nr && items[i].text && items[next].text &&
				   items[next].path == items[i].path &&
				   items[next].newest == items[i].newest &&
				   items[next].oldest == items[i].oldest &&
				   items[next].count == items[i].count;
		     next++)
			;
		add_hit(out, items, i, next, &search->blobs[items[i].blob - 1]);
	}
}

/* Contents that could not be read, each by one of its names. */
static void tell_unread(struct grep_result *out, const struct versions *versions,
			const struct search *search, const struct ckpt_records *records)
{
	for (size_t i = 0; i < versions->nr; i++) {
		const struct version *version = &versions->items[i];
		struct grep_blob *blob = &search->blobs[version->blob - 1];

		if (!blob->unread)
			continue;
		strlist_addf(&out->damaged, "'%s' of checkpoint '%s' is damaged and was not searched",
			     versions->paths.items[version->path - 1].text,
			     records->items[version->newest].id);
		blob->unread = false;
	}
}

int grep_records(struct grep_result *out, struct session *session,
		 const struct ckpt_records *records, const struct grep_opts *opts)
{
	struct search search = { .session = session, .opts = opts };
	struct traces traces = { 0 };
	struct versions versions;
	int err;

	memset(out, 0, sizeof(*out));
	err = versions_collect(&versions, session->store, records, opts->only);
	if (err)
		return err;
	search.versions = &versions;
	err = search_all(&search, out);
	if (!err) {
		trace_all(&traces, &versions, &search, out->texts.nr);
		for (size_t i = 0; i < traces.nr; i++)
			traces.items[i].gone = find_gone(
				&versions, records, traces.items[i].newest,
				versions.paths.items[traces.items[i].path - 1].text);
		strlist_extend(&out->damaged, &versions.damaged);
		tell_unread(out, &versions, &search, records);
		/* The hits point into it. */
		out->paths = versions.paths;
		versions.paths = (struct intern){ 0 };
		add_hits(out, &traces, &search);
	}
	for (size_t i = 0; i < versions.blobs.nr && search.blobs; i++)
		grep_blob_release(&search.blobs[i]);
	free(search.blobs);
	free(traces.items);
	free(traces.of_text);
	versions_release(&versions);
	if (err)
		grep_release(out);
	return err;
}
