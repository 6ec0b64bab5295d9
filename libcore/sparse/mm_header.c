/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lines of a Matrix Market file before its entries: the banner, comments, the sizes.
 * And what all messages about such a file are made of.
 */
#include "config.h"

#include "libcore/sparse/mm.h"

#include <string.h>

enum { WORD_MOST = 5, SIZES_MOST = 3 };

static const char example[] = "'%%MatrixMarket matrix coordinate real general'";

/* [begin, end) of a line and of its first words. */
typedef struct words {
    int n; /* all, also those that are not kept */
    const char *begin[WORD_MOST];
    const char *end[WORD_MOST];
} words;

rubus_status rubus__mm_fail(const rubus__mm_reader *r, rubus_status st, const char *fmt,
                            ...)
{
    va_list args;
    va_start(args, fmt);
    rubus__vfail(st, fmt, args);
    va_end(args);
    const rubus__mm_source *s = r->source;
    return rubus__fail_prefix(st, "%s:%lld", s->name, (long long)(s->line + 1));
}

const char *rubus__mm_quote(const char *at, const char *end, char out[RUBUS__MM_QUOTE])
{
    size_t n = 0;
    for (; at < end && n + 4 < RUBUS__MM_QUOTE; at++) {
        out[n++] = *at >= ' ' && *at <= '~' ? *at : *at == '\t' ? ' ' : '?';
    }
    if (at < end) {
        memcpy(out + n, "...", 3);
        n += 3;
    }
    out[n] = '\0';
    return out;
}

bool rubus__mm_integer(const char *at, const char *end, int64_t *out)
{
    const bool minus = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    if (at == end) {
        return false;
    }
    int64_t value = 0;
    for (; at < end; at++) {
        if (*at < '0' || *at > '9') {
            return false;
        }
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_add_overflow(value, (int64_t)(*at - '0'), &value)) {
            value = INT64_MAX;
        }
    }
    *out = minus ? -value : value;
    return true;
}

static words split(const char *at)
{
    words w = {0};
    for (at = rubus__mm_skip_blanks(at); !rubus__mm_is_line_end(*at);
         at = rubus__mm_skip_blanks(at)) {
        const char *end = rubus__mm_skip_word(at);
        if (w.n < WORD_MOST) {
            w.begin[w.n] = at;
            w.end[w.n] = end;
        }
        w.n++;
        at = end;
    }
    return w;
}

static const char *line_end(const char *at)
{
    while (!rubus__mm_is_line_end(*at)) {
        at++;
    }
    return at;
}

/* Whether word number k is `name` (in small letters), in any letter case. */
static bool is_word(const words *w, int k, const char *name)
{
    const char *at = w->begin[k];
    for (; at < w->end[k] && *name != '\0'; at++, name++) {
        const char c = *at >= 'A' && *at <= 'Z' ? (char)(*at - 'A' + 'a') : *at;
        if (c != *name) {
            return false;
        }
    }
    return at == w->end[k] && *name == '\0';
}

/* The number of the word in a list of names, 1 the first; 0 if it is none of them. */
static int32_t word_of(const words *w, int k, const char *const *names, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (is_word(w, k, names[i])) {
            return i + 1;
        }
    }
    return 0;
}

static rubus_status bad_word(const rubus__mm_reader *r, const words *w, int k,
                             const char *what, const char *known)
{
    char found[RUBUS__MM_QUOTE];
    return rubus__mm_fail(r, RUBUS_EFORMAT, "the banner names the %s '%s'; known: %s",
                          what, rubus__mm_quote(w->begin[k], w->end[k], found), known);
}

/* What of the words does not go together. */
static rubus_status check_kind(const rubus__mm_reader *r)
{
    const rubus_mm *mm = r->mm;
    if (mm->field == RUBUS_MM_PATTERN && mm->format == RUBUS_MM_ARRAY) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "the field pattern has no meaning in the format array: "
                              "it needs coordinate");
    }
    if (mm->symmetry == RUBUS_MM_HERMITIAN && mm->field != RUBUS_MM_COMPLEX) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "a hermitian matrix needs the field complex: without it, "
                              "symmetric is meant");
    }
    if (mm->symmetry == RUBUS_MM_SKEW && mm->field == RUBUS_MM_PATTERN) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "a skew-symmetric matrix has values of both signs, the "
                              "field pattern has none: symmetric or general is meant");
    }
    if (mm->field == RUBUS_MM_COMPLEX && !r->complex_allowed) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "the field is complex, and a real matrix is needed: write "
                              "real and imaginary part as two real matrices");
    }
    return RUBUS_OK;
}

