/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_BACKEND_H
#define RUBUS_BACKEND_H
/**
 * Everything the author of a backend plugin sees. ABI 1.0. C11 and C++17.
 *
 * A plugin is a shared object rubus-NAME.so that exports one data symbol,
 * `const rubus_plugin_desc rubus_backend_plugin`. The library reads and checks it before
 * it calls any function of the plugin (only resolvers of indirect functions may have run
 * by then, in the system's loader), then calls `open`, which fills a table of functions
 * that lies in the library's memory. The plugin resolves no symbol of librubus: what it
 * needs of the library comes in the `host` table.
 *
 * Rules for every slot
 *  - Return RUBUS_OK, or a negative status after `host->fail` wrote the text.
 *  - A context has one in-order queue: each slot takes effect in call order and sees all
 *    earlier effects, whatever engine does the work.
 *  - Calls on one context come from one thread at a time, but for module_create, which
 *    may go on beside one other call of the same context; calls on different contexts
 *    may come concurrently.
 *  - A plugin never prints, exits, aborts, throws into the caller, or changes the process
 *    (locale, environment, signals, floating-point mode, working directory, affinity of a
 *    caller's thread). It has no constructors and starts no thread before context_create.
 *  - A struct that comes in begins with struct_size: read a field only if it lies inside.
 */
#include <stddef.h>
#include <stdint.h>

#include <rubus/status.h>
#include <rubus/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUBUS_ABI_MAJOR 1u             /**< differs: every plugin must be rebuilt */
#define RUBUS_ABI_MINOR 0u             /**< grows when slots or fields are appended */
#define RUBUS_PLUGIN_MAGIC 0x53425552u /**< "RUBS" */

/** Services of the library for a plugin. Alive until `close`. Any thread may call them.
 * */
typedef struct rubus_host {
    uint32_t struct_size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t reserved0;
    void *ctx; /**< first argument of every service */
    /** Writes the calling thread's error text and returns st. */
    rubus_status (*fail)(void *ctx, rubus_status st, const char *fmt, ...);
    /** One line for RUBUS_LOG; level 1 error, 2 warning, 3 info, 4 debug. */
    void (*log)(void *ctx, int32_t level, const char *text);
    /** align: a power of two; NULL (with text) when out of memory. Free with `free`. */
    void *(*alloc)(void *ctx, uint64_t size, uint64_t align);
    void (*free)(void *ctx, void *p);
    /** Value of a key of the backend spec or of the matching variable; NULL if unset.
     *  Keys: "threads", "cc", "validate", "fp64", "descriptors", "uuid", "cap.NAME". */
    const char *(*option)(void *ctx, const char *key);
    /** Kernel cache: fills *out_fd with a readable descriptor (the caller closes it), or
     *  -1 on a miss. suffix: [a-z0-9.-]+, what the key does not cover (compiler, CPU). */
    rubus_status (*cache_get)(void *ctx, const uint8_t key[32], const char *suffix,
                              int32_t *out_fd);
    /** Stores the whole contents of fd (read from offset 0) under key and suffix. */
    rubus_status (*cache_put)(void *ctx, const uint8_t key[32], const char *suffix,
                              int32_t fd);
} rubus_host;

/** What a device can do. Zeroed by the library; zero is "no" or "not known". */
typedef struct rubus_caps {
    uint32_t struct_size;
    uint32_t kind; /**< RUBUS_KIND_* */
    char name[256];
    char driver[256];
    char dialect[16]; /**< "c", "glsl", "opencl" or "rk" */
    uint8_t uuid[16];
    uint32_t fp64;           /**< 0 no, 1 emulated, 2 native */
    uint32_t int64;          /**< likewise */
    uint32_t bool8;          /**< likewise: one-byte elements */
    uint32_t atomic_f32_add; /**< 0 no, 1 compare-and-swap, 2 native */
    uint32_t atomic_f64_add; /**< likewise */
    uint32_t lane_width;     /**< interleave stride of position tables; 1 on a CPU */
    uint32_t memory;         /**< RUBUS_AT_* of ordinary buffers */
    uint32_t offset_align;   /**< bytes; 0 counts as 1 */
    uint32_t reserved0;
    uint32_t reserved1;
    uint64_t mem_total;  /**< bytes */
    uint64_t max_alloc;  /**< bytes; 0 not known */
    uint64_t max_buffer; /**< bytes; 0 not known */
} rubus_caps;

