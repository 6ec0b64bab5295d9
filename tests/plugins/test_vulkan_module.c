/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and launches of the Vulkan backend, with texts written by hand: results in both
 * real types, with addresses and with descriptors, the cache, and what must be refused.
 * Every context runs with validate=1, and a message of the layer fails the test.
 */
#include "config.h"

#include "plugins/vulkan/vk_prebuilt.h"
#include "plugins/vulkan/vk_seal.h"
#include "tests/plugins/module_probe.h"

#include <pthread.h>

/* Loop tests: bit 0 the real type, bit 1 descriptors. */
static void open_variant(int i)
{
    start();
    fake_set(&fake, "validate", "1");
    if ((i & 2) != 0) {
        fake_set(&fake, "descriptors", "on");
    }
    open_context();
    describe((i & 1) != 0, 1);
}

static void *create(void)
{
    void *module = NULL;
    OK(ops.module_create(ctx, &desc, &module));
    return module;
}

/* --- results ---------------------------------------------------------------------- */

START_TEST(axpy_of_windows_is_exact)
{
    enum { N = 100003 };
    open_variant(_i);
    void *module = create();
    void *y = make_array(N + 8);
    void *x = make_array(N);
    for (uint64_t first = 0; first < 4; first++) {
        write_line(y, N + 8, 1, 0);
        write_line(x, N, 0, 1);
        // not at the begin of the window, not to its end
        OK(axpy(module, y, first, x, N, 2, N, 5, N - 3));
        OK(axpy(module, y, first, x, N, -1, N, 5, N - 3));
        double *got = read_array(y, N + 8);
        for (uint64_t i = 0; i < N + 8; i++) {
            const uint64_t k = i - first;
            const double wanted = i < first + 5 || k >= N - 3 ? 1 : 1 + (double)k;
            ck_assert_msg(got[i] == wanted, "first %d, element %d: %g, not %g",
                          (int)first, (int)i, got[i], wanted);
        }
        free(got);
    }
    finish_axpy(module, y, x);
}
END_TEST

static void check_box(void *module, const int64_t lo[3], const int64_t hi[3])
{
    enum { NX = 70, NY = 9, NZ = 7, N = NX * NY * NZ };
    void *u = make_line(N, 0, 0);
    unsigned char block[72] = {0};
    put_long(block, VULKAN_BOX, 1, NX);
    put_long(block, VULKAN_BOX, 2, NY);
    const uint64_t first = 0;
    const uint64_t count = N;
    OK(launch(module, VULKAN_BOX, block, &u, &first, &count, lo, hi));
    double *got = read_array(u, N);
    for (int64_t at = 0; at < N; at++) {
        const int64_t i[3] = {at % NX, at / NX % NY, at / NX / NY};
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            inside = inside && lo[d] <= i[d] && i[d] < hi[d];
        }
        const double wanted = inside ? (double)(i[0] + 100 * i[1] + 10000 * i[2]) : 0;
        ck_assert_msg(got[at] == wanted, "element %d: %g, not %g", (int)at, got[at],
                      wanted);
    }
    free(got);
    ops.buffer_destroy(ctx, u);
}

START_TEST(box_covers_its_range_once)
{
    open_variant(_i);
    void *module = create();
    check_box(module, (int64_t[3]){0, 0, 0}, (int64_t[3]){70, 9, 7});
    check_box(module, (int64_t[3]){3, 2, 1}, (int64_t[3]){69, 8, 6});
    check_box(module, (int64_t[3]){5, 0, 3}, (int64_t[3]){6, 9, 4});
    ops.module_destroy(ctx, module);
    finish();
}
END_TEST

/* Costs so much that it is cut in pieces: along z, and where z has one plane along y. */
START_TEST(costly_box_in_pieces_is_the_same)
{
    open_variant(_i);
    entry[VULKAN_BOX].bytes_per_point = UINT64_C(1) << 30;
    void *module = create();
    check_box(module, (int64_t[3]){3, 2, 1}, (int64_t[3]){69, 8, 6});
    check_box(module, (int64_t[3]){0, 0, 4}, (int64_t[3]){70, 9, 5});
    ops.module_destroy(ctx, module);
    finish();
}
END_TEST