static rubus_status read_kind(rubus__mm_reader *r, const words *w)
{
    static const char *const formats[] = {"coordinate", "array"};
    static const char *const fields[] = {"real",    "integer", "pattern",
                                         "complex", "double",  "unsigned-integer"};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric",
                                             "hermitian"};
    rubus_mm *mm = r->mm;
    if (!is_word(w, 1, "matrix")) {
        char found[RUBUS__MM_QUOTE];
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "the banner names the object '%s' where 'matrix' is needed "
                              "(a vector is a matrix of one column)",
                              rubus__mm_quote(w->begin[1], w->end[1], found));
    }
    mm->format = word_of(w, 2, formats, 2);
    if (mm->format == 0) {
        return bad_word(r, w, 2, "format", "coordinate, array");
    }
    mm->field = word_of(w, 3, fields, 6);
    if (mm->field == 0) {
        return bad_word(r, w, 3, "field",
                        "real, double, integer, unsigned-integer, pattern, complex");
    }
    r->is_unsigned = mm->field == 6;
    mm->field = mm->field == 5   ? RUBUS_MM_REAL
                : mm->field == 6 ? RUBUS_MM_INTEGER
                                 : mm->field;
    mm->symmetry = word_of(w, 4, symmetries, 4);
    if (mm->symmetry == 0) {
        return bad_word(r, w, 4, "symmetry",
                        "general, symmetric, skew-symmetric, hermitian");
    }
    return check_kind(r);
}

/* Brings lines into the reader; *out_more: false at the end of the file. */
static rubus_status more_lines(rubus__mm_reader *r, bool *out_more)
{
    if (r->at == r->end) {
        const rubus_status st = rubus__mm_source_next(r->source, &r->at, &r->end);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    *out_more = r->at < r->end;
    return RUBUS_OK;
}

static void line_done(rubus__mm_reader *r)
{
    r->at = rubus__mm_skip_line(r->at, r->end);
    r->source->line++;
}

static rubus_status read_banner(rubus__mm_reader *r)
{
    bool more = false;
    const rubus_status st = more_lines(r, &more);
    if (st != RUBUS_OK) {
        return st;
    }
    if (!more) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "the file is empty: it must begin with a banner such as %s",
                              example);
    }
    const char *at = r->at;
    static const char mark[] = "\xef\xbb\xbf"; // UTF-8, as some editors write it
    if (r->end - at >= 3 && memcmp(at, mark, 3) == 0) {
        at += 3;
    }
    const words w = split(at);
    char found[RUBUS__MM_QUOTE];
    if (w.n == 0 || !is_word(&w, 0, "%%matrixmarket")) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "no %%%%MatrixMarket banner: the file must begin with a "
                              "line such as %s, and begins with '%s'",
                              example, rubus__mm_quote(at, line_end(at), found));
    }
    if (w.n != WORD_MOST) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "the banner needs 4 words behind %%%%MatrixMarket (object, "
                              "format, field, symmetry), it has %d",
                              w.n - 1);
    }
    const rubus_status kind = read_kind(r, &w);
    if (kind == RUBUS_OK) {
        line_done(r);
    }
    return kind;
}

static rubus_status check_size(const rubus__mm_reader *r, const words *w, int k,
                               int64_t size)
{
    static const char *const names[] = {"rows", "columns", "entries"};
    char found[RUBUS__MM_QUOTE];
    rubus__mm_quote(w->begin[k], w->end[k], found);
    if (size < 0) {
        return rubus__mm_fail(r, RUBUS_EFORMAT, "a negative number of %s: %s", names[k],
                              found);
    }
    if (size == INT64_MAX) {
        return rubus__mm_fail(r, RUBUS_ELIMIT, "%s %s are more than can be counted",
                              found, names[k]);
    }
    if (k < 2 && r->mm->index == RUBUS_I32 && size > INT32_MAX) {
        return rubus__mm_fail(r, RUBUS_ELIMIT,
                              "%s %s are more than an index of 32 bits can count: choose "
                              "the index type i64",
                              found, names[k]);
    }
    return RUBUS_OK;
}

