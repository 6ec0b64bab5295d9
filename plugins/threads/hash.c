/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two lanes of multiply and shift over words of eight bytes, mixed at the end. The order
 * of bytes in a word is the machine's: results never leave it.
 */
#include "config.h"

#include "plugins/threads/hash.h"

#include <stdio.h>
#include <string.h>

#define ODD_A UINT64_C(0x9e3779b97f4a7c15)
#define ODD_B UINT64_C(0xd6e8feb86659fd93)

static void add_word(threads_hash *hash, uint64_t word)
{
    hash->a = (hash->a ^ word) * ODD_A;
    hash->a ^= hash->a >> 29;
    hash->b = ((hash->b << 23 | hash->b >> 41) + word) * ODD_B;
    hash->b ^= hash->b >> 31;
}

void threads_hash_init(threads_hash *hash)
{
    hash->a = 1;
    hash->b = 2;
}

void threads_hash_add(threads_hash *hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    add_word(hash, size);
    while (size >= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        add_word(hash, word);
        bytes += 8;
        size -= 8;
    }
    if (size > 0) {
        uint64_t word = 0;
        memcpy(&word, bytes, size);
        add_word(hash, word);
    }
}

void threads_hash_text(threads_hash *hash, const char *text)
{
    threads_hash_add(hash, text, strlen(text));
}

threads_hash threads_hash_end(const threads_hash *hash)
{
    threads_hash end = *hash;
    for (int i = 0; i < 3; i++) {
        uint64_t a = end.a;
        add_word(&end, end.b);
        end.b ^= a;
    }
    return end;
}

void threads_hash_hex(const threads_hash *hash, char out[THREADS_HASH_HEX])
{
    snprintf(out, THREADS_HASH_HEX, "%016llx%016llx", (unsigned long long)hash->a,
             (unsigned long long)hash->b);
}
