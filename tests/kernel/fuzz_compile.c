/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel compiler on any bytes: it must give a program or messages, never crash, hang
 * or leak. What it accepts must come through its canonical text unchanged.
 *
 * Built with libFuzzer this file is its target. Built alone it is a program of its own,
 *     fuzz_compile N SEED FILE...
 * which compiles N mutations of the files; without arguments a short run over the corpus
 * for `make check`. Input number i depends on SEED + i alone: after a crash,
 * `fuzz_compile
 * 1 SEED+i FILE...` gives it again.
 */
#include "config.h"

#include "libcore/kernel/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *what, const uint8_t *data, size_t size)
{
    fprintf(stderr, "fuzz_compile: %s: %s\n", what, rubus_error_text());
    fwrite(data, 1, size, stderr);
    abort();
}

static rk_program *again(const rk_program *program, const uint8_t *data, size_t size)
{
    rk_program *copy = NULL;
    if (rk_program_from_text("fuzz.rk", program->text, program->text_size, &copy) !=
        RUBUS_OK) {
        broken("canonical text is refused", data, size);
    }
    return copy;
}

/* Canonical text must compile, to the same kernels; and from then on to itself. (At first
 * it may hold library functions that nothing uses, which are not checked until they are
 * the module's own.) */
static void check_round_trip(const rk_program *program, const uint8_t *data, size_t size)
{
    rk_program *second = again(program, data, size);
    rk_program *third = again(second, data, size);
    if (second->text_size != third->text_size ||
        memcmp(second->text, third->text, third->text_size) != 0) {
        broken("canonical text changes", data, size);
    }
    bool equal = second->nentry == program->nentry;
    for (int32_t k = 0; equal && k < program->nentry; k++) {
        equal = program->entry[k].nslot == second->entry[k].nslot &&
                program->entry[k].block_size == second->entry[k].block_size &&
                strcmp(program->entry[k].symbol, second->entry[k].symbol) == 0;
    }
    if (!equal) {
        broken("canonical text has other entries", data, size);
    }
    rk_program_destroy(third);
    rk_program_destroy(second);
}

static void compile(const uint8_t *data, size_t size, const char *dialect, unsigned way)
{
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = way & 1 ? RUBUS_F32 : RUBUS_F64;
    options.index = way & 2 ? RUBUS_I64 : RUBUS_I32;
    options.check = (way & 4) != 0;
    options.dialect = dialect;
    rk_program *program = NULL;
    rubus_status st = rk_compile(&options, "fuzz.rk", (const char *)data, size, &program);
    if (st == RUBUS_OK) {
        if (dialect != NULL && strcmp(dialect, "rk") == 0) {
            check_round_trip(program, data, size);
        }
        rk_program_destroy(program);
    } else if (st != RUBUS_ECOMPILE && st != RUBUS_ELIMIT) {
        broken("unexpected status", data, size);
    } else if (strstr(rubus_error_text(), "error[K") == NULL && st == RUBUS_ECOMPILE) {
        broken("no message", data, size);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    unsigned way = size > 0 ? data[size / 2] : 0;
    int64_t live = rubus__alloc_live();
    compile(data, size, "c", way);
    compile(data, size, "rk", way >> 3);
    if (rubus__alloc_live() != live) {
        broken("memory is left", data, size);
    }
    return 0;
}

#ifndef RUBUS_LIBFUZZER

#include <dirent.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16, MOST_FILES = 256, SHORT_RUN = 1500, SECONDS_PER_INPUT = 30 };

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

/* Words of the language, and what may confuse a reader of it. */
static const char *const word[] = {"kernel ",
                                   "op ",
                                   "func ",
                                   "reduce sum ",
                                   "real ",
                                   "int ",
                                   "bool ",
                                   "index ",
                                   "in ",
                                   "out ",
                                   "inout ",
                                   "let ",
                                   "if (",
                                   "else ",
                                   "for (",
                                   "while (",
                                   "break;",
                                   "continue;",
                                   "return ",
                                   "over (",
                                   "true",
                                   "atomic_add(",
                                   "extent(",
                                   "pad(",
                                   "sum(",
                                   "max(",
                                   "ix(",
                                   "[1:-1]",
                                   "[:, *]",
                                   "[*]",
                                   "[0]",
                                   "1:0",
                                   "+",
                                   "-",
                                   "*",
                                   "/",
                                   "%",
                                   "^",
                                   "&&",
                                   "||",
                                   "!",
                                   "==",
                                   "<",
                                   "?",
                                   ":",
                                   ";",
                                   "{",
                                   "}",
                                   "(",
                                   ")",
                                   "[",
                                   "]",
                                   ",",
                                   "=",
                                   "+=",
                                   "++",
                                   "0",
                                   "1",
                                   "2147483647",
                                   "9223372036854775807",
                                   "1e308",
                                   "0.5",
                                   "1e-400",
                                   "nx",
                                   "u",
                                   "\xce\xbb",
                                   "\xe2\x88\x82",
                                   "\xff",
                                   "//",
                                   "/*",
                                   "*/",
                                   "\"",
                                   "\\",
                                   "import \"fd.rk\";",
                                   "d_xa(",
                                   "inn(",
                                   "u[:-1]",
                                   "\n"};

static void insert_word(mutation *m)
{
    const char *w = word[below(m, sizeof(word) / sizeof(word[0]))];
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

static void mutate(mutation *m, const corpus *c)
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
            insert_word(m);
            break;
        }
    }
}

