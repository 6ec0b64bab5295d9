/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The slots of the Vulkan backend for sparse matrices, called directly: what they do
 * without memory, without a plan, and on a lost device. Results are in tests/sparse.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "plugins/vulkan/vk_module.h"
#include "plugins/vulkan/vk_sparse.h"
#include "tests/plugins/device_probe.h"

enum { ROWS = 640, ENTRIES = 8 * ROWS };

/* A square matrix with all its values 1, and x with all 1: y counts entries. */
typedef struct matrix {
    rubus_csr_desc desc;
    int32_t rowptr[ROWS + 1];
    int32_t colval[ENTRIES];
    double nzval[ENTRIES];
    rubus_vec x;
    rubus_vec y;
} matrix;
static matrix m;

static void add_row(int32_t row, int32_t first, int32_t step, int32_t n)
{
    int32_t *at = &m.rowptr[row + 1];
    *at = m.rowptr[row];
    for (int32_t k = 0; k < n; k++) {
        const int32_t column = first + k * step;
        if (column >= 0 && column < ROWS) {
            m.colval[(*at)++] = column;
        }
    }
}

static rubus_vec put(const void *from, int64_t n, uint64_t size)
{
    void *buffer = NULL;
    OK(ops.buffer_create(ctx, (uint64_t)n * size, &buffer));
    OK(ops.write(ctx, buffer, 0, from, (uint64_t)n * size));
    return (rubus_vec){buffer, 0, n};
}

/* A grid's, or rows of 1 to 7 entries and a long one. */
static void make_matrix(bool grid)
{
    memset(&m, 0, sizeof m);
    for (int32_t i = 0; i < ROWS; i++) {
        add_row(i, grid ? i - 1 : i % 5, grid ? 1 : 1 + i % 11,
                grid            ? 3
                : i == ROWS - 1 ? 500
                                : 1 + i % 7);
    }
    const int64_t nnz = m.rowptr[ROWS];
    double one[ROWS];
    for (int64_t k = 0; k < nnz; k++) {
        m.nzval[k] = 1;
    }
    for (int i = 0; i < ROWS; i++) {
        one[i] = 1;
    }
    m.desc = (rubus_csr_desc){.struct_size = sizeof m.desc,
                              .index_type = RUBUS_I32,
                              .value_type = RUBUS_F64,
                              .nrow = ROWS,
                              .ncol = ROWS,
                              .nnz = nnz,
                              .rowptr = put(m.rowptr, ROWS + 1, sizeof(int32_t)),
                              .colval = put(m.colval, nnz, sizeof(int32_t)),
                              .nzval = put(m.nzval, nnz, sizeof(double)),
                              .mirror_rowptr = m.rowptr,
                              .mirror_colval = m.colval,
                              .mirror_nzval = m.nzval,
                              .version = 1};
    m.x = put(one, ROWS, sizeof(double));
    m.y = put(one, ROWS, sizeof(double));
}

static void drop_matrix(void)
{
    const rubus_vec all[] = {m.desc.rowptr, m.desc.colval, m.desc.nzval, m.x, m.y};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        ops.buffer_destroy(ctx, all[i].buffer);
    }
}

/* y = 3 A x - 2 A x. */
static void check_product(void)
{
    double y[ROWS];
    OK(ops.spmv(ctx, &m.desc, &m.x, &m.y, 2, 0));
    OK(ops.spmv(ctx, &m.desc, &m.x, &m.y, 3, -1));
    OK(ops.read(ctx, m.y.buffer, 0, y, sizeof y));
    for (int i = 0; i < ROWS; i++) {
        const int32_t n = m.rowptr[i + 1] - m.rowptr[i];
        ck_assert_msg(y[i] == n, "row %d: %g, not %d", i, y[i], (int)n);
    }
}

/* Two columns of x, by rows: each is that of check_product. */
static void check_dense(void)
{
    double both[2 * ROWS];
    for (int i = 0; i < 2 * ROWS; i++) {
        both[i] = i % 2 + 1;
    }
    const rubus_vec x = put(both, 2 * ROWS, sizeof(double));
    const rubus_vec y = put(both, 2 * ROWS, sizeof(double));
    const rubus_mat mat[2] = {{x.buffer, 0, ROWS, 2, 2, RUBUS_ROW_MAJOR, 0},
                              {y.buffer, 0, ROWS, 2, ROWS, RUBUS_COLUMN_MAJOR, 0}};
    OK(ops.spmm(ctx, &m.desc, &mat[0], &mat[1], 2, 0));
    OK(ops.read(ctx, y.buffer, 0, both, sizeof both));
    for (int i = 0; i < 2 * ROWS; i++) {
        const int32_t n = m.rowptr[i % ROWS + 1] - m.rowptr[i % ROWS];
        const double want = 2 * n * (i / ROWS + 1);
        ck_assert_msg(both[i] == want, "%d: %g, not %g", i, both[i], want);
    }
    ops.buffer_destroy(ctx, x.buffer);
    ops.buffer_destroy(ctx, y.buffer);
}

