/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Matrix Market reader on any bytes: a matrix or a message, never a crash, a hang, or
 * memory that is left; the same whatever the size of the blocks and the types; and what a
 * second, plain reader makes of them.
 *
 * Built with libFuzzer this file is its target. Built alone it is a program of its own,
 *     fuzz_matrix_market N SEED FILE...
 * which reads N mutations of the files; without arguments a short run over the corpus for
 * `make check`. After a crash, `fuzz_matrix_market 1 SEED+i FILE...` gives input i again.
 */
#include "config.h"

#include "libcore/sparse/mm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sparse/plain_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void broken(const char *what, const uint8_t *data, size_t size)
{
    fprintf(stderr, "fuzz_matrix_market: %s: %s\n", what, rubus_error_text());
    fwrite(data, 1, size, stderr);
    abort();
}

static rubus_status read_it(const uint8_t *data, size_t size, size_t block,
                            const rubus_mm_options *options, rubus_mm **out_mm)
{
    rubus__mm_limits limits = rubus__mm_limits_standard;
    limits.block = block;
    rubus__mm_source source;
    rubus_status st = rubus__mm_source_memory(&source, "fuzz.mtx", data, size, &limits);
    if (st == RUBUS_OK) {
        st = rubus__mm_read(&source, options, &limits, out_mm);
    }
    rubus__mm_source_close(&source);
    return st;
}

static int64_t index_at(const rubus_mm *mm, const void *array, int64_t k)
{
    return mm->index == RUBUS_I64 ? ((const int64_t *)array)[k]
                                  : ((const int32_t *)array)[k];
}

static bool same_value(const rubus_mm *mm, int64_t k, double want)
{
    double have = 0;
    if (mm->real == RUBUS_F64) {
        have = ((const double *)mm->value)[k];
    } else {
        // of a double rounded twice it may differ by one step, so it is not compared here
        // but where one rounding is all there is
        have = (double)((const float *)mm->value)[k];
        const float rounded = (float)want;
        const double down = (double)nextafterf(rounded, -INFINITY);
        const double up = (double)nextafterf(rounded, INFINITY);
        return (have >= down && have <= up) || (isnan(have) && isnan(want));
    }
    return memcmp(&have, &want, sizeof have) == 0 || (isnan(have) && isnan(want));
}

static void compare(const rubus_mm *mm, const plain_matrix *plain, const uint8_t *data,
                    size_t size)
{
    if (mm->nrow != plain->nrow || mm->ncol != plain->ncol || mm->n != plain->n) {
        broken("other sizes", data, size);
    }
    const int pair = plain->complex ? 2 : 1;
    for (int64_t k = 0; k < mm->n; k++) {
        const plain_entry *e = &plain->entry[k];
        if (index_at(mm, mm->row, k) != e->row || index_at(mm, mm->col, k) != e->col ||
            !same_value(mm, pair * k, e->value[0]) ||
            (pair == 2 && !same_value(mm, 2 * k + 1, e->value[1]))) {
            broken("another entry", data, size);
        }
    }
}

/* A message begins with file and line, and holds nothing that a terminal obeys. */
static void check_text(rubus_status st, bool packed, const uint8_t *data, size_t size)
{
    const char *text = rubus_error_text();
    if (st != RUBUS_EFORMAT && st != RUBUS_ELIMIT) {
        broken("unexpected status", data, size);
    }
    long long line = 0;
    if (!packed && (sscanf(text, "fuzz.mtx:%lld: ", &line) != 1 || line < 1)) {
        broken("no line in the message", data, size);
    }
    for (; *text != '\0'; text++) {
        if (*text < ' ' || *text > '~') {
            broken("bytes of the file in the message", data, size);
        }
    }
}

/* Blocks of another size give the same, message included. */
static void check_block(const uint8_t *data, size_t size, size_t block,
                        const rubus_mm_options *options, rubus_status st,
                        const rubus_mm *mm)
{
    char text[512];
    snprintf(text, sizeof text, "%s", rubus_error_text());
    rubus_mm *other = NULL;
    if (read_it(data, size, block, options, &other) != st ||
        (st != RUBUS_OK && strncmp(text, rubus_error_text(), sizeof text - 1) != 0)) {
        broken("depends on the size of blocks", data, size);
    }
    if (st == RUBUS_OK) {
        const size_t index = rubus__type_size(mm->index);
        const size_t value =
            rubus__type_size(mm->real) * (mm->field == RUBUS_MM_COMPLEX ? 2 : 1);
        if (other->n != mm->n || other->noverflow != mm->noverflow ||
            (mm->n > 0 &&
             (memcmp(other->row, mm->row, (size_t)mm->n * index) != 0 ||
              memcmp(other->col, mm->col, (size_t)mm->n * index) != 0 ||
              memcmp(other->value, mm->value, (size_t)mm->n * value) != 0))) {
            broken("depends on the size of blocks", data, size);
        }
    }
    rubus_mm_destroy(other);
}

