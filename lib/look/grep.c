/* SPDX-License-Identifier: MIT */
/*
 * In three steps: which contents files have in which checkpoints, which lines of each content
 * match, and from both, for each line of a file, the checkpoints that have it.
 */
#include "look/grep.h"

#include "look/diff.h"
#include "session/session.h"

/* --- contents of files --- */

/*
 * Which contents files have in some checkpoints, and in which of them, from trees alone:
 * checkpoints of the same scope are compared one after the other.
 */
struct version {
	size_t path;   /* its number in `paths` */
	size_t blob;   /* its number in `blobs` */
	size_t oldest, newest; /* indexes of records; there may be others in between */
	size_t count;	       /* how many have it */
};

struct versions {
	struct intern paths, blobs; /* the latter are object names */
	struct version *items;
	size_t nr, alloc;
	struct strlist damaged; /* a sentence about each checkpoint that cannot be read */
	bool *bad;		/* for each record: it is one of them, or has no files */
};

/* A walk through the checkpoints of one scope. */
struct chain {
	struct versions *out;
	struct store *store;
	const struct ckpt_records *records;
	const struct pathspec *only;
	struct snapshot *before; /* of the last one; NULL: there was none */
	size_t last;		 /* its index */
	size_t passed;		 /* how many there were */
	/* By the number of a path: 1 + the index of its version that goes on, and since when. */
	struct open {
		size_t version, since;
	} *open;
	size_t open_nr, open_alloc;
};

static void release_versions(struct versions *versions)
{
	intern_release(&versions->paths);
	intern_release(&versions->blobs);
	free(versions->items);
	free(versions->bad);
	strlist_release(&versions->damaged);
	memset(versions, 0, sizeof(*versions));
}

static struct open *open_of(struct chain *chain, const char *path, size_t *number_out)
{
	size_t number = intern_add(&chain->out->paths, path, strlen(path));

	while (chain->open_nr <= number)
		*ALLOC_NEXT(chain->open, chain->open_nr, chain->open_alloc) = (struct open){ 0 };
	*number_out = number;
	return &chain->open[number];
}

/* It is not in the checkpoint that follows `chain->last`. */
static void close_version(struct chain *chain, struct open *open)
{
	struct version *version;

	if (!open->version)
		return;
	version = &chain->out->items[open->version - 1];
	version->newest = chain->last;
	version->count = chain->passed - open->since;
	open->version = 0;
}

static void open_version(struct chain *chain, struct open *open, size_t path,
			 const struct oid *oid, size_t at)
{
	struct versions *out = chain->out;

	*ALLOC_NEXT(out->items, out->nr, out->alloc) = (struct version){
		.path = path,
		.blob = intern_add(&out->blobs, (const char *)oid->id, OID_SIZE),
		.oldest = at,
	};
	*open = (struct open){ out->nr, chain->passed };
}

static void apply_changes(struct chain *chain, const struct compare_list *changes, size_t at)
{
	for (size_t i = 0; i < changes->nr; i++) {
		const struct change *change = &changes->items[i];
		bool was = S_ISREG(change->old_mode), is = S_ISREG(change->new_mode);
		struct open *open;
		size_t path;

		if (was && is && oid_equal(&change->old_oid, &change->new_oid))
			continue; /* only another mode */
		if (!was && !is)
			continue;
		open = open_of(chain, change->path, &path);
		close_version(chain, open);
		if (is)
			open_version(chain, open, path, &change->new_oid, at);
	}
}

/* The next checkpoint. A damaged one is as if it were not there. */
static int follow_next(struct chain *chain, size_t at)
{
	struct compare_list changes = { 0 };
	struct compare_side before = diff_side(chain->before), after;
	struct snapshot *snapshot = NULL;
	int err = snapshot_open(&snapshot, chain->store, &chain->records->items[at]);

	if (!err) {
		after = diff_side(snapshot);
		/* Modes do not matter here: any will do that are the same on both sides. */
		before.modes = after.modes;
		err = diff_compare(&changes, &before, &after, chain->only);
	}
	if (!err) {
		apply_changes(chain, &changes, at);
		snapshot_free(chain->before);
		chain->before = snapshot;
		chain->last = at;
		chain->passed++;
	} else {
		chain->out->bad[at] = true;
		snapshot_free(snapshot);
	}
	compare_list_release(&changes);
	if (err == CKPT_ECORRUPT)
		strlist_add(&chain->out->damaged, ckpt_error_last());
	return err == CKPT_ECORRUPT || err == CKPT_ENOTFOUND ? 0 : err;
}

