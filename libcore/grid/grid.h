/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_GRID_H
#define RUBUS_GRID_H
/*
 * What the files of the grid layer share, and what the layers above see of a mesh and a
 * space.
 *
 * The geometry of a mesh is a state that never changes: axes, sizes, a version. A change
 * makes a new state, and puts it into the mesh at its end, so that a call that works with
 * the old one is not disturbed and a failure leaves the mesh as it was. Only two things
 * are added to a state later: markers, and masks that somebody asked for.
 *
 * Locks: `change` of a mesh (one change at a time) before `lock` of a state before `lock`
 * of a mesh before those of the runtime.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <rubus/mesh.h>
#include <rubus/space.h>

#include "libcore/runtime/runtime.h"

enum {
    RUBUS__AXIS_ARRAYS = 7, /* RUBUS_MESH_POINTS ... RUBUS_MESH_MIDDLES */
    RUBUS__MARKERS_MOST = 64
};

/* The points of an axis; shared by the states of meshes. */
typedef struct rubus__axis {
    atomic_int references;
    double lower; /* the interval */
    double upper;
    int64_t n;
    double *x;   /* [n] as numbers of the mesh's type */
    double hmax; /* 0 for a single point */
    bool uniform;
    rubus_array *array[RUBUS__AXIS_ARRAYS];
} rubus__axis;

typedef enum {
    RUBUS__MARKER_FACES,
    RUBUS__MARKER_FUNC,
    RUBUS__MARKER_CALLBACK
} rubus__marker_kind;

/* A label and its rule. */
typedef struct rubus__marker {
    atomic_int references;
    rubus__marker_kind kind;
    char *label;
    uint32_t faces;         /* bit 2d: lower face of axis d, bit 2d + 1: upper */
    const rubus_func *func; /* its module is held */
    rubus_point_predicate callback;
    void *user;
} rubus__marker;

/* Points that some labels mean: a union. */
typedef struct rubus__labels {
    uint32_t faces;
    bool interior;    /* and the complement of what `boundary` means */
    uint64_t markers; /* bit k: and the points of marker k, which is no face */
} rubus__labels;

/* A union that was asked for. */
typedef struct rubus__mask {
    struct rubus__mask *next;
    rubus__labels labels;
    rubus_array *array;
    uint8_t *host; /* [count], read when first wanted */
} rubus__mask;

typedef struct rubus__state {
    atomic_int references;
    rubus_context *context; /* held */
    int32_t type;
    int32_t ndim;
    uint64_t version;
    double time;
    rubus_shape shape;
    int64_t count;
    rubus__axis *axis[3];
    pthread_mutex_t lock; /* guards all below */
    int32_t nmarker;
    rubus__marker *marker[RUBUS__MARKERS_MOST];
    rubus_array *marked[RUBUS__MARKERS_MOST]; /* points of a func or callback */
    rubus__mask *mask;
} rubus__state;

struct rubus_mesh {
    rubus__object object;
    atomic_int references;
    rubus_context *context; /* held */
    pthread_mutex_t change;
    pthread_mutex_t lock; /* guards state */
    rubus__state *state;
};

struct rubus_space {
    rubus__object object;
    atomic_int references;
    rubus_mesh *mesh; /* held */
    uint64_t version; /* of the mesh, when the space was made */
    int32_t ncomponent;
    rubus_shape shape; /* of the mesh */
    int64_t count;     /* points */
};

/* --- set.c -------------------------------------------------------------------------- */

/* Whether an interval is a point, for numbers of this type. */
bool rubus__interval_collapsed(double lower, double upper, int32_t type);
/* rubus_set_box for another call. */
rubus_status rubus__set_box(const char *what, int32_t ndim, const double *p,
                            const double *q, rubus_set *out_set);

/* --- axis.c ------------------------------------------------------------------------- */

/* desc is checked here; `at` is the number of the axis, for messages of `what`. */
rubus_status rubus__axis_create(const char *what, rubus_context *context, int32_t type,
                                int32_t at, const rubus_axis_desc *desc,
                                rubus__axis **out_axis);
rubus_status rubus__axis_refine(const char *what, rubus_context *context, int32_t type,
                                int32_t at, rubus__axis *axis, rubus__axis **out_axis);
rubus__axis *rubus__axis_hold(rubus__axis *axis);
void rubus__axis_release(rubus__axis *axis);

/* --- axis_points.c: points on the host, as numbers of the mesh's type --------------- */

double rubus__round_to(int32_t type, double x);
/* The same numbers as floats, to be freed; NULL: out of memory. */
float *rubus__narrow(const double *x, int64_t n);
/* An array of n numbers, as numbers of the type. */
rubus_status rubus__upload(rubus_context *context, int32_t type, rubus_shape shape,
                           const double *x, int64_t n, rubus_array **out_array);
/* x[n] of the interval; distance of neighbours, for the device, in *out_step. */
void rubus__points_uniform(int32_t type, double lower, double upper, int64_t n, double *x,
                           double *out_step);
/* The ends and n - 2 different numbers between them. ELIMIT: there are not so many. */
rubus_status rubus__points_random(const char *what, int32_t type, double lower,
                                  double upper, int64_t n, uint64_t seed, double *x);
