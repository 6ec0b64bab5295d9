#version 460
// SPDX-License-Identifier: Apache-2.0
// Sparse products by hand for GPUs, in the form of the dialect glsl: what
// plugins/vulkan/vk_sparse.h says of its entries, in that order. The sum of a row has the
// order that sparse.rk promises; 32 bits of an index of 64 are enough while RK_WIDE is 0.
// SP_F64 and SP_I64 tell the types of the matrix.
#extension GL_EXT_buffer_reference : require
#extension GL_EXT_buffer_reference_uvec2 : require
#extension GL_EXT_scalar_block_layout : require
#if RK_WIDE
#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require
#define ix int64_t
#define NUMBER(w) int64_t(packUint2x32(uvec2(W(w), W(w + 1))))
#else
#define ix int
#define NUMBER(w) int(W(w))
#endif

#if SP_F64
#define real double
#define real4 dvec4
#define SIZE_reals 8
#define REAL(w) packDouble2x32(uvec2(W(w), W(w + 1)))
#define REAL_WORDS 2
#else
#define real float
#define real4 vec4
#define SIZE_reals 4
#define REAL(w) uintBitsToFloat(W(w))
#define REAL_WORDS 1
#endif
#define SIZE_ints 4
#define SIZE_uints 4
// An index as it lies in memory: without 64-bit integers its low word is read.
#if SP_I64 && RK_WIDE
#define index int64_t
#define SIZE_indices 8
#define INDEX_AT(name, i) AT(indices, name, i)
#else
#define index int
#define SIZE_indices 4
#define INDEX_AT(name, i) ix(AT(indices, name, (i) * (SP_I64 + 1)))
#endif

layout(push_constant) uniform arguments { uint w[32]; } block;
#define W(i) block.w[i]
#define LO(d) NUMBER(2 * d)
#define HI(d) NUMBER(2 * d + 6)

// ARRAY declares argument number n, a buffer; NAME_AT(i) is its element; OPEN goes first.
#if RK_DESCRIPTORS
#define ARRAY(n, keep, type, name) \
    layout(set = 0, binding = n + 1, scalar) keep buffer buffer_##name { type v[]; } \
    array_##name; uint first_##name;
#define OPEN(n, kind, name) first_##name = W(12 + 2 * n) / SIZE_##kind;
#define AT(kind, name, i) array_##name.v[uint(i) + first_##name]
#else
#define ARRAY(n, keep, type, name) address at_##name;
#define OPEN(n, kind, name) at_##name = ADDRESS(12 + 2 * n);
#define VIEW(name, keep, type, align) layout(buffer_reference, scalar, \
    buffer_reference_align = align) keep buffer name { type v[]; };
VIEW(view_reals, , real, SIZE_reals)
VIEW(view_reals4, readonly, real4, SIZE_reals)
VIEW(view_ints, , int, 4)
VIEW(view_ints4, readonly, ivec4, 4)
VIEW(view_uints, , uint, 4)
VIEW(view_indices, readonly, index, SIZE_indices)
#if RK_WIDE
#define address uint64_t
#define ADDRESS(i) packUint2x32(uvec2(W(i), W(i + 1)))
#define AT(kind, name, i) view_##kind(at_##name + uint64_t(i) * SIZE_##kind).v[0]
#else
#define address uvec2
#define ADDRESS(i) uvec2(W(i), W(i + 1))
#define AT(kind, name, i) view_##kind(at_##name).v[i]
#endif
#endif
// Four elements from a multiple of four on.
#if RK_DESCRIPTORS || RK_WIDE
#define AT4(kind, vector, name, i) vector(AT(kind, name, i), AT(kind, name, i + 1), \
    AT(kind, name, i + 2), AT(kind, name, i + 3))
#else
#define AT4(kind, vector, name, i) view_##kind##4(at_##name).v[(i) >> 2]
#endif

#define POINTS(d, i) (ix i = LO(d) + ix(gl_GlobalInvocationID[d]); i < HI(d); \
    i += ix(gl_NumWorkGroups[d] * gl_WorkGroupSize[d]))
#if RK_ENTRY != 5
layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;
layout(constant_id = 3) const bool on_cpu = false; // there a point is four rows
#endif

