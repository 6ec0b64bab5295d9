/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_ARRAY_H
#define RUBUS_ARRAY_H
/** Arrays of rank 1 to 4 in the memory of a context. The first index runs fastest. */
#include <rubus/context.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_array rubus_array;

/** Extents; shapes in this documentation are written with the first (fastest) first. */
typedef struct rubus_shape {
    int32_t rank; /**< 1 to 4 */
    int32_t reserved0;
    int64_t n[4]; /**< each >= 0; unused ones are ignored */
} rubus_shape;

/** RUBUS_SHAPE(nx, ny): a shape of as many dimensions as arguments (1 to 4). C only. */
#define RUBUS_SHAPE(...) ((rubus_shape){RUBUS_COUNT_(__VA_ARGS__), 0, {__VA_ARGS__}})
#define RUBUS_COUNT_(...) (int32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

/**
 * A new array, all zero. (In validate mode its memory is filled with poison first, and
 * then with zeros like any other: poison that is ever read means that the backend lost a
 * fill or a write.)
 *
 * @param type   RUBUS_F32, _F64, _I32, _I64 or _BOOL.
 * @param shape  Rank 1 to 4, extents >= 0. An array without elements is legal.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL   NULL, unknown type, rank not 1..4, negative extent
 * @return RUBUS_ELIMIT   more bytes than the device's largest buffer or than 2^63
 * @return RUBUS_EDEVMEM  the device has not so much memory left
 * @return RUBUS_ENOMEM,
 *          RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the context. Destroy with rubus_array_destroy.
 */
RUBUS_API rubus_status rubus_array_create(rubus_context *context, int32_t type,
                                          rubus_shape shape,
                                          rubus_array **out_array) RUBUS_CHECKED;

/** As rubus_array_create, filled with a copy of the elements at `data` (none if NULL and
 *  the array is empty).
 *  @return as rubus_array_create; RUBUS_EINVAL if data is NULL and there are elements
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_from(rubus_context *context, int32_t type,
                                        rubus_shape shape, const void *data,
                                        rubus_array **out_array) RUBUS_CHECKED;

/** Gives the array back; legal right after a launch that uses it. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_array_destroy(rubus_array *array);

/** Sets every element to `value`, converted to the element type as C does; for bool
 *  arrays anything but 0 is true.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, or value has no place in an integer type),
 *          RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_fill(rubus_array *array, double value) RUBUS_CHECKED;

/** Sets every element to a number of [lo, hi), from a counter-based generator: element i
 *  depends on seed and i alone, so every backend gives the same bits. Integer types get
 *  integers of [lo, hi); bool is true with probability one half (lo, hi are ignored).
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, hi <= lo, not finite), RUBUS_ELOST,
 *          RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_random(rubus_array *array, uint64_t seed, double lo,
                                          double hi) RUBUS_CHECKED;

/** Copies the whole array from `src`; `nbyte` must be its exact size.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_ESHAPE (other size),
 *          RUBUS_ESTATE (mapped),
 *          RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread; src may change as soon as the call returns. */
RUBUS_API rubus_status rubus_array_write(rubus_array *array, const void *src,
                                         size_t nbyte) RUBUS_CHECKED;

/** Copies the whole array to `dst`, after all work enqueued before; waits.
 *  @return as rubus_array_write; RUBUS_EBOUNDS if a checked kernel left an array
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_read(rubus_array *array, void *dst,
                                        size_t nbyte) RUBUS_CHECKED;

/** Copies `count` elements from `src` to the elements from number `first` on.
 *  @return as rubus_array_write; RUBUS_ESHAPE where the range leaves the array
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_write_range(rubus_array *array, int64_t first,
                                               int64_t count,
                                               const void *src) RUBUS_CHECKED;

/** Copies `count` elements from number `first` on to `dst`; waits.
 *  @return as rubus_array_read; RUBUS_ESHAPE where the range leaves the array
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_read_range(rubus_array *array, int64_t first,
                                              int64_t count, void *dst) RUBUS_CHECKED;

/** dst = src, of equal type and shape; also between contexts (then through the host).
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ETYPE, RUBUS_ESHAPE,
 *          RUBUS_EALIAS (they overlap),
 *          RUBUS_ESTATE (mapped),
 *          RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_copy(rubus_array *dst, rubus_array *src) RUBUS_CHECKED;

/** y = y + alpha * x, of equal type (f32 or f64; alpha is rounded to it) and shape.
 *  Enqueued; the product and the sum are each rounded.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE,
 *          RUBUS_EALIAS (they overlap),
 *          RUBUS_ESTATE (mapped),
 *          RUBUS_EUNSUPPORTED (arrays of f64, on a device that has none),
 *          RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_axpy(double alpha, rubus_array *x,
                                        rubus_array *y) RUBUS_CHECKED;

/** A window on `parent`: the elements from number `first` on, seen with `shape`. It keeps
 *  the parent alive and shares its memory.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESHAPE (leaves the parent), RUBUS_EUNSUPPORTED
 *          (the device needs another alignment of first), RUBUS_ENOMEM
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_view(rubus_array *parent, int64_t first,
                                        rubus_shape shape,
                                        rubus_array **out_array) RUBUS_CHECKED;

/** Host pointer to the elements, after all work enqueued before. While an array is mapped
 *  no other call may use it or another window on the same elements (RUBUS_ESTATE), and no
 *  other window on its memory can be mapped. access: RUBUS_READ, RUBUS_WRITE or both;
 *  without READ the old contents are not promised.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESTATE (mapped already), RUBUS_ENOMEM,
 *          RUBUS_ELOST,
 *          RUBUS_EFORKED; RUBUS_EBOUNDS if a checked kernel left an array
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_map(rubus_array *array, uint32_t access,
                                       void **out_data) RUBUS_CHECKED;

/** Ends rubus_array_map; the pointer is dead, what was written is seen by later work.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ESTATE (not mapped),
 *          RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_array_unmap(rubus_array *array) RUBUS_CHECKED;

/** Element type, RUBUS_F64 etc.; 0 for NULL. @threads Any thread. @return as said */
RUBUS_API int32_t rubus_array_type(const rubus_array *array);
/** Shape; rank 0 for NULL. @threads Any thread. @return as said */
RUBUS_API rubus_shape rubus_array_shape(const rubus_array *array);
/** Number of elements. @threads Any thread. @return as said */
RUBUS_API int64_t rubus_array_count(const rubus_array *array);
/** Size in bytes of all elements. @threads Any thread. @return as said */
RUBUS_API size_t rubus_array_nbyte(const rubus_array *array);
/** The context that holds the array's memory. @threads Any thread. @return as said */
RUBUS_API rubus_context *rubus_array_context(const rubus_array *array);

#ifdef __cplusplus
}
#endif
#endif
