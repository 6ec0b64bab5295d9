/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Setting up a relaxation: defaults, checks, the coefficient, the preconditioner, the
 * start value with its boundary profile, the arrays of the kernel set.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"
#include "libcore/solve/relax.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define MOST_CELLS ((int64_t)1 << 59) /* 15 times as many fit an int64_t */

static const double pi = 3.14159265358979323846;

/* --- the description ---------------------------------------------------------------- */

static rubus_status too_many_cells(const rubus_relax_desc *d)
{
    return rubus__fail(RUBUS_EINVAL,
                       "relaxation: a grid of %lld%s%.0lld%s%.0lld cells has more than "
                       "the 2^59 that are possible",
                       (long long)d->n[0], d->dim > 1 ? " x " : "",
                       d->dim > 1 ? (long long)d->n[1] : 0LL, d->dim > 2 ? " x " : "",
                       d->dim > 2 ? (long long)d->n[2] : 0LL);
}

static rubus_status complete_box(rubus_relax_desc *d)
{
    static const char axis[3] = {'x', 'y', 'z'};
    int64_t most = 0;
    int64_t cells = 1;
    for (int32_t k = 0; k < 3; k++) {
        if (k >= d->dim) {
            d->n[k] = 1;
            d->length[k] = 1;
            continue;
        }
        if (d->n[k] < 3) {
            return rubus__fail(RUBUS_EINVAL,
                               "relaxation: n%c is %lld; it needs at least 3 cells per "
                               "direction",
                               axis[k], (long long)d->n[k]);
        }
        if (__builtin_mul_overflow(cells, d->n[k], &cells) || cells > MOST_CELLS) {
            return too_many_cells(d);
        }
        d->length[k] = d->length[k] == 0 ? 20 : d->length[k];
        if (!(d->length[k] > 0 && isfinite(d->length[k]))) {
            return rubus__fail(
                RUBUS_EINVAL,
                "relaxation: the length along %c is %g; it must be positive", axis[k],
                d->length[k]);
        }
        most = d->n[k] > most ? d->n[k] : most;
    }
    d->niter = d->niter == 0 ? 15 * most : d->niter < 0 ? 0 : d->niter;
    return RUBUS_OK;
}

/* A number of the problem; in f32 it must have a place there too. */
static bool is_number(const rubus_relax_desc *d, double v)
{
    return isfinite(v) && (d->real == RUBUS_F64 || fabs(v) <= (double)FLT_MAX);
}

/* A coefficient, in the solver's real too. */
static bool is_coefficient(const rubus_relax_desc *d, double v)
{
    return v > 0 && is_number(d, v) && (d->real == RUBUS_F64 || (float)v > 0);
}

rubus_status rubus__relax_check(const rubus_relax_desc *d)
{
    if (d->real != RUBUS_F64 && d->real != RUBUS_F32) {
        return rubus__fail(RUBUS_EINVAL, "relaxation: real must be f32 or f64");
    }
    if (d->kernels < RUBUS_KERNELS_MATH || d->kernels > RUBUS_KERNELS_FUSED) {
        return rubus__fail(RUBUS_EINVAL, "relaxation: no kernel set %d (1 to 3)",
                           (int)d->kernels);
    }
    if (d->profile < 0 || d->profile >= d->dim) {
        return rubus__fail(RUBUS_EINVAL,
                           "relaxation: profile axis %d of a problem of %d "
                           "dimensions",
                           (int)d->profile, (int)d->dim);
    }
    if (d->mean != RUBUS_MEAN_ARITHMETIC && d->mean != RUBUS_MEAN_HARMONIC) {
        return rubus__fail(RUBUS_EINVAL, "relaxation: no mean %d (1 or 2)", (int)d->mean);
    }
    const struct {
        const char *name;
        double value;
    } number[] = {
        {"left", d->left}, {"right", d->right}, {"init", d->init}, {"tol", d->tol}};
    for (size_t i = 0; i < sizeof(number) / sizeof(number[0]); i++) {
        if (!is_number(d, number[i].value)) {
            return rubus__fail(
                RUBUS_EINVAL,
                "relaxation: %s is %g; it must be a finite number of type %s",
                number[i].name, number[i].value, rubus__type_name(d->real));
        }
    }
    if (d->lambda_const != 0 && !is_coefficient(d, d->lambda_const)) {
        return rubus__fail(RUBUS_EINVAL,
                           "relaxation: the coefficient is %g; it must be positive and "
                           "finite in %s",
                           d->lambda_const, rubus__type_name(d->real));
    }
    return RUBUS_OK;
}

