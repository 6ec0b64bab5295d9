/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_MESH_H
#define RUBUS_MESH_H
/**
 * Tensor meshes of 1 to 3 axes, and labels for parts of them.
 *
 * A mesh is made of the points of each axis; nothing of it grows with their product. It
 * may change: rubus_mesh_refine, rubus_mesh_set_points, rubus_mesh_set_time. Each change
 * raises its version, and what was made for an older one (a space) is refused from then
 * on with RUBUS_ESTALE. Axes, points and faces count from 0; x runs fastest.
 */
#include <rubus/kernel.h>
#include <rubus/set.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct rubus_mesh rubus_mesh;

/** The points of an axis: uniform, or given, or random. */
typedef struct rubus_axis_desc {
    double lower; /**< the interval; 0, 0 with given points: from the first to the last */
    double upper;
    int64_t n;           /**< points; 1 only where lower equals upper */
    const double *point; /**< [n] strictly increasing, within the interval; NULL: none */
    uint64_t seed;       /**< not 0, no points given: the inner points are random */
} rubus_axis_desc;

/** Whether a point belongs to a part of the mesh. x: [ndim]; t: the time of the mesh. It
 *  may ask the mesh for things, but not change it. */
typedef bool (*rubus_point_predicate)(void *user, const double *x, double t);

/** A label and its rule: exactly one of faces, func, callback. */
typedef struct rubus_marker_desc {
    const char *label;
    const char *faces;      /**< names of faces: "left,top" */
    const rubus_func *func; /**< func bool f(real x [, real y [, real z]] [, real t]) */
    rubus_point_predicate callback;
    void *user; /**< for the callback */
} rubus_marker_desc;

/** What a mesh is made from. Zero everywhere else is the default. */
typedef struct rubus_mesh_desc {
    size_t struct_size; /**< set by the caller: sizeof(rubus_mesh_desc) */
    int32_t ndim;       /**< 1 to 3 */
    int32_t type;       /**< RUBUS_F32 or RUBUS_F64 (0: RUBUS_F64) */
    rubus_axis_desc axis[3];
    const rubus_marker_desc *marker; /**< [nmarker] */
    int32_t nmarker;
    int32_t reserved0;
    double time; /**< what funcs and callbacks of markers get as t */
} rubus_mesh_desc;

/**
 * A mesh.
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, ndim, type or a size is wrong, an interval is empty or
 *                          not finite, points do not increase (the text names the index),
 *                          or as rubus_mesh_mark and rubus_mesh_mark_func for a marker
 * @return RUBUS_ENOTFOUND  a marker names no face of such a mesh
 * @return RUBUS_ELIMIT     more than 2^31 - 1 points, or so many random points that they
 *                          cannot differ
 * @return RUBUS_EUNSUPPORTED  the device has no f64
 * @return RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the context and the modules of funcs. Destroy with rubus_mesh_destroy.
 */
RUBUS_API rubus_status rubus_mesh_create(rubus_context *context,
                                         const rubus_mesh_desc *desc,
                                         rubus_mesh **out_mesh) RUBUS_CHECKED;

/** A uniform mesh of shape.rank axes between two opposite corners, in any order.
 *  @param shape  Points of each axis: RUBUS_SHAPE(nx, ny).
 *  @param p      [rank] a corner, q the other
 *  @return as rubus_mesh_create
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_create_box(rubus_context *context, int32_t type,
                                             rubus_shape shape, const double *p,
                                             const double *q,
                                             rubus_mesh **out_mesh) RUBUS_CHECKED;

/** Gives the mesh back. Spaces hold it: any order is right. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_mesh_destroy(rubus_mesh *mesh);

/* --- labels ----------------------------------------------------------------------- */

/*
 * Names of faces, lower and upper:
 *
 *   1D   x: left right, xmin xmax
 *   2D   x: left right, xmin xmax    y: bottom top, ymin ymax
 *   3D   x: back front, xmin xmax    y: left right, ymin ymax    z: bottom top, zmin zmax
 *
 * They are labels of every mesh, and so are `boundary`, the union of the faces of all
 * axes with more than one point, and `interior`, the complement of `boundary`. A marker
 * of the same label takes the place of such a one (with a warning in the log, and a new
 * version). Several labels, "inlet,top", are the union of their points.
 */

/**
 * Marks whole faces: rubus_mesh_mark(mesh, "wall", "left,top").
 *
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, the label is no name or is taken
 * @return RUBUS_ENOTFOUND  no face of that name; the text lists those of such a mesh
 * @return RUBUS_ELIMIT     more than 64 markers
 * @return RUBUS_ENOMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_mesh_mark(rubus_mesh *mesh, const char *label,
                                       const char *faces) RUBUS_CHECKED;

/**
 * Marks the points where a func holds; it is evaluated on the device, now and after every
 * change of the mesh.
 *
 * @param func  func bool f(real x, real y), with as many reals as the mesh has axes, or
 *              one more: the time of the mesh.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, the label is no name or is taken, the func does not take
 *                          such numbers or gives no bool
 * @return RUBUS_ENOTFOUND  func is NULL
 * @return RUBUS_EFOREIGN   the func is of a module of another context
 * @return RUBUS_ELIMIT     more than 64 markers
 * @return RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_EUNSUPPORTED, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   Holds the module of the func.
 */
RUBUS_API rubus_status rubus_mesh_mark_func(rubus_mesh *mesh, const char *label,
                                            const rubus_func *func) RUBUS_CHECKED;

