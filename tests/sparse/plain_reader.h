/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_PLAIN_READER_H
#define RUBUS_TESTS_PLAIN_READER_H
/*
 * A second reader of Matrix Market files, as plain as can be and made from the rules
 * alone: the text is cut into lines and words, numbers go through strtod. The fuzz target
 * compares with it. Include after config.h.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PLAIN_WORDS = 8, PLAIN_WORD = 256 };

typedef struct plain_entry {
    int64_t row;
    int64_t col;
    double value[2];
} plain_entry;

/* What was read; `good` says whether it is a matrix. Longer words than PLAIN_WORD, which
 * it does not know, set `unknown`. */
typedef struct plain_matrix {
    bool good;
    bool unknown;
    bool complex;
    bool single; /* values are f32 */
    int64_t nrow;
    int64_t ncol;
    int64_t n;
    int64_t room;
    plain_entry *entry;
} plain_matrix;

typedef struct plain_line {
    int nword;
    char word[PLAIN_WORDS][PLAIN_WORD];
} plain_line;

typedef struct plain_text {
    const char *at;
    const char *end;
} plain_text;

/* The words of the next line; false at the end. */
static bool plain_next(plain_text *t, plain_line *line, plain_matrix *m)
{
    line->nword = 0;
    if (t->at == t->end) {
        return false;
    }
    size_t size = 0;
    for (; t->at < t->end && *t->at != '\n' && *t->at != '\r'; t->at++) {
        if (memchr(" \t\v\f", *t->at, 4) != NULL) {
            size = 0;
            continue;
        }
        line->nword += size == 0;
        if (line->nword <= PLAIN_WORDS) {
            char *word = line->word[line->nword - 1];
            m->unknown |= size + 1 >= PLAIN_WORD && line->word[0][0] != '%';
            if (size + 1 < PLAIN_WORD) {
                word[size] = *t->at == '\0' ? '?' : *t->at;
                word[size + 1] = '\0';
            }
        }
        size++;
    }
    if (t->at < t->end && *t->at == '\r' && t->at + 1 < t->end && t->at[1] == '\n') {
        t->at++;
    }
    t->at += t->at < t->end;
    return true;
}

/* The same, but comments and blank lines do not count. */
static bool plain_data(plain_text *t, plain_line *line, plain_matrix *m)
{
    do {
        if (!plain_next(t, line, m)) {
            return false;
        }
    } while (line->nword == 0 || line->word[0][0] == '%');
    return true;
}

static bool plain_is(const char *word, const char *name)
{
    for (; *word != '\0' && *name != '\0'; word++, name++) {
        const char c = *word >= 'A' && *word <= 'Z' ? (char)(*word + 32) : *word;
        if (c != *name) {
            return false;
        }
    }
    return *word == *name;
}

/* Which of the names, cut at blanks; -1: none. */
static int plain_which(const char *word, const char *names)
{
    char copy[200];
    strcpy(copy, names);
    char *rest = NULL;
    int k = 0;
    for (char *name = strtok_r(copy, " ", &rest); name != NULL;
         name = strtok_r(NULL, " ", &rest), k++) {
        if (plain_is(word, name)) {
            return k;
        }
    }
    return -1;
}

/* [+-] digits; too large saturates. */
static bool plain_whole(const char *word, int64_t *out)
{
    const char *at = word + (*word == '-' || *word == '+');
    if (*at == '\0' || at[strspn(at, "0123456789")] != '\0') {
        return false;
    }
    *out = strtoll(word, NULL, 10);
    return true;
}

static bool plain_real(const char *word, double *out)
{
    char copy[PLAIN_WORD];
    strcpy(copy, word);
    const char *at = copy + (*copy == '-' || *copy == '+');
    if (plain_which(at, "inf infinity nan") >= 0) {
        *out = strtod(copy, NULL);
        return true;
    }
    const size_t whole = strspn(at, "0123456789");
    const bool point = at[whole] == '.';
    const size_t part = point ? strspn(at + whole + 1, "0123456789") : 0;
    char *rest = copy + (at - copy) + whole + point + part;
    if (whole + part == 0) {
        return false;
    }
    if (*rest != '\0') {
        if (strchr("eEdD", *rest) == NULL) {
            return false;
        }
        *rest = 'e';
        const char *digits = rest + 1 + (rest[1] == '-' || rest[1] == '+');
        if (*digits == '\0' || digits[strspn(digits, "0123456789")] != '\0') {
            return false;
        }
    }
    *out = strtod(copy, NULL);
    return true;
}

static void plain_put(plain_matrix *m, int64_t row, int64_t col, double re, double im)
{
    if (m->n == m->room) {
        m->room = 2 * m->room + 16;
        m->entry = realloc(m->entry, (size_t)m->room * sizeof m->entry[0]);
        if (m->entry == NULL) {
            abort();
        }
    }
    m->entry[m->n++] = (plain_entry){row - 1, col - 1, {re, im}};
}

typedef struct plain_kind {
    int format;   /* coordinate, array */
    int field;    /* real, double, integer, unsigned-integer, pattern, complex */
    int symmetry; /* general, symmetric, skew-symmetric, hermitian */
} plain_kind;