#if RK_ENTRY == 0 || RK_ENTRY == 1 || RK_ENTRY == 7
// Tiles of 64 rows, in which each diagonal is contiguous.
#define PLACE(row) ((row) / 64 * 64 * ix(ndiag) + (row) % 64)
// Bit d of a row's mask: it has the entry of diagonal d.
#define MASK(row, d) (AT(uints, mask, (row) * nword + (d) / 32) >> ((d) & 31) & 1u)
int ndiag;
int nword;
#endif

#if RK_ENTRY == 1 || RK_ENTRY == 3 || RK_ENTRY == 4 || RK_ENTRY >= 6
ARRAY(0, , real, y)
real alpha;
real beta;
void put(const ix at, const real sum)
{
    real acc = alpha * sum;
    if (beta != 0) {
        acc = acc + beta * AT(reals, y, at);
    }
    AT(reals, y, at) = acc;
}
#if RK_ENTRY != 6
ARRAY(1, readonly, real, x)
#endif
#endif

#if RK_ENTRY == 0 // the values of a stencil
ARRAY(0, , real, value)
ARRAY(1, , uint, mask)
ARRAY(2, readonly, int, offset)
ARRAY(3, readonly, index, rowptr)
ARRAY(4, readonly, index, colval)
ARRAY(5, readonly, real, nzval)
void main()
{
    OPEN(0, reals, value)
    OPEN(1, uints, mask)
    OPEN(2, ints, offset)
    OPEN(3, indices, rowptr)
    OPEN(4, indices, colval)
    OPEN(5, reals, nzval)
    const ix nrow = NUMBER(24);
    ndiag = int(W(26));
    nword = (ndiag + 31) / 32;
    for POINTS(0, row) {
        ix e = 0;
        ix end = 0;
        if (row < nrow) {
            e = INDEX_AT(rowptr, row);
            end = INDEX_AT(rowptr, row + 1);
        }
        uint bits = 0u;
        for (int d = 0; d < ndiag; d++) {
            real v = 0;
            if (e < end) {
                if (INDEX_AT(colval, e) - row == ix(AT(ints, offset, d))) {
                    v = AT(reals, nzval, e);
                    bits |= 1u << (d & 31);
                    e++;
                }
            }
            AT(reals, value, PLACE(row) + ix(d) * 64) = v;
            if ((d & 31) == 31 || d == ndiag - 1) {
                AT(uints, mask, row * nword + d / 32) = bits;
                bits = 0u;
            }
        }
    }
}
#endif

#if RK_ENTRY == 1 // a stencil
ARRAY(2, readonly, real, value)
ARRAY(3, readonly, int, offset)
ARRAY(4, readonly, uint, mask)
real sum_row(const ix row) // its entries alone
{
    real sum = 0;
    for (int d = 0; d < ndiag; d++) {
        if (MASK(row, d) != 0u) {
            const ix c = row + ix(AT(ints, offset, d));
            sum = sum + AT(reals, value, PLACE(row) + ix(d) * 64) * AT(reals, x, c);
        }
    }
    return sum;
}
void one_row(const ix row, const ix ncol)
{
    real sum = 0;
    for (int d = 0; d < ndiag; d++) {
        // what lies outside the matrix has the value 0
        const ix c = clamp(row + ix(AT(ints, offset, d)), ix(0), ncol - 1);
        sum = sum + AT(reals, value, PLACE(row) + ix(d) * 64) * AT(reals, x, c);
    }
    if (isnan(sum)) { // 0 times NaN or Inf, perhaps
        sum = sum_row(row);
    }
    put(row, sum);
}
void four_rows(const ix row, const ix nrow, const ix ncol)
{
    const bool inside = row + ix(AT(ints, offset, 0)) >= 0 &&
        row + ix(AT(ints, offset, ndiag - 1)) + 3 < ncol;
    real4 sum = real4(0);
    for (int d = 0; d < ndiag; d++) {
        const ix c = inside ? row + ix(AT(ints, offset, d)) : ix(0);
        sum = sum + AT4(reals, real4, value, PLACE(row) + ix(d) * 64) *
            real4(AT(reals, x, c), AT(reals, x, c + 1), AT(reals, x, c + 2),
                AT(reals, x, c + 3));
    }
    if (!inside || isnan(sum.x + sum.y + sum.z + sum.w)) {
        for (int q = 0; q < 4; q++) {
            sum[q] = row + q < nrow ? sum_row(row + q) : real(0);
        }
    }
    put(row, sum.x);
    if (row + 1 < nrow) {
        put(row + 1, sum.y);
    }
    if (row + 2 < nrow) {
        put(row + 2, sum.z);
    }
    if (row + 3 < nrow) {
        put(row + 3, sum.w);
    }
}
void main()
{
    OPEN(0, reals, y)
    OPEN(1, reals, x)
    OPEN(2, reals, value)
    OPEN(3, ints, offset)
    OPEN(4, uints, mask)
    const ix nrow = NUMBER(22);
    const ix ncol = NUMBER(24);
    ndiag = int(W(26));
    nword = (ndiag + 31) / 32;
    alpha = REAL(28);
    beta = REAL(28 + REAL_WORDS);
    if (on_cpu) {
        for POINTS(0, i) {
            four_rows(4 * i, nrow, ncol);
        }
    } else {
        for POINTS(0, i) {
            one_row(i, ncol);
        }
    }
}
#endif

