/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moving elements: whole arrays and ranges between host and device, fills, random
 * numbers, copies inside and between contexts. Bulk calls only; every transfer is
 * counted.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define SMALL_BYTES 64u
#define SMALL_MANY 1000u        /* small transfers before validate mode complains */
#define CHUNK_BYTES (1u << 20u) /* of what goes through the host */

/* --- bytes, locked ---------------------------------------------------------------- */

static void count_small(rubus_context *context, uint64_t n)
{
    if (n >= SMALL_BYTES) {
        return;
    }
    context->counters.small_transfers++;
    if (context->validate && context->counters.small_transfers == SMALL_MANY) {
        rubus__log(
            RUBUS__LOG_WARNING, "validate",
            "%u transfers of fewer than %u bytes: read and write whole arrays, not "
            "single elements",
            SMALL_MANY, SMALL_BYTES);
    }
}

rubus_status rubus__write_bytes(rubus_context *context, void *buffer, uint64_t first,
                                const void *src, uint64_t n)
{
    if (n == 0) {
        return RUBUS_OK;
    }
    context->counters.write_calls++;
    context->counters.write_bytes += n;
    count_small(context, n);
    rubus__device *dev = context->dev;
    return RUBUS__SLOT_OF(dev, "write", dev->ops->write(dev->ctx, buffer, first, src, n));
}

rubus_status rubus__read_bytes(rubus_context *context, void *buffer, uint64_t first,
                               void *dst, uint64_t n)
{
    if (n == 0) {
        return RUBUS_OK;
    }
    context->counters.read_calls++;
    context->counters.read_bytes += n;
    count_small(context, n);
    rubus__device *dev = context->dev;
    return RUBUS__SLOT_OF(dev, "read", dev->ops->read(dev->ctx, buffer, first, dst, n));
}

rubus_status rubus__fill_bytes(rubus_context *context, void *buffer, uint64_t first,
                               uint64_t n, const void *pattern, uint32_t pattern_size)
{
    if (n == 0) {
        return RUBUS_OK;
    }
    rubus__device *dev = context->dev;
    if (context->blas != NULL && !rubus__device_owns(dev, "fill")) {
        return rubus__blas_fill(context, buffer, first, n, pattern, pattern_size);
    }
    return RUBUS__SLOT_OF(
        dev, "fill", dev->optional.fill(dev, buffer, first, n, pattern, pattern_size));
}

static rubus_status copy_bytes(rubus_context *context, void *dst, uint64_t dst_first,
                               void *src, uint64_t src_first, uint64_t n)
{
    if (n == 0) {
        return RUBUS_OK;
    }
    rubus__device *dev = context->dev;
    if (context->blas != NULL && !rubus__device_owns(dev, "copy")) {
        return rubus__blas_copy(context, dst, dst_first, src, src_first, n);
    }
    return RUBUS__SLOT_OF(dev, "copy",
                          dev->optional.copy(dev, dst, dst_first, src, src_first, n));
}

/* --- host transfers --------------------------------------------------------------- */

static rubus_status no_array(const char *what)
{
    return rubus__fail(RUBUS_EINVAL, "%s: the array is NULL", what);
}

static rubus_status range_check(const char *what, const rubus_array *array, int64_t first,
                                int64_t count, const void *host)
{
    if (array == NULL) {
        return no_array(what);
    }
    if (first < 0 || count < 0 || count > array->count || first > array->count - count) {
        return rubus__fail(
            RUBUS_ESHAPE,
            "%s: %lld elements from number %lld on are not all in the array, "
            "which has %lld",
            what, (long long)count, (long long)first, (long long)array->count);
    }
    if (host == NULL && count > 0) {
        return rubus__fail(RUBUS_EINVAL, "%s: the host pointer is NULL", what);
    }
    return RUBUS_OK;
}

