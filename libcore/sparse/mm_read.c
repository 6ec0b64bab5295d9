/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading Matrix Market files: the entries, and the public calls.
 *
 * Every line is read once, straight through. One that does not fit is looked at again,
 * slowly, to say what is wrong with it. The arrays grow with what was read; the number of
 * entries that the file declares is believed only when it has come true.
 */
#include "config.h"

#include "libcore/sparse/mm.h"

#include <string.h>

enum { ROOM_FIRST = 1024, WORDS_MOST = 4 };

/* One line of the file. */
typedef struct entry {
    int64_t row; /* from 1, as in the file */
    int64_t col;
    double value[2]; /* real and imaginary part; of an f32 exactly that number */
} entry;

/* --- storing ------------------------------------------------------------------------ */

static rubus_status grow(rubus__mm_reader *r)
{
    rubus_mm *mm = r->mm;
    const int64_t room = r->room == 0 ? ROOM_FIRST : 2 * r->room;
    const size_t index_size = rubus__type_size(mm->index);
    const size_t value_size =
        rubus__type_size(mm->real) * (mm->field == RUBUS_MM_COMPLEX ? 2 : 1);
    void **const arrays[] = {&mm->value, &mm->row, &mm->col};
    const size_t sizes[] = {value_size, index_size, index_size};
    for (int k = 0; k < (r->dense ? 1 : 3); k++) {
        void *grown = rubus__realloc(*arrays[k], (size_t)room * sizes[k]);
        if (grown == NULL) {
            return RUBUS_ENOMEM;
        }
        *arrays[k] = grown;
    }
    r->room = room;
    return RUBUS_OK;
}

static rubus_status fit(rubus__mm_reader *r)
{
    rubus_mm *mm = r->mm;
    if (mm->n == r->room || mm->n == 0) {
        return RUBUS_OK;
    }
    const size_t index_size = rubus__type_size(mm->index);
    const size_t value_size =
        rubus__type_size(mm->real) * (mm->field == RUBUS_MM_COMPLEX ? 2 : 1);
    void **const arrays[] = {&mm->value, &mm->row, &mm->col};
    const size_t sizes[] = {value_size, index_size, index_size};
    for (int k = 0; k < (r->dense ? 1 : 3); k++) {
        void *fitted = rubus__realloc(*arrays[k], (size_t)mm->n * sizes[k]);
        if (fitted == NULL) {
            return RUBUS_ENOMEM;
        }
        *arrays[k] = fitted;
    }
    r->room = mm->n;
    return RUBUS_OK;
}

/* One entry more, there is room; row and column from 0. */
static inline void put(rubus__mm_reader *r, int64_t row, int64_t col, double re,
                       double im)
{
    rubus_mm *mm = r->mm;
    const int64_t n = mm->n++;
    if (!r->dense) {
        if (mm->index == RUBUS_I32) {
            ((int32_t *)mm->row)[n] = (int32_t)row;
            ((int32_t *)mm->col)[n] = (int32_t)col;
        } else {
            ((int64_t *)mm->row)[n] = row;
            ((int64_t *)mm->col)[n] = col;
        }
    }
    const bool pair = mm->field == RUBUS_MM_COMPLEX;
    const int64_t at = pair ? 2 * n : n;
    if (mm->real == RUBUS_F32) {
        ((float *)mm->value)[at] = (float)re;
        if (pair) {
            ((float *)mm->value)[at + 1] = (float)im;
        }
    } else {
        ((double *)mm->value)[at] = re;
        if (pair) {
            ((double *)mm->value)[at + 1] = im;
        }
    }
}

static rubus_status too_many(const rubus__mm_reader *r)
{
    return rubus__mm_fail(
        r, RUBUS_ELIMIT,
        "more than %lld entries (mirror images counted): an index of 32 "
        "bits cannot count them, choose the index type i64",
        (long long)r->n_most);
}

/* What a diagonal cannot hold. */
static rubus_status bad_diagonal(const rubus__mm_reader *r, const entry *e)
{
    char re[32];
    char im[32];
    rubus__print_f64(e->value[0], re);
    rubus__print_f64(e->value[1], im);
    const bool pair = r->mm->field == RUBUS_MM_COMPLEX;
    return rubus__mm_fail(
        r, RUBUS_EFORMAT, "a %s matrix has no (%lld,%lld) = %s%s%s: its diagonal is %s",
        r->mm->symmetry == RUBUS_MM_SKEW ? "skew-symmetric" : "hermitian",
        (long long)e->row, (long long)e->col, re, pair ? " " : "", pair ? im : "",
        r->mm->symmetry == RUBUS_MM_SKEW ? "0" : "real");
}

