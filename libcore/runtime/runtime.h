/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_RUNTIME_H
#define RUBUS_RUNTIME_H
/*
 * The objects of the runtime. A context owns a device and serialises all slots of it with
 * one lock; arrays and modules hold their context. Functions that say "locked" are called
 * between rubus__enter and rubus__leave.
 *
 * Locks: form_lock of a module, registry (see registry.h) before build_lock before lock;
 * nothing is taken while `lock` or `object_lock` is held.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <rubus/kernel.h>

#include "libcore/kernel/program.h"
#include "libcore/runtime/registry.h"

#define RUBUS__GUARD 256u /* bytes on each side of a buffer in validate mode */

/* Memory that grows when asked for more and is used by launches in queue order. */
typedef struct rubus__scratch {
    void *buffer;
    uint64_t nbyte;
} rubus__scratch;

/* What an object is, by who holds whom: objects of a rank hold those of later ranks. */
typedef enum rubus__rank {
    RUBUS__RANK_OPERATOR, /* operators, solvers, scatters, CSC */
    RUBUS__RANK_CSR,
    RUBUS__RANK_FORM,
    RUBUS__RANK_CONSTRAINT,
    RUBUS__RANK_SPACE,
    RUBUS__RANK_MESH,
    RUBUS__RANK_MODULE,
    RUBUS__RANK_ARRAY,
    RUBUS__RANKS
} rubus__rank;

/* The place of an object in the lists of its context. */
typedef struct rubus__object {
    struct rubus__object *next;
    struct rubus__object *before;
    void (*destroy)(void *self); /* NULL: in no list */
    void *self;
    rubus__rank rank;
} rubus__object;

struct rubus_context {
    atomic_int references;
    unsigned fork_generation; /* of the process that made it */
    rubus__device *dev;
    pthread_mutex_t lock;       /* guards all below and every slot but module_create */
    pthread_mutex_t build_lock; /* one module_create at a time */
    bool lost;                  /* the device is lost: sticky */
    bool validate;
    rubus_context_counters counters;
    struct rubus__storage *storages; /* all alive, for validate mode */
    rubus__scratch *scratch;         /* partials of folds, then two for their trees */
    int32_t nscratch;
    rubus__scratch results; /* one slot of result_stride bytes per result */
    uint64_t result_stride;
    struct rubus_module *pending; /* checked modules launched since the last report */
    bool late;        /* an error was found before a waiting call: for the next */
    char *late_error; /* its text; NULL if there was no memory for it */
    struct rubus_module *blas; /* kernels that stand in for fill and copy */
    bool blas_tried;
    struct rubus__kept *kept; /* modules of the library */
    int8_t atomics[2]; /* additions of f32, f64: 1 they work, -1 they do not, 0 untried */
    pthread_mutex_t object_lock;         /* guards the lists */
    rubus__object *object[RUBUS__RANKS]; /* newest first */
};

/* Memory of one buffer, shared by an array and its views. */
typedef struct rubus__storage {
    atomic_int references;
    rubus_context *context;
    void *buffer;                     /* NULL if nbyte is 0 */
    uint64_t nbyte;                   /* without guards */
    uint64_t base;                    /* first byte of the user's memory in the buffer */
    bool guarded;                     /* validate mode: the guard zones are written */
    const struct rubus_array *mapped; /* the window that is mapped; under the lock */
    uint64_t version; /* counts what may have written elements; under the lock */
    struct rubus__storage *next; /* in context->storages */
    struct rubus__storage *before;
} rubus__storage;

struct rubus_array {
    rubus__object object;
    rubus__storage *storage;
    int32_t type;
    rubus_shape shape;
    int64_t count;
    uint64_t first; /* byte, of the user's memory */
    uint64_t nbyte;
};

struct rubus_kernel {
    struct rubus_module *module;
    const rk_kernel *k;
    uint32_t block_room;   /* largest block of its entries */
    uint32_t nbuffer_room; /* most buffers of an entry */
    int64_t (*extent)[3];  /* of the checked launches since the last report */
};

/* A func of a module, or of one that it imports. */
struct rubus_func {
    struct rubus_module *module;
    const rk_decl *decl;
};

struct rubus_module {
    rubus__object object;
    atomic_int references;
    rubus_context *context;
    rk_program *program;
    void *impl;
    rubus_entry *entry;
    rubus_param *param;
    rubus_kernel *kernel;
    int32_t nfunc;
    rubus_func *func;
    struct rubus__derived
        *derived;              /* modules made of its funcs; under the context's lock */
    pthread_mutex_t form_lock; /* forms of the program are read by one thread at once */
    void *error_buffer;        /* checked programs */
    bool is_pending;
    struct rubus_module *next_pending;
};

/* --- context.c -------------------------------------------------------------------- */