static rubus_status size_check(const char *what, const rubus_array *array, size_t nbyte)
{
    if (array == NULL) {
        return no_array(what);
    }
    if (nbyte != array->nbyte) {
        return rubus__fail(RUBUS_ESHAPE, "%s: %zu bytes given, the array has %llu", what,
                           nbyte, (unsigned long long)array->nbyte);
    }
    return RUBUS_OK;
}

static rubus_status write_range(const char *what, rubus_array *array, int64_t first,
                                int64_t count, const void *src)
{
    rubus_status st = range_check(what, array, first, count, src);
    if (st == RUBUS_OK) {
        st = rubus__array_enter(array, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_context *context = array->storage->context;
    const uint64_t size = rubus__type_size(array->type);
    array->storage->version++;
    st = rubus__write_bytes(context, array->storage->buffer,
                            rubus__array_first_byte(array) + (uint64_t)first * size, src,
                            (uint64_t)count * size);
    return rubus__leave(context, st);
}

static rubus_status read_range(const char *what, rubus_array *array, int64_t first,
                               int64_t count, void *dst)
{
    rubus_status st = range_check(what, array, first, count, dst);
    if (st == RUBUS_OK) {
        st = rubus__array_enter(array, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_context *context = array->storage->context;
    const uint64_t size = rubus__type_size(array->type);
    st = rubus__report_checked(context);
    if (st == RUBUS_OK) {
        st = rubus__read_bytes(context, array->storage->buffer,
                               rubus__array_first_byte(array) + (uint64_t)first * size,
                               dst, (uint64_t)count * size);
    }
    if (st == RUBUS_OK && context->validate && array->storage->buffer != NULL) {
        st = rubus__guards_check(array->storage);
    }
    return rubus__leave(context, st);
}

rubus_status rubus_array_write(rubus_array *array, const void *src, size_t nbyte)
{
    static const char what[] = "rubus_array_write";
    const rubus_status st = size_check(what, array, nbyte);
    return st != RUBUS_OK ? st : write_range(what, array, 0, array->count, src);
}

rubus_status rubus_array_read(rubus_array *array, void *dst, size_t nbyte)
{
    static const char what[] = "rubus_array_read";
    const rubus_status st = size_check(what, array, nbyte);
    return st != RUBUS_OK ? st : read_range(what, array, 0, array->count, dst);
}

rubus_status rubus_array_write_range(rubus_array *array, int64_t first, int64_t count,
                                     const void *src)
{
    return write_range("rubus_array_write_range", array, first, count, src);
}

rubus_status rubus_array_read_range(rubus_array *array, int64_t first, int64_t count,
                                    void *dst)
{
    return read_range("rubus_array_read_range", array, first, count, dst);
}

/* --- fill ------------------------------------------------------------------------- */

static rubus_status pattern_of(int32_t type, double value, uint64_t *pattern)
{
    *pattern = 0;
    const float f = (float)value;
    int64_t wide = 0;
    switch (type) {
    case RUBUS_F64:
        memcpy(pattern, &value, sizeof(value));
        return RUBUS_OK;
    case RUBUS_F32:
        memcpy(pattern, &f, sizeof(f));
        return RUBUS_OK;
    case RUBUS_BOOL: {
        const uint8_t b = value != 0 ? 1 : 0;
        memcpy(pattern, &b, sizeof(b));
        return RUBUS_OK;
    }
    default: {
        const double most = type == RUBUS_I32 ? 2147483648.0 : 9223372036854775808.0;
        const double whole = trunc(value);
        if (!(whole >= -most && whole < most)) {
            return rubus__fail(RUBUS_EINVAL,
                               "rubus_array_fill: %g has no place in an %s array", value,
                               rubus__type_name(type));
        }
        wide = (int64_t)whole;
        const int32_t narrow = (int32_t)wide;
        memcpy(pattern, type == RUBUS_I32 ? (const void *)&narrow : (const void *)&wide,
               rubus__type_size(type));
        return RUBUS_OK;
    }
    }
}

rubus_status rubus_array_fill(rubus_array *array, double value)
{
    static const char what[] = "rubus_array_fill";
    uint64_t pattern = 0;
    rubus_status st =
        array == NULL ? no_array(what) : pattern_of(array->type, value, &pattern);
    if (st == RUBUS_OK) {
        st = rubus__blas_prepare(array->storage->context);
    }
    if (st == RUBUS_OK) {
        st = rubus__array_enter(array, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    array->storage->version++;
    st = rubus__fill_bytes(array->storage->context, array->storage->buffer,
                           rubus__array_first_byte(array), array->nbyte, &pattern,
                           (uint32_t)rubus__type_size(array->type));
    return rubus__leave(array->storage->context, st);
}

/* --- random ----------------------------------------------------------------------- */

/* SplitMix64 as a counter-based generator: the finaliser of (seed, counter). Source:
 * Steele, Lea, Flood, Fast splittable pseudorandom number generators, 2014. */
static uint64_t random_bits(uint64_t seed, uint64_t counter)
{
    uint64_t z = seed * 0xD1342543DE82EF95u + (counter + 1u) * 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30u)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27u)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31u);
}

static void random_element(int32_t type, uint64_t bits, double lo, double hi, void *out)
{
    const double unit = (double)(bits >> 11u) * 0x1p-53; /* [0, 1) */
    const double value = lo + unit * (hi - lo);          /* rounding may bring it to hi */
    const double whole = floor(value) < hi ? floor(value) : ceil(hi) - 1;
    switch (type) {
    case RUBUS_F64: {
        const double v = value < hi ? value : nextafter(hi, lo);
        memcpy(out, &v, sizeof(v));
        break;
    }
    case RUBUS_F32: {
        float v = (float)value; /* random_limits knows that there is one in the range */
        v = (double)v < hi ? v : nextafterf(v, -INFINITY);
        v = (double)v >= lo ? v : nextafterf(v, INFINITY);
        memcpy(out, &v, sizeof(v));
        break;
    }
    case RUBUS_BOOL: {
        const uint8_t v = (uint8_t)(bits >> 63u);
        memcpy(out, &v, sizeof(v));
        break;
    }
    case RUBUS_I32: {
        const int32_t v = (int32_t)whole;
        memcpy(out, &v, sizeof(v));
        break;
    }
    default: {
        const int64_t v = (int64_t)whole;
        memcpy(out, &v, sizeof(v));
        break;
    }
    }
}

static rubus_status random_limits(int32_t type, double lo, double hi)
{
    const double most = type == RUBUS_I32 ? 2147483648.0 : 9007199254740992.0;
    const bool whole = type == RUBUS_I32 || type == RUBUS_I64;
    if (type == RUBUS_BOOL) {
        return RUBUS_OK;
    }
    bool fits = isfinite(lo) && isfinite(hi) && isfinite(hi - lo) && lo < hi;
    if (fits && whole) {
        fits = lo >= -most && hi <= most && floor(lo) == lo;
    } else if (fits && type == RUBUS_F32) {
        const float least =
            (double)(float)lo < lo ? nextafterf((float)lo, INFINITY) : (float)lo;
        fits = (double)least < hi && fabs(lo) <= (double)FLT_MAX &&
               fabs(hi) <= (double)FLT_MAX;
    }
    if (!fits) {
        return rubus__fail(
            RUBUS_EINVAL,
            "rubus_array_random: [%.17g, %.17g) is no range for %s; give "
            "finite lo < hi with numbers of that type between (for integers "
            "a whole lo)",
            lo, hi, rubus__type_name(type));
    }
    return RUBUS_OK;
}

rubus_status rubus_array_random(rubus_array *array, uint64_t seed, double lo, double hi)
{
    static const char what[] = "rubus_array_random";
    rubus_status st = array == NULL ? no_array(what) : random_limits(array->type, lo, hi);
    if (st == RUBUS_OK && array->count == 0) {
        st = write_range(what, array, 0, 0, NULL); /* says if the array may not be used */
    }
    if (st != RUBUS_OK || array->count == 0) {
        return st;
    }
    const size_t size = rubus__type_size(array->type);
    const int64_t chunk = (int64_t)(CHUNK_BYTES / size);
    char *host =
        rubus__alloc_array((size_t)(array->count < chunk ? array->count : chunk), size);
    if (host == NULL) {
        return RUBUS_ENOMEM;
    }
    for (int64_t first = 0; st == RUBUS_OK && first < array->count; first += chunk) {
        const int64_t left = array->count - first;
        const int64_t n = left < chunk ? left : chunk;
        for (int64_t i = 0; i < n; i++) {
            random_element(array->type, random_bits(seed, (uint64_t)(first + i)), lo, hi,
                           host + (size_t)i * size);
        }
        st = write_range(what, array, first, n, host);
    }
    rubus__free(host);
    return st;
}

/* --- copy ------------------------------------------------------------------------- */

static rubus_status copy_across(rubus_array *dst, rubus_array *src)
{
    static const char what[] = "rubus_array_copy";
    const size_t size = rubus__type_size(src->type);
    const int64_t chunk = (int64_t)(4u * CHUNK_BYTES / size);
    char *host =
        rubus__alloc_array((size_t)(src->count < chunk ? src->count : chunk), size);
    if (host == NULL) {
        return RUBUS_ENOMEM;
    }
    rubus_status st = RUBUS_OK;
    for (int64_t first = 0; st == RUBUS_OK && first < src->count; first += chunk) {
        const int64_t left = src->count - first;
        const int64_t n = left < chunk ? left : chunk;
        st = read_range(what, src, first, n, host);
        if (st == RUBUS_OK) {
            st = write_range(what, dst, first, n, host);
        }
    }
    rubus__free(host);
    return st;
}

rubus_status rubus__array_pair_check(const char *what, const rubus_array *dst,
                                     const rubus_array *src)
{
    if (dst->type != src->type) {
        return rubus__fail(RUBUS_ETYPE, "%s: from %s to %s", what,
                           rubus__type_name(src->type), rubus__type_name(dst->type));
    }
    bool equal = dst->shape.rank == src->shape.rank;
    for (int32_t d = 0; equal && d < dst->shape.rank; d++) {
        equal = dst->shape.n[d] == src->shape.n[d];
    }
    if (!equal) {
        return rubus__fail(RUBUS_ESHAPE,
                           "%s: the shapes differ (%lld and %lld elements, rank %d and "
                           "%d)",
                           what, (long long)src->count, (long long)dst->count,
                           (int)src->shape.rank, (int)dst->shape.rank);
    }
    if (rubus__array_overlap(dst, src)) {
        return rubus__fail(RUBUS_EALIAS, "%s: the two arrays overlap", what);
    }
    return RUBUS_OK;
}

rubus_status rubus_array_copy(rubus_array *dst, rubus_array *src)
{
    static const char what[] = "rubus_array_copy";
    if (dst == NULL || src == NULL) {
        return no_array(what);
    }
    rubus_status st = rubus__array_pair_check(what, dst, src);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_context *context = dst->storage->context;
    if (context != src->storage->context) {
        return copy_across(dst, src);
    }
    st = rubus__blas_prepare(context);
    if (st == RUBUS_OK) {
        st = rubus__array_enter(dst, what);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    if (rubus__array_mapped(src)) {
        return rubus__leave(context, rubus__fail(RUBUS_ESTATE,
                                                 "%s: the source is mapped; "
                                                 "unmap it first",
                                                 what));
    }
    dst->storage->version++;
    st = copy_bytes(context, dst->storage->buffer, rubus__array_first_byte(dst),
                    src->storage->buffer, rubus__array_first_byte(src), src->nbyte);
    return rubus__leave(context, st);
}