START_TEST(groups_sum_with_shared_memory)
{
    enum { GROUPS = 333, N = 32 * GROUPS };
    open_variant(_i);
    void *module = create();
    void *sum = make_array(GROUPS);
    void *x = make_line(N, 0, 1);
    write_line(sum, GROUPS, -1, 0);
    unsigned char block[64] = {0};
    void *const buffer[2] = {sum, x};
    OK(launch(module, VULKAN_GROUPS, block, buffer, (uint64_t[2]){0, 0},
              (uint64_t[2]){GROUPS, N}, (int64_t[3]){1, 0, 0},
              (int64_t[3]){GROUPS, 1, 1}));
    double *got = read_array(sum, GROUPS);
    for (int g = 0; g < GROUPS; g++) {
        // 32 numbers from 32 g on
        ck_assert_double_eq(got[g], g == 0 ? -1 : 32.0 * 32 * g + 16 * 31);
    }
    free(got);
    ops.buffer_destroy(ctx, sum);
    ops.buffer_destroy(ctx, x);
    ops.module_destroy(ctx, module);
    finish();
}
END_TEST

/* The block is too long to be pushed; each launch has its own. */
START_TEST(long_blocks_are_kept_apart)
{
    enum { ROUNDS = 1500 };
    open_variant(_i);
    void *module = create();
    void *y = make_array(ROUNDS);
    const uint64_t first = 0;
    const uint64_t count = ROUNDS;
    unsigned char block[48 + 8 + 24 * 8] = {0};
    for (int r = 0; r < ROUNDS; r++) {
        for (uint32_t k = 0; k < 24; k++) {
            put_real(block + param[VULKAN_LONG][1 + k].offset, r + k);
        }
        OK(launch(module, VULKAN_LONG, block, &y, &first, &count, (int64_t[3]){r, 0, 0},
                  (int64_t[3]){r + 1, 1, 1}));
    }
    double *got = read_array(y, ROUNDS);
    for (int r = 0; r < ROUNDS; r++) {
        ck_assert_double_eq(got[r], 24.0 * r + 276);
    }
    free(got);
    ops.buffer_destroy(ctx, y);
    ops.module_destroy(ctx, module);
    finish();
}
END_TEST

/* Each launch needs the one before; destroyed before any is waited for. */
START_TEST(many_launches_in_order_then_destroy)
{
    enum { N = 1000, ROUNDS = 3000 };
    open_variant(_i);
    void *module = create();
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 1, 0);
    for (int r = 0; r < ROUNDS; r++) {
        OK(axpy(module, y, 0, x, N, 1, N, 0, N));
    }
    ops.module_destroy(ctx, module);
    ops.buffer_destroy(ctx, x);
    double *got = read_array(y, N);
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq(got[i], ROUNDS);
    }
    free(got);
    ops.buffer_destroy(ctx, y);
    finish();
}
END_TEST

/* An extent past 32 bits takes the other code, which is made when it is needed. */
START_TEST(wide_code_gives_the_same)
{
    enum { N = 5000 };
    open_variant(_i);
    vk_module *module = create();
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 0, 1);
    ck_assert(module->entry[VULKAN_AXPY].pipeline[1] == VK_NULL_HANDLE);
    OK(axpy(module, y, 0, x, N, 3, INT64_C(3000000000), 0, N));
    ck_assert(module->entry[VULKAN_AXPY].pipeline[1] != VK_NULL_HANDLE);
    double *got = read_array(y, N);
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq(got[i], 3.0 * i);
    }
    free(got);
    finish_axpy(module, y, x);
}
END_TEST

/* --- fork ------------------------------------------------------------------------- */

/* Also what waits for the device: a module, an array, upload memory, descriptors. */
START_TEST(child_gives_all_memory_back)
{
    enum { N = 1000 };
    open_variant(_i);
    void *module = create();
    void *old = create();
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 0, 1);
    OK(axpy(old, y, 0, x, N, 3, N, 0, N));
    ops.module_destroy(ctx, old);
    ops.buffer_destroy(ctx, x);
    const pid_t child = fork();
    if (child == 0) {
        alarm(20); // a driver that was called may hang
        ops.module_destroy(ctx, module);
        ops.buffer_destroy(ctx, y);
        ops.context_destroy(ctx);
        rubus_backend_plugin.close(be);
        _exit(fake.live == 0 ? 0 : 1);
    }
    int status = 1;
    ck_assert(waitpid(child, &status, 0) == child && status == 0);
    double *got = read_array(y, N);
    ck_assert_double_eq(got[N - 1], 3.0 * (N - 1));
    free(got);
    ops.module_destroy(ctx, module);
    ops.buffer_destroy(ctx, y);
    finish();
}
END_TEST