/* All that have the scope of `first`, from that on. */
static int follow_scope(struct versions *out, struct store *store,
			const struct ckpt_records *records, const struct pathspec *only,
			size_t first, bool *done)
{
	struct chain chain = { .out = out, .store = store, .records = records, .only = only };
	const struct strlist *scope = &records->items[first].scope;
	int err = 0;

	for (size_t i = first; i < records->nr && !err; i++) {
		if (done[i] || !strlist_equal(&records->items[i].scope, scope))
			continue;
		done[i] = true;
		err = cancel_check();
		if (!err)
			err = follow_next(&chain, i);
	}
	for (size_t i = 0; i < chain.open_nr; i++)
		close_version(&chain, &chain.open[i]);
	snapshot_free(chain.before);
	free(chain.open);
	return err;
}

/* Of regular files among `only` (NULL: all), in all of `records`, in the order of saving. */
static int collect_versions(struct versions *out, struct store *store,
			    const struct ckpt_records *records, const struct pathspec *only)
{
	bool *done = xcalloc(records->nr + 1, sizeof(*done));
	int err = 0;

	memset(out, 0, sizeof(*out));
	out->bad = xcalloc(records->nr + 1, sizeof(*out->bad));
	for (size_t i = 0; i < records->nr; i++)
		done[i] = out->bad[i] = records->items[i].state_only;
	for (size_t i = 0; i < records->nr && !err; i++)
		if (!done[i])
			err = follow_scope(out, store, records, only, i, done);
	free(done);
	if (err)
		release_versions(out);
	return err;
}

/* --- one content --- */

struct grep_blob_line {
	size_t number;	   /* from 1 on */
	size_t start, len; /* in `held` */
	size_t text;	   /* for callers */
};

/* What matches in one content. All zero is nothing. */
struct grep_blob {
	bool matches;
	bool binary; /* it is not text; then there are no lines */
	bool unread; /* for callers */
	struct grep_blob_line *lines;
	size_t nr, alloc;
	struct strbuf held; /* the bytes of the lines; all zero if there are none */
};

enum {
	BINARY_LOOK = 8000,   /* bytes at the start: a NUL among them means binary, as in git */
	WHOLE_MAX = 16 << 20, /* larger ones are not held in memory */
	CUT_OVERLAP = 4096,   /* what matches across a cut is found if it is no longer */
};

struct reader {
	struct grep_blob *out;
	struct patterns *patterns;
	bool files_only;
	bool begun;
	bool enough; /* the rest is only read to check its name */
	size_t lines;	     /* that were searched */
	struct strbuf rest; /* of large ones: an unfinished line */
};

static void release_blob(struct grep_blob *blob)
{
	free(blob->lines);
	if (blob->nr && blob->held.buf)
		strbuf_release(&blob->held);
	memset(blob, 0, sizeof(*blob));
}

static size_t count_lines(const char *text, size_t len)
{
	const char *end = text + len, *p = text;
	size_t nr = 0;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p)))) {
		nr++;
		p++;
	}
	return nr;
}

static void add_line(struct grep_blob *out, size_t number, const char *text, size_t len)
{
	if (!out->nr)
		strbuf_init(&out->held);
	*ALLOC_NEXT(out->lines, out->nr, out->alloc) =
		(struct grep_blob_line){ number, out->held.len, len, 0 };
	strbuf_add(&out->held, text, len);
}

/* Whole lines; the last one may lack its newline. */
static int search_lines(struct reader *reader, const char *text, size_t len)
{
	size_t at = 0, end = 0, counted = 0;
	int found;

	if (reader->enough)
		return 0;
	while ((found = patterns_next_line(&at, &end, reader->patterns, text, len)) > 0) {
		reader->out->matches = true;
		reader->enough = reader->files_only || reader->out->binary;
		if (reader->enough)
			return 0;
		reader->lines += count_lines(text + counted, at - counted);
		counted = at;
		add_line(reader->out, reader->lines + 1, text + at, end - at);
		at = end + 1;
	}
	reader->lines += count_lines(text + counted, len - counted);
	return found;
}

