/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_FORM_H
#define RUBUS_FORM_H
/**
 * Forms on spaces of grid functions, constraints, and the operators that they make.
 *
 * A form is written in the kernel language, in a module beside kernels, ops and funcs
 * (docs/forms.md). Made for spaces, it computes: a bilinear form as an operator that
 * stores no matrix, a linear form as a vector, both as numbers. Its parameters are set by
 * name and read at every use, so nothing is compiled or made again when one changes.
 * Where a stored matrix is wanted, a bilinear form makes one and fills it again.
 *
 * A form, a constraint and an operator belong to the version that the mesh had when they
 * were made: after a change of the mesh every call with them gives RUBUS_ESTALE.
 */
#include <rubus/operator.h>
#include <rubus/space.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_form rubus_form;
typedef struct rubus_constraint rubus_constraint;

/* --- forms ------------------------------------------------------------------------ */

/**
 * The form `name` of a module, for spaces on one mesh.
 *
 * @param trial  Space of the trial function; NULL for a linear form, which has none.
 * @param test   Space of the test function; it may differ from `trial` in the number of
 *               components.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, the module has no such form (the text lists those it
 *                         has), a bilinear form without a trial space or a linear one
 *                         with it, spaces on different meshes, a module of f32 on a mesh
 *                         of f64, an integral over both faces of an axis with fewer than
 *                         3 points
 * @return RUBUS_ECOMPILE  what the form says has no meaning on this mesh: an unknown
 *                         label, a component or axis that is not there ...; the text has
 *                         the place and the cure
 * @return RUBUS_EFOREIGN  the module or a space is of another context
 * @return RUBUS_ESTALE    a space is older than its mesh
 * @return RUBUS_ENOMEM, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the module and the spaces. Destroy with rubus_form_destroy.
 */
RUBUS_API rubus_status rubus_form_create(rubus_module *module, const char *name,
                                         rubus_space *trial, rubus_space *test,
                                         rubus_form **out_form) RUBUS_CHECKED;

/** Gives the form back; operators made of it hold it. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_form_destroy(rubus_form *form);

/** Name of a form; "" for NULL. @return as said @threads Any thread. */
RUBUS_API const char *rubus_form_name(const rubus_form *form);

/** Whether a(u, v) = a(v, u) can be seen from the form: its terms, with the sides
 *  exchanged, are its terms. Constraints play no part. @return false also for NULL, for a
 *  linear form, and for spaces of different numbers of components
 *  @threads Any thread. */
RUBUS_API bool rubus_form_is_symmetric(const rubus_form *form);

/**
 * Sets a field: an array that is read whenever the form is used from now on.
 *
 * @param array  `field f`: shaped like the mesh; `field f[x]`: one number for each point
 *               of the x axis. Elements of the mesh's type.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, no such parameter (the text lists those there are), it is
 *                         a number
 * @return RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE  the array does not fit
 * @return RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Keeps the memory of the array alive.
 */
RUBUS_API rubus_status rubus_form_set_array(rubus_form *form, const char *name,
                                            rubus_array *array) RUBUS_CHECKED;

/** Sets a number. @param value  Of an int parameter: a whole number.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no such parameter, it is a field, it is an int
 *          and the value is not whole or too large), RUBUS_ESTALE, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_form_set_number(rubus_form *form, const char *name,
                                             double value) RUBUS_CHECKED;

/** A parameter of a form: a number, or one number for each point. */
typedef struct rubus_form_param {
    size_t struct_size; /**< set by the caller */
    const char *name;   /**< lives as long as the form */
    int32_t kind;       /**< RUBUS_FORM_FIELD, _REAL or _INT */
    int32_t axis;       /**< `field f[x]`: 0, [y]: 1, [z]: 2; else -1 */
} rubus_form_param;
#define RUBUS_FORM_FIELD 1 /**< set by rubus_form_set_array */
#define RUBUS_FORM_REAL 2  /**< set by rubus_form_set_number */
#define RUBUS_FORM_INT 3   /**< set by rubus_form_set_number */

/** Number of parameters beside the trial and test functions; 0 for NULL. @return as said
 *  @threads Any thread. */
RUBUS_API uint32_t rubus_form_param_count(const rubus_form *form);
/** Fills *param for parameter `at`, in the order of the source.
 *  @return RUBUS_OK, RUBUS_EINVAL
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_form_param_get(const rubus_form *form, uint32_t at,
                                            rubus_form_param *param) RUBUS_CHECKED;

#ifndef __cplusplus
/** rubus_form_set(form, "kappa", kappa), rubus_form_set(form, "t", 0.5). C only. */
#define rubus_form_set(form, name, value)                                                \
    _Generic((value), rubus_array *                                                      \
             : rubus_form_set_array, default                                             \
             : rubus_form_set_number)((form), (name), (value))
#endif

/* --- constraints ------------------------------------------------------------------ */

#define RUBUS_ALL (-1) /**< all components */

