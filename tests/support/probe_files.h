/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_PROBE_FILES_H
#define RUBUS_PROBE_FILES_H
/*
 * Plugin files for tests: copies of the built probe (tests/plugins/probe_plugin.c) in a
 * fresh folder, with bytes changed. Include after check.h and config.h.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rubus/backend.h>

#include "libcore/runtime/plugin.h"

/* The contents of a built plugin. */
typedef struct probe_image {
    char *data;
    size_t size;
} probe_image;

static inline probe_image probe_read_from(const char *file)
{
    const char *build = getenv("RUBUS_TEST_BUILDDIR");
    ck_assert_msg(build != NULL, "RUBUS_TEST_BUILDDIR is not set: run by make check");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", build, file);
    probe_image image = {NULL, 0};
    ck_assert_msg(rubus__file_read(path, 64u << 20, &image.data, &image.size) == RUBUS_OK,
                  "%s", rubus_error_text());
    return image;
}

static inline probe_image probe_read(void)
{
    return probe_read_from("tests/plugins/.libs/rubus-probe.so");
}

/* Every place of `old` (n bytes) becomes `fresh`; there must be one. */
static inline void probe_replace(probe_image *image, const void *old, const void *fresh,
                                 size_t n)
{
    int places = 0;
    for (size_t i = 0; i + n <= image->size; i++) {
        if (memcmp(image->data + i, old, n) == 0) {
            memcpy(image->data + i, fresh, n);
            places++;
        }
    }
    ck_assert_int_gt(places, 0);
}

/* Writes a text and its NUL behind a mark. */
static inline void probe_mark(probe_image *image, const char *mark, const char *text)
{
    char *at = memmem(image->data, image->size, mark, strlen(mark));
    ck_assert_ptr_nonnull(at);
    ck_assert_uint_lt(strlen(text), 31);
    memcpy(at + strlen(mark), text, strlen(text) + 1);
}

static inline void probe_name(probe_image *image, const char *name)
{
    probe_mark(image, "RUBUS-TEST-NAME:", name);
}

static inline void probe_manner(probe_image *image, const char *manner)
{
    probe_mark(image, "RUBUS-TEST-MANNER:", manner);
}

/* Sets one of the leading uint32 fields of the descriptor, by its offset. */
static inline void probe_field(probe_image *image, size_t offset, uint32_t value)
{
    const uint32_t head[3] = {RUBUS_PLUGIN_MAGIC, sizeof(rubus_plugin_desc),
                              RUBUS_ABI_MAJOR};
    char *at = memmem(image->data, image->size, head, sizeof head);
    ck_assert_ptr_nonnull(at);
    memcpy(at + offset, &value, sizeof value);
}

static inline void probe_write(const probe_image *image, const char *folder,
                               const char *file)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    ck_assert_msg(rubus__file_write(path, image->data, image->size) == RUBUS_OK, "%s",
                  rubus_error_text());
    ck_assert_int_eq(chmod(path, 0644), 0);
}

/* A probe of that name and those manners, as rubus-NAME.so. */
static inline void probe_add(const char *folder, const char *name, const char *manner)
{
    probe_image image = probe_read();
    probe_name(&image, name);
    probe_manner(&image, manner);
    char file[80];
    snprintf(file, sizeof file, "rubus-%s.so", name);
    probe_write(&image, folder, file);
    rubus__free(image.data);
}

static inline void probe_folder_make(char folder[64])
{
    strcpy(folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

/* Empties and removes a folder, one level deep. */
static inline void probe_folder_remove(const char *folder)
{
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    for (struct dirent *e = readdir(dir); e != NULL; e = readdir(dir)) {
        char path[400];
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.' || strlen(e->d_name) > 2) {
            if (unlink(path) != 0) {
                rmdir(path);
            }
        }
    }
    closedir(dir);
    rmdir(folder);
}

/* A process that finds plugins in `path` alone and has no variable of ours set. */
static inline void probe_environment(const char *path)
{
    static const char *const names[] = {"RUBUS_BACKEND",     "RUBUS_PLUGIN_DENY",
                                        "RUBUS_NUM_THREADS", "RUBUS_CC",
                                        "RUBUS_VALIDATE",    "RUBUS_LOG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        unsetenv(names[i]);
    }
    setenv("RUBUS_PLUGIN_PATH", path, 1);
    rubus__folders_named_only_for_test();
    rubus__env_reset_for_test();
}

static inline void probe_variable(const char *name, const char *value)
{
    setenv(name, value, 1);
    rubus__env_reset_for_test();
}

#endif