static uint32_t mix(const uint8_t *data, size_t size)
{
    uint32_t h = 2166136261u;
    for (size_t k = 0; k < size; k++) {
        h = (h ^ data[k]) * 16777619u;
    }
    return h;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const int64_t live = rubus__alloc_live();
    const uint32_t way = mix(data, size);
    rubus_mm_options options;
    memset(&options, 0, sizeof options);
    options.struct_size = sizeof options;
    options.real = way & 1 ? RUBUS_F32 : RUBUS_F64;
    options.index = way & 2 ? RUBUS_I64 : RUBUS_I32;
    options.complex = 1;
    const bool packed = size >= 2 && data[0] == 0x1f && data[1] == 0x8b;
    rubus_mm *mm = NULL;
    const rubus_status st = read_it(data, size, 1 << 16, &options, &mm);
    if (st != RUBUS_OK) {
        check_text(st, packed, data, size);
    }
    if (!packed) {
        check_block(data, size, 1 + (way >> 2) % 80, &options, st, mm);
        plain_matrix plain;
        plain_read((const char *)data, size,
                   options.index == RUBUS_I64 ? INT64_MAX - 1 : INT32_MAX,
                   options.real == RUBUS_F32, &plain);
        if (!plain.unknown && plain.good != (st == RUBUS_OK)) {
            broken(plain.good ? "refused" : "accepted", data, size);
        }
        if (!plain.unknown && plain.good) {
            compare(mm, &plain, data, size);
        }
        free(plain.entry);
    }
    rubus_mm_destroy(mm);
    if (rubus__alloc_live() != live) {
        broken("memory is left", data, size);
    }
    return 0;
}

#ifndef RUBUS_LIBFUZZER

#include "tests/support/fuzz_inputs.h"

static const char *const word[] = {"%%MatrixMarket matrix coordinate real general\n",
                                   "coordinate ",
                                   "array ",
                                   "real ",
                                   "double ",
                                   "integer ",
                                   "unsigned-integer ",
                                   "pattern ",
                                   "complex ",
                                   "general",
                                   "symmetric",
                                   "skew-symmetric",
                                   "hermitian",
                                   "matrix ",
                                   "vector ",
                                   "%",
                                   "% comment\n",
                                   "\n",
                                   "\r",
                                   "\r\n",
                                   "\n\n",
                                   " ",
                                   "\t",
                                   "\v",
                                   "1 1 1\n",
                                   "2 1\n",
                                   "0",
                                   "00000000000000000000",
                                   "1",
                                   "2",
                                   "3",
                                   "4",
                                   "-",
                                   "+",
                                   "-0",
                                   ".",
                                   "e",
                                   "E-5",
                                   "d+3",
                                   "1e9999",
                                   "4e-324",
                                   "1e-400",
                                   "0x1p3",
                                   "inf",
                                   "-Infinity",
                                   "nan",
                                   "nan(1)",
                                   "2147483647",
                                   "2147483648",
                                   "4294967297",
                                   "9223372036854775807",
                                   "9223372036854775808",
                                   "99999999999999999999999",
                                   "9007199254740993",
                                   "0.1",
                                   "1,5",
                                   "123456789012345678901234567890e-20",
                                   "\xff",
                                   "\xef\xbb\xbf",
                                   "\x1f\x8b"};

/* --- files that are right, or nearly ------------------------------------------------ */

/* Text that grows in m->data. */
static void add(mutation *m, const char *fmt, ...) RUBUS_PRINTF(2, 3);
static void add(mutation *m, const char *fmt, ...)
{
    char text[128];
    va_list args;
    va_start(args, fmt);
    const int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    insert(m, m->size, text, (size_t)n);
}

static const char *pick(mutation *m, const char *const *list, size_t n)
{
    return list[below(m, n)];
}

static void add_blank(mutation *m)
{
    static const char *const blanks[] = {" ", " ", " ", "  ", "\t", " \v", "\f "};
    add(m, "%s", pick(m, blanks, 7));
}

static void add_end(mutation *m, size_t way)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    do {
        if (below(m, 8) == 0) {
            add_blank(m);
        }
        add(m, "%s", ends[way]);
        if (below(m, 16) == 0) {
            add(m, " %% 1 2 3%s", ends[way]);
        }
    } while (below(m, 8) == 0);
}

static void add_number(mutation *m, bool whole)
{
    static const char *const special[] = {
        "inf", "-Inf", "+infinity",         "NaN", "-0", "4e-324", "1e400",
        ".5",  "7.",   "9007199254740993.", "1D-3"};
    const uint64_t bits = next(m);
    if (whole && below(m, 4) == 0) {
        static const char *const big[] = {"2147483648", "-9223372036854775808",
                                          "+7",         "9007199254740993",
                                          "00012",      "123456789012345678901234567890"};
        add(m, "%s", pick(m, big, 6));
    } else if (whole) {
        add(m, "%d", (int)below(m, 2000) - 1000);
    } else if (below(m, 8) == 0) {
        add(m, "%s", pick(m, special, 11));
    } else {
        double value = 0;
        memcpy(&value, &bits, sizeof value);
        value = below(m, 2) == 0 ? (double)(int64_t)bits / 1e15 : value;
        add(m, below(m, 2) == 0 ? "%.*e" : "%.*g", (int)below(m, 24),
            isfinite(value) ? value : 1);
    }
}

