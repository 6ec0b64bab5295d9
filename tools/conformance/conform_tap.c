/* SPDX-License-Identifier: Apache-2.0 */
/* Results as TAP 13 on stdout: a line for each check, as soon as it is done. */
#include "config.h"

#include "conform.h"

#include <inttypes.h>
#include <stdio.h>

void conform_tap_plan(size_t n, const conform_facts *facts, uint64_t seed)
{
    printf("TAP version 13\n1..%zu\n", n);
    printf("# backend %s %s, %s\n", facts->name, facts->version,
           facts->file[0] != '\0' ? facts->file : "built in");
    if (facts->opened) {
        printf("# device %" PRIu32 ": %s, dialect %s\n", facts->device, facts->caps.name,
               facts->caps.dialect);
    }
    printf("# seed %" PRIu64 "\n", seed);
    fflush(stdout);
}

// A block of YAML: the text, each line of it indented.
static void print_reason(const conform_result *result)
{
    printf("  ---\n  seconds: %.3f\n  seed: %" PRIu64 "\n  message: |\n    ",
           result->seconds, result->seed);
    for (const char *c = result->reason; *c != '\0'; c++) {
        putchar(*c);
        if (*c == '\n' && c[1] != '\0') {
            fputs("    ", stdout);
        }
    }
    fputs("\n  ...\n", stdout);
}

void conform_tap_result(size_t number, const conform_check *check,
                        const conform_result *result)
{
    printf("%s %zu - %s", result->outcome == CONFORM_FAILED ? "not ok" : "ok", number,
           check->name);
    if (result->outcome == CONFORM_SKIPPED) {
        printf(" # SKIP %s", result->reason);
    }
    putchar('\n');
    if (result->outcome == CONFORM_FAILED) {
        print_reason(result);
    }
    fflush(stdout);
}
