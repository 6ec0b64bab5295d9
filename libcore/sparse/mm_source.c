/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a Matrix Market file, in blocks that hold whole lines, so that the reader
 * scans without looking for the end of the block. Gzip data, one member or several, are
 * expanded on the way. A comment as long as a block is cut; any other line lets the block
 * grow, up to a limit.
 */
#include "config.h"

#include "libcore/sparse/mm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKED_STEP = 64 * 1024, COMMENT_KEPT = 256 };

const rubus__mm_limits rubus__mm_limits_standard = {(size_t)1 << 18, (size_t)1 << 24,
                                                    INT32_MAX};

static voidpf packed_alloc(voidpf user, uInt count, uInt size)
{
    (void)user;
    return rubus__alloc_array(count, size);
}

static void packed_free(voidpf user, voidpf p)
{
    (void)user;
    rubus__free(p);
}

static rubus_status read_failed(const rubus__mm_source *s, const char *reason)
{
    return rubus__fail(RUBUS_EIO, "cannot read '%s': %s", s->name, reason);
}

/* Up to `room` bytes as they are in the file; 0 at its end. */
static rubus_status raw_bytes(rubus__mm_source *s, char *out, size_t room, size_t *out_n)
{
    if (s->fd < 0) {
        const size_t n = room < s->memory_size ? room : s->memory_size;
        memcpy(out, s->memory, n);
        s->memory += n;
        s->memory_size -= n;
        *out_n = n;
        return RUBUS_OK;
    }
    ssize_t n = 0;
    do {
        n = read(s->fd, out, room);
    } while (n < 0 && errno == EINTR);
    if (n < 0) {
        return read_failed(s, rubus__errno_text(errno));
    }
    *out_n = (size_t)n;
    return RUBUS_OK;
}

static rubus_status packed_failed(const rubus__mm_source *s, const char *what)
{
    return rubus__fail(RUBUS_EFORMAT,
                       "%s: the gzip data %s behind line %lld: fetch the file again",
                       s->name, what, (long long)s->line);
}

/* Makes sure that there is input for inflate; *out_more: false at the end of a file that
 * may end here. */
static rubus_status packed_input(rubus__mm_source *s, bool *out_more)
{
    *out_more = true;
    for (;;) {
        // zeros behind the data are what blocks of a tape were filled with
        while (s->member_ended && s->z.avail_in > 0 && *s->z.next_in == 0) {
            s->z.next_in++;
            s->z.avail_in--;
        }
        if (s->z.avail_in > 0) {
            break;
        }
        size_t n = 0;
        const size_t step = s->step < PACKED_STEP ? s->step : PACKED_STEP;
        const rubus_status st = raw_bytes(s, s->packed_block, step, &n);
        if (st != RUBUS_OK) {
            return st;
        }
        if (n == 0) {
            *out_more = false;
            return s->member_ended ? RUBUS_OK : packed_failed(s, "end too early,");
        }
        s->z.next_in = (Bytef *)s->packed_block;
        s->z.avail_in = (uInt)n;
    }
    if (s->member_ended) {
        if (inflateReset(&s->z) != Z_OK) {
            return rubus__fail(RUBUS_EINTERNAL, "zlib refuses to begin again");
        }
        s->member_ended = false;
    }
    return RUBUS_OK;
}

static rubus_status expanded_bytes(rubus__mm_source *s, char *out, size_t room,
                                   size_t *out_n)
{
    *out_n = 0;
    while (*out_n == 0) {
        bool more = false;
        const rubus_status st = packed_input(s, &more);
        if (st != RUBUS_OK || !more) {
            return st;
        }
        s->z.next_out = (Bytef *)out;
        s->z.avail_out = room < UINT32_MAX ? (uInt)room : UINT32_MAX;
        const uInt before = s->z.avail_out;
        const int result = inflate(&s->z, Z_NO_FLUSH);
        *out_n = before - s->z.avail_out;
        if (result == Z_MEM_ERROR) {
            return RUBUS_ENOMEM; // the allocator has written the message
        }
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) {
            return packed_failed(s, "are damaged");
        }
        s->member_ended = result == Z_STREAM_END;
    }
    return RUBUS_OK;
}

static rubus_status begin(rubus__mm_source *s, const unsigned char *first, size_t nfirst,
                          const rubus__mm_limits *limits)
{
    s->step = limits->block;
    s->line_most = limits->line_most;
    s->room = s->step;
    s->block = rubus__alloc_aligned(s->room + 2, 64);
    if (s->block == NULL) {
        return RUBUS_ENOMEM;
    }
    if (nfirst < 2 || first[0] != 0x1f || first[1] != 0x8b) {
        return RUBUS_OK;
    }
    s->packed_block = rubus__alloc_aligned(PACKED_STEP, 64);
    if (s->packed_block == NULL) {
        return RUBUS_ENOMEM;
    }
    s->z.zalloc = packed_alloc;
    s->z.zfree = packed_free;
    const int result = inflateInit2(&s->z, 16 + MAX_WBITS);
    if (result != Z_OK) {
        return result == Z_MEM_ERROR
                   ? RUBUS_ENOMEM
                   : rubus__fail(RUBUS_EINTERNAL, "zlib cannot begin: %d", result);
    }
    s->packed = true;
    return RUBUS_OK;
}

