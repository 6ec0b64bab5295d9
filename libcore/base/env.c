/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only place that reads the environment. Each variable is read once, at the first use
 * of any of them, so a later setenv of the host program cannot race with us or change
 * what was decided. In a program with raised rights (set-user-ID) all of them count as
 * unset. Blanks around a value do not count; an empty or blank value is an unset one.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ENV_NAME(symbol, variable, standard, meaning) variable,
static const char *const env_names[RUBUS__ENV_COUNT] = {RUBUS__ENV_LIST(ENV_NAME)};

static const char *const system_names[] = {"HOME", "XDG_CACHE_HOME", "TMPDIR", "PATH"};
enum { NSYSTEM = sizeof system_names / sizeof system_names[0] };

/* Guards what follows. Values are malloc'ed directly: they live for ever and must not
 * disturb the count of live blocks. */
static pthread_mutex_t env_lock = PTHREAD_MUTEX_INITIALIZER;
static bool env_known;
static char *env_values[RUBUS__ENV_COUNT];
static char *system_values[NSYSTEM];

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* A copy without blanks around it; NULL where nothing is left, or out of memory. */
static char *value_copy(const char *name)
{
    const char *at = secure_getenv(name);
    if (at == NULL) {
        return NULL;
    }
    while (is_blank(*at)) {
        at++;
    }
    size_t n = strlen(at);
    while (n > 0 && is_blank(at[n - 1])) {
        n--;
    }
    return n == 0 ? NULL : strndup(at, n);
}

static void env_read(void)
{
    pthread_mutex_lock(&env_lock);
    if (!env_known) {
        for (int i = 0; i < RUBUS__ENV_COUNT; i++) {
            env_values[i] = value_copy(env_names[i]);
        }
        for (int i = 0; i < NSYSTEM; i++) {
            system_values[i] = value_copy(system_names[i]);
        }
        env_known = true;
    }
    pthread_mutex_unlock(&env_lock);
}

const char *rubus__env(rubus__env_id id)
{
    env_read();
    return env_values[id];
}

const char *rubus__env_name(rubus__env_id id)
{
    return env_names[id];
}

const char *rubus__env_system(const char *name)
{
    env_read();
    for (int i = 0; i < NSYSTEM; i++) {
        if (strcmp(system_names[i], name) == 0) {
            return system_values[i];
        }
    }
    return NULL;
}

void rubus__env_reset_for_test(void)
{
    pthread_mutex_lock(&env_lock);
    for (int i = 0; i < RUBUS__ENV_COUNT; i++) {
        free(env_values[i]);
        env_values[i] = NULL;
    }
    for (int i = 0; i < NSYSTEM; i++) {
        free(system_values[i]);
        system_values[i] = NULL;
    }
    env_known = false;
    pthread_mutex_unlock(&env_lock);
    rubus__log_reset_for_test();
}
