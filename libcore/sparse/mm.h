/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_MM_H
#define RUBUS_MM_H
/* Parts of the Matrix Market reader; see matrix_market.h. */
#include <zlib.h>

#include <rubus/matrix_market.h>

#include "libcore/base/base.h"

/* --- mm_source.c: a file as blocks of whole lines ----------------------------------- */

/* What tests make small. */
typedef struct rubus__mm_limits {
    size_t block;     /* bytes read at a time */
    size_t line_most; /* bytes of a line that is no comment */
    int64_t n_i32;    /* entries that an index of 32 bits can count */
} rubus__mm_limits;
extern const rubus__mm_limits rubus__mm_limits_standard;

typedef struct rubus__mm_source {
    const char *name;   /* for messages */
    int64_t line;       /* lines that were used up: the reader counts */
    int fd;             /* -1: the bytes are in memory */
    const char *memory; /* what is left of them */
    size_t memory_size;
    size_t step;
    size_t line_most;
    char *block; /* bytes that were read, the first `used` of them handed out */
    size_t room;
    size_t size;
    size_t used;
    bool begun;     /* something was handed out */
    bool behind_cr; /* the last byte handed out is a CR */
    bool packed;
    bool member_ended; /* of the gzip data */
    z_stream z;
    char *packed_block;
} rubus__mm_source;

/* Fill *source; after a failure too it may be closed. */
rubus_status rubus__mm_source_open(rubus__mm_source *source, const char *path,
                                   const rubus__mm_limits *limits);
rubus_status rubus__mm_source_memory(rubus__mm_source *source, const char *name,
                                     const void *data, size_t size,
                                     const rubus__mm_limits *limits);
void rubus__mm_source_close(rubus__mm_source *source);
/* The next whole lines: [*out_begin, *out_end) ends with LF or CR; empty at the end. A
 * last line without an end gets one. Of long comments only the beginning comes. The bytes
 * live until the next call. */
rubus_status rubus__mm_source_next(rubus__mm_source *source, const char **out_begin,
                                   const char **out_end);

/* --- mm_header.c: what the lines before the entries say ----------------------------- */

typedef struct rubus__mm_reader {
    rubus__mm_source *source;
    const char *at; /* rest of the present block */
    const char *end;
    rubus_mm *mm;
    int64_t size_line; /* number of the line with the sizes */
    int64_t room;      /* of the arrays of mm */
    int64_t n_most;
    int64_t nread; /* entries of the file so far */
    bool complex_allowed;
    bool dense;
    bool is_unsigned;
    int64_t i; /* array format: where the next value belongs */
    int64_t j;
} rubus__mm_reader;

/* "FILE:LINE: " and the text, for the line at `at`. */
rubus_status rubus__mm_fail(const rubus__mm_reader *r, rubus_status st, const char *fmt,
                            ...) RUBUS_PRINTF(3, 4);
/* Printable beginning of [at, end), for messages. */
enum { RUBUS__MM_QUOTE = 48 };
const char *rubus__mm_quote(const char *at, const char *end, char out[RUBUS__MM_QUOTE]);
/* Banner and sizes into r->mm. */
rubus_status rubus__mm_header(rubus__mm_reader *r);
/* [+-] digits, the whole of [at, end); saturates. False: something else. */
bool rubus__mm_integer(const char *at, const char *end, int64_t *out);

/* --- mm_read.c ---------------------------------------------------------------------- */

rubus_status rubus__mm_read(rubus__mm_source *source, const rubus_mm_options *options,
                            const rubus__mm_limits *limits, rubus_mm **out_mm);

/* --- characters --------------------------------------------------------------------- */

static inline bool rubus__mm_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\v' || c == '\f';
}

static inline bool rubus__mm_is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

static inline const char *rubus__mm_skip_blanks(const char *at)
{
    while (rubus__mm_is_blank(*at)) {
        at++;
    }
    return at;
}

/* End of the word at `at`. */
static inline const char *rubus__mm_skip_word(const char *at)
{
    while (!rubus__mm_is_blank(*at) && !rubus__mm_is_line_end(*at)) {
        at++;
    }
    return at;
}

/* Begin of the next line, from anywhere in a line. */
static inline const char *rubus__mm_skip_line(const char *at, const char *end)
{
    while (!rubus__mm_is_line_end(*at)) {
        at++;
    }
    return at[0] == '\r' && at + 1 < end && at[1] == '\n' ? at + 2 : at + 1;
}

#endif
