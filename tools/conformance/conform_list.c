/* SPDX-License-Identifier: Apache-2.0 */
/* The list of all checks, in the order in which they run. */
#include "config.h"

#include "conform.h"

#include <string.h>

static const conform_check *const groups[] = {
    conform_load_checks,           conform_caps_checks,           conform_buffer_checks,
    conform_host_memory_checks,    conform_memory_checks,         conform_order_checks,
    conform_order_model_checks,    conform_launch_checks,         conform_language_checks,
    conform_language_point_checks, conform_language_field_checks, conform_reduce_checks,
    conform_error_checks,          conform_thread_checks,         conform_process_checks,
    conform_sparse_checks,         conform_scatter_checks,        conform_random_checks,
    conform_stress_checks,
};
enum { NGROUP = sizeof groups / sizeof groups[0] };

static const char *const level_names[CONFORM_NLEVEL] = {"load", "basic", "full",
                                                        "stress"};

const conform_check *conform_check_at(size_t at)
{
    for (int group = 0; group < NGROUP; group++) {
        for (const conform_check *check = groups[group]; check->name != NULL; check++) {
            if (at-- == 0) {
                return check;
            }
        }
    }
    return NULL;
}

const char *conform_level_name(int level)
{
    return level_names[level];
}

bool conform_level_parse(const char *text, int *out_level)
{
    for (int level = 0; level < CONFORM_NLEVEL; level++) {
        if (strcmp(text, level_names[level]) == 0) {
            *out_level = level;
            return true;
        }
    }
    return false;
}