/* --- limits ----------------------------------------------------------------------- */

START_TEST(few_groups_still_cover_all)
{
    enum { N = 300000 };
    start();
    fake_set(&fake, "validate", "1");
    fake_set(&fake, "cap.groups", "3");
    open_context();
    describe(_i != 0, 1);
    void *module = create();
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 0, 1);
    OK(axpy(module, y, 0, x, N, 1, N, 0, N));
    check_box(module, (int64_t[3]){1, 1, 1}, (int64_t[3]){70, 9, 7});
    double *got = read_array(y, N);
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq(got[i], i);
    }
    free(got);
    finish_axpy(module, y, x);
}
END_TEST

START_TEST(binding_beyond_its_limit_is_refused_with_descriptors_only)
{
    enum { N = 3000 };
    start();
    fake_set(&fake, "validate", "1");
    fake_set(&fake, "cap.max_binding", "4096");
    if (_i != 0) {
        fake_set(&fake, "descriptors", "on");
    }
    open_context();
    describe(false, 1);
    void *module = create();
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 0, 1);
    if (_i != 0) {
        FAILS(axpy(module, y, 0, x, N, 1, N, 0, N), RUBUS_ELIMIT, "12000 bytes");
        FAILS(axpy(module, y, 0, x, N, 1, N, 0, N), RUBUS_ELIMIT, "array y");
    } else {
        OK(axpy(module, y, 0, x, N, 1, N, 0, N));
    }
    OK(ops.synchronize(ctx));
    finish_axpy(module, y, x);
}
END_TEST

START_TEST(doubles_without_fp64_are_refused)
{
    start();
    fake_set(&fake, "cap.fp64", "0");
    open_context();
    void *module = NULL;
    describe(true, 1);
    FAILS(ops.module_create(ctx, &desc, &module), RUBUS_EUNSUPPORTED, "f32");
    ck_assert_ptr_nonnull(strstr(fake.text, ctx->physical->properties.deviceName));
    desc.flags = 0; // single entries that compute in double
    FAILS(ops.module_create(ctx, &desc, &module), RUBUS_EUNSUPPORTED, "f32");
    describe(false, 1);
    OK(ops.module_create(ctx, &desc, &module));
    ops.module_destroy(ctx, module);
    finish();
}
END_TEST

/* --- texts that are wrong --------------------------------------------------------- */

START_TEST(errors_of_the_text_are_told)
{
    open_variant(_i);
    void *module = NULL;
    static const char wrong[] = "#version 460\n"
                                "layout(local_size_x_id = 0) in;\n"
                                "void main() {\n"
                                "    nonsense_here = 1;\n"
                                "}\n";
    desc.text = wrong;
    desc.text_size = sizeof wrong - 1;
    FAILS(ops.module_create(ctx, &desc, &module), RUBUS_ECOMPILE, "nonsense_here");
    ck_assert_ptr_nonnull(strstr(fake.text, "by hand"));
    ck_assert_ptr_nonnull(strstr(fake.text, ":4:"));
    static const char *const no_version[] = {"", "void main() {}\n", " #version 460\n",
                                             "#version"};
    for (size_t i = 0; i < sizeof no_version / sizeof no_version[0]; i++) {
        desc.text = no_version[i];
        desc.text_size = strlen(no_version[i]);
        FAILS(ops.module_create(ctx, &desc, &module), RUBUS_ECOMPILE, "'#version 460'");
    }
    desc.dialect = "c";
    FAILS(ops.module_create(ctx, &desc, &module), RUBUS_EUNSUPPORTED, "glsl");
    finish();
}
END_TEST

