/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_SPACE_H
#define RUBUS_SPACE_H
/**
 * Spaces of grid functions on a mesh: arrays, projections, inner products and norms.
 *
 * A grid function is an ordinary array of the mesh's type, shaped like the mesh; of a
 * space with several components it has one dimension more, the components, last
 * (slowest). A space belongs to the version that its mesh had when it was made: after a
 * change of the mesh every call with it gives RUBUS_ESTALE, and a new space is needed.
 *
 * Labels are those of mesh.h, as lists "left,inlet"; NULL stands for all points. Numbers
 * are summed in the order that the shape alone fixes, so they are the same, to the bit,
 * on any number of threads.
 */
#include <rubus/mesh.h>
#include <rubus/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_space rubus_space;

/**
 * A space of `ncomponent` grid functions.
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, or ncomponent < 1
 * @return RUBUS_ELIMIT  more than 2^31 - 1 numbers
 * @return RUBUS_ENOMEM, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the mesh. Destroy with rubus_space_destroy.
 */
RUBUS_API rubus_status rubus_space_create(rubus_mesh *mesh, int32_t ncomponent,
                                          rubus_space **out_space) RUBUS_CHECKED;

/** The product of some spaces, which may be products themselves: its components are those
 *  of the first, then those of the second, and so on.
 *  @return as rubus_space_create; RUBUS_EINVAL if they are on different meshes of one
 *          context, RUBUS_EFOREIGN if of different contexts, RUBUS_ESTALE if one of them
 *          is older than its mesh
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_space_create_product(int32_t nspace,
                                                  rubus_space *const *space,
                                                  rubus_space **out_space) RUBUS_CHECKED;

/** Gives the space back. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_space_destroy(rubus_space *space);

/** The mesh of a space, which the space holds; NULL for NULL. @return as said
 *  @threads Any thread. */
RUBUS_API rubus_mesh *rubus_space_mesh(const rubus_space *space);
/** Number of components; 0 for NULL. @return as said @threads Any thread. */
RUBUS_API int32_t rubus_space_ncomponent(const rubus_space *space);
/** Shape of a grid function; rank 0 for NULL. @return as said @threads Any thread. */
RUBUS_API rubus_shape rubus_space_shape(const rubus_space *space);

/* --- grid functions --------------------------------------------------------------- */

/** A grid function with `value` everywhere.
 *  @return as rubus_array_create; RUBUS_ESTALE
 *  @threads Any thread.
 *  @owner   Destroy with rubus_array_destroy. */
RUBUS_API rubus_status rubus_space_array(const rubus_space *space, double value,
                                         rubus_array **out_array) RUBUS_CHECKED;

/** As many grid functions of zeros as there are pointers: all of them, or none.
 *  @return as rubus_space_array; RUBUS_EINVAL for a NULL among the pointers
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_space_arrays(const rubus_space *space, int32_t n,
                                          rubus_array **const *out_array) RUBUS_CHECKED;

/** RUBUS_ARRAYS(space, &u, &g, &f): rubus_space_arrays for the pointers given. C only. */
#define RUBUS_ARRAYS(space, ...)                                                         \
    rubus_space_arrays((space),                                                          \
                       (int32_t)(sizeof((rubus_array **const[]){__VA_ARGS__}) /          \
                                 sizeof(rubus_array **)),                                \
                       (rubus_array * *const[]){__VA_ARGS__})

/** Component k of a grid function: a window, shaped like the mesh, on the memory of u.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no such component), RUBUS_EFOREIGN, RUBUS_ETYPE,
 *          RUBUS_ESHAPE (u is no grid function of the space), RUBUS_ESTALE, RUBUS_ENOMEM,
 *          RUBUS_EUNSUPPORTED (the device wants windows to begin elsewhere),
 *          RUBUS_EFORKED
 *  @threads Any thread.
 *  @owner   Destroy with rubus_array_destroy. */