static bool plain_values(const plain_kind *kind, char (*word)[PLAIN_WORD],
                         double value[2])
{
    value[0] = 1;
    value[1] = 0;
    int64_t whole = 0;
    switch (kind->field) {
    case 2:
        return plain_whole(word[0], &whole) && plain_real(word[0], &value[0]);
    case 3:
        return plain_whole(word[0], &whole) && whole >= 0 &&
               plain_real(word[0], &value[0]);
    case 4:
        return true;
    case 5:
        return plain_real(word[0], &value[0]) && plain_real(word[1], &value[1]);
    default:
        return plain_real(word[0], &value[0]);
    }
}

/* One entry and its mirror image; false where the diagonal cannot hold it. */
static bool plain_store(plain_matrix *m, const plain_kind *kind, const plain_entry *e)
{
    const double *v = e->value;
    const int symmetry = kind->symmetry;
    plain_put(m, e->row, e->col, v[0], v[1]);
    if (symmetry == 0) {
        return true;
    }
    if (e->row == e->col) {
        const double re = m->single ? (double)(float)v[0] : v[0];
        const double im = m->single ? (double)(float)v[1] : v[1];
        return !((symmetry == 2 && re != 0) || (symmetry >= 2 && im != 0));
    }
    plain_put(m, e->col, e->row, symmetry == 2 ? -v[0] : v[0],
              symmetry == 1 ? v[1] : -v[1]);
    return true;
}

static bool plain_entries(plain_text *t, plain_matrix *m, const plain_kind *kind,
                          int64_t count)
{
    static plain_line line;
    const int nvalue = kind->field == 4 ? 0 : kind->field == 5 ? 2 : 1;
    const int nindex = kind->format == 0 ? 2 : 0;
    int64_t row = 1;
    int64_t col = 1;
    row += kind->symmetry == 2; // no diagonal
    for (int64_t k = 0; k < count; k++) {
        plain_entry e = {row, col, {0, 0}};
        if (!plain_data(t, &line, m) || line.nword != nindex + nvalue ||
            (nindex == 2 && (!plain_whole(line.word[0], &e.row) ||
                             !plain_whole(line.word[1], &e.col))) ||
            !plain_values(kind, line.word + nindex, e.value) || e.row < 1 ||
            e.row > m->nrow || e.col < 1 || e.col > m->ncol ||
            !plain_store(m, kind, &e)) {
            return false;
        }
        row++;
        while (kind->format == 1 && row > m->nrow && col <= m->ncol) {
            col++;
            row = kind->symmetry == 0 ? 1 : col + (kind->symmetry == 2);
        }
    }
    return !plain_data(t, &line, m);
}

static bool plain_header(plain_text *t, plain_matrix *m, plain_kind *kind)
{
    static plain_line line;
    if (!plain_next(t, &line, m) || line.nword != 5 ||
        !plain_is(line.word[0], "%%matrixmarket") || !plain_is(line.word[1], "matrix")) {
        return false;
    }
    kind->format = plain_which(line.word[2], "coordinate array");
    kind->field =
        plain_which(line.word[3], "real double integer unsigned-integer pattern complex");
    kind->symmetry =
        plain_which(line.word[4], "general symmetric skew-symmetric hermitian");
    m->complex = kind->field == 5;
    return kind->format >= 0 && kind->field >= 0 && kind->symmetry >= 0 &&
           !(kind->field == 4 && (kind->format == 1 || kind->symmetry >= 2)) &&
           !(kind->symmetry == 3 && kind->field != 5);
}

/* index_most: the largest size that an index can count. The caller frees m->entry. */
static void plain_read(const char *data, size_t size, int64_t index_most, bool single,
                       plain_matrix *m)
{
    static plain_line line;
    memset(m, 0, sizeof *m);
    m->single = single;
    plain_text t = {data, data + size};
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        t.at += 3;
    }
    plain_kind kind;
    if (!plain_header(&t, m, &kind) || !plain_data(&t, &line, m)) {
        return;
    }
    int64_t count = 0;
    if (line.nword != (kind.format == 0 ? 3 : 2) ||
        !plain_whole(line.word[0], &m->nrow) || !plain_whole(line.word[1], &m->ncol) ||
        (kind.format == 0 && !plain_whole(line.word[2], &count)) || m->nrow < 0 ||
        m->ncol < 0 || count < 0 || m->nrow > index_most || m->ncol > index_most ||
        (kind.symmetry != 0 && m->nrow != m->ncol)) {
        return;
    }
    if (kind.format == 1) {
        // in floating point: what is not exact there, no file of this size holds
        const double n = (double)m->nrow;
        const double values = kind.symmetry == 0   ? n * (double)m->ncol
                              : kind.symmetry == 2 ? n * (n - 1) / 2
                                                   : n * (n + 1) / 2;
        count = values < 1e15 ? (int64_t)values : (int64_t)1 << 60;
    }
    m->good = plain_entries(&t, m, &kind, count);
}

#endif
