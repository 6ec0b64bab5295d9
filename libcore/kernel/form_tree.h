/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RK_FORM_TREE_H
#define RK_FORM_TREE_H
/*
 * Forms: sums of inner products of expressions in a trial and a test function, and the
 * kernels that they become.
 *
 * form_value.c reads a form for a mesh of so many axes and components: calls of forms,
 * tuples, labels and components are resolved and a list of terms remains (form_build.c).
 * form_taps.c finds the linear part of each side in its lowered tree, form_table.c what
 * of the products can be computed once for a mesh. form_text.c writes such trees as text
 * of the language, and form_array.c, form_fill.c and form_scatter.c whole kernels, which
 * the ordinary path compiles.
 */
#include "libcore/kernel/lower.h"
#include "libcore/kernel/program.h"

/* --- form_names.c: the words of forms ---------------------------------------------- */

typedef enum {
    RK_WORD_OPERATOR, /* op of grid.rk along `axes` (one bit), or along all (0) */
    RK_WORD_SHIFT,    /* along `axes` */
    RK_WORD_DIV,
    RK_WORD_CURL,
    RK_WORD_STRAIN, /* `axes` and `other` */
    RK_WORD_RESTRICT,
    RK_WORD_INNER, /* A on `axes`, half spacings on the others */
    RK_WORD_INNER_PLUS,
    RK_WORD_INNER_GAMMA
} rk_word_kind;

typedef struct rk_word {
    rk_word_kind kind;
    const char *op;      /* OPERATOR: name in grid.rk without its axis: "Dm" */
    const char *spacing; /* its arguments behind u: "", "h", "hs" ... */
    uint32_t axes;
    uint32_t other;
} rk_word;

/* What a call of that name means in a form; false: nothing of its own. */
bool rk_word_find(const char *name, rk_word *out_word);
/* "Dm_x" */
const char *rk_word_op(rk_unit *unit, const char *op, int32_t axis);
/* Makes the library read the ops that the forms of the module need. */
void rk_form_intern(rk_unit *unit);
/* h_x, f_x, s_x, w_x, a_x: false for other names. */
bool rk_is_axis_array(const char *name, char *out_kind, int32_t *out_axis);
/* Bits of the face of that name in a mesh of ndim axes; 0: no such face. */
uint32_t rk_face_bits(const char *name, int32_t ndim);

/* --- check_form.c ------------------------------------------------------------------ */

/* Parameters and names of a form, whatever the mesh. */
void rk_check_form(rk_unit *unit, rk_decl *form);

/* --- form_build.c: a form for a mesh ----------------------------------------------- */

/* A face: bit 2 * axis, one up for the upper one. */
typedef struct rk_form_label {
    const char *name;
    uint32_t faces; /* those that it consists of; 0: it is known by its mask only */
} rk_form_label;

typedef struct rk_form_desc {
    int32_t ndim;
    int32_t ntrial; /* components of the spaces */
    int32_t ntest;
    int32_t nlabel; /* of the mesh; -1: any name is a label, those of faces are faces */
    const rk_form_label *label;
} rk_form_desc;

