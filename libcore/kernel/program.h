/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_PROGRAM_H
#define RK_PROGRAM_H
/*
 * The compiler's face to the runtime: a compiled program, its entries with the layout of
 * their argument blocks, and the binding of a launch (sizes to boxes, with all proofs).
 */
#include "libcore/kernel/plan.h"

/* --- program.c -------------------------------------------------------------------- */

typedef struct rk_options {
    int32_t real;  /* RUBUS_F32 or RUBUS_F64 */
    int32_t index; /* RUBUS_I32 or RUBUS_I64 */
    bool check;
    bool fast;
    const char *dialect;   /* "c", "rk" ... ; NULL: no text (checking only) */
    rk_read_function read; /* NULL: imports are refused */
    void *read_user;
} rk_options;

typedef enum { RK_ENTRY_PASS, RK_ENTRY_TREE, RK_ENTRY_KERNEL } rk_entry_kind;

/* What stands in a slot of the argument block, after lo[3] and hi[3]. */
typedef enum {
    RK_SLOT_PARAM,    /* array or scalar parameter `index` */
    RK_SLOT_SYMBOL,   /* int64 value of symbol `index` */
    RK_SLOT_PARTIAL,  /* buffer of partials of result number `index`: per line and segment
                         one real; sums in f32: two (sum, remainder) */
    RK_SLOT_RESULT,   /* dialect rk: one-element buffer of result parameter `index` */
    RK_SLOT_ERROR,    /* checked programs: buffer of RK_ERROR_WORDS int64, see below */
    RK_SLOT_TREE_SRC, /* TREE entries: partials in */
    RK_SLOT_TREE_DST, /* partials out; if last: one real */
    RK_SLOT_TREE_N,   /* int64: partials in */
    RK_SLOT_TREE_LAST /* int64: 1 if this launch leaves one */
} rk_slot_kind;

typedef struct rk_slot {
    rk_slot_kind kind;
    int32_t index;
    rubus_status reserved0;
    int32_t type;    /* RUBUS_* of element or scalar (PARTIAL, TREE, RESULT: the real) */
    uint32_t access; /* buffers: RUBUS_READ | RUBUS_WRITE; scalars 0 */
    uint32_t offset;
    uint32_t size;
    const char *name;
} rk_slot;

typedef struct rk_entry {
    rk_entry_kind kind;
    int32_t kernel; /* number in rk_program.kernel */
    int32_t pass;
    int32_t number; /* TREE: result number */
    rk_fold_op fold;
    int32_t ndim; /* 1..3; TREE and KERNEL (whole-array): 1 */
    const char *symbol;
    const char *label;
    int32_t nslot;
    rk_slot *slot; /* offsets rising */
    uint32_t block_size;
    uint32_t flags; /* RUBUS_ENTRY_* */
    int32_t bytes_per_point;
    int32_t ops_per_point;
} rk_entry;

/* The error record of a checked program: word 0: 0, or 1 + number of the site that
 * claimed it by compare-and-swap from 0; then the three subscripts. */
#define RK_ERROR_WORDS 8
typedef struct rk_site { /* an access that is tested where it is made */
    int32_t kernel;
    int32_t param; /* -1: a local array */
    int32_t rank;
    rk_span at_source;
} rk_site;

typedef struct rk_kernel {
    rk_decl *decl;
    rk_work *work;
    rk_plan *plan;
    int32_t
        first_entry; /* passes in order, each followed by the trees of its folds; dialect
                            rk: one KERNEL entry */
    int32_t nentry;
    int32_t nresult;
    int32_t *result_param; /* [nresult], by result number */
} rk_kernel;

typedef struct rk_program {
    rk_unit *unit;
    const char *name;
    int32_t nkernel; /* of the user's sources, in order */
    rk_kernel *kernel;
    int32_t nentry;
    rk_entry *entry;
    int32_t nsite;
    rk_site *site;
    bool needs_f64;
    char *called; /* own ops and funcs, and what they reach, as text; NULL: no own func */
    char *text;
    size_t text_size;
    uint8_t key[32];
} rk_program;

/* Compiles. RUBUS_ECOMPILE with all messages as the error text; RUBUS_EINVAL for an
 * unknown dialect; RUBUS_ENOMEM. */
