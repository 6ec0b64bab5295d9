/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_FORM_RUN_H
#define RUBUS_TESTS_FORM_RUN_H
/*
 * Makes a form of a text and runs its kernels on a backend, on a mesh that is nothing but
 * arrays. The compiler is linked in; its text goes through the library as a user's would.
 */
#include "libcore/kernel/form_tree.h"
#include "tests/support/real_arrays.h"

#include <check.h>
#include <rubus/rubus.h>
#include <stdlib.h>
#include <string.h>

typedef struct form_run {
    rubus_context *context;
    int32_t real;
    rk_program *program;
    rk_form *form;
} form_run;

static inline void form_open(form_run *run, const char *backend, int32_t real)
{
    memset(run, 0, sizeof(*run));
    run->real = real;
    const rubus_status st = rubus_context_create(backend, &run->context);
    ck_assert_msg(st == RUBUS_OK, "%s: %s", backend, rubus_error_text());
}

static inline void form_close(form_run *run)
{
    rk_program_destroy(run->program);
    rubus_context_destroy(run->context);
}

/* Form `a` of the text. */
static inline void form_make(form_run *run, const char *text, const rk_form_desc *desc)
{
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = run->real;
    options.index = RUBUS_I32;
    rk_program_destroy(run->program);
    run->program = NULL;
    rubus_status st = rk_compile(&options, "form.rk", text, strlen(text), &run->program);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), text);
    st = rk_form_build(run->program, "a", desc, &run->form);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), text);
}

/* The text of a kernel, which must plan to one pass; that of tables to one an axis. */
static inline rk_form_kernel form_kernel(form_run *run, rk_form_job job,
                                         const rk_form_fix *fix)
{
    rk_form_kernel kernel;
    rubus_status st = rk_form_kernel_text(run->form, job, fix, &kernel);
    ck_assert_msg(st == RUBUS_OK, "%s", rubus_error_text());
    rk_options options;
    memset(&options, 0, sizeof(options));
    options.real = run->real;
    options.index = RUBUS_I32;
    rk_program *program = NULL;
    st = rk_compile(&options, "run.rk", kernel.text, strlen(kernel.text), &program);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), kernel.text);
    ck_assert_int_eq(program->nkernel, 1);
    const int32_t most = job == RK_JOB_TABLES ? run->form->desc.ndim : 1;
    ck_assert_msg(program->kernel[0].plan->npass <= most, "%d passes in\n%s",
                  (int)program->kernel[0].plan->npass, kernel.text);
    rk_program_destroy(program);
    return kernel;
}

static inline void form_launch(form_run *run, const rk_form_kernel *kernel,
                               const rubus_arg *args)
{
    rubus_module *module = NULL;
    rubus_module_options options = {.struct_size = sizeof(options), .real = run->real};
    rubus_status st =
        rubus_module_create(run->context, "run.rk", kernel->text, &options, &module);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), kernel->text);
    st = rubus_launch_args(rubus_module_kernel(module, "run"), args,
                           (size_t)kernel->nparam);
    ck_assert_msg(st == RUBUS_OK, "%s\n%s", rubus_error_text(), kernel->text);
    rubus_module_destroy(module);
}

#endif
