// SPDX-License-Identifier: Apache-2.0
// The 2D relaxation written by hand for GPUs, as somebody would who has no Rubus: an
// invocation for each point, arrays by their addresses, everything else in push constants.
// Compiled once for each KERNEL (1 to 7) and REAL; the numbers are those of handwritten.c.
#version 460
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_scalar_block_layout : require

layout(local_size_x = 64, local_size_y = 4) in;
layout(buffer_reference, scalar, buffer_reference_align = 8) buffer array { REAL v[]; };
layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer given
{
    REAL v[];
};

layout(push_constant, scalar) uniform problem
{
    array u, d, a, b; // a, b: qx, qy; r, z; un, dn
    given lam, Q;
    REAL alpha, beta, idx, idy;
    int nx, ny;
} p;

#if KERNEL == 1 // u += alpha d
void point(int i, int j)
{
    if (i < p.nx - 2 && j < p.ny - 2) {
        int k = (j + 1) * p.nx + i + 1;
        p.u.v[k] += p.alpha * p.d.v[j * (p.nx - 2) + i];
    }
}
#elif KERNEL == 2 // the fluxes
void point(int i, int j)
{
    const REAL one_half = REAL(0.5);
    given u = given(p.u);
    int k = j * p.nx + i;
    if (i < p.nx - 1 && j < p.ny - 2) {
        int m = k + p.nx;
        p.a.v[j * (p.nx - 1) + i] =
            -((p.lam.v[m] + p.lam.v[m + 1]) * one_half) * (u.v[m + 1] - u.v[m]) * p.idx;
    }
    if (i < p.nx - 2 && j < p.ny - 1) {
        int m = k + 1;
        p.b.v[j * (p.nx - 2) + i] = -((p.lam.v[m] + p.lam.v[m + p.nx]) * one_half) *
                                    (u.v[m + p.nx] - u.v[m]) * p.idy;
    }
}
#elif KERNEL == 3 // the residual: d is qx, Q is qy, a is r
void point(int i, int j)
{
    int mx = p.nx - 2;
    if (i < mx && j < p.ny - 2) {
        given qx = given(p.d);
        int k = j * (p.nx - 1) + i, m = j * mx + i;
        p.a.v[m] = -((qx.v[k + 1] - qx.v[k]) * p.idx + (p.Q.v[m + mx] - p.Q.v[m]) * p.idy);
    }
}
#elif KERNEL == 4 // the residual with the fluxes inside: a is r
void point(int i, int j)
{
    const REAL one_half = REAL(0.5);
    if (i < p.nx - 2 && j < p.ny - 2) {
        given u = given(p.u);
        int nx = p.nx, k = (j + 1) * nx + i + 1;
        REAL v = u.v[k], l = p.lam.v[k];
        REAL west = -((p.lam.v[k - 1] + l) * one_half) * (v - u.v[k - 1]) * p.idx;
        REAL east = -((l + p.lam.v[k + 1]) * one_half) * (u.v[k + 1] - v) * p.idx;
        REAL south = -((p.lam.v[k - nx] + l) * one_half) * (v - u.v[k - nx]) * p.idy;
        REAL north = -((l + p.lam.v[k + nx]) * one_half) * (u.v[k + nx] - v) * p.idy;
        p.a.v[j * (nx - 2) + i] = -((east - west) * p.idx + (north - south) * p.idy);
    }
}
#elif KERNEL == 5 // z = Q r: a is r, b is z
void point(int i, int j)
{
    if (i < p.nx - 2 && j < p.ny - 2) {
        int m = j * (p.nx - 2) + i;
        p.b.v[m] = p.Q.v[m] * given(p.a).v[m];
    }
}
#elif KERNEL == 6 // d = beta d + z
void point(int i, int j)
{
    if (i < p.nx - 2 && j < p.ny - 2) {
        int m = j * (p.nx - 2) + i;
        p.d.v[m] = p.d.v[m] * p.beta + given(p.b).v[m];
    }
}
#else // the whole iteration in one sweep: a is the new u, b the new d
void point(int i, int j)
{
    const REAL one_half = REAL(0.5), none = REAL(0);
    given u = given(p.u), d = given(p.d);
    int nx = p.nx, ny = p.ny, mx = nx - 2;
    int k = j * nx + i, m = (j - 1) * mx + i - 1;
    if (i >= nx || j >= ny) {
        return;
    }
    if (i == 0 || j == 0 || i == nx - 1 || j == ny - 1) {
        p.a.v[k] = u.v[k];
        return;
    }
    REAL v = u.v[k] + p.alpha * d.v[m];
    REAL vw = u.v[k - 1] + p.alpha * (i > 1 ? d.v[m - 1] : none);
    REAL ve = u.v[k + 1] + p.alpha * (i < nx - 2 ? d.v[m + 1] : none);
    REAL vs = u.v[k - nx] + p.alpha * (j > 1 ? d.v[m - mx] : none);
    REAL vn = u.v[k + nx] + p.alpha * (j < ny - 2 ? d.v[m + mx] : none);
    REAL l = p.lam.v[k];
    REAL west = -((p.lam.v[k - 1] + l) * one_half) * (v - vw) * p.idx;
    REAL east = -((l + p.lam.v[k + 1]) * one_half) * (ve - v) * p.idx;
    REAL south = -((p.lam.v[k - nx] + l) * one_half) * (v - vs) * p.idy;
    REAL north = -((l + p.lam.v[k + nx]) * one_half) * (vn - v) * p.idy;
    REAL r = -((east - west) * p.idx + (north - south) * p.idy);
    p.a.v[k] = v;
    p.b.v[m] = d.v[m] * p.beta + p.Q.v[m] * r;
}
#endif

void main()
{
    point(int(gl_GlobalInvocationID.x), int(gl_GlobalInvocationID.y));
}