RUBUS_API rubus_status rubus_space_component(const rubus_space *space, rubus_array *u,
                                             int32_t k,
                                             rubus_array **out_window) RUBUS_CHECKED;

/* --- projections ------------------------------------------------------------------ */

#define RUBUS_POINT 1 /**< the value at each point */
#define RUBUS_CELL_MEAN                                                                  \
    2 /**< the mean over the cell of each point: 6 Gauss nodes an axis */

/**
 * Projects a func onto the grid, on the device.
 *
 * @param func    func real f(real x, real y), with as many reals as the mesh has axes, or
 *                one more, which is `time`; then, if wanted, an int: the component.
 *                Without it all components become equal.
 * @param how     RUBUS_POINT or RUBUS_CELL_MEAN. Cells end in the middle between points,
 *                and at the boundary.
 * @param labels  Other points become exactly 0, and func is not called there.
 * @param u       A grid function of the space, or one component of one (component 0).
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, unknown how, func takes other numbers (the text shows
 * what
 *                          is wanted)
 * @return RUBUS_ENOTFOUND  func is NULL, or there is no such label
 * @return RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE  u is none of the space; or func is
 * of
 *                          another context
 * @return RUBUS_ESTALE     the mesh changed
 * @return RUBUS_ESTATE, RUBUS_EUNSUPPORTED, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST,
 *         RUBUS_EFORKED
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_project(const rubus_space *space, const rubus_func *func,
                                     int32_t how, const char *labels, double time,
                                     rubus_array *u) RUBUS_CHECKED;

/** A host function of a point: x [ndim]; writes as many values to out as u has
 *  components. */
typedef void (*rubus_point_function)(void *user, const double *x, double t, double *out);

/** Projects a host function: evaluated on the host in double, written to u at once.
 *  @return as rubus_project; RUBUS_EINVAL if the function is NULL
 *  @threads Any thread; the function is called from this one. */
RUBUS_API rubus_status rubus_project_callback(const rubus_space *space,
                                              rubus_point_function callback, void *user,
                                              int32_t how, const char *labels,
                                              double time, rubus_array *u) RUBUS_CHECKED;

/* --- inner products --------------------------------------------------------------- */

#define RUBUS_AXIS_X 1u
#define RUBUS_AXIS_Y 2u
#define RUBUS_AXIS_Z 4u

/**
 * Sum of w u v, where w is the product over the axes of the spacing below the point (a of
 * mesh.h) on those in `axes`, and of the length of its cell (w of mesh.h) on the others.
 * axes 0 is rubus_inner_h; RUBUS_AXIS_X | RUBUS_AXIS_Y is inner_xy.
 *
 * @param labels  Sums over their points, with the same weights.
 * @param value   Of a space with several components: the sum over them (axes 0 only).
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, an axis that the mesh has not, axes of a space with
 *                          several components
 * @return RUBUS_ENOTFOUND  no such label
 * @return RUBUS_EFOREIGN, RUBUS_ETYPE, RUBUS_ESHAPE  u or v is none of the space
 * @return RUBUS_ESTALE, RUBUS_ESTATE, RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST,
 *         RUBUS_EFORKED
 * @threads Any thread; waits for the number.
 */
RUBUS_API rubus_status rubus_inner_axes(const rubus_space *space, uint32_t axes,
                                        rubus_array *u, rubus_array *v,
                                        const char *labels, double *value) RUBUS_CHECKED;

