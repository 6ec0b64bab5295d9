/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Seals: 16 bytes of magic, the size of the data, and 128 bits of hash over key, suffix
 * and data. The hash finds damage; it does not keep an attacker out, who could write the
 * user's own cache folder anyway. Entries stay on the machine that wrote them: numbers
 * are in its byte order.
 */
#include "config.h"

#include "plugins/vulkan/vk_seal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC "rubus vk seal 1\n"
#define SPIRV_MAGIC 0x07230203u
#define SPIRV_HEAD 20u     /* five words before the first instruction */
#define PIPELINES_HEAD 32u /* VkPipelineCacheHeaderVersionOne */

typedef struct seal {
    char magic[16];
    uint64_t size; // of the data behind it
    uint64_t hash[2];
    uint64_t reserved0;
} seal;
_Static_assert(sizeof(seal) == VK_SEAL_SIZE, "the seal has no holes");

static uint64_t stir(uint64_t x)
{
    x ^= x >> 32;
    x *= UINT64_C(0xd6e8feb86659fd93);
    x ^= x >> 29;
    x *= UINT64_C(0xa0761d6478bd642f);
    return x ^ x >> 32;
}

/* Each part goes in with its length before it: where it ends makes a difference. */
static void hash_add(uint64_t hash[2], const void *data, size_t size)
{
    const unsigned char *at = data;
    hash[0] = stir(hash[0] ^ size);
    hash[1] = stir(hash[1] + size);
    while (size > 0) {
        const size_t n = size < 8 ? size : 8;
        uint64_t word = 0;
        memcpy(&word, at, n);
        hash[0] = (hash[0] ^ word) * UINT64_C(0x9fb21c651e98df25);
        hash[0] ^= hash[0] >> 28;
        hash[1] = (hash[1] << 25 | hash[1] >> 39) + stir(word);
        at += n;
        size -= n;
    }
}

void vk_seal_make(const void *data, size_t size, const uint8_t key[32],
                  const char *suffix, unsigned char out[VK_SEAL_SIZE])
{
    seal s = {.magic = MAGIC, .size = size, .hash = {1, 2}};
    hash_add(s.hash, key, 32);
    hash_add(s.hash, suffix, strlen(suffix));
    hash_add(s.hash, data, size);
    const uint64_t first = stir(s.hash[0]);
    s.hash[0] = first ^ s.hash[1];
    s.hash[1] = stir(s.hash[1] ^ first);
    memcpy(out, &s, sizeof s);
}

bool vk_seal_check(const void *file, size_t size, const uint8_t key[32],
                   const char *suffix)
{
    unsigned char wanted[VK_SEAL_SIZE];
    if (size <= VK_SEAL_SIZE) {
        return false;
    }
    vk_seal_make((const unsigned char *)file + VK_SEAL_SIZE, size - VK_SEAL_SIZE, key,
                 suffix, wanted);
    return memcmp(file, wanted, VK_SEAL_SIZE) == 0;
}

/* --- entries ---------------------------------------------------------------------- */

static bool read_all(int fd, unsigned char *to, size_t size)
{
    size_t done = 0;
    while (done < size) {
        const ssize_t n = pread(fd, to + done, size - done, (off_t)done);
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return false;
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
    const unsigned char *at = from;
    while (size > 0) {
        const ssize_t n = write(fd, at, size);
        if (n < 0 && errno != EINTR) {
            return false;
        }
        at += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

unsigned char *vk_seal_load(const rubus_host *host, const uint8_t key[32],
                            const char *suffix, size_t most, size_t *out_size)
{
    int32_t fd = -1;
    if (host->cache_get(host->ctx, key, suffix, &fd) != RUBUS_OK || fd < 0) {
        return NULL;
    }
    struct stat info;
    unsigned char *file = NULL;
    size_t size = 0;
    if (fstat(fd, &info) == 0 && info.st_size > (off_t)VK_SEAL_SIZE &&
        (uint64_t)info.st_size <= most) {
        size = (size_t)info.st_size;
        file = host->alloc(host->ctx, size, 16);
    }
    // checked is the copy: the file may change at any moment
    const bool good = file != NULL && read_all(fd, file, size) &&
                      vk_seal_check(file, size, key, suffix);
    close(fd);
    if (!good) {
        if (file != NULL) {
            host->free(host->ctx, file);
        }
        host->log(host->ctx, 2,
                  "vulkan: a damaged entry of the kernel cache is made anew");
        return NULL;
    }
    *out_size = size;
    return file;
}

void vk_seal_store(const rubus_host *host, const uint8_t key[32], const char *suffix,
                   const void *data, size_t size)
{
    unsigned char head[VK_SEAL_SIZE];
    vk_seal_make(data, size, key, suffix, head);
    const int fd = memfd_create("rubus-vulkan", MFD_CLOEXEC);
    const bool kept = fd >= 0 && write_all(fd, head, sizeof head) &&
                      write_all(fd, data, size) &&
                      host->cache_put(host->ctx, key, suffix, fd) == RUBUS_OK;
    if (fd >= 0) {
        close(fd);
    }
    if (!kept) {
        host->log(host->ctx, 3, "vulkan: an entry could not be kept in the kernel cache");
    }
}

/* --- contents --------------------------------------------------------------------- */

static uint32_t word_at(const void *data, size_t at)
{
    uint32_t word;
    memcpy(&word, (const unsigned char *)data + at, sizeof word);
    return word;
}

bool vk_spirv_plausible(const void *data, size_t size)
{
    if (size <= SPIRV_HEAD || size % 4 != 0 || word_at(data, 0) != SPIRV_MAGIC ||
        word_at(data, 4) >> 16 != 1) {
        return false;
    }
    // every instruction says how many words it has: they must end where the data end
    size_t at = SPIRV_HEAD;
    while (at < size) {
        const size_t n = (size_t)(word_at(data, at) >> 16) * 4;
        if (n == 0 || n > size - at) {
            return false;
        }
        at += n;
    }
    return true;
}

bool vk_pipelines_plausible(const void *data, size_t size, uint32_t vendor,
                            uint32_t device, const uint8_t uuid[16])
{
    if (size < PIPELINES_HEAD) {
        return false;
    }
    const uint32_t head = word_at(data, 0);
    return head >= PIPELINES_HEAD && head <= size && word_at(data, 4) == 1 &&
           word_at(data, 8) == vendor && word_at(data, 12) == device &&
           memcmp((const unsigned char *)data + 16, uuid, 16) == 0;
}