rubus_status rubus__mm_source_memory(rubus__mm_source *s, const char *name,
                                     const void *data, size_t size,
                                     const rubus__mm_limits *limits)
{
    memset(s, 0, sizeof *s);
    s->name = name;
    s->fd = -1;
    s->memory = data;
    s->memory_size = size;
    return begin(s, data, size, limits);
}

rubus_status rubus__mm_source_open(rubus__mm_source *s, const char *path,
                                   const rubus__mm_limits *limits)
{
    memset(s, 0, sizeof *s);
    s->name = path;
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0) {
        return read_failed(s, rubus__errno_text(errno));
    }
    struct stat info;
    if (fstat(s->fd, &info) != 0) {
        return read_failed(s, rubus__errno_text(errno));
    }
    if (!S_ISREG(info.st_mode)) {
        return read_failed(s, S_ISDIR(info.st_mode) ? "it is a folder"
                                                    : "it is not a regular file");
    }
    unsigned char first[2] = {0, 0};
    const ssize_t n = pread(s->fd, first, sizeof first, 0);
    return begin(s, first, n < 0 ? 0 : (size_t)n, limits);
}

void rubus__mm_source_close(rubus__mm_source *s)
{
    if (s->packed) {
        inflateEnd(&s->z);
    }
    rubus__free(s->packed_block);
    rubus__free(s->block);
    if (s->fd >= 0) {
        close(s->fd);
    }
    memset(s, 0, sizeof *s);
    s->fd = -1;
}

/* The block is full of one line that goes on. */
static rubus_status make_room(rubus__mm_source *s)
{
    size_t first = 0;
    while (first < s->size && rubus__mm_is_blank(s->block[first])) {
        first++;
    }
    // not of the first line, which is the banner
    if (s->begun && first < COMMENT_KEPT / 2 && s->size > COMMENT_KEPT &&
        s->block[first] == '%') {
        s->size = COMMENT_KEPT;
        return RUBUS_OK;
    }
    if (s->room >= s->line_most) {
        return rubus__fail(RUBUS_EFORMAT,
                           "%s:%lld: a line of more than %zu bytes that is no comment: "
                           "is this a Matrix Market file?",
                           s->name, (long long)(s->line + 1), s->room);
    }
    const size_t room = 2 * s->room < s->line_most ? 2 * s->room : s->line_most;
    char *block = rubus__realloc(s->block, room + 2);
    if (block == NULL) {
        return RUBUS_ENOMEM;
    }
    s->block = block;
    s->room = room;
    return RUBUS_OK;
}

/* The last line end of [from, to), NULL if there is none. */
static const char *last_line_end(const char *from, const char *to)
{
    const char *lf = memrchr(from, '\n', (size_t)(to - from));
    const char *behind = lf != NULL ? lf + 1 : from;
    const char *cr = memrchr(behind, '\r', (size_t)(to - behind));
    return cr != NULL ? cr : lf;
}

/* Hands out the next lines, which end at `end`. */
static bool hand_out(rubus__mm_source *s, const char *end, const char **out_begin,
                     const char **out_end)
{
    s->begun = true;
    s->used = (size_t)(end - s->block);
    const char *first = s->block;
    if (s->behind_cr && *first == '\n') {
        first++; // the other half of CR LF
    }
    s->behind_cr = end[-1] == '\r';
    *out_begin = first;
    *out_end = end;
    return first < end;
}

rubus_status rubus__mm_source_next(rubus__mm_source *s, const char **out_begin,
                                   const char **out_end)
{
    s->size -= s->used;
    memmove(s->block, s->block + s->used, s->size);
    s->used = 0;
    for (;;) {
        if (s->size == s->room) {
            const rubus_status st = make_room(s);
            if (st != RUBUS_OK) {
                return st;
            }
        }
        char *fresh = s->block + s->size;
        size_t n = 0;
        const size_t room = s->room - s->size;
        const rubus_status st = s->packed ? expanded_bytes(s, fresh, room, &n)
                                          : raw_bytes(s, fresh, room, &n);
        if (st != RUBUS_OK) {
            return st;
        }
        s->size += n;
        if (n == 0) {
            if (s->size > 0) {
                s->block[s->size++] = '\n';
            }
            break;
        }
        const char *last = last_line_end(fresh, fresh + n);
        if (last == NULL) {
            continue;
        }
        if (hand_out(s, last + 1, out_begin, out_end)) {
            return RUBUS_OK;
        }
        s->size -= s->used;
        memmove(s->block, s->block + s->used, s->size);
        s->used = 0;
    }
    if (s->size == 0 || !hand_out(s, s->block + s->size, out_begin, out_end)) {
        *out_begin = s->block;
        *out_end = s->block;
    }
    return RUBUS_OK;
}