static void begin_blob(struct reader *reader, const char *text, size_t len)
{
	reader->begun = true;
	reader->out->binary = memchr(text, '\0', len < BINARY_LOOK ? len : BINARY_LOOK);
}

/*
 * How much of what is held can be searched; what came before `from` has no newline. A binary file
 * may be one line of any length, a disk image of zeros for example, so there it is cut somewhere.
 */
static size_t find_end(const struct reader *reader, size_t from)
{
	const struct strbuf *rest = &reader->rest;
	const char *newline = memrchr(rest->buf + from, '\n', rest->len - from);

	if (newline)
		return (size_t)(newline + 1 - rest->buf);
	return reader->out->binary && rest->len > WHOLE_MAX ? rest->len : 0;
}

/* A piece of a large one. */
static int take_piece(const void *data, size_t len, void *payload)
{
	struct reader *reader = payload;
	struct strbuf *rest = &reader->rest;
	size_t from = reader->begun ? rest->len : 0, whole;
	int err;

	if (reader->enough)
		return 0;
	strbuf_add(rest, data, len);
	if (!reader->begun && rest->len < BINARY_LOOK)
		return 0;
	if (!reader->begun)
		begin_blob(reader, rest->buf, rest->len);
	whole = find_end(reader, from);
	if (!whole)
		return 0;
	err = search_lines(reader, rest->buf, whole);
	if (rest->buf[whole - 1] != '\n')
		whole -= CUT_OVERLAP;
	strbuf_splice(rest, 0, whole, "", 0);
	return err;
}

static int search_large(struct reader *reader, struct store *store, const struct oid *oid)
{
	int err;

	strbuf_init(&reader->rest);
	err = objects_stream(store, oid, take_piece, reader);
	if (!err && !reader->begun)
		begin_blob(reader, reader->rest.buf, reader->rest.len);
	if (!err)
		err = search_lines(reader, reader->rest.buf, reader->rest.len);
	strbuf_release(&reader->rest);
	return err;
}

/*
 * A content of any size; with `files_only` only until something is found. Safe from any thread that
 * has its own patterns.
 */
static int search_blob(struct grep_blob *out, struct store *store, const struct oid *oid,
		       struct patterns *patterns, bool files_only)
{
	struct reader reader = { .out = out, .patterns = patterns, .files_only = files_only };
	struct strbuf whole = STRBUF_INIT;
	uint64_t size;
	int err = objects_size(&size, store, oid);

	if (!err && size > WHOLE_MAX)
		err = search_large(&reader, store, oid);
	else if (!err)
		err = objects_read(&whole, store, oid, OBJECT_BLOB);
	if (!err && size <= WHOLE_MAX) {
		begin_blob(&reader, whole.buf, whole.len);
		err = search_lines(&reader, whole.buf, whole.len);
	}
	strbuf_release(&whole);
	if (err)
		release_blob(out);
	return err;
}

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
		err = search_blob(&search->blobs[at], search->session->store, &oid,
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

static void trace_text(struct traces *traces, const struct version *version, size_t text)
{
	size_t *at = &traces->of_text[text];
	struct trace *found;

	if (!*at || traces->items[*at - 1].path != version->path) {
		*ALLOC_NEXT(traces->items, traces->nr, traces->alloc) =
			(struct trace){ .path = version->path,
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
		trace_text(traces, version, 0);
	for (size_t i = 0; i < blob->nr; i++) {
		size_t text = blob->lines[i].text;

		/* The same line may be in it twice. */
		if (seen[text] == stamp)
			continue;
		seen[text] = stamp;
		trace_text(traces, version, text);
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

	hit = ALLOC_NEXT(out->items, out->nr, out->alloc);
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
		*ALLOC_NEXT(hit->lines, hit->nr, alloc) =
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
	err = collect_versions(&versions, session->store, records, opts->only);
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
		release_blob(&search.blobs[i]);
	free(search.blobs);
	free(traces.items);
	free(traces.of_text);
	release_versions(&versions);
	if (err)
		grep_release(out);
	return err;
}
