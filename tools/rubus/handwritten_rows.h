/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sweeps of handwritten.c for one type: included twice, with REAL the type and
 * NAME(x) its way to spell a function. Each works on rows [j0, j1) of its result. No
 * include guard.
 */

typedef struct NAME(problem) {
    int64_t nx, ny, mx; // mx = nx - 2
    REAL *u, *d, *qx, *qy, *r, *z, *un, *dn;
    const REAL *lam, *Q;
    REAL alpha, beta, idx, idy;
} NAME(problem);

static NAME(problem) NAME(open)(const handwritten_dr *dr)
{
    return (NAME(problem)){.nx = dr->nx,
                           .ny = dr->ny,
                           .mx = dr->nx - 2,
                           .u = dr->u,
                           .d = dr->d,
                           .qx = dr->qx,
                           .qy = dr->qy,
                           .r = dr->r,
                           .z = dr->z,
                           .un = dr->un,
                           .dn = dr->dn,
                           .lam = dr->lam,
                           .Q = dr->Q,
                           .alpha = (REAL)dr->alpha,
                           .beta = (REAL)dr->beta,
                           .idx = (REAL)dr->dx_inverse,
                           .idy = (REAL)dr->dy_inverse};
}

CLONES static void NAME(update_u)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    const NAME(problem) p = NAME(open)(dr);
    for (int64_t j = j0; j < j1; j++) {
        REAL *restrict u = p.u + (j + 1) * p.nx + 1;
        const REAL *restrict d = p.d + j * p.mx;
        for (int64_t i = 0; i < p.mx; i++) {
            u[i] += p.alpha * d[i];
        }
    }
}

/* Rows [j0, j1) of qy, and those of qx that exist. */
CLONES static void NAME(compute_q)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    const NAME(problem) p = NAME(open)(dr);
    const REAL half = (REAL)0.5;
    for (int64_t j = j0; j < j1; j++) {
        const REAL *restrict u0 = p.u + j * p.nx + 1;
        const REAL *restrict u1 = u0 + p.nx;
        const REAL *restrict lam0 = p.lam + j * p.nx + 1;
        const REAL *restrict lam1 = lam0 + p.nx;
        REAL *restrict qy = p.qy + j * p.mx;
        for (int64_t i = 0; i < p.mx; i++) {
            qy[i] = -((lam0[i] + lam1[i]) * half) * (u1[i] - u0[i]) * p.idy;
        }
        REAL *restrict qx = p.qx + j * (p.nx - 1);
        for (int64_t i = 0; i < p.nx - 1 && j < p.ny - 2; i++) {
            qx[i] = -((lam1[i - 1] + lam1[i]) * half) * (u1[i] - u1[i - 1]) * p.idx;
        }
    }
}

CLONES static void NAME(compute_r)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    const NAME(problem) p = NAME(open)(dr);
    for (int64_t j = j0; j < j1; j++) {
        const REAL *restrict qx = p.qx + j * (p.nx - 1);
        const REAL *restrict qy = p.qy + j * p.mx;
        REAL *restrict r = p.r + j * p.mx;
        for (int64_t i = 0; i < p.mx; i++) {
            r[i] = -((qx[i + 1] - qx[i]) * p.idx + (qy[i + p.mx] - qy[i]) * p.idy);
        }
    }
}

CLONES static void NAME(compute_r_fused)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    const NAME(problem) p = NAME(open)(dr);
    const REAL half = (REAL)0.5;
    for (int64_t j = j0; j < j1; j++) {
        const REAL *restrict u = p.u + (j + 1) * p.nx + 1;
        const REAL *restrict us = u - p.nx;
        const REAL *restrict un = u + p.nx;
        const REAL *restrict l = p.lam + (j + 1) * p.nx + 1;
        const REAL *restrict ls = l - p.nx;
        const REAL *restrict ln = l + p.nx;
        REAL *restrict r = p.r + j * p.mx;
        for (int64_t i = 0; i < p.mx; i++) {
            REAL west = -((l[i - 1] + l[i]) * half) * (u[i] - u[i - 1]) * p.idx;
            REAL east = -((l[i] + l[i + 1]) * half) * (u[i + 1] - u[i]) * p.idx;
            REAL south = -((ls[i] + l[i]) * half) * (u[i] - us[i]) * p.idy;
            REAL north = -((l[i] + ln[i]) * half) * (un[i] - u[i]) * p.idy;
            r[i] = -((east - west) * p.idx + (north - south) * p.idy);
        }
    }
}

