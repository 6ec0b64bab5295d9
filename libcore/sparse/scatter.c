/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling a matrix on the device through a table of positions. Two ways: each value is
 * added atomically where it goes, or each entry gathers the values that go to it, in the
 * order of the table, which repeats to the bit. For the second the table is turned round
 * on the host, once.
 */
#include "config.h"

#include "libcore/sparse/csr.h"

struct rubus_scatter {
    rubus__object object;
    rubus_csr *csr; /* held */
    int64_t n;
    int32_t mode;
    rubus_array *position; /* ATOMIC: [n] */
    rubus_array *start;    /* GATHER: [nnz + 1] */
    rubus_array *source;   /* GATHER: numbers of the values, by entry */
};

/* --- do atomic additions work? ---------------------------------------------------- */

enum { PROBE_ADDITIONS = 1 << 20, PROBE_CELLS = 8 };

static rubus_status atomic_kernel(const rubus_csr *csr, const char *name,
                                  const rubus_kernel **out_kernel)
{
    const rubus_module_options options = {sizeof(options), csr->mirror.real,
                                          csr->mirror.index, 0, 0};
    return rubus__kept_kernel(csr->context, "sparse_atomic.rk", &options, name,
                              out_kernel);
}

/* 2^20 additions of 1 into 8 cells must give 2^17 in each, exactly. */
static rubus_status run_probe(const rubus_csr *csr, bool *out_works)
{
    const rubus_kernel *kernel = NULL;
    rubus_array *cells = NULL;
    rubus_status st = atomic_kernel(csr, "probe", &kernel);
    if (st == RUBUS_OK) {
        st = rubus_array_create(csr->context, csr->mirror.real, RUBUS_SHAPE(PROBE_CELLS),
                                &cells);
    }
    if (st == RUBUS_OK) {
        const rubus_arg args[2] = {rubus_arg_array(cells),
                                   rubus_arg_integer(PROBE_ADDITIONS)};
        st = rubus_launch_args(kernel, args, 2);
    }
    double wide[PROBE_CELLS];
    float narrow[PROBE_CELLS];
    const bool f64 = csr->mirror.real == RUBUS_F64;
    if (st == RUBUS_OK) {
        st = rubus_array_read(cells, f64 ? (void *)wide : (void *)narrow, cells->nbyte);
    }
    rubus_array_destroy(cells);
    *out_works = st == RUBUS_OK;
    for (int i = 0; i < PROBE_CELLS && *out_works; i++) {
        *out_works = (f64 ? wide[i] : (double)narrow[i]) ==
                     (double)(PROBE_ADDITIONS / PROBE_CELLS);
    }
    return st;
}

/* What cannot be built does not work. */
rubus_status rubus__csr_atomics(const rubus_csr *csr, bool *out_works)
{
    rubus_context *context = csr->context;
    const bool f64 = csr->mirror.real == RUBUS_F64;
    const uint32_t cap =
        f64 ? context->dev->caps.atomic_f64_add : context->dev->caps.atomic_f32_add;
    *out_works = false;
    if (cap == 0) {
        return RUBUS_OK; // nothing says that they could
    }
    int8_t *known = &context->atomics[f64 ? 1 : 0];
    rubus_status st = rubus__enter(context, "rubus_scatter_create");
    if (st != RUBUS_OK) {
        return st;
    }
    const int8_t before = *known;
    (void)rubus__leave(context, RUBUS_OK);
    if (before != 0) {
        *out_works = before > 0;
        return RUBUS_OK;
    }
    st = run_probe(csr, out_works);
    if (st == RUBUS_EUNSUPPORTED || st == RUBUS_ECOMPILE) {
        rubus__log(RUBUS__LOG_INFO, "sparse", "no atomic additions of %s: %s",
                   rubus__type_name(csr->mirror.real), rubus_error_text());
        st = RUBUS_OK;
    } else if (st == RUBUS_OK && !*out_works) {
        rubus__log(RUBUS__LOG_WARNING, "sparse",
                   "device \"%s\" loses atomic additions of %s; matrices are filled by "
                   "gathering",
                   context->dev->caps.name, rubus__type_name(csr->mirror.real));
    }
    if (st == RUBUS_OK) {
        pthread_mutex_lock(&context->lock);
        *known = *out_works ? 1 : -1;
        pthread_mutex_unlock(&context->lock);
    }
    return st;
}

