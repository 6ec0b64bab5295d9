/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SHA-256 (libmd) of a list of parts. The number of parts and the length of each go in
 * before the bytes, so lists that differ only in where one part ends have other digests.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <sha2.h>

/* Eight bytes, least significant first, whatever the processor's order. */
static void add_number(SHA2_CTX *sha, uint64_t n)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(n >> (8 * i));
    }
    SHA256Update(sha, bytes, sizeof bytes);
}

void rubus__sha256(const rubus__part *parts, size_t nparts, uint8_t out[32])
{
    SHA2_CTX sha;
    SHA256Init(&sha);
    add_number(&sha, nparts);
    for (size_t i = 0; i < nparts; i++) {
        add_number(&sha, parts[i].size);
        if (parts[i].size > 0) {
            SHA256Update(&sha, parts[i].data, parts[i].size);
        }
    }
    SHA256Final(out, &sha);
}

void rubus__hex(const uint8_t *bytes, size_t n, char *out)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15u];
    }
    out[2 * n] = '\0';
}