static void make_file(mutation *m)
{
    static const char *const formats[] = {"coordinate", "Array"};
    static const char *const fields[] = {"real", "DOUBLE", "integer", "pattern",
                                         "complex"};
    static const char *const symmetries[] = {"general", "Symmetric", "skew-symmetric",
                                             "hermitian"};
    const size_t field = below(m, 5);
    const size_t format = field == 3 ? 0 : below(m, 2);
    const size_t symmetry = below(m, field == 3 ? 2 : field == 4 ? 4 : 3);
    const size_t end = below(m, 3);
    const size_t nrow = below(m, 7);
    const size_t ncol = symmetry == 0 ? below(m, 7) : nrow;
    size_t n = nrow == 0 || ncol == 0 ? 0 : below(m, 12);
    n = symmetry == 2 && nrow == 1 ? 0 : n;
    m->size = 0;
    add(m, "%%%%MatrixMarket matrix %s %s %s", formats[format], fields[field],
        symmetries[symmetry]);
    add_end(m, end);
    add(m, "%zu", nrow);
    add_blank(m);
    add(m, "%zu", ncol);
    if (format == 0) {
        add_blank(m);
        add(m, "%zu", n);
    } else {
        n = symmetry == 0   ? nrow * ncol
            : symmetry == 2 ? nrow * (nrow - (nrow > 0)) / 2
                            : nrow * (nrow + 1) / 2;
    }
    for (size_t k = 0; k < n; k++) {
        add_end(m, end);
        if (format == 0) {
            const size_t row = 1 + below(m, nrow);
            size_t col = 1 + below(m, ncol);
            col = symmetry >= 2 && col == row ? 1 + row % ncol : col;
            add(m, "%zu", row);
            add_blank(m);
            add(m, "%zu", col);
        }
        for (size_t v = 0; v < (field == 3 ? 0u : field == 4 ? 2u : 1u); v++) {
            if (v > 0 || format == 0) {
                add_blank(m);
            }
            add_number(m, field == 2);
        }
    }
    if (below(m, 4) > 0) {
        add_end(m, end);
    }
    if (below(m, 4) == 0 && m->size > 0) {
        m->data[below(m, m->size)] = (uint8_t)next(m);
    }
}

/* Of every other input a file made from its bits; of every eighth its gzip data, half of
 * them with a change. */
static int run(const uint8_t *data, size_t size)
{
    static mutation made;
    if (mix(data, size) % 2 == 0) {
        made.state = mix(data, size);
        make_file(&made);
        data = made.data;
        size = made.size;
    }
    static uint8_t packed[MOST_BYTES + 1024];
    const uint32_t way = mix(data, size) >> 16;
    if (way % 8 == 0) {
        z_stream z;
        memset(&z, 0, sizeof z);
        if (deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, 0) != Z_OK) {
            return 1;
        }
        z.next_in = (Bytef *)(uintptr_t)data;
        z.avail_in = (uInt)size;
        z.next_out = packed;
        z.avail_out = sizeof packed;
        const bool done = deflate(&z, Z_FINISH) == Z_STREAM_END;
        const size_t n = sizeof packed - z.avail_out;
        deflateEnd(&z);
        if (!done) {
            return 1;
        }
        if (way % 16 == 0) {
            packed[2 + way / 16 % (n - 2)] ^= (uint8_t)(1u << way / 16 % 8);
            return LLVMFuzzerTestOneInput(packed, way % 32 == 0 ? n : way / 32 % n);
        }
        rubus_mm_options options = {.struct_size = sizeof options, .complex = 1};
        rubus_mm *mm = NULL;
        rubus_mm *plain = NULL;
        // zlib needs its time to begin, so that is all
        const bool same = read_it(packed, n, 4096, &options, &mm) ==
                          read_it(data, size, 4096, &options, &plain);
        if (!same || (mm != NULL && mm->n != plain->n)) {
            broken("gzip data give something else", data, size);
        }
        rubus_mm_destroy(mm);
        rubus_mm_destroy(plain);
    }
    return LLVMFuzzerTestOneInput(data, size);
}

int main(int argc, char **argv)
{
    const fuzz_target target = {"fuzz_matrix_market",
                                "tests/sparse/corpus",
                                ".mtx",
                                20000,
                                word,
                                sizeof word / sizeof word[0],
                                run};
    return fuzz_main(argc, argv, &target);
}

#endif