/** One formal argument of an entry: arrays, scalars of the user, hidden extents alike. */
typedef struct rubus_param {
    uint32_t is_buffer;
    uint32_t type;    /**< RUBUS_F64 ... of the element or the scalar */
    uint32_t access;  /**< buffers: RUBUS_READ | RUBUS_WRITE */
    uint32_t offset;  /**< bytes, its place in the argument block; naturally aligned */
    uint32_t size;    /**< bytes in the block; a buffer's is 8 */
    uint32_t index;   /**< buffers: number among the buffers of this entry */
    const char *name; /**< as in the source, for messages */
} rubus_param;

#define RUBUS_ENTRY_UNEVEN 1u    /**< points cost very different amounts: schedule so */
#define RUBUS_ENTRY_ATOMICS 2u   /**< uses atomic adds */
#define RUBUS_ENTRY_NEEDS_F64 4u /**< computes in double */
/** Dialect glsl: argument blocks up to this size are the push constants. Bytes. */
#define RUBUS_GLSL_PUSH 128u
/** Dialects glsl and opencl: x of the range counts workgroups, whose size the text
 * fixes. */
#define RUBUS_ENTRY_GROUPS 8u
#define RUBUS_ENTRY_LOOPS 16u /**< the source has loops: a point may take many turns */

/** One entry = one pass of one kernel = one function of the text. */
typedef struct rubus_entry {
    uint32_t struct_size;
    uint32_t nparam;
    uint32_t nbuffer;
    uint32_t ndim;            /**< 1 to 3 */
    uint32_t block_size;      /**< bytes of the argument block */
    uint32_t flags;           /**< RUBUS_ENTRY_* */
    uint64_t bytes_per_point; /**< hint; 0 not known */
    uint64_t ops_per_point;   /**< hint; 0 not known */
    const char *symbol; /**< [a-z][a-z0-9_]*, unique in the module, at most 63 bytes */
    const char *label;  /**< "diffusion.rk:step, pass 0 of 2" */
    const rubus_param *param;
} rubus_entry;

#define RUBUS_MODULE_CHECKED 1u /**< bounds checks are in the text */
#define RUBUS_MODULE_FAST 2u    /**< contraction to fused multiply-adds is allowed */
#define RUBUS_MODULE_INT64 4u   /**< int and index are 64 bits wide */
#define RUBUS_MODULE_F64 8u     /**< real is double */

typedef struct rubus_module_desc {
    uint32_t struct_size;
    uint32_t nentry;
    uint32_t flags; /**< RUBUS_MODULE_* */
    uint32_t reserved0;
    const char *dialect;
    const char *name;   /**< for messages */
    const char *text;   /**< NUL-terminated */
    uint64_t text_size; /**< without the NUL */
    /** SHA-256 of (dialect, its version, flags, text): key of prebuilt and cached forms.
     * */
    uint8_t key[32];
    const rubus_entry *entry;
} rubus_module_desc;

/**
 * The argument block has the same bytes for every dialect: int64 lo[3] at 0, int64 hi[3]
 * at 24, then the params at their offsets.
 *  - dialect "c":      `void SYMBOL(void *block)`, host pointers in the buffer slots;
 *    runs all points of [lo, hi) itself.
 *  - dialect "glsl":   up to 128 bytes the block is the push constants, a longer one lies
 *    in a buffer whose address is pushed; device addresses in the buffer slots (or
 *    descriptors; see docs/backend-author.md).
 *  - dialect "opencl": `__kernel void SYMBOL(lo0, lo1, lo2, hi0, hi1, hi2, params...)`,
 *    six longs, then in the order of the params: for a buffer two arguments, a __global
 *    pointer (the whole memory object) and as a long the byte at which the array begins
 *    in it; for a scalar its bytes from the block (a bool is a uchar).
 *  - dialect "rk":     checked source; see docs.
 * The plugin copies the block, writes its addresses (buffer + first byte of the array)
 * into the buffer slots, and may cut [lo, hi) into pieces along any dimension: the points
 * of one launch are independent. The library never passes an empty range.
 */