static inline rubus_status store(rubus__mm_reader *r, const entry *e)
{
    const int32_t symmetry = r->mm->symmetry;
    const bool mirrored = symmetry != RUBUS_MM_GENERAL && e->row != e->col;
    if (r->mm->n + mirrored >= r->n_most) {
        return too_many(r);
    }
    if (r->mm->n + mirrored >= r->room) {
        const rubus_status st = grow(r);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    const double re = e->value[0];
    const double im = e->value[1];
    if (symmetry >= RUBUS_MM_SKEW && !mirrored &&
        (im != 0 || (symmetry == RUBUS_MM_SKEW && re != 0))) {
        return bad_diagonal(r, e);
    }
    put(r, e->row - 1, e->col - 1, re, im);
    if (mirrored) {
        put(r, e->col - 1, e->row - 1, symmetry == RUBUS_MM_SKEW ? -re : re,
            symmetry == RUBUS_MM_SYMMETRIC ? im : -im);
    }
    r->nread++;
    return RUBUS_OK;
}

/* --- lines -------------------------------------------------------------------------- */

static inline bool ends_word(char c)
{
    return rubus__mm_is_blank(c) || rubus__mm_is_line_end(c);
}

/* A word of digits, with a + or without: a row or column. NULL: something else. */
static inline const char *read_index(const char *at, int64_t *out)
{
    uint64_t value = 0;
    at += *at == '+';
    const char *first = at;
    for (; (unsigned char)(*at - '0') <= 9; at++) {
        value = 10 * value + (uint64_t)(*at - '0');
    }
    if (at == first || at - first > 18 || !ends_word(*at)) {
        // a sign, many digits, or no number at all
        const char *end = rubus__mm_skip_word(first);
        return rubus__mm_integer(first, end, out) ? end : NULL;
    }
    *out = (int64_t)value;
    return at;
}

static const char *read_whole(const rubus__mm_reader *r, const char *at, double *out)
{
    const char *end = rubus__mm_skip_word(at);
    int64_t value = 0;
    if (!rubus__mm_integer(at, end, &value) || (r->is_unsigned && value < 0)) {
        return NULL;
    }
    if (value != INT64_MAX && value != -INT64_MAX) {
        *out = r->mm->real == RUBUS_F32 ? (double)(float)value : (double)value;
        return end;
    }
    float small = 0;
    if (r->mm->real != RUBUS_F32) {
        return rubus__read_f64(at, end, out);
    }
    at = rubus__read_f32(at, end, &small);
    *out = (double)small;
    return at;
}

/* A value of the file; NULL: something else. */
static inline const char *read_value(rubus__mm_reader *r, const char *at, double *out)
{
    const char *behind = NULL;
    if (r->mm->field == RUBUS_MM_INTEGER) {
        behind = read_whole(r, at, out);
    } else if (r->mm->real == RUBUS_F64) {
        behind = rubus__read_f64(at, r->end, out);
    } else {
        float small = 0;
        behind = rubus__read_f32(at, r->end, &small);
        *out = (double)small;
    }
    if (behind == NULL || !ends_word(*behind)) {
        return NULL;
    }
    if (*out - *out != 0) {
        at += *at == '-' || *at == '+';
        r->mm->noverflow += *at == '.' || (*at >= '0' && *at <= '9');
    }
    return behind;
}

/* The line at `at`, whose first character is not blank, as an entry; where it ends, or
 * NULL if it is none. */
static inline const char *read_entry(rubus__mm_reader *r, const char *at, entry *e)
{
    const int32_t field = r->mm->field;
    if (r->mm->format == RUBUS_MM_COORDINATE) {
        at = read_index(at, &e->row);
        if (at == NULL) {
            return NULL;
        }
        at = read_index(rubus__mm_skip_blanks(at), &e->col);
        if (at == NULL) {
            return NULL;
        }
        at = rubus__mm_skip_blanks(at);
    } else {
        e->row = r->i + 1;
        e->col = r->j + 1;
    }
    e->value[0] = 1;
    e->value[1] = 0;
    if (field != RUBUS_MM_PATTERN) {
        at = read_value(r, at, &e->value[0]);
    }
    if (field == RUBUS_MM_COMPLEX && at != NULL) {
        at = read_value(r, rubus__mm_skip_blanks(at), &e->value[1]);
    }
    if (at == NULL) {
        return NULL;
    }
    at = rubus__mm_skip_blanks(at);
    return rubus__mm_is_line_end(*at) ? at : NULL;
}

/* --- what is wrong with a line ------------------------------------------------------ */

static rubus_status bad_count(const rubus__mm_reader *r, const char *at, int need, int n)
{
    const bool coordinate = r->mm->format == RUBUS_MM_COORDINATE;
    static const char *const coordinates[] = {"", "", "row and column",
                                              "row, column, value",
                                              "row, column, real and imaginary part"};
    static const char *const values[] = {"", "one value", "real and imaginary part"};
    const char *end = at;
    while (!rubus__mm_is_line_end(*end)) {
        end++;
    }
    char found[RUBUS__MM_QUOTE];
    return rubus__mm_fail(
        r, RUBUS_EFORMAT, "a line needs %d number%s here (%s), this one has %d: '%s'",
        need, need == 1 ? "" : "s", coordinate ? coordinates[need] : values[need], n,
        rubus__mm_quote(at, end, found));
}

static rubus_status bad_word(const rubus__mm_reader *r, int k, const char *found)
{
    const bool coordinate = r->mm->format == RUBUS_MM_COORDINATE;
    if (coordinate && k < 2) {
        return rubus__mm_fail(r, RUBUS_EFORMAT, "'%s' is no %s: a whole number is needed",
                              found, k == 0 ? "row" : "column");
    }
    if (r->mm->field == RUBUS_MM_INTEGER) {
        return rubus__mm_fail(
            r, RUBUS_EFORMAT,
            "'%s' is no %s number, as the banner promises: real is meant", found,
            r->is_unsigned ? "unsigned whole" : "whole");
    }
    return rubus__mm_fail(r, RUBUS_EFORMAT, "'%s' is no number", found);
}

/* Why read_entry refused the line at `at`. */
static rubus_status explain(rubus__mm_reader *r, const char *at)
{
    const rubus_mm *mm = r->mm;
    const bool coordinate = mm->format == RUBUS_MM_COORDINATE;
    const int need = (coordinate ? 2 : 0) + (mm->field == RUBUS_MM_PATTERN   ? 0
                                             : mm->field == RUBUS_MM_COMPLEX ? 2
                                                                             : 1);
    int n = 0;
    const char *wrong = NULL;
    int wrong_at = 0;
    for (const char *p = at; !rubus__mm_is_line_end(*p); n++) {
        int64_t index = 0;
        double value = 0;
        const bool good = coordinate && n < 2 ? read_index(p, &index) != NULL
                                              : read_value(r, p, &value) != NULL;
        if (!good && wrong == NULL) {
            wrong = p;
            wrong_at = n;
        }
        p = rubus__mm_skip_blanks(rubus__mm_skip_word(p));
    }
    if (n != need || wrong == NULL) {
        return bad_count(r, at, need, n);
    }
    char found[RUBUS__MM_QUOTE];
    return bad_word(r, wrong_at,
                    rubus__mm_quote(wrong, rubus__mm_skip_word(wrong), found));
}

/* A row or column outside the matrix. */
static rubus_status bad_index(const rubus__mm_reader *r, const char *at, const entry *e)
{
    const bool row = e->row < 1 || e->row > r->mm->nrow;
    if (!row) {
        at = rubus__mm_skip_blanks(rubus__mm_skip_word(at));
    }
    const int64_t size = row ? r->mm->nrow : r->mm->ncol;
    char found[RUBUS__MM_QUOTE];
    rubus__mm_quote(at, rubus__mm_skip_word(at), found);
    if (size == 0) {
        return rubus__mm_fail(r, RUBUS_EFORMAT, "%s %s in a matrix that has none",
                              row ? "row" : "column", found);
    }
    return rubus__mm_fail(r, RUBUS_EFORMAT, "%s %s is not in 1..%lld%s",
                          row ? "row" : "column", found, (long long)size,
                          (row ? e->row : e->col) == 0 ? " (indices start at 1)" : "");
}

/* --- reading ------------------------------------------------------------------------ */

/* Where the next value of an array file belongs: by columns, of one triangle only if the
 * matrix is symmetric in any way. */
static void advance(rubus__mm_reader *r)
{
    const int32_t symmetry = r->mm->symmetry;
    r->i++;
    while (r->i >= r->mm->nrow && r->j < r->mm->ncol) {
        r->j++;
        r->i = symmetry == RUBUS_MM_GENERAL ? 0 : r->j + (symmetry == RUBUS_MM_SKEW);
    }
}

/* All lines of the present block. */
static rubus_status read_block(rubus__mm_reader *r)
{
    const rubus_mm *mm = r->mm;
    const bool array = mm->format == RUBUS_MM_ARRAY;
    while (r->at < r->end) {
        const char *at = rubus__mm_skip_blanks(r->at);
        if (*at != '%' && !rubus__mm_is_line_end(*at)) {
            if (r->nread == mm->nfile) {
                return rubus__mm_fail(r, RUBUS_EFORMAT,
                                      "more than the %lld %s that line %lld declares",
                                      (long long)mm->nfile, array ? "values" : "entries",
                                      (long long)r->size_line);
            }
            entry e;
            const char *behind = read_entry(r, at, &e);
            if (behind == NULL) {
                return explain(r, at);
            }
            if (e.row < 1 || e.row > mm->nrow || e.col < 1 || e.col > mm->ncol) {
                return bad_index(r, at, &e);
            }
            const rubus_status st = store(r, &e);
            if (st != RUBUS_OK) {
                return st;
            }
            if (array) {
                advance(r);
            }
            at = behind;
        }
        r->at = rubus__mm_skip_line(at, r->end);
        r->source->line++;
    }
    return RUBUS_OK;
}

static rubus_status read_entries(rubus__mm_reader *r)
{
    const rubus_mm *mm = r->mm;
    for (;;) {
        rubus_status st = read_block(r);
        if (st != RUBUS_OK) {
            return st;
        }
        st = rubus__mm_source_next(r->source, &r->at, &r->end);
        if (st != RUBUS_OK) {
            return st;
        }
        if (r->at == r->end) {
            break;
        }
    }
    if (r->nread < mm->nfile) {
        const rubus__mm_source *s = r->source;
        return rubus__fail(
            RUBUS_EFORMAT,
            "%s:%lld: only %lld of the %lld %s that line %lld declares: the "
            "file ends behind line %lld",
            s->name, (long long)s->line, (long long)r->nread, (long long)mm->nfile,
            mm->format == RUBUS_MM_ARRAY ? "values" : "entries", (long long)r->size_line,
            (long long)s->line);
    }
    return fit(r);
}

static rubus_status check_options(const rubus_mm_options *options, rubus_mm *mm)
{
    mm->real = options->real == 0 ? RUBUS_F64 : options->real;
    mm->index = options->index == 0 ? RUBUS_I32 : options->index;
    if (mm->real != RUBUS_F64 && mm->real != RUBUS_F32) {
        return rubus__fail(RUBUS_EINVAL,
                           "rubus_mm_read: options.real is %d: RUBUS_F64 or RUBUS_F32 is "
                           "needed",
                           (int)mm->real);
    }
    if (mm->index != RUBUS_I32 && mm->index != RUBUS_I64) {
        return rubus__fail(
            RUBUS_EINVAL,
            "rubus_mm_read: options.index is %d: RUBUS_I32 or RUBUS_I64 is "
            "needed",
            (int)mm->index);
    }
    return RUBUS_OK;
}

rubus_status rubus__mm_read(rubus__mm_source *source, const rubus_mm_options *options,
                            const rubus__mm_limits *limits, rubus_mm **out_mm)
{
    rubus__mm_reader r;
    memset(&r, 0, sizeof r);
    r.source = source;
    r.mm = rubus__alloc(sizeof *r.mm);
    if (r.mm == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = check_options(options, r.mm);
    r.n_most = r.mm->index == RUBUS_I32 ? limits->n_i32 : INT64_MAX;
    r.complex_allowed = options->complex != 0;
    if (st == RUBUS_OK) {
        st = rubus__mm_header(&r);
    }
    if (st == RUBUS_OK) {
        r.dense = options->dense != 0 && r.mm->format == RUBUS_MM_ARRAY &&
                  r.mm->symmetry == RUBUS_MM_GENERAL;
        r.n_most = r.dense ? INT64_MAX : r.n_most;
        r.i = r.mm->symmetry == RUBUS_MM_SKEW ? 1 : 0;
        st = read_entries(&r);
    }
    if (st != RUBUS_OK) {
        rubus_mm_destroy(r.mm);
        return st;
    }
    *out_mm = r.mm;
    return RUBUS_OK;
}

RUBUS_API rubus_status rubus_mm_read(const char *path, const rubus_mm_options *options,
                                     rubus_mm **out_mm)
{
    if (path == NULL || out_mm == NULL ||
        (options != NULL && options->struct_size == 0)) {
        return rubus__fail(RUBUS_EINVAL, "rubus_mm_read: %s",
                           path == NULL     ? "path is NULL"
                           : out_mm == NULL ? "out_mm is NULL"
                                            : "options.struct_size is 0");
    }
    rubus_mm_options chosen;
    memset(&chosen, 0, sizeof chosen);
    if (options != NULL) {
        const size_t size = options->struct_size;
        memcpy(&chosen, options, size < sizeof chosen ? size : sizeof chosen);
    }
    rubus__mm_source source;
    rubus_status st = rubus__mm_source_open(&source, path, &rubus__mm_limits_standard);
    if (st == RUBUS_OK) {
        st = rubus__mm_read(&source, &chosen, &rubus__mm_limits_standard, out_mm);
    }
    rubus__mm_source_close(&source);
    return st;
}

RUBUS_API void rubus_mm_destroy(rubus_mm *mm)
{
    if (mm != NULL) {
        rubus__free(mm->row);
        rubus__free(mm->col);
        rubus__free(mm->value);
        rubus__free(mm);
    }
}