void rubus__context_hold(rubus_context *context);
/* Locks; EINVAL for NULL (named `what`), EFORKED, ELOST. */
rubus_status rubus__enter(rubus_context *context, const char *what);
/* Unlocks; remembers a lost device; returns st. */
rubus_status rubus__leave(rubus_context *context, rubus_status st);
bool rubus__context_forked(const rubus_context *context);
/* EFOREIGN for two operands of a call, and what to do (NULL: nothing). */
rubus_status rubus__foreign(const char *what, const char *name,
                            const rubus_context *context, const char *other_name,
                            const rubus_context *other, const char *cure);
/* The call of a required or optional slot, and its result. */
#define RUBUS__SLOT(context, slot, call) RUBUS__SLOT_OF((context)->dev, slot, (call))

/* --- context_objects.c ------------------------------------------------------------ */

/* For rubus_context_destroy_all; `destroy` gives the user's reference back. */
void rubus__object_add(rubus_context *context, rubus__object *object, rubus__rank rank,
                       void (*destroy)(void *self), void *self);
/* When the memory of the object goes; of one in no list: nothing. */
void rubus__object_remove(rubus_context *context, rubus__object *object);

/* --- array.c ---------------------------------------------------------------------- */

rubus_status rubus__storage_create(rubus_context *context, uint64_t nbyte,
                                   rubus__storage **out_storage); /* locked */
void rubus__storage_release(rubus__storage *storage);             /* not locked */
/* An array over part of a buffer, on the stack, of rank 1. */
rubus_array rubus__array_window(rubus__storage *storage, int32_t type, uint64_t first,
                                uint64_t n);
/* Elements of an array, from number `first` on, as one of rank 1; nothing is held. */
rubus_array rubus__array_line(const rubus_array *array, int64_t first, int64_t n);
/* A window as rubus_array_view makes one, but on the stack: it keeps nothing alive. */
rubus_status rubus__array_cut(const rubus_array *parent, int64_t first, rubus_shape shape,
                              rubus_array *out_window);
/* Locks the context of an array that may be used now: EINVAL (NULL), ESTATE (memory of it
 * is mapped), and as rubus__enter. */
rubus_status rubus__array_enter(const rubus_array *array, const char *what);
bool rubus__array_mapped(const rubus_array *array); /* locked: some byte of it is */
bool rubus__array_overlap(const rubus_array *a, const rubus_array *b);
uint64_t rubus__array_first_byte(const rubus_array *array); /* in its buffer */

/* --- array_transfer.c ------------------------------------------------------------- */

/* Locked. Ranges in bytes of the buffer. */
rubus_status rubus__write_bytes(rubus_context *context, void *buffer, uint64_t first,
                                const void *src, uint64_t n);
rubus_status rubus__read_bytes(rubus_context *context, void *buffer, uint64_t first,
                               void *dst, uint64_t n);
rubus_status rubus__fill_bytes(rubus_context *context, void *buffer, uint64_t first,
                               uint64_t n, const void *pattern, uint32_t pattern_size);

/* ETYPE, ESHAPE, EALIAS if dst cannot be made of src element by element. */
rubus_status rubus__array_pair_check(const char *what, const rubus_array *dst,
                                     const rubus_array *src);

/* --- blas.c: fill and copy as kernels where a backend has no slot ----------------- */

rubus_status rubus__blas_fill(rubus_context *context, void *buffer, uint64_t first,
                              uint64_t n, const void *pattern, uint32_t pattern_size);
rubus_status rubus__blas_copy(rubus_context *context, void *dst, uint64_t dst_first,
                              void *src, uint64_t src_first, uint64_t n);
/* Builds the module once; not locked. OK also where it cannot be built: the stubs that go
 * through the host stay then. */
rubus_status rubus__blas_prepare(rubus_context *context);

/* --- module.c --------------------------------------------------------------------- */

void rubus__module_release(rubus_module *module);
/* EINVAL if there is no parameter `at` of n, or no struct for it. */
rubus_status rubus__need_param(const char *what, const void *param, uint32_t at,
                               uint32_t n);
/* As rubus_module_create, from an embedded source of the library ("relax.rk"). */
rubus_status rubus__module_embedded(rubus_context *context, const char *name,
                                    const rubus_module_options *options,
                                    rubus_module **out_module);
/* As rubus_module_create, for a module that belongs to an object of the library. */
rubus_status rubus__module_text(rubus_context *context, const char *name,
                                const char *text, const rubus_module_options *options,
                                rubus_module **out_module);
char *rubus__source_read(void *user, const char *importer, const char *name,
                         char **out_name, size_t *out_size, const char **out_reason);

/* --- module_func.c: funcs, and modules made of them -------------------------------- */

void rubus__module_hold(rubus_module *module);
rubus_status rubus__funcs_make(rubus_module *module);
void rubus__funcs_fini(rubus_module *module);
/* For calls that were given the func NULL: the text of rubus_module_func, if it is the
 * last one, else one of `what`. */
rubus_status rubus__no_func(const char *what);
/* A module of the ops and funcs of `module` and the kernels of `text`, with reals of
 * another type; int, check and fast are the module's. complete: its ops and funcs are in
 * the text. Compiled at the first call with this text and type, and kept as long as the
 * module. Not locked. */
