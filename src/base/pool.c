// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/pool.h"

#include "base/cpuset.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT  _Alignof(max_align_t)
#define BLOCK_SIZE ((size_t)64 << 10)

struct pool_block {
	struct pool_block *next;
	size_t used, size;
	_Alignas(ALIGNMENT) char data[];
};

/* A block that is there once, in a hash table. */
struct pool_entry {
	struct pool_entry *next;
	uint64_t hash;
	size_t size;
	_Alignas(ALIGNMENT) char data[];
};

static void *out_of_memory(struct pool *pool)
{
	pool->error = -ENOMEM;
	return NULL;
}

void pool_free(struct pool *pool)
{
	for (struct pool_block *next, *block = pool->blocks; block; block = next) {
		next = block->next;
		free(block);
	}
	free(pool->buckets);
	*pool = (struct pool){ 0 };
}

/* A block with room for SIZE. One that is larger than most stands behind the first, whose rest
 * stays in use. */
static struct pool_block *block_for(struct pool *pool, size_t size)
{
	struct pool_block *first = pool->blocks, *block;
	size_t room = size > BLOCK_SIZE / 4 ? size : BLOCK_SIZE;

	if (first && first->size - first->used >= size)
		return first;
	block = calloc(1, sizeof(*block) + room);
	if (!block)
		return out_of_memory(pool);
	block->size = room;
	if (first && room == size) {
		block->next = first->next;
		first->next = block;
	} else {
		block->next = first;
		pool->blocks = block;
	}
	return block;
}

void *pool_alloc(struct pool *pool, size_t size)
{
	struct pool_block *block;
	void *data;

	if (size > SIZE_MAX / 2)
		return out_of_memory(pool);
	size = size ? (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT : ALIGNMENT;
	block = block_for(pool, size);
	if (!block)
		return NULL;
	data = block->data + block->used;
	block->used += size;
	return data;
}

void *pool_grow(struct pool *pool, void *array, size_t count, size_t size)
{
	void *grown;

	if (count && (count & (count - 1)))
		return array; /* room is doubled at powers of two */
	if (count > SIZE_MAX / 4 / size)
		return out_of_memory(pool);
	grown = pool_alloc(pool, (count ? count * 2 : 1) * size);
	if (grown && count)
		memcpy(grown, array, count * size);
	return grown;
}

/* FNV-1a, eight bytes at a step where there are eight: quick enough for sets of 1 KiB. */
static uint64_t hash_of(const void *data, size_t size)
{
	const unsigned char *at = data;
	uint64_t hash = 0xcbf29ce484222325, word;

	for (; size >= sizeof(word); at += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3;
		hash ^= hash >> 29;
	}
	for (; size; at++, size--)
		hash = (hash ^ *at) * 0x100000001b3;
	return hash ^ hash >> 32;
}

static bool enlarge_table(struct pool *pool)
{
	size_t bucket_count = pool->bucket_count ? pool->bucket_count * 4 : 256;
	struct pool_entry **buckets = calloc(bucket_count, sizeof(struct pool_entry *));

	if (!buckets)
		return false;
	for (size_t i = 0; i < pool->bucket_count; i++) {
		for (struct pool_entry *next, *entry = pool->buckets[i]; entry; entry = next) {
			struct pool_entry **bucket = &buckets[entry->hash % bucket_count];

			next = entry->next;
			entry->next = *bucket;
			*bucket = entry;
		}
	}
	free(pool->buckets);
	pool->buckets = buckets;
	pool->bucket_count = bucket_count;
	return true;
}

const void *pool_intern(struct pool *pool, const void *data, size_t size)
{
	uint64_t hash = hash_of(data, size);
	struct pool_entry *entry, **bucket;

	if (pool->entry_count >= pool->bucket_count && !enlarge_table(pool))
		return out_of_memory(pool);
	bucket = &pool->buckets[hash % pool->bucket_count];
	for (entry = *bucket; entry; entry = entry->next) {
		if (entry->hash == hash && entry->size == size && !memcmp(entry->data, data, size))
			return entry->data;
	}
	entry = pool_alloc(pool, sizeof(*entry) + size);
	if (!entry)
		return NULL;
	entry->next = *bucket;
	entry->hash = hash;
	entry->size = size;
	memcpy(entry->data, data, size);
	*bucket = entry;
	pool->entry_count++;
	return entry->data;
}

const char *pool_text(struct pool *pool, const char *text, size_t length)
{
	char small[256], *clean = length < sizeof(small) ? small : malloc(length + 1);
	size_t used = 0;
	const char *kept;

	if (!clean)
		return out_of_memory(pool);
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)text[i];
		bool blank = isspace(c);

		if (blank && (!used || clean[used - 1] == ' '))
			continue;
		clean[used++] = blank ? ' ' : iscntrl(c) || c >= 0x80 ? '?' : (char)c;
	}
	while (used && clean[used - 1] == ' ')
		used--;
	clean[used] = '\0';
	kept = used ? pool_intern(pool, clean, used + 1) : NULL;
	if (clean != small)
		free(clean);
	return kept;
}

const char *pool_vformat(struct pool *pool, const char *format, va_list args)
{
	char small[512], *text = small;
	const char *kept;
	va_list again;
	int length;

	va_copy(again, args);
	length = vsnprintf(small, sizeof(small), format, args);
	if (length >= (int)sizeof(small))
		text = malloc((size_t)length + 1);
	if (length < 0 || !text) {
		va_end(again);
		return out_of_memory(pool);
	}
	if (text != small)
		vsnprintf(text, (size_t)length + 1, format, again);
	va_end(again);
	kept = pool_intern(pool, text, (size_t)length + 1);
	if (text != small)
		free(text);
	return kept;
}

const char *pool_format(struct pool *pool, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = pool_vformat(pool, format, args);
	va_end(args);
	return text;
}

const struct cpuset *pool_set(struct pool *pool, const struct cpuset *set)
{
	return pool_intern(pool, set, sizeof(*set));
}
