/* SPDX-License-Identifier: MIT */
#ifndef CKPT_STORE_PACK_WRITER_INTERNAL_H
#define CKPT_STORE_PACK_WRITER_INTERNAL_H

#include "store/oidset.h"
#include "store/pack.h"

#include <pthread.h>

/** The internals of the writer, for pack_write.c and pack_stream.c alone. */

struct pack_worker {
	struct libdeflate_compressor *deflate;
	struct digest *sha1;
	struct strbuf out; /* deflated objects, not yet in the file */
	struct pack_entry *entries;
	size_t nr, alloc;
	size_t flushed; /* entries from here on have offsets relative to `out` */
};

struct pack {
	struct store *store;
	unsigned level;
	unsigned workers_nr;
	struct pack_worker *workers;

	pthread_mutex_t lock; /* protects everything below */
	struct oidset claimed;
	int fd;
	struct strbuf temp;
	uint64_t size, synced;
	uint64_t limit; /* of `size`; 0: none */
	struct oid id; /* of the whole pack, once it is in place */
	bool deltas;   /* some entries are deltas */
	bool whole;    /* see pack_demand_whole() */
};

/** The header (type and size) before an object's deflated bytes; returns its length. */
size_t pack_header(unsigned char out[16], unsigned type, uint64_t size);

/** With the lock held: reserve `len` more bytes in the file. */
int pack_reserve(struct pack *pack, uint64_t *at_out, size_t len);

/** Write what a worker has collected. */
int pack_flush(struct pack *pack, struct pack_worker *worker);

/** False if the store, or this pack, already has it. */
bool pack_claim(struct pack *pack, const struct oid *oid);

struct pack_entry *pack_add_entry(struct pack_worker *worker, const struct oid *oid);

/** Set the message about a failed write. */
int pack_failed(struct pack *pack);

#endif