/**
 * A constraint on grid functions of a space: u = g on some points (Dirichlet). It has no
 * points at first.
 *
 * @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the space. Destroy with rubus_constraint_destroy.
 */
RUBUS_API rubus_status rubus_constraint_create(
    rubus_space *space, rubus_constraint **out_constraint) RUBUS_CHECKED;

/** Gives the constraint back; operators made with it hold what they need. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_constraint_destroy(rubus_constraint *constraint);

/**
 * Holds u at an array on the points of some labels. Where several additions meet, the
 * last wins.
 *
 * @param labels     "left,inlet"
 * @param component  From 0, or RUBUS_ALL.
 * @param array      The values; read whenever the constraint is used. A grid function of
 *                   the space, or shaped like the mesh.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, no label in `labels`, no such component
 * @return RUBUS_ENOTFOUND  no such label; the text lists those that exist
 * @return RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE  the array is none of the space
 * @return RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Keeps the memory of the array alive.
 */
RUBUS_API rubus_status rubus_constraint_add_array(rubus_constraint *constraint,
                                                  const char *labels, int32_t component,
                                                  rubus_array *array) RUBUS_CHECKED;

/** Holds u at a number on the points of some labels.
 *  @return as rubus_constraint_add_array
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_constraint_add_number(rubus_constraint *constraint,
                                                   const char *labels, int32_t component,
                                                   double value) RUBUS_CHECKED;

#ifndef __cplusplus
/** rubus_constraint_add(bc, "left", RUBUS_ALL, g), rubus_constraint_add(bc, "top", 0,
 *  0.0). C only. */
#define rubus_constraint_add(constraint, labels, component, value)                       \
    _Generic((value), rubus_array *                                                      \
             : rubus_constraint_add_array, default                                       \
             : rubus_constraint_add_number)((constraint), (labels), (component),         \
                                            (value))
#endif

/** u = g on the constrained points, enqueued; nothing else of u changes.
 *  @param u  A grid function of the space; it may be one that holds values itself.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE,
 *          RUBUS_ESTALE, RUBUS_EALIAS (u overlaps values, but is not the same array),
 *          RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_constraint_apply(rubus_constraint *constraint,
                                              rubus_array *u) RUBUS_CHECKED;

/* --- using forms ------------------------------------------------------------------ */

/**
 * F = l(v) for each unit vector v; then F = g on the constrained points. Enqueued.
 *
 * @param form        A linear form.
 * @param constraint  On the test space; NULL: none.
 * @param F           A grid function of the test space.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, the form is bilinear, the constraint is on another space
 * @return RUBUS_ESTATE    a parameter of the form is not set; the text names it
 * @return RUBUS_EALIAS    F overlaps an array that the form or the constraint reads
 * @return RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE  F is none of the space
 * @return RUBUS_EUNSUPPORTED  the kernel cannot be built for the device (first use only)
 * @return RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_form_vector(rubus_form *form, rubus_constraint *constraint,
                                         rubus_array *F) RUBUS_CHECKED;

/** The number a(u, v), or l(v). @param u  Of the trial space; NULL for a linear form.
 *  @param v  Of the test space; the same as u, if wanted.
 *  @return as rubus_form_vector; RUBUS_EINVAL if there is a u for a linear form
 *  @threads Any thread; waits for the number. */
RUBUS_API rubus_status rubus_form_value(rubus_form *form, rubus_array *u, rubus_array *v,
                                        double *out_value) RUBUS_CHECKED;

/**
 * A bilinear form as an operator that stores no matrix: what it reads, fields and
 * numbers, it reads at every use. Constrained rows are those of the identity.
 *
 * Applying it makes and allocates nothing once it was applied. It is symmetric
 * (RUBUS_SYMMETRIC_YES) if rubus_form_is_symmetric is true, else not (_NO).
 *
 * @param form        Trial and test space have the same number of components.
 * @param constraint  The points that it has now are constrained; NULL: none.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, the form is linear, the numbers of components differ, the
 *                       constraint is on another space
 * @return RUBUS_EFOREIGN, RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST,
 *         RUBUS_EFORKED
 * @threads Any thread. The operator also, and several at once.
 * @owner   Holds the form. Destroy with rubus_operator_destroy.
 */
RUBUS_API rubus_status rubus_form_operator(rubus_form *form, rubus_constraint *constraint,
                                           rubus_operator **out_operator) RUBUS_CHECKED;

/**
 * Moves the known values to the right side, for matrices without constrained columns:
 * F = F - A g, where g is 0 off the constrained points; then F = g on them. Enqueued.
 *
 * @param form  As for rubus_form_operator.
 * @param F     A grid function of the test space.
 * @return as rubus_form_vector; RUBUS_EINVAL also for a linear form, and if constraint is
 *         NULL
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_form_lift(rubus_form *form, rubus_constraint *constraint,
                                       rubus_array *F) RUBUS_CHECKED;

/* --- matrices of forms ------------------------------------------------------------ */

