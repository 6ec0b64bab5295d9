/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a backend: KEY=VALUE of the spec, and what variables of the environment
 * add where the spec is silent. Sorted by key, so that two lists are the same if they
 * mean the same: backends are started once for each distinct list.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <string.h>

rubus_status rubus__options_set(rubus__options *options, const char *key,
                                const char *value)
{
    size_t at = 0;
    while (at < options->n && strcmp(options->at[at].key, key) < 0) {
        at++;
    }
    const bool there = at < options->n && strcmp(options->at[at].key, key) == 0;
    if (!there && options->n == RUBUS__OPTION_MOST) {
        return rubus__fail(RUBUS_EINVAL, "more than %d options for a backend",
                           RUBUS__OPTION_MOST);
    }
    char *value_copy = rubus__strdup(value);
    if (value_copy == NULL) {
        return RUBUS_ENOMEM;
    }
    if (there) {
        rubus__free(options->at[at].value);
        options->at[at].value = value_copy;
        return RUBUS_OK;
    }
    char *key_copy = rubus__strdup(key);
    if (key_copy == NULL) {
        rubus__free(value_copy);
        return RUBUS_ENOMEM;
    }
    memmove(&options->at[at + 1], &options->at[at],
            (options->n - at) * sizeof options->at[0]);
    options->at[at].key = key_copy;
    options->at[at].value = value_copy;
    options->n++;
    return RUBUS_OK;
}

const char *rubus__options_get(const rubus__options *options, const char *key)
{
    for (size_t i = 0; i < options->n; i++) {
        if (strcmp(options->at[i].key, key) == 0) {
            return options->at[i].value;
        }
    }
    return NULL;
}

bool rubus__options_equal(const rubus__options *a, const rubus__options *b)
{
    if (a->n != b->n) {
        return false;
    }
    for (size_t i = 0; i < a->n; i++) {
        if (strcmp(a->at[i].key, b->at[i].key) != 0 ||
            strcmp(a->at[i].value, b->at[i].value) != 0) {
            return false;
        }
    }
    return true;
}

void rubus__options_fini(rubus__options *options)
{
    for (size_t i = 0; i < options->n; i++) {
        rubus__free(options->at[i].key);
        rubus__free(options->at[i].value);
    }
    options->n = 0;
}

/* "1" or "0" for the ways to say yes and no; NULL for anything else. */
static const char *yes_or_no(const char *value)
{
    static const char *const yes[] = {"1", "on", "yes", "true"};
    static const char *const no[] = {"0", "off", "no", "false"};
    for (size_t i = 0; i < 4; i++) {
        if (rubus__equal_nocase(value, yes[i])) {
            return "1";
        }
        if (rubus__equal_nocase(value, no[i])) {
            return "0";
        }
    }
    return NULL;
}

rubus_status rubus__option_normal(const char *key, const char *value, char out[32],
                                  const char **out_wanted)
{
    *out_wanted = NULL;
    int64_t number = 0;
    if (strcmp(key, "threads") == 0) {
        if (!rubus__parse_i64(value, &number) || number < 1 ||
            number > RUBUS__THREADS_MOST) {
            *out_wanted = "a number of threads from 1 to 4096";
            return RUBUS_EINVAL;
        }
    } else if (strncmp(key, "cap.", 4) == 0) {
        if (!rubus__parse_i64(value, &number) || number < 0) {
            *out_wanted = "a number, 0 or more";
            return RUBUS_EINVAL;
        }
    } else {
        const char *bit = yes_or_no(value);
        if (bit == NULL) {
            *out_wanted = strcmp(key, "validate") == 0
                              ? "0 or 1 (or off, no, false, on, yes, true)"
                              : "on or off (or 1, yes, true, 0, no, false)";
            return RUBUS_EINVAL;
        }
        const bool words = strcmp(key, "validate") != 0;
        rubus__snprintf(out, 32, "%s", !words ? bit : bit[0] == '1' ? "on" : "off");
        return RUBUS_OK;
    }
    rubus__snprintf(out, 32, "%lld", (long long)number);
    return RUBUS_OK;
}

/* Variables that stand for an option of the same meaning. */
static const struct {
    const char *key;
    rubus__env_id variable;
} variables[] = {{"threads", RUBUS__ENV_NUM_THREADS}, {"validate", RUBUS__ENV_VALIDATE}};

enum { NVARIABLE = sizeof variables / sizeof variables[0] };

rubus_status rubus__spec_check_environment(void)
{
    for (int i = 0; i < NVARIABLE; i++) {
        const char *value = rubus__env(variables[i].variable);
        char normal[32];
        const char *wanted = NULL;
        if (value != NULL &&
            rubus__option_normal(variables[i].key, value, normal, &wanted) != RUBUS_OK) {
            return rubus__fail(RUBUS_EINVAL, "%s='%.100s': it must be %s, or unset",
                               rubus__env_name(variables[i].variable), value, wanted);
        }
    }
    return RUBUS_OK;
}

rubus_status rubus__options_resolve(const rubus__options *options, rubus__options *out)
{
    out->n = 0;
    rubus_status st = RUBUS_OK;
    for (size_t i = 0; options != NULL && i < options->n && st == RUBUS_OK; i++) {
        st = rubus__options_set(out, options->at[i].key, options->at[i].value);
    }
    for (int i = 0; i < NVARIABLE && st == RUBUS_OK; i++) {
        const char *value = rubus__env(variables[i].variable);
        char normal[32];
        const char *wanted = NULL;
        if (value == NULL || rubus__options_get(out, variables[i].key) != NULL) {
            continue;
        }
        // a wrong value stops every context before this; a listing does without it
        if (rubus__option_normal(variables[i].key, value, normal, &wanted) == RUBUS_OK) {
            st = rubus__options_set(out, variables[i].key, normal);
        }
    }
    const char *cc = rubus__env(RUBUS__ENV_CC);
    if (st == RUBUS_OK && cc != NULL) {
        st = rubus__options_set(out, "cc", cc);
    }
    if (st != RUBUS_OK) {
        rubus__options_fini(out);
    }
    return st;
}
