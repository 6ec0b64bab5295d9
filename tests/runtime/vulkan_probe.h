/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_VULKAN_PROBE_H
#define RUBUS_TESTS_VULKAN_PROBE_H
/*
 * What the tests of the backend vulkan through the public interface share: the two modes,
 * contexts, and a main function that skips where there is no lavapipe, whose limits the
 * tests know. Include after config.h.
 */
#include <check.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/backends.h"
#include "tests/support/suite.h"

static const char *const vulkan_modes[] = {"vulkan:validate=1",
                                           "vulkan:validate=1:descriptors=on"};
enum { VULKAN_MODES = 2 };

static inline rubus_context *open_spec(const char *spec)
{
    rubus_context *context = NULL;
    ok(rubus_context_create(spec, &context));
    return context;
}

/* Finds out in a child, since Vulkan does not survive a fork. */
static inline bool vulkan_there(void)
{
    const pid_t child = fork();
    if (child == 0) {
        rubus_context *context = NULL;
        rubus_context_info info = {.struct_size = sizeof info};
        const bool fine = rubus_context_create("vulkan", &context) == RUBUS_OK &&
                          rubus_context_info_get(context, &info) == RUBUS_OK &&
                          strstr(info.device, "llvmpipe") != NULL;
        _exit(fine ? 0 : 1);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

#define VULKAN_TEST_MAIN(name, suite_function)                                           \
    int main(void)                                                                       \
    {                                                                                    \
        if (!vulkan_there()) {                                                           \
            printf("%s: skipped: no device llvmpipe\n", (name));                         \
            return RUBUS_TEST_SKIPPED;                                                   \
        }                                                                                \
        return rubus_test_run((name), suite_function);                                   \
    }

#endif
