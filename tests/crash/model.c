/* SPDX-License-Identifier: MIT */
#include "model.h"

#include "history.h"
#include "state.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, PAGE = 4096 };

const char *const choice_names[CHOICES] = { "none", "all",  "names", "bytes",
					    "zero", "lose", "keep",  "rand" };
const char *const model_names[3] = { "strict", "ext4", "ext4-two" };

/* Some sectors of a write, by chance; a sector that is missing is as it was, or zeros. */
static void tear(struct node *node, const struct change *c, size_t len, uint64_t *seed)
{
	for (size_t i = 0; i < len;) {
		size_t part = SECTOR - (size_t)((c->offset + i) % SECTOR);

		if (part > len - i)
			part = len - i;
		if (chance(seed) & 1)
			node_set_bytes(node, c->offset + i, c->data + i, part);
		i += part;
	}
}

static void apply(struct state *state, const struct change *c, bool zero)
{
	struct node *node = &state->nodes[c->node];

	switch (c->kind) {
	case CH_WRITE:
		node_set_bytes(node, c->offset, zero ? NULL : c->data, c->len);
		node->mtime = c->mtime;
		break;
	case CH_SIZE:
		node_set_size(node, (size_t)c->offset);
		node->mtime = c->mtime;
		break;
	case CH_MODE:
		node->mode = (uint32_t)c->offset;
		break;
	case CH_TIME:
		node->mtime = c->mtime;
		break;
	case CH_NAMES:
		for (int i = 0; i < c->names_nr; i++)
			node_set_name(node, c->names[i].name, c->names[i].node);
		break;
	}
}

static void build_strict(struct state *state, const struct history *h, size_t cut,
			 enum choice choice, uint64_t n)
{
	uint64_t seed = n, index = 0, odds = 1 + chance(&seed) % 7;

	for (size_t i = 0; i < h->nr && h->changes[i].at < cut; i++) {
		const struct change *c = &h->changes[i];
		bool bytes = c->kind == CH_WRITE || c->kind == CH_SIZE;
		uint64_t way;

		if (c->synced < cut) {
			apply(state, c, false);
			continue;
		}
		switch (choice) {
		case CHOOSE_ALL:
			apply(state, c, false);
			break;
		case CHOOSE_NAMES:
			if (!bytes)
				apply(state, c, false);
			break;
		case CHOOSE_BYTES:
			if (bytes)
				apply(state, c, false);
			break;
		case CHOOSE_ZERO:
			apply(state, c, true);
			break;
		case CHOOSE_LOSE:
			if (index != n)
				apply(state, c, false);
			break;
		case CHOOSE_KEEP:
			if (index == n)
				apply(state, c, false);
			break;
		case CHOOSE_RAND:
			way = chance(&seed) % 8;
			if (way < odds && c->kind == CH_WRITE && chance(&seed) % 4 == 0)
				tear(&state->nodes[c->node], c, c->len, &seed);
			else if (way < odds)
				apply(state, c, chance(&seed) % 8 == 0);
			break;
		default:
			break;
		}
		index++;
	}
}

/* How far the journal is on each device. */
static void choose_journal(size_t upto[DEVICES], const struct history *h, enum model model,
			   size_t cut, enum choice choice, uint64_t n, uint64_t *seed)
{
	size_t all = 0;
	bool two = model == MODEL_EXT4_TWO;

	memset(upto, 0, DEVICES * sizeof(*upto));
	for (size_t i = 0; i < h->commits_nr && h->commits[i].at < cut; i++)
		for (int d = 0; d < DEVICES; d++)
			if ((h->commits[i].dev < 0 || h->commits[i].dev == d || !two) &&
			    h->commits[i].upto > upto[d])
				upto[d] = h->commits[i].upto;
	if (choice == CHOOSE_RAND)
		all = (size_t)(chance(seed) % (cut + 1));
	for (int d = 0; d < DEVICES; d++) {
		size_t want = upto[d];

		if (choice == CHOOSE_ALL || choice == CHOOSE_NAMES || choice == CHOOSE_ZERO)
			want = cut;
		else if (choice == CHOOSE_LOSE || choice == CHOOSE_KEEP)
			want = n < cut ? cut - (size_t)n : 0;
		else if (choice == CHOOSE_RAND && two)
			want = upto[d] + (size_t)(chance(seed) % (cut - upto[d] + 1));
		else if (choice == CHOOSE_RAND)
			want = upto[d] + (cut > upto[d] ? all % (cut - upto[d] + 1) : 0);
		if (want > upto[d])
			upto[d] = want;
	}
}

/* Up to which record the bytes of a file are written back. */
static size_t written_back(const struct change *c, size_t upto, enum choice choice, uint64_t n)
{
	uint64_t seed = n ^ ((uint64_t)c->node << 32);

	switch (choice) {
	case CHOOSE_ALL:
	case CHOOSE_BYTES:
	case CHOOSE_LOSE:
		return upto;
	case CHOOSE_RAND:
		switch (chance(&seed) % 3) {
		case 0:
			return 0;
		case 1:
			return upto;
		default:
			return upto ? (size_t)(chance(&seed) % upto) : 0;
		}
	default:
		return 0;
	}
}

static void write_ext4(struct state *state, const struct change *c, size_t cut, size_t upto,
		       enum choice choice, uint64_t n, uint64_t *seed)
{
	struct node *node = &state->nodes[c->node];
	size_t old = c->offset >= c->size_before ? 0 : (size_t)(c->size_before - c->offset);
	bool forced = c->synced < cut || (c->replaced < upto);

	if (old > c->len)
		old = c->len;
	if (c->at < upto)
		node->mtime = c->mtime;
	if (forced || (c->at < upto && c->at < written_back(c, upto, choice, n))) {
		apply(state, c, false);
		return;
	}
	if (old && choice == CHOOSE_RAND && c->offset < node->len) {
		if (c->offset + old > node->len)
			old = node->len - (size_t)c->offset;
		tear(node, c, old, seed);
	} else if (choice == CHOOSE_RAND && c->at < upto && c->len > PAGE && chance(seed) % 4 == 0) {
		/* written back in part */
		size_t pages = (size_t)(chance(seed) % (c->len / PAGE)) * PAGE;

		if (c->offset <= node->len && pages)
			node_set_bytes(node, c->offset, c->data, pages);
	}
}

static void build_ext4(struct state *state, const struct history *h, enum model model, size_t cut,
		       enum choice choice, uint64_t n)
{
	uint64_t seed = n;
	size_t upto[DEVICES];

	choose_journal(upto, h, model, cut, choice, n, &seed);
	for (size_t i = 0; i < h->nr && h->changes[i].at < cut; i++) {
		const struct change *c = &h->changes[i];

		if (c->kind == CH_WRITE)
			write_ext4(state, c, cut, upto[c->dev], choice, n, &seed);
		else if (c->at < upto[c->dev])
			apply(state, c, false);
	}
}

void state_build(struct state *out, const struct history *h, enum model model, size_t cut,
		 enum choice choice, uint64_t n)
{
	out->nr = h->nodes;
	out->nodes = calloc(h->nodes, sizeof(*out->nodes));
	if (!out->nodes)
		crash_die("out of memory", "");
	for (size_t i = 0; i < h->nodes; i++)
		node_copy(&out->nodes[i], &h->first[i]);
	if (model == MODEL_STRICT)
		build_strict(out, h, cut, choice, n);
	else
		build_ext4(out, h, model, cut, choice, n);
}