/* What a parameter of a form's kernel stands for. */
typedef enum {
    RK_LEAF_TRIAL,  /* component `number` of x */
    RK_LEAF_TEST,   /* component `number` of v */
    RK_LEAF_FIELD,  /* parameter `number` of the form, on the mesh */
    RK_LEAF_LINE,   /* parameter `number` of the form, on `axis` */
    RK_LEAF_NUMBER, /* parameter `number` of the form, a scalar */
    RK_LEAF_POINT,  /* coordinates of `axis` */
    RK_LEAF_H,      /* arrays of `axis`; s has one element less */
    RK_LEAF_F,
    RK_LEAF_S,
    RK_LEAF_W,
    RK_LEAF_A,
    RK_LEAF_MASK,  /* union of the labels of set `number` */
    RK_LEAF_FIXED, /* mask of the constrained points of component `number` */
    RK_LEAF_OUT,   /* component `number` of what is computed */
    RK_LEAF_ENTRY, /* stencil matrix: array `number` of its entries */
    RK_LEAF_RESULT,
    RK_LEAF_ALPHA,
    RK_LEAF_BETA,
    RK_LEAF_EXTENT, /* int: points along `axis` */
    RK_LEAF_ROWPTR,
    RK_LEAF_COLVAL,
    RK_LEAF_NZVAL,
    RK_LEAF_TABLE,    /* table `number` of the form, along `axis` */
    RK_LEAF_POSITION, /* positions; RK_JOB_PAIRS: 0 rows, 1 columns */
    RK_LEAF_PART,     /* contributions, in the places of the table */
    RK_LEAF_STRIDE,   /* int: points that stand side by side in the table */
    RK_LEAF_PADDED    /* int: points of the mesh, rounded up to a multiple of it */
} rk_leaf_kind;

typedef struct rk_leaf {
    rk_leaf_kind kind;
    int32_t number;
    int32_t axis;
    const char *name; /* unlike every other of the form */
} rk_leaf;

typedef struct rk_label_set {
    int32_t nlabel;
    const char **label;
} rk_label_set;

/* (component, offset): coefficient. */
typedef struct rk_tap {
    int32_t component;
    int32_t offset[3];
    rk_ir *coef; /* tree of the form's lower */
} rk_tap;

/* A product at a point of the mesh, up to its sign: what depends on one axis only is one
 * array of it, and the rest a number and a field. Products of one form with equal members
 * are equal. */
typedef struct rk_product {
    bool negative;
    const rk_leaf *line[3]; /* array of the mesh, or table; NULL: 1 */
    rk_ir *number;          /* of parameters; NULL: 1 */
    rk_ir *rest;            /* NULL: 1 */
} rk_product;

typedef struct rk_form_term {
    rk_span at;         /* of the product */
    rk_expr *number;    /* factor, or NULL */
    uint32_t staggered; /* axes with A in the weight */
    int32_t face;       /* -1: the mesh; else 2 * axis, + 1 for the upper face */
    rk_expr *a;         /* trial side, or source */
    rk_expr *b;         /* test side */
    rk_ir *lowered_a;   /* trees at the point of the mesh */
    rk_ir *lowered_b;
    rk_ir *scale;   /* of the number; NULL: none */
    int32_t ntrial; /* 0: a source */
    rk_tap *trial;  /* by component, then z, y, x of the offset */
    int32_t ntest;
    rk_tap *test;
    /* All factors of the term, with the tap of the test side, and the first side: */
    bool written;     /* the first side stands beside `row` as it is written */
    rk_product *row;  /* [ntest] the first side as a whole */
    rk_product *pair; /* [ntest * ntrial] its taps; the trial ones are the faster */
} rk_form_term;

/* A line table: an array of an axis that is made once for a mesh, from its arrays. */
typedef struct rk_table {
    const rk_leaf *leaf;
    rk_ir *value; /* at point[0] of the axis */
} rk_table;

typedef struct rk_form {
    rk_unit *unit;
    rk_decl *decl;
    rk_form_desc desc;
    bool bilinear;
    int32_t nterm;
    rk_form_term *term;
    int32_t nleaf; /* those that the terms use */
    rk_leaf **leaf;
    int32_t nmask;
    rk_label_set *mask;
    int32_t ntable;
    rk_table *table;       /* by number */
    const char *extent[3]; /* names of the sizes of the mesh */
    int32_t ntaken;        /* names given by rk_form_name */
    const char **taken;
    rk_work *work; /* of the trees: its parameters are the leaves */
    rk_lower *lower;
} rk_form;

/* Steps and stack that making a form, or the text of a kernel, may take. */
#define RK_FORM_BUDGET 4000000
#define RK_FORM_STACK ((size_t)32 << 20u)
/* Runs body on the unit of a finished program, with messages and a budget of its own;
 * *out_done: it came to its end, and did not give up. */