static rubus_status choose(const rubus_csr *csr, int32_t asked, int32_t *out_mode)
{
    *out_mode = RUBUS_SCATTER_GATHER;
    if (asked == RUBUS_SCATTER_GATHER) {
        return RUBUS_OK;
    }
    bool works = false;
    const rubus_status st = rubus__csr_atomics(csr, &works);
    if (st != RUBUS_OK) {
        return st;
    }
    if (!works && asked == RUBUS_SCATTER_ATOMIC) {
        return rubus__fail(RUBUS_EUNSUPPORTED,
                           "rubus_scatter_create: device \"%s\" of backend %s does not "
                           "add %s atomically; use RUBUS_SCATTER_GATHER",
                           csr->context->dev->caps.name, csr->context->dev->name,
                           rubus__type_name(csr->mirror.real));
    }
    *out_mode = works ? RUBUS_SCATTER_ATOMIC : RUBUS_SCATTER_GATHER;
    return RUBUS_OK;
}

/* --- making ----------------------------------------------------------------------- */

/* start[k] to start[k+1]: the values that go to entry k, in the order of the table. */
RUBUS__INLINE void turn_round(int64_t nnz, int64_t n, const void *position, void *start,
                              void *source, int32_t type)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = rubus__index_get(position, type, i);
        if (k >= 0) {
            rubus__index_set(start, type, k + 1,
                             rubus__index_get(start, type, k + 1) + 1);
        }
    }
    for (int64_t k = 0; k < nnz; k++) {
        rubus__index_set(start, type, k + 1,
                         rubus__index_get(start, type, k) +
                             rubus__index_get(start, type, k + 1));
    }
    for (int64_t i = 0; i < n; i++) {
        const int64_t k = rubus__index_get(position, type, i);
        if (k >= 0) {
            const int64_t at = rubus__index_get(start, type, k);
            rubus__index_set(source, type, at, i);
            rubus__index_set(start, type, k, at + 1);
        }
    }
    for (int64_t k = nnz; k > 0; k--) {
        rubus__index_set(start, type, k, rubus__index_get(start, type, k - 1));
    }
    rubus__index_set(start, type, 0, 0);
}

static rubus_status make_gather(rubus_scatter *s, const void *position)
{
    const rubus__host_csr *m = &s->csr->mirror;
    const size_t size = rubus__type_size(m->index);
    void *start = rubus__alloc_array((size_t)m->nnz + 1, size);
    void *source = rubus__alloc_array((size_t)s->n, size);
    rubus_status st = start == NULL || source == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK) {
        if (m->index == RUBUS_I32) {
            turn_round(m->nnz, s->n, position, start, source, RUBUS_I32);
        } else {
            turn_round(m->nnz, s->n, position, start, source, RUBUS_I64);
        }
        st = rubus_array_from(s->csr->context, m->index, RUBUS_SHAPE(m->nnz + 1), start,
                              &s->start);
    }
    if (st == RUBUS_OK) {
        const int64_t used = rubus__index_get(start, m->index, m->nnz);
        st = rubus_array_from(s->csr->context, m->index, RUBUS_SHAPE(used), source,
                              &s->source);
    }
    rubus__free(start);
    rubus__free(source);
    return st;
}

static rubus_status check_arguments(const rubus_csr *csr, int64_t n, const void *position,
                                    int32_t mode, rubus_scatter *const *out)
{
    static const char what[] = "rubus_scatter_create";
    if (csr == NULL || out == NULL || n < 0 || (n > 0 && position == NULL)) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s", what,
                           csr == NULL   ? "the matrix is NULL"
                           : out == NULL ? "out_scatter is NULL"
                           : n < 0       ? "n is negative"
                                         : "the array of positions is NULL");
    }
    if (mode < RUBUS_SCATTER_AUTO || mode > RUBUS_SCATTER_GATHER) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: mode %d; give RUBUS_SCATTER_AUTO, _ATOMIC or _GATHER",
                           what, (int)mode);
    }
    if (csr->mirror.index == RUBUS_I32 && n > INT32_MAX) {
        return rubus__fail(RUBUS_ELIMIT,
                           "%s: a table of %lld entries is more than 32-bit indices can "
                           "count; make the matrix with RUBUS_I64",
                           what, (long long)n);
    }
    return rubus__csr_check_positions(what, csr, n, position);
}