/** Marks the points where a host function holds; it is called for every point, now and
 *  after every change of the mesh, and the mask is written to the device at once.
 *  @return as rubus_mesh_mark_func
 *  @threads Any thread; the function is called from those that change the mesh. */
RUBUS_API rubus_status rubus_mesh_mark_callback(rubus_mesh *mesh, const char *label,
                                                rubus_point_predicate callback,
                                                void *user) RUBUS_CHECKED;

/**
 * The union of some labels as an array of bools, shaped like the mesh. It is made once
 * for a version; later calls give further windows on the same memory.
 *
 * @param labels  "left,inlet"
 * @return RUBUS_OK
 * @return RUBUS_EINVAL     NULL, or there is no label in `labels`
 * @return RUBUS_ENOTFOUND  no such label; the text lists those that exist
 * @return RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED
 * @threads Any thread.
 * @owner   The caller destroys *out_mask, and does not write to it.
 */
RUBUS_API rubus_status rubus_mesh_mask(rubus_mesh *mesh, const char *labels,
                                       rubus_array **out_mask) RUBUS_CHECKED;

/* --- changing --------------------------------------------------------------------- */

/** Puts a point into the middle of every interval: n becomes 2n - 1.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, or points would fall together), RUBUS_ELIMIT,
 *          RUBUS_ENOMEM, RUBUS_EDEVMEM, RUBUS_ELOST, RUBUS_EFORKED. On failure the mesh
 *          is what it was
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_refine(rubus_mesh *mesh) RUBUS_CHECKED;

/** Moves the points of an axis to x [n].
 *  @return as rubus_mesh_refine; RUBUS_EINVAL if x does not increase strictly or leaves
 *          the interval; RUBUS_ESHAPE if n is not the number of points
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_set_points(rubus_mesh *mesh, int32_t axis, int64_t n,
                                             const double *x) RUBUS_CHECKED;

/** Sets the time that funcs and callbacks of markers get, and evaluates them again.
 *  @return as rubus_mesh_refine; RUBUS_EINVAL if t is not finite
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_set_time(rubus_mesh *mesh, double t) RUBUS_CHECKED;

/* --- looking ---------------------------------------------------------------------- */

/** Counts the changes, from 1; 0 for NULL. @return as said @threads Any thread. */
RUBUS_API uint64_t rubus_mesh_version(const rubus_mesh *mesh);
/** Number of axes; 0 for NULL. @return as said @threads Any thread. */
RUBUS_API int32_t rubus_mesh_ndim(const rubus_mesh *mesh);
/** Points of each axis; rank 0 for NULL. @return as said @threads Any thread. */
RUBUS_API rubus_shape rubus_mesh_shape(const rubus_mesh *mesh);
/** RUBUS_F32 or RUBUS_F64; 0 for NULL. @return as said @threads Any thread. */
RUBUS_API int32_t rubus_mesh_type(const rubus_mesh *mesh);
/** The largest diagonal of a cell between neighbouring points; 0 for NULL. @return as
 *  said
 *  @threads Any thread. */
RUBUS_API double rubus_mesh_hmax(const rubus_mesh *mesh);
/** Whether the spacings of an axis are equal up to rounding (1e-10, or 4 n eps of the
 *  first if that is more). @return false also for NULL or no such axis
 *  @threads Any thread. */
RUBUS_API bool rubus_mesh_is_uniform(const rubus_mesh *mesh, int32_t axis);
/** The set on which the mesh stands.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_set_get(const rubus_mesh *mesh,
                                          rubus_set *out_set) RUBUS_CHECKED;
/** The context of the mesh; NULL for NULL. @return as said @threads Any thread. */
RUBUS_API rubus_context *rubus_mesh_context(const rubus_mesh *mesh);

/** Copies the points of an axis, as numbers of the mesh's type, to out [n].
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no such axis), RUBUS_ESHAPE (n is not the number
 *          of points), RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_points(const rubus_mesh *mesh, int32_t axis,
                                         double *out, int64_t n) RUBUS_CHECKED;

/** For each axis the last point that is not beyond point [ndim]; 0 where all are, and for
 *  NaN.
 *  @param out_index  [ndim]
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_EFORKED
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_mesh_locate(const rubus_mesh *mesh, const double *point,
                                         int64_t *out_index) RUBUS_CHECKED;

/* Arrays of an axis with n points x[0] < x[1] < ... of the mesh's type. An axis that is a
 * single point has x = [lower], h = f = a = [0], w = [1], s = [], q = [lower, lower]. */
#define RUBUS_MESH_POINTS 0  /**< [n] the points */
#define RUBUS_MESH_SPACING 1 /**< [n] x[i] - x[i-1], and h[0] = h[1] */
#define RUBUS_MESH_FORWARD 2 /**< [n] x[i+1] - x[i], and f[n-1] = f[n-2] */
#define RUBUS_MESH_STAR 3    /**< [n-1] (h[i] + h[i+1]) / 2, s[0] = h[1] */
#define RUBUS_MESH_CELLS 4   /**< [n] length of the cell q[i] to q[i+1] */
#define RUBUS_MESH_ALIGNED 5 /**< [n] h[i], but a[0] = 0 */
#define RUBUS_MESH_MIDDLES 6 /**< [n+1] middles, and the first and last point */

/** A window on such an array of the present version.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, no such axis or array), RUBUS_ENOMEM,
 *          RUBUS_EFORKED
 *  @threads Any thread.
 *  @owner   The caller destroys *out_array, and does not write to it. */
RUBUS_API rubus_status rubus_mesh_axis_array(const rubus_mesh *mesh, int32_t axis,
                                             int32_t which,
                                             rubus_array **out_array) RUBUS_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
