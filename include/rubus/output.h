/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_OUTPUT_H
#define RUBUS_OUTPUT_H
/** Writing fields: VTK, tables, raw numbers, pictures. */
#include <rubus/array.h>

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

#ifdef __cplusplus
}
#endif
#endif