typedef struct rubus_launch_info {
    uint32_t struct_size;
    uint32_t entry;
    uint32_t nbuffer;
    uint32_t reserved0;
    int64_t lo[3];
    int64_t hi[3];
    const void *block;          /**< block_size bytes; buffer slots are zero */
    void *const *buffer;        /**< the plugin's buffers, by rubus_param.index */
    const uint64_t *first_byte; /**< of the window of each buffer: the array's start */
    const uint64_t *nbyte;      /**< length of the window this launch may touch */
} rubus_launch_info;

/** n elements in a buffer, from byte first_byte on. */
typedef struct rubus_vec {
    void *buffer;
    uint64_t first_byte;
    int64_t n;
} rubus_vec;

/** Element (i, j) is number i + j*ld by columns (ld >= nrow), i*ld + j by rows (ld >=
 *  ncol), counted from byte first_byte on. What lies between is not the matrix's. */
typedef struct rubus_mat {
    void *buffer;
    uint64_t first_byte;
    int64_t nrow;
    int64_t ncol;
    int64_t ld;
    uint32_t layout; /**< RUBUS_COLUMN_MAJOR or RUBUS_ROW_MAJOR */
    uint32_t reserved0;
} rubus_mat;

/** What a backend found out about a matrix (slot csr_prepare). The plugin allocates it,
 *  usually at the head of a larger struct of its own. */
typedef struct rubus_csr_plan {
    uint32_t struct_size; /**< set by the plugin */
    uint32_t reserved0;
    char path[64];          /**< what products run on: "stencil, 5 diagonals" */
    uint64_t nbyte;         /**< memory held beside the arrays of the matrix */
    uint64_t product_bytes; /**< what y = A x reads and writes at least; 0 not known */
} rubus_csr_plan;

/** A sparse matrix by rows; its structure never changes. Columns ascend in every row and
 *  are inside the matrix: the library has checked that. */
typedef struct rubus_csr_desc {
    uint32_t struct_size;
    uint32_t index_type;
    uint32_t value_type;
    uint32_t reserved0;
    int64_t nrow;
    int64_t ncol;
    int64_t nnz;
    rubus_vec rowptr; /**< the plugin's buffers */
    rubus_vec colval;
    rubus_vec nzval;
    const void *mirror_rowptr; /**< host, same types, never widened */
    const void *mirror_colval;
    void *mirror_nzval;
    uint64_t version;     /**< another number as soon as nzval may have changed */
    rubus_csr_plan *plan; /**< of csr_prepare; NULL if there is none */
} rubus_csr_desc;

/**
 * X(slot, required, since_minor, summary): the one list of slots, in table order. Append
 * only. An optional slot left NULL is filled by a stub of the library.
 */
#define RUBUS_SLOT_LIST(X)                                                               \
    X(device_count, 1, 0, "number of devices")                                           \
    X(device_caps, 1, 0, "capabilities of a device")                                     \
    X(context_create, 1, 0, "opens a device")                                            \
    X(context_destroy, 1, 0, "closes it; waits for its work")                            \
    X(buffer_create, 1, 0, "allocates device memory")                                    \
    X(buffer_destroy, 1, 0, "frees it; legal with work pending")                         \
    X(locality, 1, 0, "where the bytes of a buffer are")                                 \
    X(write, 1, 0, "host to buffer; src may change after the call")                      \
    X(read, 1, 0, "buffer to host; waits")                                               \
    X(module_create, 1, 0, "builds a module from the text of the dialect")               \
    X(module_destroy, 1, 0, "frees it; legal with work pending")                         \
    X(launch, 1, 0, "enqueues one entry over a range")                                   \
    X(synchronize, 1, 0, "waits for all work; reports its errors")                       \
    X(fill, 0, 0, "repeats a pattern; else a kernel of the library")                     \
    X(copy, 0, 0, "between buffers; else a kernel of the library")                       \
    X(map, 0, 0, "host pointer to a buffer; else a shadow copy")                         \
    X(unmap, 0, 0, "ends map; else the shadow is written back")                          \
    X(csr_prepare, 0, 0, "inspects a matrix before its first product")                   \
    X(csr_release, 0, 0, "ends csr_prepare")                                             \
    X(spmv, 0, 0, "sparse matrix times vector; else a kernel of the library")            \
    X(spmm, 0, 0, "sparse matrix times dense matrix; else a kernel of the library")      \
    X(scatter_flush, 0, 0, "all values of a matrix from its mirror; else one write")