/* How many values an array file has. */
static rubus_status count_values(rubus__mm_reader *r)
{
    rubus_mm *mm = r->mm;
    int64_t n = 0;
    bool too_many = false;
    if (mm->symmetry == RUBUS_MM_GENERAL) {
        too_many = __builtin_mul_overflow(mm->nrow, mm->ncol, &n);
    } else {
        // half of n (n + 1) or n (n - 1), the even factor halved first
        const int64_t a = mm->nrow;
        const int64_t b = mm->symmetry == RUBUS_MM_SKEW ? a - 1 : a + 1;
        too_many = a > 0 && __builtin_mul_overflow(a % 2 == 0 ? a / 2 : a,
                                                   a % 2 == 0 ? b : b / 2, &n);
    }
    if (too_many) {
        return rubus__mm_fail(r, RUBUS_ELIMIT,
                              "the values of a %lld x %lld array are more than can be "
                              "counted",
                              (long long)mm->nrow, (long long)mm->ncol);
    }
    mm->nfile = n;
    return RUBUS_OK;
}

static rubus_status read_sizes(rubus__mm_reader *r)
{
    rubus_mm *mm = r->mm;
    const int need = mm->format == RUBUS_MM_COORDINATE ? 3 : 2;
    const char *const names = need == 3 ? "(rows, columns, entries)" : "(rows, columns)";
    const words w = split(r->at);
    char found[RUBUS__MM_QUOTE];
    if (w.n != need) {
        return rubus__mm_fail(
            r, RUBUS_EFORMAT, "the line of sizes needs %d numbers %s, it has %d: '%s'",
            need, names, w.n, rubus__mm_quote(r->at, line_end(r->at), found));
    }
    int64_t size[SIZES_MOST] = {0};
    for (int k = 0; k < need; k++) {
        if (!rubus__mm_integer(w.begin[k], w.end[k], &size[k])) {
            return rubus__mm_fail(
                r, RUBUS_EFORMAT, "the line of sizes needs %d whole numbers %s, not '%s'",
                need, names, rubus__mm_quote(w.begin[k], w.end[k], found));
        }
    }
    for (int k = 0; k < need; k++) {
        const rubus_status st = check_size(r, &w, k, size[k]);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    mm->nrow = size[0];
    mm->ncol = size[1];
    mm->nfile = size[2];
    if (mm->symmetry != RUBUS_MM_GENERAL && mm->nrow != mm->ncol) {
        return rubus__mm_fail(r, RUBUS_EFORMAT,
                              "a %s matrix must be square, this one is %lld x %lld",
                              mm->symmetry == RUBUS_MM_SKEW        ? "skew-symmetric"
                              : mm->symmetry == RUBUS_MM_HERMITIAN ? "hermitian"
                                                                   : "symmetric",
                              (long long)mm->nrow, (long long)mm->ncol);
    }
    const rubus_status st = need == 2 ? count_values(r) : RUBUS_OK;
    if (st == RUBUS_OK) {
        line_done(r);
        r->size_line = r->source->line;
    }
    return st;
}

rubus_status rubus__mm_header(rubus__mm_reader *r)
{
    rubus_status st = read_banner(r);
    while (st == RUBUS_OK) {
        bool more = false;
        st = more_lines(r, &more);
        if (st != RUBUS_OK) {
            return st;
        }
        if (!more) {
            return rubus__mm_fail(r, RUBUS_EFORMAT,
                                  "the file ends before the line of sizes: it was cut "
                                  "short, or holds no matrix");
        }
        const char first = *rubus__mm_skip_blanks(r->at);
        if (first != '%' && !rubus__mm_is_line_end(first)) {
            return read_sizes(r);
        }
        line_done(r);
    }
    return st;
}
