/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_MM_PROBE_H
#define RUBUS_TESTS_MM_PROBE_H
/*
 * For tests of Matrix Market files: texts read from memory in blocks of any size, from
 * files and from gzip data; what was read as plain numbers. Include after check.h and
 * config.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcore/sparse/csr.h"
#include "libcore/sparse/mm.h"
#include "tests/support/backends.h"
#include "tests/support/suite.h"

/* Blocks so small that every line, number and CR LF is cut somewhere. */
static const size_t probe_blocks[] = {1, 2, 3, 5, 16, 61, 4096};
enum { PROBE_BLOCKS = sizeof probe_blocks / sizeof probe_blocks[0] };

static inline rubus_status probe_read_block(const char *text, size_t size,
                                            const rubus_mm_options *options, size_t block,
                                            rubus_mm **out_mm)
{
    rubus__mm_limits limits = rubus__mm_limits_standard;
    limits.block = block;
    rubus__mm_source source;
    rubus_status st = rubus__mm_source_memory(&source, "a.mtx", text, size, &limits);
    if (st == RUBUS_OK) {
        st = rubus__mm_read(&source, options, &limits, out_mm);
    }
    rubus__mm_source_close(&source);
    return st;
}

static inline int64_t probe_row(const rubus_mm *mm, int64_t k)
{
    return rubus__index_get(mm->row, mm->index, k);
}

static inline int64_t probe_col(const rubus_mm *mm, int64_t k)
{
    return rubus__index_get(mm->col, mm->index, k);
}

/* Number k of the array of values: real and imaginary parts are numbers of their own. */
static inline double probe_number(const rubus_mm *mm, int64_t k)
{
    return mm->real == RUBUS_F32 ? (double)((const float *)mm->value)[k]
                                 : ((const double *)mm->value)[k];
}

/* gzip data of a text; the caller frees them. */
static inline char *probe_pack(const char *text, size_t size, size_t *out_size)
{
    z_stream z;
    memset(&z, 0, sizeof z);
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, 0), Z_OK);
    const size_t room = deflateBound(&z, size) + 64;
    char *packed = malloc(room);
    ck_assert_ptr_nonnull(packed);
    z.next_in = (Bytef *)(uintptr_t)text;
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)packed;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    *out_size = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

/* --- a folder for files ------------------------------------------------------------- */

static char probe_folder[64];

static inline void probe_begin(void)
{
    strcpy(probe_folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(probe_folder));
}

/* A name in the folder; lives until the next but one call. */
static inline const char *probe_path(const char *name)
{
    static char path[2][128];
    static int at;
    at = 1 - at;
    snprintf(path[at], sizeof path[at], "%s/%s", probe_folder, name);
    return path[at];
}

static inline const char *probe_file(const char *name, const void *data, size_t size)
{
    const char *path = probe_path(name);
    ok(rubus__file_write(path, data, size));
    return path;
}

/* The file is not there. */
static inline void probe_missing(const char *name)
{
    ck_assert_msg(access(probe_path(name), F_OK) != 0, "%s was left", name);
}

/* Removes the folder, which must be empty by then, and so shows what was left there. */
static inline void probe_end(void)
{
    ck_assert_msg(rmdir(probe_folder) == 0, "something was left in %s", probe_folder);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}

#endif
