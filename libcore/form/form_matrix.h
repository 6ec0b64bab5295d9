/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_FORM_MATRIX_H
#define RUBUS_FORM_MATRIX_H
/*
 * What a matrix of a form keeps beside its rows: the form and the constrained points that
 * it was made for, and tables for fillings that need one.
 *
 *   form_pattern.c makes the matrix and its owner, form_assemble.c fills it,
 *   form_positions.c has the tables and fills on the host
 */
#include "libcore/form/forms.h"
#include "libcore/sparse/csr.h"

/* Rows and columns of the contributions, for fillings by search. */
typedef struct rubus__form_pairs {
    rubus_array *row; /* [slots] on the device; < 0: nothing is added there */
    int64_t n;
    void *row_of; /* [n] indices */
    void *column_of;
    int64_t *slot; /* [n] where the contribution stands */
    void *value;   /* [n] reals */
} rubus__form_pairs;

/* The owner of a matrix. */
typedef struct rubus__form_matrix {
    rubus_form *form; /* held */
    rubus__form_fix fix;
    pthread_mutex_t lock; /* one filling at a time, before the form's; guards all below */
    int64_t stride;       /* of tables, from the device */
    int64_t padded;       /* points, rounded up to a multiple of it */
    int64_t slots;        /* 0: nothing was needed yet */
    rubus_array *table;   /* [slots] positions */
    void *position;       /* [slots] the same on the host */
    rubus_array *part;    /* [slots] contributions */
    rubus__form_pairs pairs;
    bool diagonal_known;
    int64_t ndiagonal;
    int64_t *diagonal; /* [ndiagonal] positions of those of constrained rows */
} rubus__form_matrix;

/* --- form_pattern.c --------------------------------------------------------------- */

/* rubus_form_matrix for another call. */
rubus_status rubus__form_matrix_make(const char *what, rubus_form *form,
                                     rubus_constraint *constraint, int32_t mode,
                                     rubus_csr **out_matrix);
/* NULL: the matrix is of no form. */
rubus__form_matrix *rubus__form_matrix_of(const rubus_csr *csr);
/* rowptr[1 ...] from numbers of entries to sums of them, rowptr[0] = 0; ELIMIT, naming
 * the form, if an index cannot count them. */
rubus_status rubus__form_sum_rows(const char *what, const char *name, int32_t index,
                                  int64_t nrow, void *rowptr, int64_t *out_nnz);

/* --- form_assemble.c -------------------------------------------------------------- */

/* rubus_form_assemble_how for another call. */
rubus_status rubus__form_assemble(const char *what, rubus_form *form, rubus_csr *matrix,
                                  int32_t how);

/* --- form_positions.c: locked, but for the first ---------------------------------- */

/* Elements of a table of so many points; ELIMIT if an index cannot count them. */
rubus_status rubus__form_count_slots(const char *what, int32_t index, int64_t padded,
                                     const rk_form_kernel *kernel, int64_t *out_slots);
/* By the owners of rows through the table, which is made at the first call. */
rubus_status rubus__form_fill_gather(const char *what, rubus__form_matrix *m,
                                     rubus_csr *csr);
/* By atomic additions; by gathering where they do not work. */
rubus_status rubus__form_fill_scatter(const char *what, rubus__form_matrix *m,
                                      rubus_csr *csr);
/* Contributions are added in the mirror, found by the table or by search, and flushed. */
rubus_status rubus__form_fill_host(const char *what, rubus__form_matrix *m,
                                   rubus_csr *csr, bool search);
void rubus__form_tables_fini(rubus__form_matrix *m);

#endif
