/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_FORMS_H
#define RUBUS_FORMS_H
/*
 * What the files of the form layer share. The compiler (form_tree.h) has the terms of a
 * form and the texts of its kernels; here they are bound to a mesh, spaces and arrays.
 *
 * A form is made for one version of its mesh, whose state it holds. A kernel is made when
 * it is first asked for and lives as long as the form, together with memory for its
 * arguments, so that running it again allocates nothing.
 *
 * Locks: that of a form or constraint before form_lock of its module before `lock` of a
 * state before those of the runtime.
 */
#include <pthread.h>
#include <stdatomic.h>

#include <rubus/form.h>

#include "libcore/grid/grid.h"
#include "libcore/kernel/form_tree.h"

/* --- constraints ------------------------------------------------------------------ */

/* What some labels are held at. */
typedef struct rubus__held {
    rubus__labels labels;
    int32_t component;   /* or RUBUS_ALL */
    rubus_array *values; /* a view; NULL: the number */
    double number;
} rubus__held;

struct rubus_constraint {
    rubus__object object;
    rubus_space *space;   /* held */
    rubus__state *state;  /* held */
    pthread_mutex_t lock; /* guards the list */
    int32_t nheld;
    rubus__held *held;
};

/* Whether it is on that test space: EINVAL, EFOREIGN, ESTALE, EFORKED. */
rubus_status rubus__constraint_fits(const char *what, const rubus_constraint *constraint,
                                    const rubus_space *space);
/* All that rubus_constraint_apply refuses, for calls that do more than that. */
rubus_status rubus__constraint_check(const char *what, rubus_constraint *constraint,
                                     const char *name, const rubus_array *u);

/* Constrained points as kernels see them, of the components of a test space. */
typedef struct rubus__form_fix {
    rk_fix_mode mode;
    int32_t ncomponent;
    rubus__labels *labels; /* [ncomponent] all of a component's, joined */
    uint32_t *faces;       /* [ncomponent] whole faces */
    bool *masked;          /* [ncomponent] more than whole faces: the mask counts */
    rubus_array **mask;    /* [ncomponent] of the state; NULL where not masked */
} rubus__form_fix;

/* The points of a constraint (NULL: none, mode NONE) on `space`: EINVAL (another space),
 * EFOREIGN, ESTALE. To be given to rubus__form_fix_fini; zeroed on failure. */
rubus_status rubus__form_fix_init(const char *what, rubus_constraint *constraint,
                                  const rubus_space *space, rk_fix_mode mode,
                                  rubus__form_fix *out_fix);
void rubus__form_fix_fini(rubus__form_fix *fix);
/* What the text of a kernel depends on, without masks. */
rubus_status rubus__form_fix_copy(const rubus__form_fix *fix, rubus__form_fix *out_fix);
/* One mask over all components, [component, z, y, x], to be destroyed; NULL: no point is
 * constrained. */
rubus_status rubus__form_fix_mask(const rubus__form_fix *fix, const rubus_space *space,
                                  rubus__state *state, rubus_array **out_mask);

/* --- forms ------------------------------------------------------------------------ */

typedef struct rubus__form_param {
    bool set;
    rubus_array *array; /* a view; NULL: the number */
    double number;
} rubus__form_param;

/* A kernel of a form, and where its arguments are put together. */
typedef struct rubus__form_kernel {
    struct rubus__form_kernel *next;
    rk_form_job job;
    rubus__form_fix fix; /* its masks are not looked at */
    const rubus_kernel *kernel;
    rk_form_kernel made; /* parameters and entries; its text is gone */
    rubus_arg *arg;      /* [made.nparam] */
    rubus_array *window; /* [made.nparam] */
    char *memory;        /* of a launch */
} rubus__form_kernel;

struct rubus_form {
    rubus__object object;
    atomic_int references;
    rubus_module *module; /* held; it owns the memory of `form` and the kernels */
    rubus_space *trial;   /* held; NULL: the form is linear */
    rubus_space *test;    /* held */
    rubus__state *state;  /* held */
    char *names;          /* of faces, cut at zeros */
    rk_form_label *label;
    rk_form *form;
    bool symmetric;
    rubus_array **mask;       /* [form->nmask] of the state */
    pthread_mutex_t lock;     /* guards all below */
    rubus__form_param *param; /* [form->decl->nparam] */
    rubus_array **table;      /* [form->ntable] line tables; NULL: not made yet */
    rubus__form_kernel *kernel;
};

/* What a kernel runs on; only what its job has is looked at. */
typedef struct rubus__form_arrays {
    rubus_array *trial; /* grid functions of the spaces, checked */
    rubus_array *test;
    rubus_array *out;          /* of the test space */
    const char *out_name;      /* as the caller of the library knows it */
    rubus_array *const *entry; /* [made.nentry] shaped like the mesh */
    rubus_array *rowptr;
    rubus_array *colval;
    rubus_array *nzval;
    rubus_array *table[2]; /* of positions; RK_JOB_PAIRS: rows, columns */
    rubus_array *part;
    int64_t stride;
    int64_t padded;
    double alpha;
    double beta;
    double *result;
} rubus__form_arrays;

/* --- form.c ----------------------------------------------------------------------- */

/* EINVAL for NULL, ESTALE, EFORKED. */
rubus_status rubus__form_enter(const rubus_form *form, const char *what);
void rubus__form_hold(rubus_form *form);
/* Numbers of the spaces: EINVAL if the form is no operator of one space on itself. */
rubus_status rubus__form_square(const rubus_form *form, const char *what);
/* An operator of a square form by these functions, for numbers of its type; self passes
 * to it on success only. */
rubus_status rubus__form_operator_create(const rubus_form *form,
                                         const rubus_operator_ops *ops, void *self,
                                         rubus_operator **out_operator);

/* --- form_param.c ----------------------------------------------------------------- */

/* Locked: what is set, as an argument; ESTATE names the parameter. */
rubus_status rubus__form_param_arg(const rubus_form *form, const char *what,
                                   int32_t number, rubus_arg *out_arg);

/* --- form_bind.c ------------------------------------------------------------------ */

/* The kernel of a job, made at the first call; fix NULL: no constraints. It lives as long
 * as the form. */
rubus_status rubus__form_kernel_get(rubus_form *form, rk_form_job job,
                                    const rubus__form_fix *fix,
                                    const rubus__form_kernel **out_kernel);
/* Enqueues the kernel of a job (waits for a result). The form has been entered. */
rubus_status rubus__form_run(rubus_form *form, const char *what, rk_form_job job,
                             const rubus__form_fix *fix,
                             const rubus__form_arrays *arrays);
/* Kernels and line tables. */
void rubus__form_kernels_fini(rubus_form *form);

#endif
