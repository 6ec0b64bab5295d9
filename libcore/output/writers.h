/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_WRITERS_H
#define RUBUS_WRITERS_H
/* The writers of rubus_field_write, one a format, each of which makes the whole file as
 * text, and what they share with those of meshes. */
#include <rubus/output.h>

#include "libcore/base/base.h"
#include "libcore/output/picture.h"

/* `text` as one line of valid UTF-8, or `otherwise` where it is NULL or empty; NULL: out
 * of memory. Give back with rubus__free. */
char *rubus__label(const char *text, const char *otherwise);     /* label.c */
void rubus__vti_text(const rubus__grid *grid, rubus__text *out); /* vtk.c */
void rubus__vtk_text(const rubus__grid *grid, rubus__text *out); /* vtk.c */
void rubus__tsv_text(const rubus__grid *grid, rubus__text *out); /* table.c */
void rubus__txt_text(const rubus__grid *grid, rubus__text *out); /* table.c */
rubus_status rubus__picture_text(const rubus__grid *grid, const rubus_output_desc *desc,
                                 rubus__text *out); /* picture.c */

/* --- xml.c ------------------------------------------------------------------------ */

/* The first line of a file, and a title as a comment; NULL: none. */
void rubus__xml_start(rubus__text *out, const char *title);
void rubus__xml_attribute(rubus__text *out, const char *text);
/* What stands before raw data of `size` bytes. */
void rubus__xml_block_size(rubus__text *out, uint64_t size);
const char *rubus__vtk_type(int32_t type);

/* --- vtr.c ------------------------------------------------------------------------ */

/* A checked copy of what a caller gave; NULL: the defaults. */
rubus_status rubus__mesh_output_desc(const char *what, const rubus_mesh_output_desc *desc,
                                     rubus_mesh_output_desc *out);
/* rubus_mesh_write to a path that is not NULL, with such a copy. */
rubus_status rubus__mesh_write(const char *what, const char *path, rubus_mesh *mesh,
                               const rubus_mesh_field *field, int32_t nfield,
                               const rubus_mesh_output_desc *desc);

/* --- table.c ---------------------------------------------------------------------- */

/* One number of the grid, so that it reads back as the same element. */
void rubus__grid_number(const rubus__grid *grid, int64_t at, char out[32]);

#endif
