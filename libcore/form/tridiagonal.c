/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Eigenvalues and eigenvectors of symmetric tridiagonal matrices, by the QL method with
 * implicit shifts. Source: Parlett, The symmetric eigenvalue problem, 8.13; Bowdler,
 * Martin, Reinsch, Wilkinson, The QR and QL algorithms for symmetric matrices, Numerische
 * Mathematik 11 (1968).
 */
#include "config.h"

#include "libcore/form/kronecker_inner.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST_SWEEPS = 60 }; /* an eigenvalue takes 2 on average */

/* The first place from l on behind which the matrix falls apart. */
static int64_t block_end(int64_t n, const double *d, const double *e, int64_t l)
{
    int64_t m = l;
    while (m + 1 < n && !(fabs(e[m]) <= DBL_EPSILON * (fabs(d[m]) + fabs(d[m + 1])))) {
        m++;
    }
    return m;
}

/* Turns eigenvectors i and i + 1 by the angle with this sine and cosine. */
static void turn(int64_t n, double *z, int64_t i, double sine, double cosine)
{
    double *a = z + i * n;
    double *b = a + n;
    for (int64_t k = 0; k < n; k++) {
        const double x = a[k];
        const double y = b[k];
        a[k] = cosine * x - sine * y;
        b[k] = sine * x + cosine * y;
    }
}

/* One sweep over the block l ... m, with the shift of Wilkinson. */
static void sweep(int64_t n, double *d, double *e, double *z, int64_t l, int64_t m)
{
    double g = (d[l + 1] - d[l]) / (2 * e[l]);
    g = d[m] - d[l] + e[l] / (g + copysign(hypot(g, 1), g));
    double sine = 1;
    double cosine = 1;
    double p = 0;
    for (int64_t i = m - 1; i >= l; i--) {
        const double f = sine * e[i];
        const double b = cosine * e[i];
        const double r = hypot(f, g);
        e[i + 1] = r;
        if (r == 0) { // the block fell apart here
            d[i + 1] -= p;
            e[m] = 0;
            return;
        }
        sine = f / r;
        cosine = g / r;
        g = d[i + 1] - p;
        const double t = (d[i] - g) * sine + 2 * cosine * b;
        p = sine * t;
        d[i + 1] = g + p;
        g = cosine * t - b;
        turn(n, z, i, sine, cosine);
    }
    d[l] -= p;
    e[l] = g;
    e[m] = 0;
}

bool rubus__tridiagonal_eigen(int64_t n, double *d, double *e, double *z)
{
    memset(z, 0, (size_t)(n * n) * sizeof(*z));
    if (n > 0) {
        e[n - 1] = 0;
    }
    for (int64_t i = 0; i < n; i++) {
        z[i * n + i] = 1;
        if (!isfinite(d[i]) || !isfinite(e[i])) {
            return false;
        }
    }
    for (int64_t l = 0; l < n; l++) {
        int sweeps = 0;
        for (int64_t m = block_end(n, d, e, l); m != l; m = block_end(n, d, e, l)) {
            if (++sweeps > MOST_SWEEPS) {
                return false;
            }
            sweep(n, d, e, z, l, m);
        }
    }
    return true;
}
