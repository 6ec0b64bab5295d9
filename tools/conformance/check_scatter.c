/* SPDX-License-Identifier: Apache-2.0 */
/* Checks S: filling the values of a matrix, on the host and on the device. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "check_sparse.h"

typedef struct values {
    rubus_context *context;
    sparse_matrix m;
    rubus_csr *csr;
    int32_t real;
} values;

static void values_open(values *v, int which)
{
    v->context = conform_open();
    v->real = conform_real();
    v->m = sparse_make(which, conform_seed());
    v->csr = sparse_upload(v->context, &v->m, RUBUS_I32, v->real);
}

static void values_close(values *v)
{
    rubus_csr_destroy(v->csr);
    sparse_free(&v->m);
    rubus_context_destroy(v->context);
}

/* --- scattering ------------------------------------------------------------------- */

enum { TABLE = 6000 };

/* Positions: a third go nowhere, many meet at few entries, some entries get nothing. */
static void make_table(const values *v, int32_t position[TABLE], uint64_t seed)
{
    conform_dice dice = {seed};
    for (int k = 0; k < TABLE; k++) {
        const int64_t how = conform_below(&dice, 6);
        position[k] = how < 2    ? (int32_t)-conform_below(&dice, 1000) - 1
                      : how == 2 ? (int32_t)conform_below(&dice, 3)
                                 : (int32_t)conform_below(&dice, v->m.nnz);
    }
}

/* Whole numbers, so that no order of additions changes a sum. */
static void scatter_by(const values *v, int32_t mode)
{
    int32_t position[TABLE];
    double *number = conform_memory(TABLE * sizeof *number);
    double *want = conform_memory((size_t)v->m.nnz * sizeof *want);
    make_table(v, position, conform_seed());
    for (int k = 0; k < TABLE; k++) {
        number[k] = k % 19 - 9;
        if (position[k] >= 0) {
            want[position[k]] += number[k];
        }
    }
    rubus_scatter *scatter = NULL;
    conform_ok(rubus_scatter_create(v->csr, TABLE, position, mode, &scatter));
    conform_window w = sparse_put(v->context, v->real, number, TABLE, 1);
    for (int times = 1; times <= 3; times++) {
        conform_ok(times == 1 ? rubus_scatter_set(scatter, w.array)
                              : rubus_scatter_add(scatter, w.array));
        void *got = conform_contents(rubus_csr_nzval(v->csr));
        for (int64_t i = 0; i < v->m.nnz; i++) {
            const double is = conform_real_at(got, v->real, i);
            conform_true(is == times * want[i],
                         "entry %lld of %lld is %g after %d times, should be %g",
                         (long long)i, (long long)v->m.nnz, is, times, times * want[i]);
        }
        free(got);
    }
    conform_window_check(&w, "a scatter, of what it reads,");
    conform_window_destroy(&w);
    rubus_scatter_destroy(scatter);
    free(number);
    free(want);
}

static void scatter_positions(void)
{
    values v;
    values_open(&v, 1);
    const rubus_caps *caps = &conform_facts_now()->caps;
    conform_say("one point an entry: ");
    scatter_by(&v, RUBUS_SCATTER_GATHER);
    conform_say("as the library chooses: ");
    scatter_by(&v, RUBUS_SCATTER_AUTO);
    if ((v.real == RUBUS_F64 ? caps->atomic_f64_add : caps->atomic_f32_add) != 0) {
        conform_say("by atomic adds: ");
        scatter_by(&v, RUBUS_SCATTER_ATOMIC);
    }
    conform_say(NULL);
    values_close(&v);
}

/* --- flushing --------------------------------------------------------------------- */

static void set_mirror(const values *v, int round)
{
    rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
    conform_ok(rubus_csr_mirror_get(v->csr, &mirror));
    for (int64_t i = 0; i < v->m.nnz; i++) {
        if (v->real == RUBUS_F64) {
            ((double *)mirror.nzval)[i] = (double)(i % 1000 + round);
        } else {
            ((float *)mirror.nzval)[i] = (float)(i % 1000 + round);
        }
    }
}

static void want_values(const values *v, int round, const char *what)
{
    void *got = conform_contents(rubus_csr_nzval(v->csr));
    for (int64_t i = 0; i < v->m.nnz; i++) {
        const double is = conform_real_at(got, v->real, i);
        conform_true(is == (double)(i % 1000 + round),
                     "round %d, %s: entry %lld of %lld is %g, should be %lld", round,
                     what, (long long)i, (long long)v->m.nnz, is,
                     (long long)(i % 1000 + round));
    }
    free(got);
}