rubus_status rubus__relax_complete(const rubus_relax_desc *given, rubus_relax_desc *out)
{
    if (given == NULL || given->struct_size < sizeof(given->struct_size)) {
        return rubus__fail(RUBUS_EINVAL, "relaxation: pass a desc with struct_size set");
    }
    memset(out, 0, sizeof(*out));
    memcpy(out, given,
           given->struct_size < sizeof(*out) ? given->struct_size : sizeof(*out));
    out->struct_size = sizeof(*out);
    if (out->dim < 1 || out->dim > 3) {
        return rubus__fail(RUBUS_EINVAL,
                           "relaxation: %d dimensions; 1, 2 or 3 are possible",
                           (int)out->dim);
    }
    out->real = out->real == 0 ? RUBUS_F64 : out->real;
    out->kernels = out->kernels == 0 ? RUBUS_KERNELS_FUSED : out->kernels;
    out->mean = out->mean == 0 ? RUBUS_MEAN_ARITHMETIC : out->mean;
    out->tol = out->tol == 0 ? 1e-6 : out->tol < 0 ? 0 : out->tol;
    const rubus_status st = complete_box(out);
    return st != RUBUS_OK ? st : rubus__relax_check(out);
}

/* --- arrays ------------------------------------------------------------------------- */

rubus_shape rubus__relax_shape(const rubus_relax *relax, int64_t less)
{
    rubus_shape shape = {relax->desc.dim, 0, {1, 1, 1, 1}};
    for (int32_t k = 0; k < relax->desc.dim; k++) {
        shape.n[k] = relax->desc.n[k] - less;
    }
    return shape;
}

static rubus_status make(rubus_relax *relax, rubus_shape shape, rubus_array **out)
{
    return rubus_array_create(relax->context, relax->desc.real, shape, out);
}

static rubus_status make_fields(rubus_relax *relax)
{
    const int32_t dim = relax->desc.dim;
    const rubus_shape full = rubus__relax_shape(relax, 0);
    const rubus_shape inner = rubus__relax_shape(relax, 2);
    const bool fused = relax->desc.kernels == RUBUS_KERNELS_FUSED;
    rubus_array **const inners[] = {&relax->d, &relax->Q, &relax->z0,
                                    fused ? &relax->d_next : &relax->z,
                                    fused ? NULL : &relax->r};
    rubus_status st = make(relax, full, &relax->u);
    if (st == RUBUS_OK) {
        st = make(relax, dim == 1 ? rubus__relax_shape(relax, 1) : full, &relax->lambda);
    }
    if (st == RUBUS_OK && fused) {
        st = make(relax, full, &relax->u_next);
    }
    for (size_t i = 0; i < sizeof(inners) / sizeof(inners[0]); i++) {
        if (st == RUBUS_OK && inners[i] != NULL) {
            st = make(relax, inner, inners[i]);
        }
    }
    for (int32_t k = 0; relax->desc.kernels == RUBUS_KERNELS_MATH && k < dim; k++) {
        rubus_shape q = inner;
        q.n[k] = relax->desc.n[k] - 1;
        if (st == RUBUS_OK) {
            st = make(relax, q, &relax->q[k]);
        }
    }
    return st;
}

static void destroy_object(void *self)
{
    rubus_relax_destroy(self);
}