CLONES static void NAME(precondition)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    const NAME(problem) p = NAME(open)(dr);
    for (int64_t j = j0; j < j1; j++) {
        REAL *restrict z = p.z + j * p.mx;
        const REAL *restrict Q = p.Q + j * p.mx;
        const REAL *restrict r = p.r + j * p.mx;
        for (int64_t i = 0; i < p.mx; i++) {
            z[i] = Q[i] * r[i];
        }
    }
}

CLONES static void NAME(update_d)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    const NAME(problem) p = NAME(open)(dr);
    for (int64_t j = j0; j < j1; j++) {
        REAL *restrict d = p.d + j * p.mx;
        const REAL *restrict z = p.z + j * p.mx;
        for (int64_t i = 0; i < p.mx; i++) {
            d[i] = d[i] * p.beta + z[i];
        }
    }
}

/* --- one sweep -------------------------------------------------------------------- */

/* What stays the same along a row, by value: a compiler need not fear that a store of the
 * sweep changes it. */
typedef struct NAME(factors) {
    int64_t nx, mx; // distance of rows of u and of d
    REAL alpha, beta, idx, idy;
} NAME(factors);

/* Point i of a row of u, and i - 1 of d, which has no border. dw, de, ds, dn: increments
 * of the neighbours, 0 on the border. */
static inline __attribute__((always_inline)) void
NAME(point)(REAL *restrict u_out, REAL *restrict d_out, const REAL *restrict u,
            const REAL *restrict d, const REAL *restrict l, const REAL *restrict Q,
            int64_t i, REAL dw, REAL de, REAL ds, REAL dn, NAME(factors) f)
{
    const REAL half = (REAL)0.5;
    REAL v = u[i] + f.alpha * d[i - 1];
    REAL vw = u[i - 1] + f.alpha * dw;
    REAL ve = u[i + 1] + f.alpha * de;
    REAL vs = u[i - f.nx] + f.alpha * ds;
    REAL vn = u[i + f.nx] + f.alpha * dn;
    REAL west = -((l[i - 1] + l[i]) * half) * (v - vw) * f.idx;
    REAL east = -((l[i] + l[i + 1]) * half) * (ve - v) * f.idx;
    REAL south = -((l[i - f.nx] + l[i]) * half) * (v - vs) * f.idy;
    REAL north = -((l[i] + l[i + f.nx]) * half) * (vn - v) * f.idy;
    REAL r = -((east - west) * f.idx + (north - south) * f.idy);
    u_out[i] = v;
    d_out[i - 1] = d[i - 1] * f.beta + Q[i - 1] * r;
}

/* Points [i0, i1) with neighbours on all sides. */
CLONES static void NAME(points)(REAL *restrict u_out, REAL *restrict d_out,
                                const REAL *restrict u, const REAL *restrict d,
                                const REAL *restrict l, const REAL *restrict Q,
                                int64_t i0, int64_t i1, NAME(factors) f)
{
    for (int64_t i = i0; i < i1; i++) {
        NAME(point)
        (u_out, d_out, u, d, l, Q, i, d[i - 2], d[i], d[i - 1 - f.mx], d[i - 1 + f.mx],
         f);
    }
}

/* The same in steps of one cache line; each asks for the line one row further on. */
CLONES static void NAME(points_ahead)(REAL *restrict u_out, REAL *restrict d_out,
                                      const REAL *restrict u, const REAL *restrict d,
                                      const REAL *restrict l, const REAL *restrict Q,
                                      int64_t i0, int64_t i1, NAME(factors) f)
{
    enum { STEP = 64 / sizeof(REAL) };
    int64_t i = i0;
    for (; i + STEP <= i1; i += STEP) {
        __builtin_prefetch(&u[i + 2 * f.nx]);
        __builtin_prefetch(&l[i + 2 * f.nx]);
        __builtin_prefetch(&d[i + 2 * f.mx]);
        __builtin_prefetch(&Q[i + f.mx]);
        __builtin_prefetch(&u_out[i + f.nx], 1);
        __builtin_prefetch(&d_out[i + f.mx], 1);
        for (int64_t k = i; k < i + STEP; k++) {
            NAME(point)
            (u_out, d_out, u, d, l, Q, k, d[k - 2], d[k], d[k - 1 - f.mx],
             d[k - 1 + f.mx], f);
        }
    }
    for (; i < i1; i++) {
        NAME(point)
        (u_out, d_out, u, d, l, Q, i, d[i - 2], d[i], d[i - 1 - f.mx], d[i - 1 + f.mx],
         f);
    }
}