/* Fails the n-th allocation, for every n, until all succeed. Whatever could be prepared
 * multiplies. */
START_TEST(out_of_memory_is_survived)
{
    start();
    open_context();
    make_matrix(_i == 0);
    const char *const best =
        _i == 0 ? "stencil, 3 diagonals" : "sorted slices of 32 rows";
    bool short_of = false;
    for (int64_t n = 1; m.desc.plan == NULL; n++) {
        const int64_t before = fake.live;
        fake.fail_at = fake.count + n;
        const rubus_status st = ops.csr_prepare(ctx, &m.desc, &m.desc.plan);
        fake.fail_at = 0;
        ck_assert_int_lt(n, 1000);
        if (st != RUBUS_OK) {
            ck_assert_msg(st == RUBUS_ENOMEM || st == RUBUS_EDEVMEM, "%d: %s", (int)st,
                          fake.text);
            ck_assert_ptr_null(m.desc.plan);
            ck_assert_int_le(fake.live, before + 64); // what the context keeps
            continue;
        }
        check_product();
        if (strncmp(m.desc.plan->path, best, strlen(best)) != 0) {
            ck_assert_msg(strstr(m.desc.plan->path, "rows, for want of memory") != NULL,
                          "%s", m.desc.plan->path);
            short_of = true;
            ops.csr_release(ctx, m.desc.plan);
            m.desc.plan = NULL;
        }
    }
    ck_assert(short_of);
    ops.csr_release(ctx, m.desc.plan);
    drop_matrix();
    finish();
}
END_TEST

/* Room for the sums of segments is made when it is needed. */
START_TEST(product_without_memory_fails_and_goes_on)
{
    start();
    open_context();
    make_matrix(false);
    OK(ops.csr_prepare(ctx, &m.desc, &m.desc.plan));
    fake.fail_at = fake.count + 1;
    FAILS(ops.spmv(ctx, &m.desc, &m.x, &m.y, 1, 0), RUBUS_ENOMEM, "out of memory");
    fake.fail_at = 0;
    check_product();
    ops.csr_release(ctx, m.desc.plan);
    drop_matrix();
    finish();
}
END_TEST

/* What arrays of more than 2^31 elements take: 64-bit offsets, in every kernel. */
START_TEST(wide_offsets_give_the_same)
{
    start();
    if (_i / 2 == 1) {
        fake.key[0] = "descriptors";
        fake.value[0] = "on";
    }
    open_context();
    make_matrix(_i % 2 == 0);
    OK(vk_sparse_check(ctx, &m.desc));
    vk_module *module = ctx->sparse->module[2];
    for (uint32_t e = 0; e < module->nentry; e++) {
        for (uint32_t b = 0; b < module->entry[e].nbuffer; b++) {
            ((vk_operand *)(uintptr_t)module->entry[e].operand)[b].narrow = 0;
        }
    }
    OK(ops.csr_prepare(ctx, &m.desc, &m.desc.plan));
    check_product();
    check_dense();
    ops.csr_release(ctx, m.desc.plan);
    drop_matrix();
    finish();
}
END_TEST

START_TEST(product_without_plan_fails)
{
    start();
    open_context();
    make_matrix(true);
    const rubus_mat mat = {m.x.buffer, 0, ROWS, 1, ROWS, RUBUS_COLUMN_MAJOR, 0};
    FAILS(ops.spmv(ctx, &m.desc, &m.x, &m.y, 1, 0), RUBUS_EINVAL, "csr_prepare");
    FAILS(ops.spmm(ctx, &m.desc, &mat, &mat, 1, 0), RUBUS_EINVAL, "csr_prepare");
    ops.csr_release(ctx, NULL);
    drop_matrix();
    finish();
}
END_TEST

START_TEST(lost_device_multiplies_no_more)
{
    start();
    open_context();
    make_matrix(true);
    OK(ops.csr_prepare(ctx, &m.desc, &m.desc.plan));
    OK(ops.synchronize(ctx));
    atomic_store(&ctx->lost, true);
    rubus_csr_plan *none = NULL;
    FAILS(ops.spmv(ctx, &m.desc, &m.x, &m.y, 1, 0), RUBUS_ELOST, "is lost");
    FAILS(ops.csr_prepare(ctx, &m.desc, &none), RUBUS_ELOST, "is lost");
    ck_assert_ptr_null(none);
    ops.csr_release(ctx, m.desc.plan);
    drop_matrix();
    finish();
}
END_TEST

static Suite *sparse_suite(void)
{
    TCase *tc = tcase_create("slots");
    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, out_of_memory_is_survived, 0, 2);
    tcase_add_test(tc, product_without_memory_fails_and_goes_on);
    tcase_add_loop_test(tc, wide_offsets_give_the_same, 0, 4);
    tcase_add_test(tc, product_without_plan_fails);
    tcase_add_test(tc, lost_device_multiplies_no_more);
    Suite *suite = suite_create("vulkan: sparse matrices");
    suite_add_tcase(suite, tc);
    return suite;
}

int main(void)
{
    return vulkan_test_run("vulkan: sparse matrices", sparse_suite);
}
