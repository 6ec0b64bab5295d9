/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checkpoints of a relaxation: everything that a bitwise equal continuation needs.
 *
 * Layout, little endian: a head (magic, version, sizes, the description, the state), the
 * fields u, lambda, d, Q, the kept z and z0 (raw, first index fastest), the history, and
 * the SHA-256 of all before it. A file appears by rename, so it is whole or not there.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"
#include "libcore/solve/relax.h"

#include <math.h>
#include <string.h>

#define MAGIC 0x504B435355425552u /* "RUBUSCKP" */
#define FORMAT_VERSION 1u
#define NFIELD 6

typedef struct head {
    uint64_t magic;
    uint32_t version;
    int32_t dim;
    int32_t real;
    int32_t kernels;
    int32_t profile;
    int32_t mean;
    int32_t no_checks;
    int32_t quiet_checks;
    int32_t started;
    int32_t outcome;
    int32_t half;
    int32_t reserved0;
    int64_t n[3];
    double length[3];
    double left;
    double right;
    double init;
    double tol;
    double tolerance;
    double lambda_max;
    double beta;
    double residual;
    double first_residual;
    double least_residual;
    int64_t niter;
    int64_t iteration;
    uint64_t nhistory;
    uint64_t field_bytes[NFIELD];
} head;

/* The fields in file order; absent ones are NULL. */
static void fields_of(const rubus_relax *relax, rubus_array *out[NFIELD])
{
    out[0] = relax->u;
    out[1] = relax->lambda;
    out[2] = relax->d;
    out[3] = relax->Q;
    out[4] = relax->z;
    out[5] = relax->z0;
}

static void head_fill(const rubus_relax *relax, head *h)
{
    const rubus_relax_desc *d = &relax->desc;
    memset(h, 0, sizeof(*h));
    h->magic = MAGIC;
    h->version = FORMAT_VERSION;
    h->dim = d->dim;
    h->real = d->real;
    h->kernels = d->kernels;
    h->profile = d->profile;
    h->mean = d->mean;
    h->no_checks = d->no_checks;
    h->quiet_checks = relax->quiet_checks;
    h->started = relax->started ? 1 : 0;
    h->outcome = relax->outcome;
    h->half = relax->half ? 1 : 0;
    memcpy(h->n, d->n, sizeof(h->n));
    memcpy(h->length, d->length, sizeof(h->length));
    h->left = d->left;
    h->right = d->right;
    h->init = d->init;
    h->tol = d->tol;
    h->tolerance = relax->tolerance;
    h->lambda_max = relax->lambda_max;
    h->beta = relax->beta;
    h->residual = relax->residual;
    h->first_residual = relax->first_residual;
    h->least_residual = relax->least_residual;
    h->niter = d->niter;
    h->iteration = relax->iteration;
    h->nhistory = relax->nhistory;
}

rubus_status rubus_relax_save(rubus_relax *relax, const char *path)
{
    if (relax == NULL || path == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_relax_save: %s is NULL",
                           relax == NULL ? "the solver" : "the path");
    }
    if (relax->broken) {
        return rubus__fail(RUBUS_ESTATE,
                           "%s: no checkpoint of a solver whose last iteration "
                           "failed",
                           path);
    }
    head h;
    head_fill(relax, &h);
    rubus_array *field[NFIELD];
    fields_of(relax, field);
    size_t total = sizeof(h);
    for (int i = 0; i < NFIELD; i++) {
        h.field_bytes[i] = rubus_array_nbyte(field[i]);
        total += (size_t)h.field_bytes[i];
    }
    const size_t history = relax->nhistory * sizeof(double);
    total += 2 * history + 32;
    uint8_t *file = rubus__alloc(total);
    if (file == NULL) {
        return RUBUS_ENOMEM;
    }
    memcpy(file, &h, sizeof(h));
    size_t at = sizeof(h);
    rubus_status st = RUBUS_OK;
    for (int i = 0; st == RUBUS_OK && i < NFIELD; i++) {
        if (field[i] != NULL) {
            st = rubus_array_read(field[i], file + at, (size_t)h.field_bytes[i]);
            at += (size_t)h.field_bytes[i];
        }
    }
    if (st == RUBUS_OK) {
        if (history > 0) {
            memcpy(file + at, relax->history_iteration, history);
            memcpy(file + at + history, relax->history_residual, history);
        }
        const rubus__part all = {file, total - 32};
        rubus__sha256(&all, 1, file + total - 32);
        st = rubus__file_write(path, file, total);
    }
    rubus__free(file);
    return st;
}

