/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_KERNEL_H
#define RUBUS_KERNEL_H
/** Modules (kernel source built for a context), kernels, launches. */
#include <stdbool.h>

#include <rubus/array.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_module rubus_module;
typedef struct rubus_kernel rubus_kernel;
typedef struct rubus_func rubus_func; /**< a func of a module */

/** How a module is built. Zero everywhere is the default. */
typedef struct rubus_module_options {
    size_t struct_size; /**< set by the caller: sizeof(rubus_module_options) */
    int32_t real;       /**< RUBUS_F32 or RUBUS_F64 (0: RUBUS_F64) */
    int32_t index;      /**< RUBUS_I32 or RUBUS_I64 (0: RUBUS_I32) */
    int32_t check;      /**< 1: bounds checks on guarded accesses */
    int32_t fast;       /**< 1: fused multiply-adds are allowed */
} rubus_module_options;

/**
 * Builds a module from the text of a `.rk` source.
 *
 * @param name     Stands in error messages; relative imports start at its folder.
 * @param text     NUL-terminated UTF-8.
 * @param options  NULL for the defaults.
 * @return RUBUS_OK
 * @return RUBUS_ECOMPILE      the source has errors; the text lists them, each with
 *                             name:line:column, the line, a caret and the cure
 * @return RUBUS_EINVAL        NULL, unknown real or index
 * @return RUBUS_EUNSUPPORTED  the device lacks what the module needs (f64), or there is
 * no
 *                             compiler; the text names the remedy
 * @return RUBUS_ENOMEM, RUBUS_EIO, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread; compiling does not hold up other calls on the context.
 * @owner   Holds the context.
 */
RUBUS_API rubus_status rubus_module_create(rubus_context *context, const char *name,
                                           const char *text,
                                           const rubus_module_options *options,
                                           rubus_module **out_module) RUBUS_CHECKED;

/** As rubus_module_create, with the text of a file.
 *  @return as rubus_module_create; RUBUS_EIO if the file cannot be read
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_module_create_file(rubus_context *context, const char *path,
                                                const rubus_module_options *options,
                                                rubus_module **out_module) RUBUS_CHECKED;

/** Gives the module back; its kernels are dead then. Legal right after a launch. NULL
 *  allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_module_destroy(rubus_module *module);

/** The kernel `name` of the module.
 *  @return NULL if there is none (the error text names the nearest); a launch of NULL
 *          gives RUBUS_ENOTFOUND with that text
 *  @threads Any thread.
 *  @owner   Lives as long as the module. */
RUBUS_API const rubus_kernel *rubus_module_kernel(rubus_module *module, const char *name);

/** The func `name` of the module, for calls that evaluate one at the points of a mesh
 *  (rubus_project, rubus_mesh_mark_func). They compile it for the type of the mesh.
 *  @return NULL if there is none (the error text names the nearest); a call that is given
 *          NULL fails with RUBUS_ENOTFOUND and that text
 *  @threads Any thread.
 *  @owner   Lives as long as the module. */
RUBUS_API const rubus_func *rubus_module_func(rubus_module *module, const char *name);

/** Name of a func; "" for NULL. @return as said @threads Any thread. */
RUBUS_API const char *rubus_func_name(const rubus_func *func);

/** Number of kernels of the module's own source. @return as said @threads Any thread. */
RUBUS_API uint32_t rubus_module_kernel_count(const rubus_module *module);
/** Kernel number `at` in source order; NULL past the end. @return as said
 *  @threads Any thread. */
RUBUS_API const rubus_kernel *rubus_module_kernel_at(const rubus_module *module,
                                                     uint32_t at);
/** Name of a kernel; lives as long as the module. @return as said @threads Any thread. */
RUBUS_API const char *rubus_kernel_name(const rubus_kernel *kernel);

/** A parameter of a kernel. */
typedef struct rubus_kernel_param {
    size_t struct_size; /**< set by the caller */
    const char *name;   /**< lives as long as the module */
    int32_t kind;       /**< RUBUS_PARAM_ARRAY, _SCALAR or _RESULT */
    int32_t type;       /**< RUBUS_F64 ... as the module was built */
    int32_t rank;       /**< arrays: 1 to 3; else 0 */
    uint32_t access;    /**< arrays: RUBUS_READ | RUBUS_WRITE; results: RUBUS_WRITE */
} rubus_kernel_param;
#define RUBUS_PARAM_ARRAY 1
#define RUBUS_PARAM_SCALAR 2
#define RUBUS_PARAM_RESULT 3