rubus_status rubus__relax_allocate(rubus_context *context, const rubus_relax_desc *desc,
                                   rubus_relax **out_relax)
{
    static const char *const source[2][3] = {
        {"relax_1d.rk", "relax_2d.rk", "relax_3d.rk"},
        {"relax_1d.rk", "relax_2d_harmonic.rk", "relax_3d_harmonic.rk"}};
    rubus_relax *relax = rubus__alloc(sizeof(*relax));
    if (relax == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus__context_hold(context);
    relax->context = context;
    relax->desc = *desc;
    relax->desc.lambda = NULL;
    int64_t most = 1;
    for (int32_t k = 0; k < desc->dim; k++) {
        relax->spacing[k] = desc->length[k] / (double)desc->n[k];
        most = desc->n[k] > most ? desc->n[k] : most;
    }
    relax->check_every = (desc->n[0] + 9) / 10;
    relax->beta = 1 - 2 * pi / (double)most;
    relax->beta = relax->beta < 0 ? 0 : relax->beta; /* grids of 6 cells and fewer */
    relax->residual = NAN;
    relax->first_residual = NAN;
    rubus_module_options options = {.struct_size = sizeof(options), .real = desc->real};
    const int harmonic = desc->mean == RUBUS_MEAN_HARMONIC ? 1 : 0;
    rubus_status st = rubus__module_embedded(context, source[harmonic][desc->dim - 1],
                                             &options, &relax->module);
    if (st == RUBUS_OK) {
        st = make_fields(relax);
    }
    if (st != RUBUS_OK) {
        rubus_relax_destroy(relax);
        return st;
    }
    rubus__object_add(context, &relax->object, RUBUS__RANK_OPERATOR, destroy_object,
                      relax);
    *out_relax = relax;
    return RUBUS_OK;
}

void rubus_relax_destroy(rubus_relax *relax)
{
    if (relax == NULL) {
        return;
    }
    rubus__object_remove(relax->context, &relax->object);
    rubus_array *const all[] = {relax->u,      relax->u_next, relax->lambda, relax->d,
                                relax->d_next, relax->Q,      relax->z,      relax->z0,
                                relax->r,      relax->q[0],   relax->q[1],   relax->q[2]};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rubus_array_destroy(all[i]);
    }
    rubus_module_destroy(relax->module);
    rubus__free(relax->history_iteration);
    rubus__free(relax->history_residual);
    rubus_context_destroy(relax->context);
    rubus__free(relax);
}

/* --- host fields -------------------------------------------------------------------- */

/* Numbers of the host in double, stored in the solver's real. */
static rubus_status store(rubus_array *array, const double *values)
{
    if (rubus_array_type(array) == RUBUS_F64) {
        return rubus_array_write(array, values, rubus_array_nbyte(array));
    }
    const size_t n = (size_t)rubus_array_count(array);
    float *narrow = rubus__alloc_array(n, sizeof(float));
    if (narrow == NULL) {
        return RUBUS_ENOMEM;
    }
    for (size_t i = 0; i < n; i++) {
        narrow[i] = (float)values[i];
    }
    const rubus_status st = rubus_array_write(array, narrow, n * sizeof(float));
    rubus__free(narrow);
    return st;
}

/* Centre of cell i along axis k, and face i of the 1D problem. */
static double centre(const rubus_relax *relax, int32_t k, int64_t i)
{
    const double dx = relax->spacing[k];
    const double t = (double)i / (double)(relax->desc.n[k] - 1);
    return (1 - t) * (dx / 2) + t * (relax->desc.length[k] - dx / 2);
}

static double face(const rubus_relax *relax, int64_t i)
{
    const double dx = relax->spacing[0];
    const double t = (double)i / (double)(relax->desc.n[0] - 2);
    return (1 - t) * dx + t * (relax->desc.length[0] - dx);
}

static double anomaly(const rubus_relax *relax, const double *x)
{
    double square = 0;
    for (int32_t k = 0; k < relax->desc.dim; k++) {
        const double away = x[k] - relax->desc.length[k] / 2;
        square += away * away;
    }
    return 1 + 10 * exp(-square);
}

static double mean(const rubus_relax *relax, double a, double b)
{
    return relax->desc.mean == RUBUS_MEAN_HARMONIC ? 1 / (1 / a + 1 / b) * 2
                                                   : 0.5 * (a + b);
}

