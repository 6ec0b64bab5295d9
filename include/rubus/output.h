/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_OUTPUT_H
#define RUBUS_OUTPUT_H
/** Writing fields: VTK, tables, raw numbers, pictures; meshes, series in time. */
#include <rubus/space.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a field is written. Zero everywhere is the default. */
typedef struct rubus_output_desc {
    size_t struct_size; /**< set by the caller */
    const char *name;   /**< of the field, UTF-8; "u" if NULL or empty */
    const char *title;  /**< one line that stands in the file or over the picture */
    double origin[3];   /**< of the first cell's lower corner */
    double spacing[3];  /**< of cells; 0 counts as 1 */
    double
        contour_first;   /**< pictures: contour lines at first, first + step, ... last; */
    double contour_step; /**< none if step is 0 */
    double contour_last;
    const double *history_x; /**< pictures: a curve below the field, logarithmic in y */
    const double *history_y; /**< nhistory numbers each, finite, y positive */
    size_t nhistory;
    const char *history_label_x;
    const char *history_label_y;
} rubus_output_desc;

/**
 * Writes a field, in the format its ending says: .vti (VTK image data, cell data,
 * appended raw), .vtk (legacy ASCII), .tsv (rank 1 and 2: one row per x, one column per
 * y; rank 3: planes one after the other), .txt (one number a line, first index fastest),
 * .bin (raw little endian, first index fastest), .png (picture).
 *
 * The file appears whole or not at all.
 *
 * @param desc  NULL for the defaults.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL        NULL, an unknown ending, rank over 3, an origin or spacing
 *                             that is not finite, a negative spacing, a history with NULL
 *                             or with numbers that it cannot show, or a picture of
 *                             nothing
 * @return RUBUS_EUNSUPPORTED  a picture was asked for and the drawing module is missing;
 *                             the text names the package
 * @return RUBUS_EIO           the file cannot be written
 * @return what rubus_array_read returns
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_field_write(const char *path, rubus_array *field,
                                         const rubus_output_desc *desc) RUBUS_CHECKED;

/** A picture (.png) of a field with a colour bar; in rank 3 of the slice nz/2. x runs to
 *  the right, y upwards; NaN cells have a grey colour of their own, infinite values the
 *  end colours. Short for rubus_field_write with the defaults.
 *  @return as rubus_field_write
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_picture_write(const char *path,
                                           rubus_array *field) RUBUS_CHECKED;

/* --- grid functions on their mesh ------------------------------------------------- */

/** A grid function and its name. */
typedef struct rubus_mesh_field {
    const char *name;         /**< UTF-8, not empty */
    const rubus_space *space; /**< on the mesh that is written */
    rubus_array *array;       /**< a grid function of the space */
} rubus_mesh_field;

/** How numbers stand in VTK's files. */
#define RUBUS_VTK_RAW 0   /**< appended, raw, little endian */
#define RUBUS_VTK_ASCII 1 /**< text, as many digits as read back as the same number */

/** How meshes are written. Zero everywhere is the default. */
typedef struct rubus_mesh_output_desc {
    size_t struct_size; /**< set by the caller */
    const char *title;  /**< a comment in the file; NULL: none */
    int32_t encoding;   /**< RUBUS_VTK_RAW or RUBUS_VTK_ASCII */
    int32_t append;     /**< series: not 0 continues the collection that is there */
} rubus_mesh_output_desc;

/**
 * Writes a mesh and grid functions on it as a VTK rectilinear grid (.vtr): values at
 * points, x fastest, the components of a point side by side; numbers of the mesh's type.
 * Axes that the mesh has not are the one point 0.
 *
 * The file appears whole or not at all. Each field is brought to the host by one read,
 * one after the other.
 *
 * @param field  [nfield], no two of the same name; NULL if nfield is 0.
 * @param desc   NULL for the defaults.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL    NULL, an ending that is not .vtr, a field without name, two of
 *                         the same name, a space on another mesh, no such encoding
 * @return RUBUS_EFOREIGN  a field or its space is of another context than the mesh
 * @return RUBUS_ESTALE    a space is older than its mesh
 * @return RUBUS_ETYPE, RUBUS_ESHAPE  an array is no grid function of its space
 * @return RUBUS_EIO       the file cannot be written
 * @return what rubus_array_read returns
 * @threads Any thread; waits.
 */
RUBUS_API rubus_status rubus_mesh_write(const char *path, rubus_mesh *mesh,
                                        const rubus_mesh_field *field, int32_t nfield,
                                        const rubus_mesh_output_desc *desc) RUBUS_CHECKED;

/** Steps in time, one file each, and the collection (.pvd) that lists them. */
typedef struct rubus_series rubus_series;

/**
 * Begins the collection NAME.pvd, at once as a file without steps; or continues the one
 * that is there, if desc->append says so, behind its last level.
 *
 * @param desc  NULL for the defaults; holds for every step.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL  NULL, an ending that is not .pvd, no such encoding, or append and
 *                       a file that is no collection
 * @return RUBUS_EIO     the collection cannot be read or written
 * @return RUBUS_ENOMEM
 * @threads Any thread.
 * @owner   Destroy with rubus_series_destroy.
 */
RUBUS_API rubus_status rubus_series_create(const char *path,
                                           const rubus_mesh_output_desc *desc,
                                           rubus_series **out_series) RUBUS_CHECKED;

/**
 * Writes the step NAME_<level>.vtr beside the collection, levels from 0, then the
 * collection with it. At any moment the collection is whole XML and names whole files.
 * After a failure the series is what it was, and the step may be tried again.
 *
 * The mesh may be another one, or another version, at each step.
 *
 * @return as rubus_mesh_write; RUBUS_EINVAL for NULL or a time that is not finite
 * @threads One thread at a time for a series; waits.
 */
RUBUS_API rubus_status rubus_series_add(rubus_series *series, double time,
                                        rubus_mesh *mesh, const rubus_mesh_field *field,
                                        int32_t nfield) RUBUS_CHECKED;

/** Steps that the collection lists; 0 for NULL. @return as said
 *  @threads One thread at a time for a series. */
RUBUS_API int64_t rubus_series_count(const rubus_series *series);

/** Gives the series back; its files stay. NULL allowed.
 *  @threads One thread at a time for a series. */
RUBUS_API void rubus_series_destroy(rubus_series *series);

#ifdef __cplusplus
}
#endif
#endif
