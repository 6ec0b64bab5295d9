/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TYPES_H
#define RUBUS_TYPES_H
/** Element types and access modes, as int32 values (never an enum in a struct). */

#define RUBUS_F32 1  /**< float */
#define RUBUS_F64 2  /**< double */
#define RUBUS_I32 3  /**< int32_t */
#define RUBUS_I64 4  /**< int64_t */
#define RUBUS_BOOL 5 /**< one byte, 0 or 1 */

#define RUBUS_READ 1u
#define RUBUS_WRITE 2u

/** How a dense matrix lies in memory: columns one after the other, or rows. */
#define RUBUS_COLUMN_MAJOR 0
#define RUBUS_ROW_MAJOR 1

/** Where the bytes of a buffer are: the answer of a backend's locality slot. */
#define RUBUS_AT_HOST 1u /**< plain host memory: may be mapped and computed on in place */
#define RUBUS_AT_DEVICE 2u /**< only the backend's slots touch it */
#define RUBUS_AT_SHARED 3u /**< has a host pointer, but is ordered only by slots */

/** Kinds of device. Zero is "not known". A software GPU is SOFTWARE, never a GPU. */
#define RUBUS_KIND_CPU 1u
#define RUBUS_KIND_INTEGRATED 2u
#define RUBUS_KIND_DISCRETE 3u
#define RUBUS_KIND_VIRTUAL 4u
#define RUBUS_KIND_SOFTWARE 5u

#endif