/* The coefficient as the kernels read it: faces in 1D, cells else. */
static rubus_status make_lambda(rubus_relax *relax, const rubus_relax_desc *given,
                                double *out)
{
    const int64_t nx = relax->desc.n[0];
    const int64_t n = rubus_array_count(relax->lambda);
    const bool cells_1d = relax->desc.dim == 1 && given->nlambda == nx;
    if (given->lambda != NULL && given->nlambda != n && !cells_1d) {
        return rubus__fail(
            RUBUS_ESHAPE,
            "relaxation: the coefficient has %lld numbers; this grid needs "
            "%lld%s",
            (long long)given->nlambda, (long long)n,
            relax->desc.dim == 1 ? " (faces), or one more (cells)" : "");
    }
    for (int64_t i = 0; given->lambda != NULL && i < given->nlambda; i++) {
        if (!is_coefficient(&relax->desc, given->lambda[i])) {
            return rubus__fail(
                RUBUS_EINVAL,
                "relaxation: coefficient number %lld is %g; every one must "
                "be positive and finite in %s",
                (long long)i + 1, given->lambda[i], rubus__type_name(relax->desc.real));
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double x[3] = {0, 0, 0};
        int64_t rest = i;
        for (int32_t k = 0; k < relax->desc.dim; k++) {
            const int64_t at = rest % relax->desc.n[k];
            rest /= relax->desc.n[k];
            x[k] = relax->desc.dim == 1 ? face(relax, i) : centre(relax, k, at);
        }
        out[i] = given->lambda == NULL
                     ? (relax->desc.lambda_const > 0 ? relax->desc.lambda_const
                                                     : anomaly(relax, x))
                 : cells_1d ? mean(relax, given->lambda[i], given->lambda[i + 1])
                            : given->lambda[i];
        relax->lambda_max = out[i] > relax->lambda_max ? out[i] : relax->lambda_max;
    }
    return RUBUS_OK;
}

/* Sum over the axes of the two face means of an inner cell over the squared spacing; with
 * arithmetic means in the order of operations of the reference solver. */
static double diagonal(const rubus_relax *relax, const double *lambda, int64_t at)
{
    double sum = 0;
    int64_t stride = 1;
    for (int32_t k = 0; k < relax->desc.dim; k++) {
        const double inverse = 1 / relax->spacing[k];
        const double low = lambda[at - stride];
        const double mid = lambda[at];
        const double high = lambda[at + stride];
        const double faces = relax->desc.mean == RUBUS_MEAN_HARMONIC
                                 ? 2 * (mean(relax, low, mid) + mean(relax, mid, high))
                                 : low + 2 * mid + high;
        sum += faces * (inverse * inverse);
        stride *= relax->desc.n[k];
    }
    return sum;
}

static void make_Q(const rubus_relax *relax, const double *lambda, double *out)
{
    const int64_t *n = relax->desc.n;
    const int64_t nx = n[0] - 2;
    const int64_t ny = relax->desc.dim > 1 ? n[1] - 2 : 1;
    const int64_t count = rubus_array_count(relax->Q);
    for (int64_t i = 0; i < count; i++) {
        if (relax->desc.dim == 1) {
            const double dx = relax->spacing[0];
            out[i] = dx * dx / (lambda[i] + lambda[i + 1]);
            continue;
        }
        const int64_t x = i % nx + 1;
        const int64_t y = i / nx % ny + 1;
        const int64_t z = relax->desc.dim == 3 ? i / nx / ny + 1 : 0;
        out[i] = 2 / diagonal(relax, lambda, x + n[0] * (y + n[1] * z));
    }
}

static void make_u(const rubus_relax *relax, double *out)
{
    const rubus_relax_desc *d = &relax->desc;
    const int64_t count = rubus_array_count(relax->u);
    const int32_t axis = d->profile;
    const double first = centre(relax, axis, 0);
    const double last = centre(relax, axis, d->n[axis] - 1);
    for (int64_t i = 0; i < count; i++) {
        bool rim = false;
        int64_t rest = i;
        int64_t along = 0;
        for (int32_t k = 0; k < d->dim; k++) {
            const int64_t at = rest % d->n[k];
            rest /= d->n[k];
            rim = rim || at == 0 || at == d->n[k] - 1;
            along = k == axis ? at : along;
        }
        const double t = (centre(relax, axis, along) - first) / (last - first);
        out[i] = !rim                      ? d->init
                 : along == 0              ? d->left
                 : along == d->n[axis] - 1 ? d->right
                                           : d->left + (d->right - d->left) * t;
    }
}

double rubus__relax_least_spacing(const rubus_relax *relax)
{
    double dx = relax->spacing[0];
    for (int32_t k = 1; k < relax->desc.dim; k++) {
        dx = relax->spacing[k] < dx ? relax->spacing[k] : dx;
    }
    return dx;
}

double rubus__relax_tolerance(const rubus_relax *relax)
{
    const double dx = rubus__relax_least_spacing(relax);
    const double spread = fabs(relax->desc.right - relax->desc.left);
    const double most = 1e-6 * relax->lambda_max * spread / (dx * dx);
    return spread > 0 && most < relax->desc.tol ? most : relax->desc.tol;
}

/* Residuals need a place among the normal numbers of the type, or those of a problem far
 * from solved are 0. (Those that are too large make the run diverge, which tells.) */
static rubus_status check_scale(const rubus_relax *relax, const double *Q)
{
    const bool f32 = relax->desc.real == RUBUS_F32;
    const double least = f32 ? (double)FLT_MIN : DBL_MIN;
    const double most = f32 ? (double)FLT_MAX : DBL_MAX;
    const int64_t count = rubus_array_count(relax->Q);
    for (int64_t i = 0; i < count; i++) {
        if (!(Q[i] <= most && 1 / Q[i] >= least)) {
            return rubus__fail(
                RUBUS_EINVAL,
                "relaxation: squared spacing over coefficient is %g, too large for %s; "
                "scale the box or the coefficients%s",
                Q[i], rubus__type_name(relax->desc.real),
                f32 ? ", or compute in f64" : "");
        }
    }
    const double tolerance = rubus__relax_tolerance(relax);
    if (tolerance > 0 && tolerance < least) {
        return rubus__fail(RUBUS_EINVAL,
                           "relaxation: the residual would have to fall below %g, which "
                           "is below the normal numbers of %s; scale the box or the "
                           "coefficients, or ask for a larger tolerance",
                           tolerance, rubus__type_name(relax->desc.real));
    }
    return RUBUS_OK;
}

static rubus_status fill_fields(rubus_relax *relax, const rubus_relax_desc *given)
{
    const size_t count = (size_t)rubus_array_count(relax->u);
    double *lambda = rubus__alloc_array(count, sizeof(double));
    double *other = rubus__alloc_array(count, sizeof(double));
    rubus_status st = lambda == NULL || other == NULL ? RUBUS_ENOMEM : RUBUS_OK;
    if (st == RUBUS_OK) {
        st = make_lambda(relax, given, lambda);
    }
    if (st == RUBUS_OK) {
        st = store(relax->lambda, lambda);
    }
    if (st == RUBUS_OK) {
        make_Q(relax, lambda, other);
        st = check_scale(relax, other);
    }
    if (st == RUBUS_OK) {
        st = store(relax->Q, other);
    }
    if (st == RUBUS_OK) {
        make_u(relax, other);
        st = store(relax->u, other);
    }
    rubus__free(lambda);
    rubus__free(other);
    return st;
}

rubus_status rubus_relax_create(rubus_context *context, const rubus_relax_desc *desc,
                                rubus_relax **out_relax)
{
    rubus_relax_desc complete;
    rubus_status st = rubus__relax_complete(desc, &complete);
    if (st == RUBUS_OK && (context == NULL || out_relax == NULL)) {
        st = rubus__fail(RUBUS_EINVAL, "rubus_relax_create: %s is NULL",
                         context == NULL ? "the context" : "out_relax");
    }
    rubus_relax *relax = NULL;
    if (st == RUBUS_OK) {
        st = rubus__relax_allocate(context, &complete, &relax);
    }
    if (st == RUBUS_OK) {
        st = fill_fields(relax, &complete);
    }
    if (st != RUBUS_OK) {
        rubus_relax_destroy(relax);
        return st;
    }
    relax->tolerance = rubus__relax_tolerance(relax);
    *out_relax = relax;
    return RUBUS_OK;
}