rubus_status rk_form_run(rk_unit *unit, void (*body)(void *user), void *user,
                         bool *out_done) RUBUS_CHECKED;
/* Reads form `name` of a program; its memory is the program's. Not for two threads on one
 * program at once. RUBUS_ECOMPILE with the errors; RUBUS_EINVAL: no such form, naming
 * those that exist; RUBUS_ENOMEM. */
rubus_status rk_form_build(rk_program *program, const char *name,
                           const rk_form_desc *desc, rk_form **out_form) RUBUS_CHECKED;
/* One more than the largest component that the form names; 1 if it names none. */
int32_t rk_form_components(const rk_program *program, const char *name);
/* The same as rk_form_build inside a compilation; NULL: reported. */
rk_form *rk_form_make(rk_unit *unit, rk_decl *decl, const rk_form_desc *desc);
/* Symbol of the points along an axis. */
rk_affine rk_form_extent(const rk_form *form, int32_t axis);
/* The leaf; made if it is new. */
const rk_leaf *rk_form_leaf(rk_form *form, rk_leaf_kind kind, int32_t number,
                            int32_t axis);
rk_type rk_leaf_type(const rk_form *form, const rk_leaf *leaf);
int32_t rk_leaf_rank(const rk_form *form, const rk_leaf *leaf); /* 0: a scalar */
/* A name like `want` that no leaf and no parameter of the form has. */
const char *rk_form_name(rk_form *form, const char *want);

/* --- form_taps.c ------------------------------------------------------------------- */

/* Finds the taps of all terms; false: reported. */
bool rk_form_taps(rk_form *form);

/* --- form_symmetric.c -------------------------------------------------------------- */

/* Whether the terms are the same with their sides exchanged. RUBUS_ENOMEM. */
rubus_status rk_form_is_symmetric(rk_form *form, bool *out_symmetric) RUBUS_CHECKED;

/* --- form_node.c: trees of the form ------------------------------------------------ */

rk_ir *rk_form_constant(rk_form *form, double value, rk_span at);
bool rk_is_number(const rk_ir *node, double value);
/* A guard that is 0 outside of its box. */
bool rk_is_zero_guard(const rk_ir *node);
/* op on x, y, z (those that it has), folded where all are known. */
rk_ir *rk_form_apply(rk_form *form, rk_op op, rk_span at, rk_ir *x, rk_ir *y, rk_ir *z);
/* a * b, where 1 leaves the other as it is. */
rk_ir *rk_form_times(rk_form *form, rk_span at, rk_ir *a, rk_ir *b);
/* A guard like that one around other values. */
rk_ir *rk_form_guarded(rk_form *form, const rk_ir *guard, rk_ir *a, rk_ir *b);

/* Bounds of a box by numbers of points: from lo, to the extent plus hi (0 and 0 where it
 * is not bounded); false: they are others. */
bool rk_form_box(const rk_form *form, const rk_box *box, int64_t lo[3], int64_t hi[3]);

enum { RK_TRAITS_SIZE = 1 << 20 };

/* What the value of a tree depends on. */
typedef struct rk_traits {
    int32_t size;  /* nodes, each as often as it is used, RK_TRAITS_SIZE at most */
    uint32_t axes; /* by arrays of the mesh, coordinates and guards */
    bool field;    /* on anything else that varies */
    bool number;   /* on parameters, sizes */
    bool hard;     /* reads an array where only the sizes tell: no text says it */
} rk_traits;

typedef struct rk_form_traits {
    rk_form *form;
    int32_t n;
    rk_traits *memo; /* [n] by number of the node; size 0: not known yet */
} rk_form_traits;

rk_traits rk_form_traits_of(rk_form_traits *m, const rk_ir *node);

/* --- form_table.c ------------------------------------------------------------------ */