#if RK_ENTRY == 2 || RK_ENTRY == 3
// Lanes of slices of 32: their lengths (-1: no row), and from `list` on, if that is not
// 0, their rows. Slice s has the slots start[s] to start[s + 1] - 1 of 32 values.
#define ROW_OF(lane) (list == 0 ? (lane) : ix(AT(ints, row, list + (lane))))
ix list;
#endif

#if RK_ENTRY == 2 // the values and columns of slices
ARRAY(0, , real, value)
ARRAY(1, , int, column)
ARRAY(2, readonly, int, row)
ARRAY(3, readonly, int, start)
ARRAY(4, readonly, index, rowptr)
ARRAY(5, readonly, index, colval)
ARRAY(6, readonly, real, nzval)
void main()
{
    OPEN(0, reals, value)
    OPEN(1, ints, column)
    OPEN(2, ints, row)
    OPEN(3, ints, start)
    OPEN(4, indices, rowptr)
    OPEN(5, indices, colval)
    OPEN(6, reals, nzval)
    list = NUMBER(26);
    for POINTS(0, lane) {
        const ix n = ix(AT(ints, row, lane));
        ix e = 0;
        if (n > 0) {
            e = INDEX_AT(rowptr, ROW_OF(lane));
        }
        const ix first = ix(AT(ints, start, lane / 32));
        const ix width = ix(AT(ints, start, lane / 32 + 1)) - first;
        for (ix slot = 0; slot < width; slot++) {
            const ix to = (first + slot) * 32 + lane % 32;
            real v = 0;
            int c = 0;
            if (slot < n) {
                v = AT(reals, nzval, e + slot);
                c = int(INDEX_AT(colval, e + slot));
            }
            AT(reals, value, to) = v;
            AT(ints, column, to) = c;
        }
    }
}
#endif

#if RK_ENTRY == 3 // slices
ARRAY(2, readonly, real, value)
ARRAY(3, readonly, int, column)
ARRAY(4, readonly, int, row)
ARRAY(5, readonly, int, start)
void one_lane(const ix lane)
{
    const ix n = ix(AT(ints, row, lane));
    if (n >= 0) {
        const ix first = ix(AT(ints, start, lane / 32)) * 32 + lane % 32;
        real sum = 0;
        for (ix slot = 0; slot < n; slot++) {
            const ix at = first + slot * 32;
            sum = sum + AT(reals, value, at) * AT(reals, x, AT(ints, column, at));
        }
        put(ROW_OF(lane), sum);
    }
}
void four_lanes(const ix lane)
{
    const ivec4 n = AT4(ints, ivec4, row, lane);
    const int most = max(max(n.x, n.y), max(n.z, n.w));
    const ix first = ix(AT(ints, start, lane / 32)) * 32 + lane % 32;
    real4 sum = real4(0);
    for (int slot = 0; slot < most; slot++) {
        const ix at = first + ix(slot) * 32;
        const ivec4 c = AT4(ints, ivec4, column, at);
        const real4 term = AT4(reals, real4, value, at) *
            real4(AT(reals, x, c.x), AT(reals, x, c.y), AT(reals, x, c.z),
                AT(reals, x, c.w));
        // there may be NaN or Inf where a row has ended
        sum = mix(sum, sum + term, lessThan(ivec4(slot), n));
    }
    if (n.x >= 0) {
        put(ROW_OF(lane), sum.x);
    }
    if (n.y >= 0) {
        put(ROW_OF(lane + 1), sum.y);
    }
    if (n.z >= 0) {
        put(ROW_OF(lane + 2), sum.z);
    }
    if (n.w >= 0) {
        put(ROW_OF(lane + 3), sum.w);
    }
}
void main()
{
    OPEN(0, reals, y)
    OPEN(1, reals, x)
    OPEN(2, reals, value)
    OPEN(3, ints, column)
    OPEN(4, ints, row)
    OPEN(5, ints, start)
    list = NUMBER(24);
    alpha = REAL(26);
    beta = REAL(26 + REAL_WORDS);
    if (on_cpu) {
        for POINTS(0, i) {
            four_lanes(4 * i);
        }
    } else {
        for POINTS(0, i) {
            one_lane(i);
        }
    }
}
#endif