/* --- reading ------------------------------------------------------------------------ */

static rubus_status refuse(const char *path, const char *why)
{
    return rubus__fail(RUBUS_EFORMAT, "%s: %s", path, why);
}

static rubus_status head_check(const char *path, const uint8_t *file, size_t size,
                               head *h)
{
    if (size < sizeof(*h) + 32) {
        return refuse(path, "no checkpoint, or cut short");
    }
    memcpy(h, file, sizeof(*h));
    if (h->magic != MAGIC) {
        return refuse(path, "not a checkpoint of a relaxation");
    }
    if (h->version != FORMAT_VERSION) {
        return rubus__fail(RUBUS_EFORMAT,
                           "%s: a checkpoint of format %u; this version of Rubus reads "
                           "format %u: run it with the version that wrote it",
                           path, (unsigned)h->version, FORMAT_VERSION);
    }
    uint64_t total = sizeof(*h) + 32;
    for (int i = 0; i < NFIELD; i++) {
        total += h->field_bytes[i] < size ? h->field_bytes[i] : size;
    }
    total += h->nhistory < size ? 2 * h->nhistory * sizeof(double) : size;
    uint8_t sum[32];
    const rubus__part all = {file, size - 32};
    rubus__sha256(&all, 1, sum);
    if (total != size || memcmp(sum, file + size - 32, 32) != 0) {
        return refuse(path, "the checkpoint is damaged or cut short");
    }
    return RUBUS_OK;
}

static rubus_status changes_apply(const char *path, const rubus_relax_desc *changes,
                                  rubus_relax_desc *desc)
{
    rubus_relax_desc c;
    memset(&c, 0, sizeof(c));
    if (changes == NULL) {
        return RUBUS_OK;
    }
    const rubus_status st = rubus__need_struct("rubus_relax_load", "changes", changes);
    if (st != RUBUS_OK) {
        return st;
    }
    memcpy(&c, changes,
           changes->struct_size < sizeof(c) ? changes->struct_size : sizeof(c));
    bool same =
        (c.dim == 0 || c.dim == desc->dim) && (c.real == 0 || c.real == desc->real) &&
        (c.kernels == 0 || c.kernels == desc->kernels) &&
        (c.profile == 0 || c.profile == desc->profile) &&
        (c.mean == 0 || c.mean == desc->mean) &&
        (c.no_checks == 0 || c.no_checks == desc->no_checks) &&
        (c.left == 0 || c.left == desc->left) &&
        (c.right == 0 || c.right == desc->right) &&
        (c.init == 0 || c.init == desc->init) && c.lambda == NULL && c.lambda_const == 0;
    for (int k = 0; k < desc->dim; k++) {
        same = same && (c.n[k] == 0 || c.n[k] == desc->n[k]) &&
               (c.length[k] == 0 || c.length[k] == desc->length[k]);
    }
    if (!same) {
        return rubus__fail(
            RUBUS_EINVAL,
            "%s: the checkpoint is of another problem (%d dimensions, %lld x "
            "%lld x %lld cells, %s); only niter and tol can be changed",
            path, (int)desc->dim, (long long)desc->n[0], (long long)desc->n[1],
            (long long)desc->n[2], rubus__type_name(desc->real));
    }
    if (c.niter != 0) {
        desc->niter = c.niter < 0 ? 0 : c.niter;
    }
    if (c.tol != 0) {
        desc->tol = c.tol < 0 ? 0 : c.tol;
    }
    return rubus__relax_check(desc);
}

static void desc_of(const head *h, rubus_relax_desc *d)
{
    memset(d, 0, sizeof(*d));
    d->struct_size = sizeof(*d);
    d->dim = h->dim;
    d->real = h->real;
    d->kernels = h->kernels;
    d->profile = h->profile;
    d->mean = h->mean;
    d->no_checks = h->no_checks;
    memcpy(d->n, h->n, sizeof(d->n));
    memcpy(d->length, h->length, sizeof(d->length));
    d->left = h->left;
    d->right = h->right;
    d->init = h->init;
    d->tol = h->tol > 0 ? h->tol : -1;
    d->niter = h->niter > 0 ? h->niter : -1;
}