/* Most tables of an axis; what finds no room stays where it is. */
#define RK_FORM_TABLES 8
/* Makes the products of all terms, and the tables that they need. */
void rk_form_tables(rk_form *form);
bool rk_product_equal(const rk_product *a, const rk_product *b);

/* --- kernels ----------------------------------------------------------------------- */

typedef enum {
    RK_JOB_APPLY,    /* y = alpha A x + beta y */
    RK_JOB_DIAGONAL, /* its diagonal, by component of the rows */
    RK_JOB_STENCIL,  /* its entries, an array for each block and offset */
    RK_JOB_PRODUCT,  /* y = alpha A x + beta y with those entries */
    RK_JOB_VECTOR,   /* l(v) by component */
    RK_JOB_VALUE,    /* a(u, v) or l(v): a result */
    RK_JOB_TABLES,   /* all line tables, once for a version of the mesh */
    RK_JOB_COUNT,    /* out index count: entries of each row */
    RK_JOB_COLUMNS,  /* colval of a matrix with that rowptr */
    RK_JOB_FILL,     /* nzval, by the owners of rows */
    /* by a table of positions; form_scatter.c tells its layout */
    RK_JOB_POSITIONS, /* the table for a matrix with that rowptr and colval */
    RK_JOB_PAIRS,     /* row and column of each contribution, in its places */
    RK_JOB_PARTS,     /* each contribution; 0 where the table (of either kind) is < 0 */
    RK_JOB_CLEAR,     /* nzval: 0, and 1 on the diagonal of constrained rows */
    RK_JOB_SCATTER,   /* nzval: after CLEAR, each contribution is added atomically */
    RK_JOB_GATHER     /* nzval: the same as both, by the owners of rows */
} rk_form_job;

typedef enum { RK_FIX_NONE, RK_FIX_ROWS, RK_FIX_SYM } rk_fix_mode;

/* Constraints: of each component whole faces, or a mask. */
typedef struct rk_form_fix {
    rk_fix_mode mode;
    const uint32_t *faces; /* [components]; NULL: none */
    const bool *mask;      /* [components] true: its mask is read, faces are ignored */
} rk_form_fix;

typedef struct rk_form_entry { /* an array of the stencil matrix */
    int32_t row;               /* components */
    int32_t column;
    int32_t offset[3]; /* column's point less row's */
} rk_form_entry;

/* The entry that a pair of taps adds to. */
rk_form_entry rk_form_entry_of(const rk_tap *test, const rk_tap *trial);
/* The entries of a matrix, by row, column, then z, y, x of the offset. */
int rk_form_entry_order(const rk_form_entry *a, const rk_form_entry *b); /* as strcmp */
bool rk_form_entry_is_diagonal(const rk_form_entry *e);
rk_form_entry *rk_form_entries(rk_form *form, int32_t *out_n);

typedef struct rk_form_kernel {
    char *text;     /* a module with one kernel, "run" if that is free; rubus__free */
    int32_t nparam; /* of the kernel, in order */
    rk_leaf *param; /* memory of the form */
    int32_t nentry; /* RK_JOB_STENCIL, _PRODUCT: of RK_LEAF_ENTRY parameters */
    rk_form_entry *entry;
    int32_t nterm;  /* those that have to do with a table: of the form */
    int32_t *width; /* [nterm] contributions of a term at a point */
} rk_form_kernel;

/* The text of a kernel. RUBUS_EINVAL: not for a form of this kind, or RK_JOB_TABLES of a
 * form that has none; RUBUS_ECOMPILE: too large (reported as K140); RUBUS_ENOMEM. */
rubus_status rk_form_kernel_text(rk_form *form, rk_form_job job, const rk_form_fix *fix,
                                 rk_form_kernel *out_kernel) RUBUS_CHECKED;

/* --- form_explain.c ---------------------------------------------------------------- */

/* Terms, taps, and passes and bytes of the kernels of a form. */
rubus_status rk_form_explain(rk_form *form, bool json, rubus__text *out) RUBUS_CHECKED;

#endif
