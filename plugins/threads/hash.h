/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_HASH_H
#define RUBUS_THREADS_HASH_H
/*
 * A fast 128-bit hash, for telling compilers apart and for noticing damaged cache
 * entries. Not cryptographic: the key of a module is, and it is compared whole.
 */
#include <stddef.h>
#include <stdint.h>

typedef struct threads_hash {
    uint64_t a;
    uint64_t b;
} threads_hash;

#define THREADS_HASH_HEX 33

void threads_hash_init(threads_hash *hash);
/* The size goes in before the bytes: where one part ends makes a difference. */
void threads_hash_add(threads_hash *hash, const void *data, size_t size);
void threads_hash_text(threads_hash *hash, const char *text);
threads_hash threads_hash_end(const threads_hash *hash);
void threads_hash_hex(const threads_hash *hash, char out[THREADS_HASH_HEX]);

#endif
