/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FUZZ_INPUTS_H
#define RUBUS_TESTS_FUZZ_INPUTS_H
/*
 * The main function of a fuzz target that runs without libFuzzer: mutations of the files
 * of a corpus. Input number i depends on SEED + i alone. Include after config.h.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libcore/base/base.h"

/* What is fuzzed, and with what. */
typedef struct fuzz_target {
    const char *name;        /* of the program */
    const char *folder;      /* of the corpus, in the source tree */
    const char *ending;      /* of its files */
    int64_t short_run;       /* inputs of a run without arguments; 100 times as many in
                           check-long */
    const char *const *word; /* words of the language, and what may confuse a reader */
    size_t nword;
    int (*run)(const uint8_t *data, size_t size);
} fuzz_target;

enum { MOST_BYTES = 1 << 16, MOST_FILES = 256, SECONDS_PER_INPUT = 30 };

typedef struct corpus {
    int n;
    char *text[MOST_FILES];
    size_t size[MOST_FILES];
} corpus;

typedef struct mutation {
    uint64_t state;
    size_t size;
    uint8_t data[MOST_BYTES];
} mutation;

static uint64_t next(mutation *m)
{
    uint64_t x = m->state += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

static size_t below(mutation *m, size_t n)
{
    return n == 0 ? 0 : (size_t)(next(m) % n);
}

static void insert(mutation *m, size_t at, const void *bytes, size_t n)
{
    if (m->size + n <= MOST_BYTES) {
        memmove(m->data + at + n, m->data + at, m->size - at);
        memcpy(m->data + at, bytes, n);
        m->size += n;
    }
}

static void cut(mutation *m, size_t at, size_t n)
{
    n = n < m->size - at ? n : m->size - at;
    memmove(m->data + at, m->data + at + n, m->size - at - n);
    m->size -= n;
}

static void insert_word(mutation *m, const fuzz_target *t)
{
    const char *w = t->word[below(m, t->nword)];
    insert(m, below(m, m->size + 1), w, strlen(w));
}

/* Something from another file, or from elsewhere in this input. */
static void splice(mutation *m, const corpus *c)
{
    size_t from = below(m, (size_t)c->n);
    size_t first = below(m, c->size[from]);
    size_t n = below(m, 200);
    n = n < c->size[from] - first ? n : c->size[from] - first;
    insert(m, below(m, m->size + 1), c->text[from] + first, n);
}

static void repeat(mutation *m)
{
    uint8_t piece[64];
    size_t first = below(m, m->size);
    size_t n = below(m, sizeof(piece));
    n = n < m->size - first ? n : m->size - first;
    memcpy(piece, m->data + first, n);
    size_t times = below(m, 20) == 0 ? 1000 : 1 + below(m, 4);
    for (size_t k = 0; k < times; k++) {
        insert(m, first, piece, n);
    }
}

static void mutate(mutation *m, const corpus *c, const fuzz_target *t)
{
    size_t from = below(m, (size_t)c->n);
    m->size = c->size[from] < MOST_BYTES ? c->size[from] : MOST_BYTES;
    memcpy(m->data, c->text[from], m->size);
    size_t changes = 1 + below(m, 6);
    for (size_t k = 0; k < changes && m->size > 0; k++) {
        size_t at = below(m, m->size);
        switch (below(m, 8)) {
        case 0:
            m->data[at] = (uint8_t)next(m);
            break;
        case 1:
            m->data[at] ^= (uint8_t)(1U << below(m, 8));
            break;
        case 2:
            cut(m, at, 1 + below(m, 8));
            break;
        case 3:
            cut(m, at, below(m, 200));
            break;
        case 4:
            splice(m, c);
            break;
        case 5:
            repeat(m);
            break;
        default:
            insert_word(m, t);
            break;
        }
    }
}

static void add_file(corpus *c, const char *path, const fuzz_target *t)
{
    if (c->n < MOST_FILES &&
        rubus__file_read(path, MOST_BYTES, &c->text[c->n], &c->size[c->n]) == RUBUS_OK) {
        c->n++;
        return;
    }
    fprintf(stderr, "%s: %s: %s\n", t->name, path, rubus_error_text());
    exit(1);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* alphasort asks the locale */
}

static bool has_ending(const char *name, const char *ending)
{
    const size_t n = strlen(name);
    const size_t m = strlen(ending);
    return n > m && strcmp(name + n - m, ending) == 0;
}

static void add_corpus_folder(corpus *c, const fuzz_target *t)
{
    const char *top = getenv("RUBUS_TEST_SRCDIR");
    char *folder = rubus__format("%s/%s", top != NULL ? top : ".", t->folder);
    struct dirent **list = NULL;
    int n = scandir(folder, &list, NULL, by_name);
    for (int k = 0; k < n; k++) {
        if (has_ending(list[k]->d_name, t->ending)) {
            char *path = rubus__format("%s/%s", folder, list[k]->d_name);
            add_file(c, path, t);
            rubus__free(path);
        }
        free(list[k]);
    }
    free(list);
    rubus__free(folder);
}

static int fuzz_main(int argc, char **argv, const fuzz_target *t)
{
    static corpus c;
    static mutation m;
    const char *soak = getenv("RUBUS_TEST_LONG");
    int64_t n = soak != NULL && soak[0] == '1' ? 100 * t->short_run : t->short_run;
    int64_t seed = 1;
    if (argc > 1 && (argc < 4 || !rubus__parse_i64(argv[1], &n) ||
                     !rubus__parse_i64(argv[2], &seed))) {
        fprintf(stderr, "usage: %s [N SEED FILE...]\n", t->name);
        return 2;
    }
    for (int k = 3; k < argc; k++) {
        add_file(&c, argv[k], t);
    }
    if (argc == 1) {
        add_corpus_folder(&c, t);
    }
    if (c.n == 0) {
        fprintf(stderr, "%s: no corpus\n", t->name);
        return 1;
    }
    for (int k = 0; k < c.n; k++) {
        (void)t->run((const uint8_t *)c.text[k], c.size[k]);
    }
    for (int64_t i = 0; i < n; i++) {
        m.state = (uint64_t)(seed + i) * 0xD1342543DE82EF95U;
        mutate(&m, &c, t);
        if (argc > 1 && i % 10000 == 0) {
            fprintf(stderr, "%s: input %lld, seed %lld\n", t->name, (long long)i,
                    (long long)(seed + i));
        }
        alarm(SECONDS_PER_INPUT); /* a hang ends by SIGALRM */
        (void)t->run(m.data, m.size);
    }
    for (int k = 0; k < c.n; k++) {
        rubus__free(c.text[k]);
    }
    printf("%s: %lld inputs from %d files\n", t->name, (long long)n, c.n);
    return 0;
}

#endif