/* Point i of row j, wherever it lies inside. */
static void NAME(point_at_border)(const NAME(problem) * p, int64_t i, int64_t j,
                                  NAME(factors) f)
{
    const REAL *d = p->d + (j - 1) * p->mx;
    int64_t k = i - 1;
    NAME(point)
    (p->un + j * p->nx, p->dn + (j - 1) * p->mx, p->u + j * p->nx, d, p->lam + j * p->nx,
     p->Q + (j - 1) * p->mx, i, k > 0 ? d[k - 1] : 0, k < p->mx - 1 ? d[k + 1] : 0,
     j > 1 ? d[k - p->mx] : 0, j < p->ny - 2 ? d[k + p->mx] : 0, f);
}

static inline __attribute__((always_inline)) void
NAME(sweep)(const handwritten_dr *dr, int64_t j0, int64_t j1, bool ahead)
{
    const NAME(problem) p = NAME(open)(dr);
    const NAME(factors) f = {p.nx, p.mx, p.alpha, p.beta, p.idx, p.idy};
    for (int64_t j = j0; j < j1; j++) {
        const REAL *u = p.u + j * p.nx;
        REAL *un = p.un + j * p.nx;
        if (j == 0 || j == p.ny - 1) {
            for (int64_t i = 0; i < p.nx; i++) {
                un[i] = u[i] + p.alpha * 0;
            }
            continue;
        }
        un[0] = u[0] + p.alpha * 0;
        un[p.nx - 1] = u[p.nx - 1] + p.alpha * 0;
        bool inner = j > 1 && j < p.ny - 2;
        if (inner) {
            REAL *dn = p.dn + (j - 1) * p.mx;
            const REAL *d = p.d + (j - 1) * p.mx;
            const REAL *lam = p.lam + j * p.nx;
            const REAL *Q = p.Q + (j - 1) * p.mx;
            (ahead ? NAME(points_ahead) : NAME(points))(un, dn, u, d, lam, Q, 2, p.nx - 2,
                                                        f);
        }
        for (int64_t i = 1; i < p.nx - 1; i += inner ? p.nx - 3 : 1) {
            NAME(point_at_border)(&p, i, j, f);
        }
    }
}

static void NAME(fused)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    NAME(sweep)(dr, j0, j1, false);
}

static void NAME(fused_ahead)(const handwritten_dr *dr, int64_t j0, int64_t j1)
{
    NAME(sweep)(dr, j0, j1, true);
}

CLONES static void NAME(triad)(const handwritten_stream *s, int64_t i0, int64_t i1)
{
    REAL *restrict a = s->a;
    const REAL *restrict b = s->b;
    const REAL *restrict c = s->c;
    const REAL factor = (REAL)s->factor;
    for (int64_t i = i0; i < i1; i++) {
        a[i] = b[i] + factor * c[i];
    }
}

/* --- sparse products -------------------------------------------------------------- */

CLONES static void NAME(csr_column)(const handwritten_csr *m, const REAL *restrict x,
                                    REAL *restrict y, int64_t i0, int64_t i1)
{
    const REAL *const nzval = m->nzval;
    for (int64_t i = i0; i < i1; i++) {
        REAL sum = 0;
        for (int32_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++) {
            sum += nzval[e] * x[m->colval[e]];
        }
        y[i] = sum;
    }
}

CLONES static void NAME(csr_rows)(const handwritten_csr *m, const REAL *restrict x,
                                  REAL *restrict y, int64_t i0, int64_t i1)
{
    const REAL *const nzval = m->nzval;
    const int64_t k = m->k;
    for (int64_t i = i0; i < i1; i++) {
        REAL *const to = y + i * k;
        for (int64_t j = 0; j < k; j++) {
            to[j] = 0;
        }
        for (int32_t e = m->rowptr[i]; e < m->rowptr[i + 1]; e++) {
            const REAL value = nzval[e];
            const REAL *const from = x + m->colval[e] * k;
            for (int64_t j = 0; j < k; j++) {
                to[j] += value * from[j];
            }
        }
    }
}

static void NAME(csr_product)(const handwritten_csr *m, int64_t i0, int64_t i1)
{
    if (m->by_rows && m->k > 1) {
        NAME(csr_rows)(m, m->x, m->y, i0, i1);
        return;
    }
    for (int64_t j = 0; j < m->k; j++) {
        NAME(csr_column)
        (m, (const REAL *)m->x + j * m->n, (REAL *)m->y + j * m->n, i0, i1);
    }
}
