/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_OUTPUT_PROBE_H
#define RUBUS_TESTS_OUTPUT_PROBE_H
/* What the tests of the writers share: fields on the reference backend, files read back,
 * a locale with a decimal comma. Builds on relax_probe.h. */
#include <locale.h>

#include <rubus/output.h>

#include "tests/solver/relax_probe.h"
#include "tests/support/xml_probe.h"

static rubus_context *context;

static void setup(void)
{
    enter_work_folder();
    context = open_context("reference");
}

static void teardown(void)
{
    rubus_context_destroy(context);
    leave_work_folder();
}

static inline rubus_array *array_of(int32_t type, rubus_shape shape, const void *data)
{
    rubus_array *array = NULL;
    MUST(rubus_array_from(context, type, shape, data, &array));
    return array;
}

/* Writes a field and gives the file's bytes. */
static inline bytes written(const char *path, rubus_array *field,
                            const rubus_output_desc *desc)
{
    MUST(rubus_field_write(path, field, desc));
    return file_bytes(path);
}

/* Sets de_DE.UTF-8 for the whole (forked) process; false where it cannot be made. */
static inline bool comma_locale_set(void)
{
    if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") != 0) {
        return false;
    }
    setenv("LOCPATH", work_folder, 1);
    const bool set = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    char text[16];
    snprintf(text, sizeof text, "%.1f", 1.5);
    return set && strcmp(text, "1,5") == 0;
}

#endif