/* Fails the n-th allocation, for every n, until all succeed. */
START_TEST(out_of_memory_is_survived)
{
    open_variant(_i);
    const int64_t before = fake.live;
    void *module = NULL;
    for (int64_t n = 1; module == NULL; n++) {
        fake.fail_at = fake.count + n;
        const rubus_status st = ops.module_create(ctx, &desc, &module);
        fake.fail_at = 0;
        if (st != RUBUS_OK) {
            ck_assert_int_eq(st, RUBUS_ENOMEM);
            ck_assert_ptr_null(module);
            ck_assert_int_eq(fake.live, before);
        }
        ck_assert_int_lt(n, 1000);
    }
    ops.module_destroy(ctx, module);
    ck_assert_int_eq(fake.live, before);
    finish();
}
END_TEST

/* Whether SPIR-V declares Float64 or Int64. */
static bool declares_64_bits(const uint32_t *word, size_t nbyte)
{
    enum { HEAD = 5, OP_CAPABILITY = 17, FLOAT64 = 10, INT64 = 11 };
    ck_assert(vk_spirv_plausible(word, nbyte));
    bool found = false;
    for (size_t at = HEAD; at < nbyte / 4; at += word[at] >> 16) {
        found = found || ((word[at] & 0xffff) == OP_CAPABILITY &&
                          (word[at + 1] == FLOAT64 || word[at + 1] == INT64));
    }
    return found;
}

START_TEST(f32_code_declares_nothing_of_64_bits)
{
    open_variant(_i);
    vk_module *module = create();
    for (uint32_t e = 0; e < VULKAN_ENTRIES; e++) {
        vk_code code;
        OK(vk_code_get(module, &module->entry[e], false, &code));
        ck_assert(declares_64_bits(code.word, code.nbyte) == doubles);
        vk_code_free(ctx, &code);
    }
    ops.module_destroy(ctx, module);
    finish();
}
END_TEST

/* The built-in modules come in pairs, f32 and f64. */
START_TEST(built_in_f32_code_declares_nothing_of_64_bits)
{
    for (int i = 0; vk_prebuilt_list[i] != NULL; i += 2) {
        const vk_prebuilt *module = vk_prebuilt_list[i];
        for (uint32_t e = 0; e < module->nentry; e++) {
            ck_assert_msg(!declares_64_bits(module->code[e].word, module->code[e].nbyte),
                          "built-in module %d, entry %u", i, (unsigned)e);
        }
    }
}
END_TEST

/* --- the cache -------------------------------------------------------------------- */

static void open_cached(const char *folder)
{
    start();
    fake_set(&fake, "validate", "1");
    snprintf(fake.folder, sizeof fake.folder, "%s", folder);
    open_context();
    describe(false, 7);
}

/* Runs entry 0 and tells how many entries the cache had. */
static int run_cached(const char *folder)
{
    enum { N = 300 };
    open_cached(folder);
    const int hits = fake.nhit;
    void *module = create();
    const int found = fake.nhit - hits;
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 0, 1);
    OK(axpy(module, y, 0, x, N, 1, N, 0, N));
    double *got = read_array(y, N);
    for (int i = 0; i < N; i++) {
        ck_assert_double_eq(got[i], i);
    }
    free(got);
    finish_axpy(module, y, x);
    return found;
}

/* Changes every file of the folder: way 0 cuts it, 1 empties it, 2 flips a bit, 3 adds a
 * byte, 4 puts garbage of the same length. */
static int damage(const char *folder, int way)
{
    DIR *dir = opendir(folder);
    ck_assert_ptr_nonnull(dir);
    int n = 0;
    for (struct dirent *d = readdir(dir); d != NULL; d = readdir(dir)) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        struct stat info;
        if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
            continue;
        }
        const int fd = open(path, O_RDWR);
        const off_t middle = info.st_size / 2;
        char byte = 0;
        if (way < 2) {
            ck_assert_int_eq(ftruncate(fd, way == 0 ? middle : 0), 0);
        } else if (way == 2) {
            ck_assert_int_eq(pread(fd, &byte, 1, middle), 1);
            byte ^= 0x10;
            ck_assert_int_eq(pwrite(fd, &byte, 1, middle), 1);
        } else if (way == 3) {
            ck_assert_int_eq(pwrite(fd, &byte, 1, info.st_size), 1);
        } else {
            for (off_t at = 0; at < info.st_size; at++) {
                byte = (char)(at * 37);
                ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
            }
        }
        close(fd);
        n++;
    }
    closedir(dir);
    return n;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    for (struct dirent *d = readdir(dir); d != NULL; d = readdir(dir)) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, d->d_name);
        (void)unlink(path);
    }
    closedir(dir);
    ck_assert_int_eq(rmdir(folder), 0);
}

