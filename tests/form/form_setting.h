/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FORM_SETTING_H
#define RUBUS_TESTS_FORM_SETTING_H
/*
 * A random form with its dense matrix, constraints of it, and the arguments that its
 * kernels take: what the tests of kernels against dense matrices have in common.
 */
#include "tests/form/form_model.h"
#include "tests/form/form_run.h"

typedef struct setting {
    form_run run;
    model m;
    rk_fix_mode mode;
    uint32_t faces[MODEL_COMPONENTS];
    bool masked[MODEL_COMPONENTS];
    bool fixed[MODEL_COMPONENTS][MODEL_POINTS];
    /* what the constrained matrix must be, and sums of absolute values */
    double matrix[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    double scale[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    double u[MODEL_UNKNOWNS];
    double v[MODEL_UNKNOWNS];
} setting;

enum {
    MAX_PARAM = 128,
    MODEL_ENTRIES = MODEL_UNKNOWNS * 40,
    MODEL_SLOTS = 1 << 16,
    MODEL_STENCIL = 256
};

typedef struct arguments {
    rubus_arg arg[MAX_PARAM];
    rubus_array *array[MAX_PARAM]; /* by parameter */
    double alpha;
    double beta;
    const double *before;                   /* [unknowns] of y */
    const double *trial;                    /* [unknowns] */
    const double *test;                     /* [unknowns] */
    double (*entry)[MODEL_POINTS];    /* stored ones, by number; NULL: zeros */
    rubus_array *given[RK_LEAF_PADDED + 1]; /* by kind, of number 0; not ours */
    int64_t nnz;
    int64_t stride; /* of tables */
    int64_t slots;  /* elements of tables */
    double result;
    float result32;
} arguments;

/* Compressed rows of a form with its constraints, on both sides. */
typedef struct pattern {
    int32_t rowptr[MODEL_UNKNOWNS + 1];
    int32_t colval[MODEL_ENTRIES];
    rubus_array *rows;
    rubus_array *columns;
} pattern;

int unknowns(const setting *s);
/* Each value is a sum of at most some 60 products of at most some 12 rounded factors. */
void expect_near(const setting *s, double got, double want, double scale,
                 const char *what, int i, int j);
void make_constraints(setting *s, rk_fix_mode mode);
/* Opens a backend and makes a random form on it. */
void make_form(setting *s, const char *backend, int32_t real, uint32_t seed, int ndim,
               int ncomponent, bool bilinear);
rubus_array *index_array(form_run *run, int64_t n); /* zeros */
void read_index(rubus_array *array, int32_t *x);
/* Runs a kernel; its arrays stay in a->array until end_job. */
rk_form_kernel run_job(setting *s, rk_form_job job, arguments *a);
void end_job(rk_form_kernel *kernel, arguments *a);
/* The array of a parameter of that kind. */
rubus_array *job_array(const rk_form_kernel *kernel, const arguments *a,
                       rk_leaf_kind kind, int32_t number);
void make_pattern(setting *s, pattern *p);
void end_pattern(pattern *p);
/* Points, rounded up to a multiple of stride. */
int64_t padded(const setting *s, int64_t stride);
/* A number of the test, moved by RUBUS_TEST_SEED. */
uint32_t seed_of(int number);

#endif