/* A run that ended because of the old tolerance goes on under another one. */
static void change_outcome(rubus_relax *relax)
{
    if (relax->outcome == RUBUS_OUTCOME_STAGNATED ||
        (relax->outcome == RUBUS_OUTCOME_CONVERGED &&
         !(relax->residual < relax->tolerance))) {
        relax->outcome = RUBUS_OUTCOME_RUNNING;
        relax->quiet_checks = 0;
    }
}

static rubus_status state_restore(rubus_relax *relax, const head *h, const uint8_t *rest)
{
    relax->lambda_max = h->lambda_max;
    relax->tolerance = rubus__relax_tolerance(relax);
    relax->beta = h->beta;
    relax->residual = h->residual;
    relax->first_residual = h->first_residual;
    relax->least_residual = h->least_residual;
    relax->quiet_checks = h->quiet_checks;
    relax->started = h->started != 0;
    relax->half = h->half != 0;
    relax->iteration = h->iteration;
    relax->outcome = h->outcome;
    if (relax->tolerance != h->tolerance) {
        change_outcome(relax);
    }
    rubus_array *field[NFIELD];
    fields_of(relax, field);
    for (int i = 0; i < NFIELD; i++) {
        if (rubus_array_nbyte(field[i]) != h->field_bytes[i]) {
            return rubus__fail(RUBUS_EFORMAT,
                               "the checkpoint's fields do not fit its grid");
        }
        if (field[i] != NULL) {
            const rubus_status st =
                rubus_array_write(field[i], rest, (size_t)h->field_bytes[i]);
            if (st != RUBUS_OK) {
                return st;
            }
            rest += h->field_bytes[i];
        }
    }
    const size_t history = (size_t)h->nhistory * sizeof(double);
    relax->history_iteration = rubus__alloc(history + 8);
    relax->history_residual = rubus__alloc(history + 8);
    if (relax->history_iteration == NULL || relax->history_residual == NULL) {
        return RUBUS_ENOMEM;
    }
    memcpy(relax->history_iteration, rest, history);
    memcpy(relax->history_residual, rest + history, history);
    relax->nhistory = (size_t)h->nhistory;
    relax->history_room = relax->nhistory + 1;
    return RUBUS_OK;
}

static rubus_status load(rubus_context *context, const char *path,
                         const rubus_relax_desc *changes, const uint8_t *file,
                         size_t size, rubus_relax **out_relax)
{
    head h;
    rubus_relax_desc desc;
    rubus_relax_desc complete;
    rubus_status st = head_check(path, file, size, &h);
    if (st == RUBUS_OK) {
        desc_of(&h, &desc);
        st = rubus__relax_complete(&desc, &complete);
    }
    if (st == RUBUS_OK) {
        st = changes_apply(path, changes, &complete);
    }
    rubus_relax *relax = NULL;
    if (st == RUBUS_OK) {
        st = rubus__relax_allocate(context, &complete, &relax);
    }
    if (st == RUBUS_OK) {
        st = state_restore(relax, &h, file + sizeof(h));
    }
    if (st != RUBUS_OK) {
        rubus_relax_destroy(relax);
        return st;
    }
    *out_relax = relax;
    return RUBUS_OK;
}

rubus_status rubus_relax_load(rubus_context *context, const char *path,
                              const rubus_relax_desc *changes, rubus_relax **out_relax)
{
    if (context == NULL || path == NULL || out_relax == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_relax_load: %s is NULL",
                           context == NULL ? "the context"
                           : path == NULL  ? "the path"
                                           : "out_relax");
    }
    char *file = NULL;
    size_t size = 0;
    rubus_status st = rubus__file_read(path, SIZE_MAX / 2, &file, &size);
    if (st == RUBUS_OK) {
        st = load(context, path, changes, (const uint8_t *)file, size, out_relax);
        rubus__free(file);
    }
    return st;
}