/** Number of parameters. @return as said @threads Any thread. */
RUBUS_API uint32_t rubus_kernel_param_count(const rubus_kernel *kernel);
/** Fills *param for parameter `at`.
 *  @return RUBUS_OK, RUBUS_EINVAL
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_kernel_param_get(const rubus_kernel *kernel, uint32_t at,
                                              rubus_kernel_param *param) RUBUS_CHECKED;
/** Number of indices of a per-point kernel; 0 for a whole-array kernel. @return as said
 *  @threads Any thread. */
RUBUS_API uint32_t rubus_kernel_ndim(const rubus_kernel *kernel);

/** One argument of a launch, for languages without the macro. */
typedef struct rubus_arg {
    int32_t kind; /**< RUBUS_ARG_* */
    int32_t reserved0;
    union {
        rubus_array *array;
        double real;
        int64_t integer;
        double *result_f64; /**< the call waits and stores the result here */
        float *result_f32;
    } u;
} rubus_arg;
#define RUBUS_ARG_ARRAY 1
#define RUBUS_ARG_REAL 2
#define RUBUS_ARG_INTEGER 3 /**< also for bool parameters: 0 or 1 */
#define RUBUS_ARG_RESULT_F64 4
#define RUBUS_ARG_RESULT_F32 5

/**
 * Enqueues a kernel with an array of arguments. rubus_launch is the short form.
 *
 * A scalar parameter takes an integer or a real (an int or bool parameter only an
 * integer). A result parameter takes a pointer to double or float (the call waits), or an
 * array of one element of the module's real (the number stays on the device).
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     wrong number or kind of arguments
 * @return RUBUS_ENOTFOUND  kernel is NULL
 * @return RUBUS_ETYPE      an array has another element type than its parameter
 * @return RUBUS_ESHAPE     rank or extents do not fit the declaration
 * @return RUBUS_EALIAS     an array that is written is given twice, or overlaps another
 * @return RUBUS_EFOREIGN   an array lives in another context than the module
 * @return RUBUS_EBOUNDS    an access would leave its array; nothing has run
 * @return RUBUS_ESTATE     an array is mapped
 * @return RUBUS_ELIMIT     an extent does not fit the module's int
 * @return RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_launch_args(const rubus_kernel *kernel,
                                         const rubus_arg *args,
                                         size_t nargs) RUBUS_CHECKED;

/** As rubus_launch_args for a per-point kernel over [lo, hi) instead of its own range.
 *  lo, hi: as many numbers as the kernel has indices. An empty range does nothing.
 *  @return as rubus_launch_args; RUBUS_EINVAL for a whole-array kernel
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_launch_range_args(const rubus_kernel *kernel,
                                               const int64_t *lo, const int64_t *hi,
                                               const rubus_arg *args,
                                               size_t nargs) RUBUS_CHECKED;

static inline rubus_arg rubus_arg_array(rubus_array *array)
{
    rubus_arg arg = {RUBUS_ARG_ARRAY, 0, {NULL}};
    arg.u.array = array;
    return arg;
}

static inline rubus_arg rubus_arg_real(double value)
{
    rubus_arg arg = {RUBUS_ARG_REAL, 0, {NULL}};
    arg.u.real = value;
    return arg;
}

static inline rubus_arg rubus_arg_integer(int64_t value)
{
    rubus_arg arg = {RUBUS_ARG_INTEGER, 0, {NULL}};
    arg.u.integer = value;
    return arg;
}

static inline rubus_arg rubus_arg_result_f64(double *result)
{
    rubus_arg arg = {RUBUS_ARG_RESULT_F64, 0, {NULL}};
    arg.u.result_f64 = result;
    return arg;
}

static inline rubus_arg rubus_arg_result_f32(float *result)
{
    rubus_arg arg = {RUBUS_ARG_RESULT_F32, 0, {NULL}};
    arg.u.result_f32 = result;
    return arg;
}

#ifndef __cplusplus
/** Any argument of a launch as a rubus_arg: arrays, numbers, &double, &float. */
#define RUBUS_ARG(x)                                                                     \
    _Generic((x),                         \
        rubus_array *: rubus_arg_array,   \
        double *: rubus_arg_result_f64,   \
        float *: rubus_arg_result_f32,    \
        float: rubus_arg_real,            \
        double: rubus_arg_real,           \
        default: rubus_arg_integer)(x)
#endif

#ifdef __cplusplus
}
#endif

#ifndef __cplusplus
#include <rubus/launch.h>
#endif
#endif
