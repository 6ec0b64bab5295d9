/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_THREADS_PROBE_H
#define RUBUS_TESTS_THREADS_PROBE_H
/*
 * What the tests of the threads backend share: the backend opened through its descriptor
 * with a fake host in an empty folder, and a module written by hand in C.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>

#include "tests/support/fake_host.h"
#include "tests/support/suite.h"

extern const rubus_plugin_desc rubus_backend_plugin;

static fake_host fake;
static rubus_ops ops;
static void *be;
static void *ctx;
static char work_folder[64];
static char start_folder[4096];

/* --- fixture ---------------------------------------------------------------------- */

static void open_context(void)
{
    memset(&ops, 0, sizeof ops);
    ops.struct_size = sizeof ops;
    ck_assert_msg(rubus_backend_plugin.open(&fake.host, &ops, &be) == RUBUS_OK, "%s",
                  fake.text);
    ck_assert_int_eq(ops.context_create(be, 0, &ctx), RUBUS_OK);
}

static void close_context(void)
{
    ops.context_destroy(ctx);
    rubus_backend_plugin.close(be);
    ctx = NULL;
    be = NULL;
}

/* Each test works in an empty folder, and must leave it so but for the cache. */
static inline void setup(void)
{
    fake_host_init(&fake);
    snprintf(work_folder, sizeof work_folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(work_folder));
    ck_assert_ptr_nonnull(getcwd(start_folder, sizeof start_folder));
    ck_assert_int_eq(chdir(work_folder), 0);
    snprintf(fake.folder, sizeof fake.folder, "%s/cache", work_folder);
    ck_assert_int_eq(mkdir(fake.folder, 0700), 0);
    fake_set(&fake, "threads", "2");
    open_context();
}

static int count_files(const char *path)
{
    DIR *dir = opendir(path);
    ck_assert_ptr_nonnull(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static inline void teardown(void)
{
    close_context();
    ck_assert_int_eq(fake.live, 0);
    ck_assert_int_eq(count_files("."), 1); // the folder of the cache
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", work_folder);
    ck_assert_int_eq(chdir(start_folder), 0);
    ck_assert_int_eq(system(command), 0);
}

static inline void reopen(void)
{
    close_context();
    open_context();
}

static inline bool text_has(const char *part)
{
    return strstr(fake.text, part) != NULL;
}

/* --- modules ---------------------------------------------------------------------- */

/* dst[p] += 1000 x + 100 y + z + c over an array of 64 x 8 x 4 doubles, and the number of
 * calls, which tells how the range was cut. */
static const char mark_text[] =
    "typedef long long i64;\n"
    "struct block { i64 lo[3], hi[3]; double *dst; double c; i64 *calls; };\n"
    "void mark(void *block)\n"
    "{\n"
    "    struct block *b = block;\n"
    "    for (i64 z = b->lo[2]; z < b->hi[2]; z++)\n"
    "        for (i64 y = b->lo[1]; y < b->hi[1]; y++)\n"
    "            for (i64 x = b->lo[0]; x < b->hi[0]; x++)\n"
    "                b->dst[(z * 8 + y) * 64 + x] += 1000 * x + 100 * y + z + b->c;\n"
    "    __atomic_fetch_add(b->calls, 1, __ATOMIC_RELAXED);\n"
    "}\n";

typedef struct mark_block {
    int64_t lo[3];
    int64_t hi[3];
    uint64_t dst;
    double c;
    uint64_t calls;
} mark_block;

static const rubus_param mark_param[] = {
    {1, RUBUS_F64, RUBUS_READ | RUBUS_WRITE, 48, 8, 0, "dst"},
    {0, RUBUS_F64, 0, 56, 8, 0, "c"},
    {1, RUBUS_I64, RUBUS_READ | RUBUS_WRITE, 64, 8, 1, "calls"}};

static rubus_entry mark_entry;
static rubus_module_desc mark_desc;

static const rubus_module_desc *describe(const char *text, uint32_t flags, uint8_t key)
{
    mark_entry = (rubus_entry){.struct_size = sizeof mark_entry,
                               .nparam = 3,
                               .nbuffer = 2,
                               .ndim = 3,
                               .block_size = sizeof(mark_block),
                               .flags = flags,
                               .symbol = "mark",
                               .label = "by hand:mark",
                               .param = mark_param};
    mark_desc = (rubus_module_desc){.struct_size = sizeof mark_desc,
                                    .nentry = 1,
                                    .dialect = "c",
                                    .name = "by hand",
                                    .text = text,
                                    .text_size = strlen(text),
                                    .entry = &mark_entry};
    memset(mark_desc.key, key, sizeof mark_desc.key);
    return &mark_desc;
}

static inline void *build(uint32_t flags)
{
    void *module = NULL;
    rubus_status st = ops.module_create(ctx, describe(mark_text, flags, 7), &module);
    ck_assert_msg(st == RUBUS_OK, "%d: %s", st, fake.text);
    return module;
}

#define NX 64
#define NY 8
#define NZ 4
#define POINTS (NX * NY * NZ)

static int64_t launch(void *module, const int64_t lo[3], const int64_t hi[3], double c,
                      double *out)
{
    void *buffer[2];
    const uint64_t size[2] = {POINTS * sizeof(double), sizeof(int64_t)};
    const double zero = 0;
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ops.buffer_create(ctx, size[i] + 64, &buffer[i]), RUBUS_OK);
        ck_assert_int_eq(ops.fill(ctx, buffer[i], 0, size[i] + 64, &zero, 8), RUBUS_OK);
    }
    const mark_block block = {.c = c};
    const uint64_t first[2] = {64, 8};
    rubus_launch_info info = {.struct_size = sizeof info,
                              .nbuffer = 2,
                              .block = &block,
                              .buffer = buffer,
                              .first_byte = first,
                              .nbyte = (const uint64_t[]){1 << 20, 8}};
    memcpy(info.lo, lo, sizeof info.lo);
    memcpy(info.hi, hi, sizeof info.hi);
    ck_assert_msg(ops.launch(ctx, module, &info) == RUBUS_OK, "%s", fake.text);
    ck_assert_int_eq(ops.synchronize(ctx), RUBUS_OK);
    int64_t calls;
    ck_assert_int_eq(ops.read(ctx, buffer[0], 64, out, size[0]), RUBUS_OK);
    ck_assert_int_eq(ops.read(ctx, buffer[1], 8, &calls, sizeof calls), RUBUS_OK);
    for (int i = 0; i < 2; i++) {
        ops.buffer_destroy(ctx, buffer[i]);
    }
    return calls;
}

/* Launches over a box, compares every element, and returns the number of calls. */
static inline int64_t check_launch(void *module, const int64_t lo[3], const int64_t hi[3])
{
    static double out[POINTS];
    int64_t calls = launch(module, lo, hi, 0.5, out);
    for (int z = 0; z < NZ; z++) {
        for (int y = 0; y < NY; y++) {
            for (int x = 0; x < NX; x++) {
                bool in = x >= lo[0] && x < hi[0] && y >= lo[1] && y < hi[1] &&
                          z >= lo[2] && z < hi[2];
                double want = in ? 1000 * x + 100 * y + z + 0.5 : 0;
                ck_assert_double_eq(out[(z * NY + y) * NX + x], want);
            }
        }
    }
    return calls;
}

static const int64_t zeros[3] = {0, 0, 0};
static const int64_t whole[3] = {NX, NY, NZ};

static inline void check_module(void *module)
{
    ck_assert_int_ge(check_launch(module, zeros, whole), 1);
    ops.module_destroy(ctx, module);
}

#endif