/** The table that `open` fills. ctx is what context_create returned. */
typedef struct rubus_ops {
    uint32_t struct_size;
    uint32_t reserved0;
    /* required */
    rubus_status (*device_count)(void *be, uint32_t *out_n);
    rubus_status (*device_caps)(void *be, uint32_t device, rubus_caps *out_caps);
    rubus_status (*context_create)(void *be, uint32_t device, void **out_ctx);
    void (*context_destroy)(void *ctx);
    /** nbyte > 0; contents undefined; aligned for every element type. */
    rubus_status (*buffer_create)(void *ctx, uint64_t nbyte, void **out_buffer);
    void (*buffer_destroy)(void *ctx, void *buffer);
    rubus_status (*locality)(void *ctx, const void *buffer, uint32_t *out_where);
    rubus_status (*write)(void *ctx, void *buffer, uint64_t first, const void *src,
                          uint64_t n);
    rubus_status (*read)(void *ctx, const void *buffer, uint64_t first, void *dst,
                         uint64_t n);
    /** Runs beside other calls of the same context, which do not wait for a compiler;
     * never
     *  two at a time. So it changes nothing of the context that other slots use. */
    rubus_status (*module_create)(void *ctx, const rubus_module_desc *desc,
                                  void **out_module);
    void (*module_destroy)(void *ctx, void *module);
    rubus_status (*launch)(void *ctx, void *module, const rubus_launch_info *info);
    rubus_status (*synchronize)(void *ctx);
    /* optional */
    /** first and n are multiples of pattern_size (1, 2, 4, 8 or 16). */
    rubus_status (*fill)(void *ctx, void *buffer, uint64_t first, uint64_t n,
                         const void *pattern, uint32_t pattern_size);
    /** The two ranges do not overlap. */
    rubus_status (*copy)(void *ctx, void *dst, uint64_t dst_first, const void *src,
                         uint64_t src_first, uint64_t n);
    /** Waits for pending work on the buffer; the pointer lives until unmap, which ends
     *  the mapping even where it fails. */
    rubus_status (*map)(void *ctx, void *buffer, uint32_t access, void **out_host);
    rubus_status (*unmap)(void *ctx, void *buffer);
    /** Called once for a matrix with entries, before its first product; both or none of
     *  csr_prepare and csr_release are filled. The desc and its arrays live as long as
     *  the plan. An out_plan of NULL means that there is nothing to keep. */
    rubus_status (*csr_prepare)(void *ctx, const rubus_csr_desc *a,
                                rubus_csr_plan **out_plan);
    /** Legal with work pending. */
    void (*csr_release)(void *ctx, rubus_csr_plan *plan);
    /** y = alpha A x + beta y. beta 0: y is not read. alpha is not 0, nrow and nnz are
     *  positive. The sum of a row must not depend on anything but the row. x does not
     *  overlap y. */
    rubus_status (*spmv)(void *ctx, const rubus_csr_desc *a, const rubus_vec *x,
                         const rubus_vec *y, double alpha, double beta);
    /** The same for each column of X and Y, at least one. */
    rubus_status (*spmm)(void *ctx, const rubus_csr_desc *a, const rubus_mat *x,
                         const rubus_mat *y, double alpha, double beta);
    /** Overwrites all nzval from the mirror, in order. */
    rubus_status (*scatter_flush)(void *ctx, const rubus_csr_desc *a);
} rubus_ops;

/** The one exported object of a plugin: `RUBUS_PLUGIN_EXPORT const rubus_plugin_desc
 *  rubus_backend_plugin = {...};` */
typedef struct rubus_plugin_desc {
    uint32_t magic;
    uint32_t struct_size;
    uint32_t abi_major;
    uint32_t abi_minor;
    uint32_t abi_minor_min; /**< least minor of the library that this plugin needs */
    uint32_t flags;         /**< 0 */
    const char *name;       /**< as in the file name: [a-z][a-z0-9_]* */
    const char *version;
    const char *vendor;
    const char *licence;
    /** room->struct_size bytes of *room may be written. out_be: given to the device
     * slots. */
    rubus_status (*open)(const rubus_host *host, rubus_ops *room, void **out_be);
    /** Joins every thread of the plugin. May be NULL. */
    void (*close)(void *be);
} rubus_plugin_desc;

#if defined(__GNUC__)
#define RUBUS_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define RUBUS_PLUGIN_EXPORT
#endif

#ifdef __cplusplus
}
#endif
#endif
