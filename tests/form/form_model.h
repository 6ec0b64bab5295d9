/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FORM_MODEL_H
#define RUBUS_TESTS_FORM_MODEL_H
/*
 * Random forms, each as text and as a dense matrix, on random nonuniform meshes. The
 * matrix knows nothing of the compiler: operators are rows written out by hand,
 * composition is the matrix product, a form is the sum of V' W U.
 */
#include <stdbool.h>
#include <stdint.h>

enum { MODEL_AXIS = 6, MODEL_POINTS = 60, MODEL_COMPONENTS = 2, MODEL_LABELS = 2 };
enum { MODEL_UNKNOWNS = MODEL_POINTS * MODEL_COMPONENTS };
enum { MODEL_FIELDS = 2 };

typedef struct model_axis {
    int n;
    double x[MODEL_AXIS];
    double h[MODEL_AXIS];
    double f[MODEL_AXIS];
    double s[MODEL_AXIS]; /* [n-1] */
    double w[MODEL_AXIS];
    double a[MODEL_AXIS];
} model_axis;

typedef struct model {
    uint32_t state; /* of the generator */
    int ndim;
    int ncomponent;
    int npoint;
    model_axis axis[3];
    double field[MODEL_FIELDS][MODEL_POINTS]; /* parameters f0, f1 */
    double line[MODEL_AXIS];                  /* parameter `field l[x]` */
    double number;                            /* parameter `real k` */
    bool mask[MODEL_LABELS][MODEL_POINTS];    /* labels "p", "q" */
    char text[16384];
    double matrix[MODEL_UNKNOWNS][MODEL_UNKNOWNS];
    double scale[MODEL_UNKNOWNS][MODEL_UNKNOWNS]; /* sums of absolute values */
    double source[MODEL_UNKNOWNS];                /* linear forms */
    double source_scale[MODEL_UNKNOWNS];
} model;

double model_random(model *m); /* in [0, 1) */
int model_below(model *m, int n);
/* A mesh, its fields, and a form `a` of some terms. single: all data are floats. */
void model_make(model *m, uint32_t seed, int ndim, int ncomponent, bool bilinear,
                bool single);

#endif