#if RK_ENTRY == 4 // the arrays of the matrix
ARRAY(2, readonly, index, rowptr)
ARRAY(3, readonly, index, colval)
ARRAY(4, readonly, real, nzval)
void main()
{
    OPEN(0, reals, y)
    OPEN(1, reals, x)
    OPEN(2, indices, rowptr)
    OPEN(3, indices, colval)
    OPEN(4, reals, nzval)
    alpha = REAL(22);
    beta = REAL(22 + REAL_WORDS);
    for POINTS(0, row) {
        const ix first = INDEX_AT(rowptr, row);
        const ix end = INDEX_AT(rowptr, row + 1);
        if (end - first <= 256) { // else it is cut into segments
            real sum = 0;
            for (ix e = first; e < end; e++) {
                sum = sum + AT(reals, nzval, e) * AT(reals, x, INDEX_AT(colval, e));
            }
            put(row, sum);
        }
    }
}
#endif

#if RK_ENTRY == 5 // segments of long rows: a group sums one for a column of X
layout(local_size_x = 32) in;
ARRAY(0, , real, part)
ARRAY(1, readonly, real, x)
ARRAY(2, readonly, index, segment)
ARRAY(3, readonly, index, colval)
ARRAY(4, readonly, real, nzval)
shared real lane[32];
real sum_lane(const ix first, const ix n, const ix x_first, const ix x_row)
{
    real sum = 0;
    for (ix e = ix(gl_LocalInvocationID.x); e < n; e += 32) {
        const ix c = INDEX_AT(colval, first + e);
        sum = sum + AT(reals, nzval, first + e) * AT(reals, x, x_first + c * x_row);
    }
    return sum;
}
void main()
{
    OPEN(0, reals, part)
    OPEN(1, reals, x)
    OPEN(2, indices, segment)
    OPEN(3, indices, colval)
    OPEN(4, reals, nzval)
    const ix x_row = NUMBER(22);
    const ix x_col = NUMBER(24);
    const ix nsegment = NUMBER(26);
    const int l = int(gl_LocalInvocationID.x);
    for (ix j = LO(1) + ix(gl_WorkGroupID.y); j < HI(1); j += ix(gl_NumWorkGroups.y)) {
        for (ix s = LO(0) + ix(gl_WorkGroupID.x); s < HI(0);
             s += ix(gl_NumWorkGroups.x)) {
            lane[l] = sum_lane(INDEX_AT(segment, 2 * s), INDEX_AT(segment, 2 * s + 1),
                j * x_col, x_row);
            barrier();
            for (int step = 16; step > 0; step = step / 2) {
                if (l < step) {
                    lane[l] = lane[l] + lane[l + step];
                }
                barrier();
            }
            if (l == 0) {
                AT(reals, part, j * nsegment + s) = lane[0];
            }
            barrier();
        }
    }
}
#endif

#if RK_ENTRY == 6 // long rows, of their segments
ARRAY(1, readonly, real, part)
ARRAY(2, readonly, index, row) // and the first segment of each; one more at the end
void main()
{
    OPEN(0, reals, y)
    OPEN(1, reals, part)
    OPEN(2, indices, row)
    const ix y_row = NUMBER(18);
    const ix y_col = NUMBER(20);
    const ix nsegment = NUMBER(22);
    alpha = REAL(24);
    beta = REAL(24 + REAL_WORDS);
    for POINTS(1, j) {
        for POINTS(0, l) {
            const ix end = INDEX_AT(row, 2 * l + 3);
            real sum = 0;
            for (ix s = INDEX_AT(row, 2 * l + 1); s < end; s++) {
                sum = sum + AT(reals, part, j * nsegment + s);
            }
            put(INDEX_AT(row, 2 * l) * y_row + j * y_col, sum);
        }
    }
}
#endif