static void flush_overwrites_everything(void)
{
    static const char text[] = "kernel spoil(inout real v[n]) { v = -1e6 - v; }";
    values v;
    values_open(&v, 11);
    rubus_module *module = conform_module(v.context, text, v.real);
    rubus_array *nzval = rubus_csr_nzval(v.csr);
    const int rounds = conform_interprets() ? 10 : 100;
    for (int round = 0; round < rounds; round++) {
        if (round % 3 == 0) {
            conform_ok(rubus_array_fill(nzval, 0));
        } else if (round % 3 == 1) {
            conform_ok(rubus_launch(conform_kernel(module, "spoil"), nzval));
        }
        set_mirror(&v, round);
        conform_ok(rubus_csr_flush(v.csr));
        set_mirror(&v, -5000); // the mirror may change as soon as the call is back
        want_values(&v, round, "after a flush");
    }
    rubus_module_destroy(module);
    values_close(&v);
}

/* Products see values that a flush, a kernel or a scatter changed since the last one. */
static void values_change(void)
{
    static const char text[] = "kernel scale(inout real v[n], real a) { v *= a; }";
    static const int some[] = {1, 4, 5};
    for (int s = 0; s < 3; s++) {
        values v;
        values_open(&v, some[s]);
        rubus_module *module = conform_module(v.context, text, v.real);
        double *x = sparse_vector(v.m.ncol, 71);
        double *y = sparse_vector(v.m.nrow, 72);
        conform_window xw = sparse_put(v.context, v.real, x, v.m.ncol, 0);
        conform_window yw = sparse_put(v.context, v.real, y, v.m.nrow, 0);
        for (int round = 0; round < 8; round++) {
            conform_ok(rubus_spmv(1, v.csr, xw.array, 0, yw.array));
            void *got = conform_contents(yw.array);
            conform_say("round %d: ", round);
            sparse_want(&v.m, v.real, 1, x, 0, NULL, got,
                        "a product after the values changed");
            free(got);
            const double factor = round % 2 == 0 ? 2 : -0.25;
            for (int64_t i = 0; i < v.m.nnz; i++) {
                v.m.value[i] *= factor;
            }
            if (round % 2 == 0) {
                conform_ok(rubus_launch(conform_kernel(module, "scale"),
                                        rubus_csr_nzval(v.csr), factor));
            } else {
                conform_ok(rubus_csr_pull(v.csr));
                rubus_csr_mirror mirror = {.struct_size = sizeof mirror};
                conform_ok(rubus_csr_mirror_get(v.csr, &mirror));
                for (int64_t i = 0; i < v.m.nnz; i++) {
                    if (v.real == RUBUS_F64) {
                        ((double *)mirror.nzval)[i] *= factor;
                    } else {
                        ((float *)mirror.nzval)[i] *= (float)factor;
                    }
                }
                conform_ok(rubus_csr_flush(v.csr));
            }
        }
        conform_say(NULL);
        conform_window_destroy(&xw);
        conform_window_destroy(&yw);
        free(x);
        free(y);
        rubus_module_destroy(module);
        values_close(&v);
    }
}

/* A matrix is destroyed right after its product. */
static void destroy_after_product(void)
{
    const int32_t real = conform_real();
    rubus_context *context = conform_open();
    sparse_matrix m = sparse_make(4, conform_seed());
    double *x = sparse_vector(m.ncol, 81);
    double *y = sparse_vector(m.nrow, 82);
    for (int round = 0; round < 20; round++) {
        conform_window xw = sparse_put(context, real, x, m.ncol, 0);
        conform_window yw = sparse_put(context, real, y, m.nrow, 0);
        rubus_csr *csr = sparse_upload(context, &m, RUBUS_I32, real);
        conform_ok(rubus_spmv(1, csr, xw.array, 0, yw.array));
        rubus_csr_destroy(csr);
        conform_window_destroy(&xw);
        rubus_array *other = NULL;
        conform_ok(rubus_array_create(context, real, RUBUS_SHAPE(m.ncol), &other));
        conform_ok(rubus_array_fill(other, -777));
        void *got = conform_contents(yw.array);
        conform_say("round %d: ", round);
        sparse_want(&m, real, 1, x, 0, NULL, got,
                    "a product whose matrix was destroyed at once");
        free(got);
        rubus_array_destroy(other);
        conform_window_destroy(&yw);
    }
    free(x);
    free(y);
    sparse_free(&m);
    rubus_context_destroy(context);
}

const conform_check conform_scatter_checks[] = {
    {"S05_scatter_positions", CONFORM_BASIC, 120, 0,
     "negative positions go nowhere, colliding ones are added", scatter_positions},
    {"S06_flush_overwrites_everything", CONFORM_BASIC, 120, 0,
     "a flush overwrites every value, whatever was there", flush_overwrites_everything},
    {"S09_values_change", CONFORM_BASIC, 120, 0,
     "products see values that kernels and flushes changed", values_change},
    {"S10_destroy_after_product", CONFORM_BASIC, 60, 0,
     "a matrix is destroyed right after its product", destroy_after_product},
    {.name = NULL},
};