static void destroy_object(void *self)
{
    rubus_scatter_destroy(self);
}

rubus_status rubus_scatter_create(rubus_csr *csr, int64_t n, const void *position,
                                  int32_t mode, rubus_scatter **out_scatter)
{
    rubus_status st = check_arguments(csr, n, position, mode, out_scatter);
    rubus_scatter *s = NULL;
    if (st == RUBUS_OK) {
        s = rubus__alloc(sizeof(*s));
        st = s == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__csr_hold(csr);
    s->csr = csr;
    s->n = n;
    st = choose(csr, mode, &s->mode);
    if (st == RUBUS_OK) {
        st = s->mode == RUBUS_SCATTER_GATHER
                 ? make_gather(s, position)
                 : rubus_array_from(csr->context, csr->mirror.index, RUBUS_SHAPE(n),
                                    position, &s->position);
    }
    if (st != RUBUS_OK) {
        rubus_scatter_destroy(s);
        return st;
    }
    rubus__object_add(csr->context, &s->object, RUBUS__RANK_OPERATOR, destroy_object, s);
    *out_scatter = s;
    return RUBUS_OK;
}

void rubus_scatter_destroy(rubus_scatter *scatter)
{
    if (scatter == NULL) {
        return;
    }
    rubus__object_remove(scatter->csr->context, &scatter->object);
    rubus_array_destroy(scatter->position);
    rubus_array_destroy(scatter->start);
    rubus_array_destroy(scatter->source);
    rubus_csr_destroy(scatter->csr);
    rubus__free(scatter);
}

int32_t rubus_scatter_mode(const rubus_scatter *scatter)
{
    return scatter == NULL ? 0 : scatter->mode;
}

/* --- running ---------------------------------------------------------------------- */

static rubus_status check_values(const char *what, const rubus_scatter *s,
                                 const rubus_array *value)
{
    if (s == NULL || value == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", what,
                           s == NULL ? "the scatter" : "the array of values");
    }
    if (value->count != s->n) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the table has %lld entries, the array of values %lld",
                           what, (long long)s->n, (long long)value->count);
    }
    return RUBUS_OK;
}

static rubus_status run(const char *what, rubus_scatter *s, rubus_array *value, bool keep)
{
    rubus_status st = check_values(what, s, value);
    const rubus_kernel *scatter = NULL;
    const rubus_kernel *gather = NULL;
    if (st == RUBUS_OK && s->mode == RUBUS_SCATTER_ATOMIC) {
        st = atomic_kernel(s->csr, "scatter", &scatter);
    }
    if (st == RUBUS_OK && (s->mode == RUBUS_SCATTER_GATHER || !keep)) {
        st = rubus__csr_kernel(
            s->csr, s->mode == RUBUS_SCATTER_GATHER ? "gather" : "scale", &gather);
    }
    if (st != RUBUS_OK || s->csr->mirror.nnz == 0) {
        return st;
    }
    rubus_array line = rubus__array_line(value, 0, value->count);
    rubus_array *nzval = s->csr->nzval;
    if (s->mode == RUBUS_SCATTER_GATHER) {
        const rubus_arg args[5] = {rubus_arg_array(nzval), rubus_arg_array(s->start),
                                   rubus_arg_array(s->source), rubus_arg_array(&line),
                                   rubus_arg_integer(keep)};
        return rubus_launch_args(gather, args, 5);
    }
    rubus_array column = *nzval;
    column.shape.rank = 2;
    column.shape.n[1] = 1;
    const rubus_arg zero[4] = {rubus_arg_array(&column), rubus_arg_integer(nzval->count),
                               rubus_arg_integer(1), rubus_arg_real(0)};
    const rubus_arg add[3] = {rubus_arg_array(nzval), rubus_arg_array(s->position),
                              rubus_arg_array(&line)};
    const rubus__call call[2] = {{gather, NULL, NULL, zero, 4},
                                 {scatter, NULL, NULL, add, 3}};
    return rubus__launch_list(keep ? call + 1 : call, keep ? 1 : 2);
}

rubus_status rubus_scatter_set(rubus_scatter *scatter, rubus_array *value)
{
    return run("rubus_scatter_set", scatter, value, false);
}

rubus_status rubus_scatter_add(rubus_scatter *scatter, rubus_array *value)
{
    return run("rubus_scatter_add", scatter, value, true);
}