/** rubus_inner_axes with cells on every axis: in 1D the trapezoidal rule.
 *  @return as rubus_inner_axes
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_inner_h(const rubus_space *space, rubus_array *u,
                                     rubus_array *v, const char *labels,
                                     double *value) RUBUS_CHECKED;

/** The sum over the axes d of rubus_inner_axes with that one axis.
 *  @return as rubus_inner_axes; RUBUS_EINVAL for several components
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_inner_plus(const rubus_space *space, rubus_array *u,
                                        rubus_array *v, const char *labels,
                                        double *value) RUBUS_CHECKED;

/** Integral of u v over whole faces: each face has the cells of its points as weights, so
 *  a corner of two faces counts in both. Components are summed.
 *  @param labels  Names of faces, or markers made of them; NULL: `boundary`.
 *  @return as rubus_inner_axes; RUBUS_EINVAL for a label that is no union of faces, or if
 *          both faces of an axis with fewer than 3 points are chosen
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_inner_gamma(const rubus_space *space, rubus_array *u,
                                         rubus_array *v, const char *labels,
                                         double *value) RUBUS_CHECKED;

/** sqrt(inner_h(u, u)).
 *  @return as rubus_inner_axes
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_norm_h(const rubus_space *space, rubus_array *u,
                                    const char *labels, double *value) RUBUS_CHECKED;

/** sqrt(inner_plus(u, u)).
 *  @return as rubus_inner_plus
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_norm_plus(const rubus_space *space, rubus_array *u,
                                       const char *labels, double *value) RUBUS_CHECKED;

/** sqrt of the sum over the axes d of inner_d(D u, D u), D the backward difference
 *  quotient along d, which is 0 on the lower face. Squares are summed over components.
 *  @return as rubus_inner_axes
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_seminorm_1h(const rubus_space *space, rubus_array *u,
                                         const char *labels, double *value) RUBUS_CHECKED;

/** sqrt(norm_h^2 + seminorm_1h^2).
 *  @return as rubus_inner_axes
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_norm_1h(const rubus_space *space, rubus_array *u,
                                     const char *labels, double *value) RUBUS_CHECKED;

/** The largest |u|; 0 if no point has the labels. NaN shows.
 *  @return as rubus_inner_axes
 *  @threads Any thread; waits. */
RUBUS_API rubus_status rubus_norm_inf(const rubus_space *space, rubus_array *u,
                                      const char *labels, double *value) RUBUS_CHECKED;

/* --- weights ---------------------------------------------------------------------- */

/** Writes the weights of rubus_inner_axes to every component of u.
 *  @return as rubus_inner_axes, without those of labels
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_space_weight(const rubus_space *space, uint32_t axes,
                                          rubus_array *u) RUBUS_CHECKED;

/** Writes the weights of rubus_inner_gamma to every component of u.
 *  @return as rubus_inner_gamma
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_space_face_weight(const rubus_space *space,
                                               const char *labels,
                                               rubus_array *u) RUBUS_CHECKED;

/* --- operators as matrices -------------------------------------------------------- */

/**
 * The matrix of an operator on grid functions, made on the host: row p is what the
 * operator gives at point p. Rows where it is 0, for want of a neighbour, are empty. The
 * matrix of "D of c M u" is the product of those of D, of c on a diagonal, and of M
 * (rubus_csr_create_product, rubus_csr_create_diagonal). Of several components each has
 * its block.
 *
 * @param op  As in forms, with an axis, which may be left out in 1D: diffm_x, diffp_x,
 *            jump_x, Dm_x, Dp_x, Mm_x, Mp_x, Dstar_x, Dc_x, Dw_x, Mc_x, lap_x, shift_x,
 *            or as they are printed; lap alone is the sum over the axes.
 * @param k   shift_x: u[i + k], and 0 off the mesh; 0 for all others.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, no such operator or axis, a k without a shift, Dc, Dw or Mc
 *                       on an axis of two points
 * @return RUBUS_ELIMIT  more than 2^31 - 1 entries
 * @return RUBUS_ESTALE; or what rubus_csr_create returns
 * @threads Any thread.
 * @owner   Destroy with rubus_csr_destroy. Its indices are of RUBUS_I32.
 */
RUBUS_API rubus_status rubus_space_operator_matrix(const rubus_space *space,
                                                   const char *op, int32_t k,
                                                   rubus_csr **out_csr) RUBUS_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
