/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_WRITERS_H
#define RUBUS_WRITERS_H
/* The writers of rubus_field_write, one a format. Each makes the whole file as text. */
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
/* One number of the grid, so that it reads back as the same element. */
void rubus__grid_number(const rubus__grid *grid, int64_t at, char out[32]);

#endif