/* fine[2n-1] */
void rubus__points_refined(int32_t type, const double *x, int64_t n, double *fine);
bool rubus__points_are_uniform(int32_t type, const double *x, int64_t n);

/* --- state.c ------------------------------------------------------------------------ */

/* A state without markers; takes over the references to the axes, also on failure. */
rubus_status rubus__state_create(const char *what, rubus_context *context, int32_t type,
                                 int32_t ndim, rubus__axis *const *axis,
                                 rubus__state **out_state);
rubus__state *rubus__state_hold(rubus__state *state);
void rubus__state_release(rubus__state *state);
/* Kernel of a source of the library, for the type of the state. */
rubus_status rubus__state_kernel(const rubus__state *state, const char *source,
                                 const char *name, const rubus_kernel **out_kernel);
/* The kernel NAME_1d, _2d or _3d. */
rubus_status rubus__state_kernel_nd(const rubus__state *state, const char *source,
                                    const char *name, const rubus_kernel **out_kernel);
/* The point of a linear index. */
void rubus__state_point(const rubus__state *state, int64_t index, double *out_x);

/* --- mesh.c ------------------------------------------------------------------------- */

/* The present state, to be released; EINVAL for NULL, EFORKED. */
rubus_status rubus__mesh_enter(const rubus_mesh *mesh, const char *what,
                               rubus__state **out_state);
void rubus__mesh_hold(rubus_mesh *mesh);

/* --- face.c: names of faces --------------------------------------------------------- */

/* The faces of a list of names, "left,top"; ENOTFOUND lists those there are. */
rubus_status rubus__faces_parse(const char *what, int32_t ndim, const char *names,
                                uint32_t *out_faces);
/* One face; 0: no such name. */
uint32_t rubus__face_find(int32_t ndim, const char *name, size_t size);
/* Adds the names to a text: "left, right, xmin, xmax". */
void rubus__faces_list(int32_t ndim, rubus__text *out);
/* The next name of a list, without blanks around; false at the end. */
bool rubus__list_next(const char **rest, const char **out_name, size_t *out_size);

/* --- marker.c ----------------------------------------------------------------------- */

rubus_status rubus__marker_create(const char *what, const rubus__state *state,
                                  const rubus_marker_desc *desc,
                                  rubus__marker **out_marker);
rubus__marker *rubus__marker_hold(rubus__marker *marker);
void rubus__marker_release(rubus__marker *marker);
/* Its points by func or callback; *out_mask is NULL for faces. */
rubus_status rubus__marker_evaluate(const rubus__state *state,
                                    const rubus__marker *marker, rubus_array **out_mask);
/* Adds a marker with its points to a state that nobody else sees yet, or whose lock is
 * held: takes over the references to both. */
void rubus__state_add_marker(rubus__state *state, rubus__marker *marker,
                             rubus_array *mask);
/* Whether the label is one that every mesh has. */
bool rubus__label_is_automatic(const rubus__state *state, const char *label);

/* --- mask.c ------------------------------------------------------------------------- */

/* Resolves "left,inlet". EINVAL: no label in it (also for NULL). ENOTFOUND. */
rubus_status rubus__labels_parse(const char *what, rubus__state *state,
                                 const char *labels, rubus__labels *out_labels);
/* The same for whole faces: EINVAL names the first label that is none. NULL or no label:
 * the faces of `boundary` as every mesh has it. */
rubus_status rubus__labels_faces(const char *what, rubus__state *state,
                                 const char *labels, uint32_t *out_faces);
/* Whether there is a label in the list; false for NULL. */
bool rubus__labels_any(const char *labels);
/* Faces of all axes with more than one point. */
uint32_t rubus__state_boundary(const rubus__state *state);
/* Made once in a state, and as long as it. */
rubus_status rubus__state_mask(rubus__state *state, const rubus__labels *labels,
                               rubus_array **out_mask);
/* On the host, [count] bytes; read once. */
rubus_status rubus__state_host_mask(rubus__state *state, const rubus__labels *labels,
                                    const uint8_t **out_mask);

/* --- space.c ------------------------------------------------------------------------ */

void rubus__space_hold(rubus_space *space);
/* The state that the space was made for, to be released. EINVAL, ESTALE, EFORKED. */
rubus_status rubus__space_enter(const rubus_space *space, const char *what,
                                rubus__state **out_state);
/* The same where the state is not wanted. */
rubus_status rubus__space_fresh(const rubus_space *space, const char *what);
/* Whether `u` is a grid function of the space: EINVAL (NULL; `name` is that of the
 * parameter), EFOREIGN, ETYPE, ESHAPE. component: or one component of one. */
rubus_status rubus__space_check(const rubus_space *space, const char *what,
                                const char *name, const rubus_array *u, bool component);
/* Component k of a checked grid function: a window to be destroyed. */
rubus_status rubus__space_window(const rubus_space *space, rubus_array *u, int32_t k,
                                 rubus_array **out_window);
/* Components of a checked grid function: those of the space, or 1. */
int32_t rubus__space_components(const rubus_space *space, const rubus_array *u);

#endif