START_TEST(cache_is_used_and_damage_is_repaired)
{
    char folder[] = "/tmp/rubus-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(run_cached(folder), 0);
    ck_assert_int_eq(run_cached(folder), VULKAN_ENTRIES);
    ck_assert_int_ge(damage(folder, _i), VULKAN_ENTRIES);
    (void)run_cached(folder); // the result is right
    // some drivers have pipeline data too
    ck_assert_int_ge(fake.nput, VULKAN_ENTRIES);
    ck_assert_int_eq(run_cached(folder), VULKAN_ENTRIES);
    ck_assert_int_lt(fake.nput, VULKAN_ENTRIES);
    remove_folder(folder);
}
END_TEST

/* --- beside launches -------------------------------------------------------------- */

static void *make_modules(void *arg)
{
    void **module = arg;
    for (int i = 0; i < 3; i++) {
        if (ops.module_create(ctx, &desc, &module[i]) != RUBUS_OK) {
            return NULL;
        }
    }
    return arg;
}

START_TEST(modules_are_made_beside_launches)
{
    enum { N = 1000, ROUNDS = 2000 };
    open_variant(_i);
    void *module = create();
    void *y = make_line(N, 0, 0);
    void *x = make_line(N, 1, 0);
    void *made[3] = {NULL, NULL, NULL};
    pthread_t thread;
    ck_assert_int_eq(pthread_create(&thread, NULL, make_modules, made), 0);
    for (int r = 0; r < ROUNDS; r++) {
        OK(axpy(module, y, 0, x, N, 1, N, 0, N));
    }
    void *end = NULL;
    ck_assert_int_eq(pthread_join(thread, &end), 0);
    ck_assert_ptr_nonnull(end);
    for (int i = 0; i < 3; i++) {
        OK(axpy(made[i], y, 0, x, N, 1, N, 0, N));
        ops.module_destroy(ctx, made[i]);
    }
    double *got = read_array(y, N);
    ck_assert_double_eq(got[N - 1], ROUNDS + 3);
    free(got);
    finish_axpy(module, y, x);
}
END_TEST

static Suite *vulkan_module_suite(void)
{
    Suite *suite = suite_create("vulkan_module");
    TCase *tc = tcase_create("results");
    tcase_add_loop_test(tc, axpy_of_windows_is_exact, 0, 4);
    tcase_add_loop_test(tc, box_covers_its_range_once, 0, 4);
    tcase_add_loop_test(tc, costly_box_in_pieces_is_the_same, 0, 4);
    tcase_add_loop_test(tc, groups_sum_with_shared_memory, 0, 4);
    tcase_add_loop_test(tc, long_blocks_are_kept_apart, 0, 4);
    tcase_add_loop_test(tc, many_launches_in_order_then_destroy, 0, 4);
    tcase_add_loop_test(tc, wide_code_gives_the_same, 0, 4);
    tcase_add_loop_test(tc, child_gives_all_memory_back, 0, 4);
    suite_add_tcase(suite, tc);
    tc = tcase_create("limits");
    tcase_add_loop_test(tc, few_groups_still_cover_all, 0, 2);
    tcase_add_loop_test(tc, binding_beyond_its_limit_is_refused_with_descriptors_only, 0,
                        2);
    tcase_add_test(tc, doubles_without_fp64_are_refused);
    suite_add_tcase(suite, tc);
    tc = tcase_create("making");
    tcase_add_loop_test(tc, errors_of_the_text_are_told, 0, 4);
    tcase_add_loop_test(tc, f32_code_declares_nothing_of_64_bits, 0, 4);
    tcase_add_test(tc, built_in_f32_code_declares_nothing_of_64_bits);
    tcase_add_loop_test(tc, out_of_memory_is_survived, 0, 4);
    tcase_add_loop_test(tc, cache_is_used_and_damage_is_repaired, 0, 5);
    tcase_add_loop_test(tc, modules_are_made_beside_launches, 0, 4);
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return vulkan_test_run("vulkan_module", vulkan_module_suite);
}