#define RUBUS_ROWS 1 /**< constrained rows are those of the identity */
#define RUBUS_SYM 2  /**< constrained columns too: rubus_form_lift does the right side */

/**
 * A bilinear form as a matrix, with its values of now.
 *
 * An entry is stored wherever the form can give one, also where it gives 0, and on the
 * diagonal of constrained rows. The pattern and the constrained points are those of this
 * call; rubus_form_assemble changes values only. Rows and columns are numbered by
 * component, then as the points of the mesh. Indices have the index type of the module.
 *
 * @param form        Test and trial space may have different numbers of components if
 *                    there is no constraint.
 * @param constraint  On the test space; NULL: none.
 * @param mode        RUBUS_ROWS or RUBUS_SYM
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, an unknown mode, the form is linear, the constraint is on
 *                       another space, a constraint on a form that is not square
 * @return RUBUS_ESTATE  a parameter of the form is not set; the text names it
 * @return RUBUS_ELIMIT  more entries than the index type of the module can count
 * @return RUBUS_EUNSUPPORTED  a kernel cannot be built for the device
 * @return RUBUS_EFOREIGN, RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST,
 *         RUBUS_EFORKED
 * @threads Any thread.
 * @owner   The matrix holds the form. Destroy with rubus_csr_destroy.
 */
RUBUS_API rubus_status rubus_form_matrix(rubus_form *form, rubus_constraint *constraint,
                                         int32_t mode,
                                         rubus_csr **out_matrix) RUBUS_CHECKED;

/**
 * Fills a matrix of rubus_form_matrix anew, constrained rows included, with what the
 * fields and numbers of the form are now. Enqueued; no value of the matrix moves between
 * host and device, and its mirror is not touched (rubus_csr_pull fetches the values).
 *
 * Each row is written by one point of a kernel, entry by entry in the order of its
 * columns: the same bits on any number of threads.
 *
 * @param form    The one that made the matrix.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, the matrix is of another form, or of none; the text names
 *                       the first term that adds to entries that it has not. The matrix
 *                       has not changed
 * @return RUBUS_EFOREIGN  the matrix is of another context
 * @return RUBUS_ESTATE  a parameter of the form is not set, the matrix is mapped
 * @return RUBUS_EUNSUPPORTED, RUBUS_ESTALE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST,
 *         RUBUS_EFORKED
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_form_assemble(rubus_form *form,
                                           rubus_csr *matrix) RUBUS_CHECKED;

#define RUBUS_FILL_ROWS 0    /**< as rubus_form_assemble does */
#define RUBUS_FILL_SCATTER 1 /**< by points of the mesh, with atomic additions */
#define RUBUS_FILL_GATHER 2  /**< by rows through a table of positions */
#define RUBUS_FILL_HOST 3    /**< by a table in the mirror, then one flush */
#define RUBUS_FILL_SEARCH 4  /**< by search in the mirror, then one flush */

/**
 * rubus_form_assemble in another way. All give the same values up to rounding, and all
 * but RUBUS_FILL_SCATTER the same bits at every call.
 *
 * SCATTER and GATHER go by a table that says where each contribution of each point adds;
 * it is made at the first call and kept with the matrix. Where atomic additions do not
 * work, SCATTER is GATHER. HOST and SEARCH compute the contributions on the device and
 * add them on the host; they fill the mirror too.
 *
 * @param how  RUBUS_FILL_*
 * @return as rubus_form_assemble; RUBUS_EINVAL also for an unknown `how`; RUBUS_ELIMIT if
 *         the table is larger than the index type of the module can count
 * @threads Any thread; HOST and SEARCH: one thread at a time uses the mirror's values.
 */
RUBUS_API rubus_status rubus_form_assemble_how(rubus_form *form, rubus_csr *matrix,
                                               int32_t how) RUBUS_CHECKED;

#define RUBUS_STENCIL 1 /**< an array of entries for each offset; no indices */
#define RUBUS_CSR 2     /**< compressed rows */

/**
 * A bilinear form as an operator that stores its entries, as they are now: worth it where
 * computing them is dear (divisions, exp) and they are applied often. Otherwise
 * rubus_form_operator is faster.
 *
 * @param storage  RUBUS_STENCIL or RUBUS_CSR
 * @return as rubus_form_operator; RUBUS_EINVAL also for an unknown storage; RUBUS_ESTATE,
 *         RUBUS_ELIMIT, RUBUS_EUNSUPPORTED as rubus_form_matrix
 * @threads Any thread.
 * @owner   Holds the form. Destroy with rubus_operator_destroy.
 */
RUBUS_API rubus_status
rubus_form_operator_stored(rubus_form *form, rubus_constraint *constraint,
                           int32_t storage, rubus_operator **out_operator) RUBUS_CHECKED;

/** Computes the entries of such an operator anew. Enqueued.
 *  @return as rubus_form_assemble; RUBUS_EINVAL if the operator is of another kind
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_form_operator_refill(rubus_operator *op) RUBUS_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
