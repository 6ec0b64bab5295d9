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

#include "tests/support/fuzz_inputs.h"

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

int main(int argc, char **argv)
{
    const fuzz_target target = {"fuzz_compile",
                                "tests/kernel/corpus",
                                ".rk",
                                1500,
                                word,
                                sizeof(word) / sizeof(word[0]),
                                LLVMFuzzerTestOneInput};
    return fuzz_main(argc, argv, &target);
}

#endif