static void add_file(corpus *c, const char *path)
{
    if (c->n < MOST_FILES &&
        rubus__file_read(path, MOST_BYTES, &c->text[c->n], &c->size[c->n]) == RUBUS_OK) {
        c->n++;
        return;
    }
    fprintf(stderr, "fuzz_compile: %s: %s\n", path, rubus_error_text());
    exit(1);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* alphasort asks the locale */
}

static int is_source(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 3 && strcmp(entry->d_name + n - 3, ".rk") == 0;
}

static void add_corpus_folder(corpus *c)
{
    const char *top = getenv("RUBUS_TEST_SRCDIR");
    char *folder = rubus__format("%s/tests/kernel/corpus", top != NULL ? top : ".");
    struct dirent **list = NULL;
    int n = scandir(folder, &list, is_source, by_name);
    for (int k = 0; k < n; k++) {
        char *path = rubus__format("%s/%s", folder, list[k]->d_name);
        add_file(c, path);
        rubus__free(path);
        free(list[k]);
    }
    free(list);
    rubus__free(folder);
}

int main(int argc, char **argv)
{
    static corpus c;
    static mutation m;
    const char *soak = getenv("RUBUS_TEST_LONG");
    int64_t n = soak != NULL && soak[0] == '1' ? 100 * SHORT_RUN : SHORT_RUN;
    int64_t seed = 1;
    if (argc > 1 && (argc < 4 || !rubus__parse_i64(argv[1], &n) ||
                     !rubus__parse_i64(argv[2], &seed))) {
        fprintf(stderr, "usage: fuzz_compile [N SEED FILE...]\n");
        return 2;
    }
    for (int k = 3; k < argc; k++) {
        add_file(&c, argv[k]);
    }
    if (argc == 1) {
        add_corpus_folder(&c);
    }
    if (c.n == 0) {
        fprintf(stderr, "fuzz_compile: no corpus\n");
        return 1;
    }
    for (int k = 0; k < c.n; k++) {
        (void)LLVMFuzzerTestOneInput((const uint8_t *)c.text[k], c.size[k]);
    }
    for (int64_t i = 0; i < n; i++) {
        m.state = (uint64_t)(seed + i) * 0xD1342543DE82EF95U;
        mutate(&m, &c);
        if (argc > 1 && i % 10000 == 0) {
            fprintf(stderr, "fuzz_compile: input %lld, seed %lld\n", (long long)i,
                    (long long)(seed + i));
        }
        alarm(SECONDS_PER_INPUT); /* a hang ends by SIGALRM */
        (void)LLVMFuzzerTestOneInput(m.data, m.size);
    }
    for (int k = 0; k < c.n; k++) {
        rubus__free(c.text[k]);
    }
    printf("fuzz_compile: %lld inputs from %d files\n", (long long)n, c.n);
    return 0;
}

#endif