rubus_status rubus__module_derive(rubus_module *module, int32_t real, const char *text,
                                  bool complete, rubus_module **out_module);

/* --- kept_module.c: kernels of the library, built once in a context --------------- */

/* The module of an embedded source; built at the first call. Not locked. It lives as long
 * as the context, and does not hold it. */
rubus_status rubus__kept_module(rubus_context *context, const char *name,
                                const rubus_module_options *options,
                                rubus_module **out_module);
/* The same, for one kernel of it. */
rubus_status rubus__kept_kernel(rubus_context *context, const char *name,
                                const rubus_module_options *options, const char *kernel,
                                const rubus_kernel **out_kernel);
/* As the context ends. `alive`: the backend still answers. */
void rubus__kept_fini(rubus_context *context, bool alive);
/* Frees a module that the context itself owns. */
void rubus__module_end(rubus_module *module, bool alive);

/* --- launch.c --------------------------------------------------------------------- */

/* One buffer argument of a kernel. */
typedef struct rubus__operand {
    void *buffer;
    uint64_t first_byte;
    uint64_t nbyte;
} rubus__operand;

/* A launch that was checked and bound. */
typedef struct rubus__bound {
    const rubus_kernel *kernel;
    const rubus_arg *args;
    const rubus__operand *operand; /* by parameter */
    rk_binding binding;
    void *block;   /* kernel->block_room bytes */
    void **buffer; /* kernel->nbuffer_room each */
    uint64_t *first;
    uint64_t *nbyte;
} rubus__bound;

/* Locked: launches one entry. tree_*: for TREE entries and PARTIAL slots. */
typedef struct rubus__fold_slots {
    const rubus__operand *partial; /* by result number */
    rubus__operand src;
    rubus__operand dst;
    int64_t n;
    int64_t last;
} rubus__fold_slots;
rubus_status rubus__launch_entry(const rubus__bound *bound, int32_t entry,
                                 const rk_range *range, const rubus__fold_slots *fold);
/* Locked: the whole launch, operands given (results included). */
rubus_status rubus__launch_bound(const rubus__bound *bound);

/* A launch between its check and its run. */
typedef struct rubus__prepared {
    rubus__bound bound;
    rubus__operand *operand;
    rk_argument *argument;
} rubus__prepared;
/* Bytes of working memory, a multiple of 16. */
size_t rubus__launch_room(const rubus_kernel *kernel);
rubus_status rubus__launch_prepare(char *memory, const rubus_kernel *kernel,
                                   const int64_t *lo, const int64_t *hi,
                                   const rubus_arg *args, size_t nargs,
                                   rubus__prepared *out);
rubus_status rubus__launch_prepared(const rubus__prepared *prepared); /* locked */
/* A whole launch in such memory; lo, hi: NULL for the kernel's own range. */
rubus_status rubus__launch_in(char *memory, const rubus_kernel *kernel, const int64_t *lo,
                              const int64_t *hi, const rubus_arg *args, size_t nargs);

/* --- launch_list.c ---------------------------------------------------------------- */

/* A launch that is one of several. lo, hi: NULL for the kernel's own range. */
typedef struct rubus__call {
    const rubus_kernel *kernel;
    const int64_t *lo;
    const int64_t *hi;
    const rubus_arg *args;
    size_t nargs;
} rubus__call;
enum { RUBUS__CALLS_MOST = 8 };
/* Launches in order, with nothing of another thread between them, after all of them have
 * been checked. The kernels are of one context. */
rubus_status rubus__launch_list(const rubus__call *call, size_t ncall);

/* --- launch_check.c --------------------------------------------------------------- */

/* Everything about the arguments but what rk_bind checks. Fills args2 for rk_bind. */
rubus_status rubus__launch_check(const rubus_kernel *kernel, const rubus_arg *args,
                                 size_t nargs, rk_argument *out_argument);
/* Locked: no array of the arguments is mapped, else ESTATE. */
rubus_status rubus__launch_check_mapped(const rubus_kernel *kernel,
                                        const rubus_arg *args);

/* --- reduce.c --------------------------------------------------------------------- */

/* Locked: the entries of pass `pass` and the trees of its folds. */
rubus_status rubus__launch_fold_pass(const rubus__bound *bound, int32_t pass,
                                     int32_t first_entry);
rubus_status rubus__scratch_get(rubus_context *context, rubus__scratch *scratch,
                                uint64_t nbyte);

/* --- validate.c ------------------------------------------------------------------- */

rubus_status rubus__poison(rubus__storage *storage); /* locked: fresh memory and guards */
rubus_status rubus__guards_check(rubus__storage *storage);    /* locked */
rubus_status rubus__guards_check_all(rubus_context *context); /* locked */
/* Locked, at a waiting call: the error record of checked modules, once. */
rubus_status rubus__report_checked(rubus_context *context);
/* Locked, before a launch of a checked module: a report will need the extents. */
void rubus__pending_add(const rubus_kernel *kernel, const rk_argument *argument);
/* Locked, when a module goes: keeps its error for the next report. */
void rubus__pending_remove(rubus_module *module);

#endif
