/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects on their way from the compiler to the cache and into the process. A cache entry
 * may be cut short, overwritten or swapped, and opening a damaged object kills the
 * process; so an entry ends with a seal over all its bytes, its key and its maker, is
 * copied before it is checked, and only the copy is opened. That also works where the
 * cache's file system does not allow programs to be run.
 */
#include "config.h"

#include "plugins/threads/object.h"

#include "plugins/threads/spawn.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_OBJECT (256u << 20)
#define SEAL_MAGIC "rubus object 1\n"

typedef struct seal {
    char magic[16];
    uint64_t size; // of the object before it
    threads_hash hash;
} seal;

void threads_stamp_text(const threads_stamp *stamp, char out[THREADS_STAMP_ROOM])
{
    char *at = out;
    at += sprintf(at, "\nconst unsigned char rubus_key[32] = {");
    for (int i = 0; i < 32; i++) {
        at += sprintf(at, "%d,", stamp->key[i]);
    }
    char hex[THREADS_HASH_HEX];
    threads_hash_hex(&stamp->made_by, hex);
    sprintf(at, "};\nconst char rubus_made_by[] = \"%s\";\n", hex);
}

static seal make_seal(const void *data, size_t size, const threads_stamp *stamp)
{
    threads_hash hash;
    threads_hash_init(&hash);
    threads_hash_add(&hash, stamp->key, sizeof stamp->key);
    threads_hash_add(&hash, &stamp->made_by, sizeof stamp->made_by);
    threads_hash_add(&hash, data, size);
    seal end = {.magic = SEAL_MAGIC, .size = size, .hash = threads_hash_end(&hash)};
    return end;
}

/* Whether all that the header speaks of lies inside the file: a compiler that was killed
 * leaves less. */
static bool is_whole(const char *data, size_t size)
{
    ElfW(Ehdr) head;
    if (size < sizeof head) {
        return false;
    }
    memcpy(&head, data, sizeof head);
    if (memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 || head.e_type != ET_DYN ||
        head.e_phentsize != sizeof(ElfW(Phdr)) || head.e_phnum == 0 ||
        head.e_phoff > size ||
        (uint64_t)head.e_phnum * sizeof(ElfW(Phdr)) > size - head.e_phoff ||
        head.e_shoff > size ||
        (uint64_t)head.e_shnum * head.e_shentsize > size - head.e_shoff) {
        return false;
    }
    for (unsigned i = 0; i < head.e_phnum; i++) {
        ElfW(Phdr) part;
        memcpy(&part, data + head.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type == PT_LOAD &&
            (part.p_offset > size || part.p_filesz > size - part.p_offset)) {
            return false;
        }
    }
    return true;
}

bool threads_object_seal(const rubus_host *host, int fd, const threads_stamp *stamp)
{
    size_t size = 0;
    char *data = threads_file_read(host, fd, MAX_OBJECT, &size);
    if (data == NULL) {
        return false;
    }
    seal end = make_seal(data, size, stamp);
    bool good = is_whole(data, size);
    host->free(host->ctx, data);
    return good && lseek(fd, 0, SEEK_END) == (off_t)size &&
           threads_file_write(fd, &end, sizeof end);
}

int threads_object_unseal(const rubus_host *host, int fd, const threads_stamp *stamp)
{
    size_t size = 0;
    char *data = threads_file_read(host, fd, MAX_OBJECT, &size);
    close(fd);
    if (data == NULL) {
        return -1;
    }
    int copy = -1;
    if (size > sizeof(seal)) {
        seal found;
        memcpy(&found, data + size - sizeof found, sizeof found);
        seal wanted = make_seal(data, size - sizeof found, stamp);
        if (memcmp(&found, &wanted, sizeof found) == 0) {
            copy = threads_file_create("rubus-kernels");
        }
    }
    if (copy >= 0 && !threads_file_write(copy, data, size)) {
        close(copy);
        copy = -1;
    }
    host->free(host->ctx, data);
    return copy;
}

/*
 * A path to the descriptor that no other loaded object has: the loader takes two objects
 * of one name for one, and numbers of descriptors are used again. The address of the
 * module is spelled in steps that lead nowhere, "./" for 1 and "/" for 0.
 */
static void unique_path(int fd, const void *unique, char *out, size_t room)
{
    size_t size = (size_t)snprintf(out, room, "/proc/self/fd/");
    for (uintptr_t bits = (uintptr_t)unique; bits != 0 && size + 16 < room; bits >>= 1) {
        if ((bits & 1) != 0) {
            out[size++] = '.';
        }
        out[size++] = '/';
    }
    snprintf(out + size, room - size, "%d", fd);
}

void *threads_object_load(int fd, const threads_stamp *stamp, const void *unique,
                          char *why, size_t room)
{
    char path[192];
    unique_path(fd, unique, path, sizeof path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        const char *reason = dlerror();
        snprintf(why, room, "%s", reason != NULL ? reason : "it could not be opened");
        return NULL;
    }
    char hex[THREADS_HASH_HEX];
    threads_hash_hex(&stamp->made_by, hex);
    const void *key = dlsym(library, "rubus_key");
    const char *made_by = dlsym(library, "rubus_made_by");
    if (key == NULL || made_by == NULL ||
        memcmp(key, stamp->key, sizeof stamp->key) != 0 || strcmp(made_by, hex) != 0) {
        snprintf(why, room, "it holds other kernels");
        dlclose(library);
        return NULL;
    }
    return library;
}