#if RK_ENTRY == 7 || RK_ENTRY == 8
// Four columns of X and Y at once. A leading dimension is negative where the matrix lies
// by rows. Points are rows and groups of columns; all in one dimension if X is by rows,
// so that neighbours read the same row of it.
ix x_row;
ix x_col;
ix y_row;
ix y_col;
int ncolumn;
real4 four_of(const ix row, const int j)
{
    const ix at = row * x_row + ix(j) * x_col;
    const int n = ncolumn - j - 1; // the last column instead of those that are not there
    return real4(AT(reals, x, at), AT(reals, x, at + ix(min(n, 1)) * x_col),
        AT(reals, x, at + ix(min(n, 2)) * x_col),
        AT(reals, x, at + ix(min(n, 3)) * x_col));
}
void put_one(const ix row, const int j, const real sum)
{
    if (j < ncolumn) {
        put(row * y_row + ix(j) * y_col, sum);
    }
}
void put_four(const ix row, const int j, const real4 sum)
{
    put_one(row, j, sum.x);
    put_one(row, j + 1, sum.y);
    put_one(row, j + 2, sum.z);
    put_one(row, j + 3, sum.w);
}
void run(const ix row, const int j);
void run_one(const ix row, const int j);
void run_all(const bool one) // one: a column to each point, all in one dimension
{
    const ix x_ld = NUMBER(22);
    const ix y_ld = NUMBER(24);
    x_row = x_ld < 0 ? -x_ld : ix(1);
    x_col = x_ld < 0 ? ix(1) : x_ld;
    y_row = y_ld < 0 ? -y_ld : ix(1);
    y_col = y_ld < 0 ? ix(1) : y_ld;
    ncolumn = int(W(26));
    alpha = REAL(28);
    beta = REAL(28 + REAL_WORDS);
    const ix ngroup = ix((ncolumn + 3) / 4);
    if (one) {
        for POINTS(0, i) {
            run_one(i / ix(ncolumn), int(i % ix(ncolumn)));
        }
        return;
    }
    for POINTS(1, j) {
        for POINTS(0, i) {
            if (x_ld < 0) {
                run(i / ngroup, 4 * int(i % ngroup));
            } else {
                run(i, 4 * int(j));
            }
        }
    }
}
#endif

#if RK_ENTRY == 7 // a stencil
ARRAY(2, readonly, real, value)
ARRAY(3, readonly, int, offset)
ARRAY(4, readonly, uint, mask)
void run(const ix row, const int j)
{
    real4 sum = real4(0);
    for (int d = 0; d < ndiag; d++) {
        if (MASK(row, d) != 0u) {
            const real v = AT(reals, value, PLACE(row) + ix(d) * 64);
            sum = sum + real4(v) * four_of(row + ix(AT(ints, offset, d)), j);
        }
    }
    put_four(row, j, sum);
}
void run_one(const ix row, const int j) {}
void main()
{
    OPEN(0, reals, y)
    OPEN(1, reals, x)
    OPEN(2, reals, value)
    OPEN(3, ints, offset)
    OPEN(4, uints, mask)
    ndiag = int(W(27));
    nword = (ndiag + 31) / 32;
    run_all(false);
}
#endif

#if RK_ENTRY == 8 // the arrays of the matrix
ARRAY(2, readonly, index, rowptr)
ARRAY(3, readonly, index, colval)
ARRAY(4, readonly, real, nzval)
void run(const ix row, const int j)
{
    const ix first = INDEX_AT(rowptr, row);
    const ix end = INDEX_AT(rowptr, row + 1);
    if (end - first <= 256) {
        real4 sum = real4(0);
        for (ix e = first; e < end; e++) {
            sum = sum + real4(AT(reals, nzval, e)) * four_of(INDEX_AT(colval, e), j);
        }
        put_four(row, j, sum);
    }
}
void run_one(const ix row, const int j)
{
    const ix first = INDEX_AT(rowptr, row);
    const ix end = INDEX_AT(rowptr, row + 1);
    if (end - first <= 256) {
        real sum = 0;
        for (ix e = first; e < end; e++) {
            const ix at = INDEX_AT(colval, e) * x_row + ix(j) * x_col;
            sum = sum + AT(reals, nzval, e) * AT(reals, x, at);
        }
        put_one(row, j, sum);
    }
}
void main()
{
    OPEN(0, reals, y)
    OPEN(1, reals, x)
    OPEN(2, indices, rowptr)
    OPEN(3, indices, colval)
    OPEN(4, reals, nzval)
    run_all(W(27) != 0u);
}
#endif