rubus_status rk_compile(const rk_options *options, const char *name, const char *text,
                        size_t size, rk_program **out_program) RUBUS_CHECKED;
void rk_program_destroy(rk_program *program);
/* Element type of a parameter as the program was compiled: RUBUS_F64 ... */
int32_t rk_param_type(const rk_program *program, const rk_decl *param);

/* Stack that walking the expressions of the program takes, for rubus__with_stack. */
size_t rk_stack_need(const rk_program *program);

/* Library sources inside the binary: "fd.rk", "math.rk", "blas.rk" ... */
typedef struct rk_embedded {
    const char *name;
    const char *text;
    size_t size;
} rk_embedded;
extern const rk_embedded rk_embedded_list[]; /* ends with a NULL name */
const rk_embedded *rk_embedded_find(const char *name);

/* An rk_read_function for sources inside the binary, which import one another. */
char *rk_read_embedded(void *user, const char *importer, const char *name,
                       char **out_name, size_t *out_size, const char **out_reason);

/* --- layout.c: entries and their blocks, from plans ------------------------------- */

void rk_layout(rk_program *program);

/* --- emitters: layout done; return the text in program->text via the unit's arena - */

typedef struct rk_dialect {
    const char *name;
    int32_t version; /* part of the key: raise it with every change of the text */
    void (*emit)(rk_program *program, rubus__text *out);
    bool whole;  /* a kernel is one entry */
    bool groups; /* folds are the work of groups: RUBUS_ENTRY_GROUPS */
} rk_dialect;
extern const rk_dialect rk_dialect_c;      /* dialect_c.c */
extern const rk_dialect rk_dialect_glsl;   /* dialect_glsl.c */
extern const rk_dialect rk_dialect_opencl; /* dialect_opencl.c */
extern const rk_dialect rk_dialect_rk;     /* dialect_rk.c: rk_print with a header line */
/* Kernel names are spelled our own way: "k" number "_" ASCII letters of the name. */

/* --- bind.c: what a launch must fulfil -------------------------------------------- */

typedef struct rk_argument {
    int64_t n[3];    /* arrays: extents */
    int64_t integer; /* int scalars */
} rk_argument;

typedef struct rk_range {
    bool empty;
    int64_t
        lo[3]; /* launch range: points, or segments along axis 0 for passes with folds */
    int64_t hi[3];    /* unused dimensions: [0, 1) */
    int64_t npartial; /* passes with folds: partials of each fold (0: nothing to fold) */
} rk_range;

typedef struct rk_binding {
    int64_t *symbol; /* [nsymbol] values */
    rk_range *pass;  /* [npass] */
} rk_binding;

/* Solves symbols, checks shapes (ESHAPE), int width (ELIMIT), EQUAL and LARGE conditions
 * (ESHAPE), proves accesses (EBOUNDS), gives the ranges. lo, hi: the caller's own range
 * of a per-point kernel, or NULL. The binding is of the caller's memory: rk_binding_size
 * bytes, aligned to 8, laid out by rk_bind. */
size_t rk_binding_size(const rk_kernel *kernel);
rubus_status rk_bind(const rk_program *program, const rk_kernel *kernel,
                     const rk_argument *args, const int64_t *lo, const int64_t *hi,
                     void *memory, rk_binding *out_binding) RUBUS_CHECKED;

/* --- explain.c -------------------------------------------------------------------- */

void rk_explain(const rk_program *program, bool json, rubus__text *out);

/* --- interpret.c: runs a program compiled for dialect "rk" ------------------------ */

/* Runs entry number `entry` of a program with dialect "rk" over [lo, hi) (per-point) or
 * once (whole-array). block: the argument block with host pointers in the buffer slots;
 * the interpreter trusts sizes (they were bound) but tests every index again and gives
 * RUBUS_EBOUNDS; in checked programs it also finds races between points (RUBUS_EBOUNDS
 * with both points named). */
rubus_status rk_interpret(const rk_program *program, int32_t entry,
                          const void *block) RUBUS_CHECKED;
/* A program from the text of dialect "rk" (options from its first line). */
rubus_status rk_program_from_text(const char *name, const char *text, size_t size,
                                  rk_program **out_program) RUBUS_CHECKED;

#endif
