/* SPDX-License-Identifier: Apache-2.0 */
// -div(grad u) = f on the unit square, u = exp(x + 2 y) on its boundary: a form in the
// place of a matrix, conjugate gradients, and a table of errors that shows the order 2.
#include <math.h>
#include <stdio.h>

#include <rubus/rubus.h>

static const char source[] =
    "func real exact(real x, real y)  { return exp(x + 2*y); }\n"
    "func real source(real x, real y) { return -5 * exp(x + 2*y); }\n"
    "form stiffness(trial u, test v) = inner_plus(grad(u), grad(v));\n"
    "form load(test v, field f) = inner_h(f, v);\n"
    "kernel subtract(inout real u[nx,ny], in real g[nx,ny]) { u = u - g; }\n";

typedef struct result {
    int iterations;
    double hmax;
    double error; // of values and slopes, by norm_1h
} result;

static result solve(rubus_context *context, rubus_module *module, int n)
{
    rubus_mesh *mesh;
    rubus_space *space;
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(n + 1, n + 2),
                                     (double[]){0, 0}, (double[]){1, 1}, &mesh));
    RUBUS_MUST(rubus_space_create(mesh, 1, &space));

    rubus_array *u; // the unknown, 0 at first
    rubus_array *g; // the solution, and so the values on the boundary
    rubus_array *f;
    rubus_array *F;
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &g, &f, &F));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "exact"), RUBUS_POINT, NULL,
                             0, g));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "source"), RUBUS_CELL_MEAN,
                             NULL, 0, f));

    rubus_constraint *bc;
    RUBUS_MUST(rubus_constraint_create(space, &bc));
    RUBUS_MUST(rubus_constraint_add(bc, "boundary", RUBUS_ALL, g));

    rubus_form *a;
    rubus_form *l;
    RUBUS_MUST(rubus_form_create(module, "stiffness", space, space, &a));
    RUBUS_MUST(rubus_form_create(module, "load", NULL, space, &l));
    RUBUS_MUST(rubus_form_set(l, "f", f));

    rubus_operator *A;
    rubus_krylov_report report = {.struct_size = sizeof(report)};
    RUBUS_MUST(rubus_form_vector(l, bc, F));
    RUBUS_MUST(rubus_form_operator(a, bc, &A)); // no matrix is stored
    RUBUS_MUST(rubus_solve_cg(A, F, u, NULL, &report));
    RUBUS_MUST(rubus_picture_write("poisson.png", u));

    result r = {(int)report.iterations, rubus_mesh_hmax(mesh), 0};
    RUBUS_MUST(rubus_launch(rubus_module_kernel(module, "subtract"), u, g));
    RUBUS_MUST(rubus_norm_1h(space, u, NULL, &r.error));

    rubus_operator_destroy(A);
    rubus_form_destroy(a);
    rubus_form_destroy(l);
    rubus_constraint_destroy(bc);
    rubus_array *all[] = {u, g, f, F};
    for (int k = 0; k < 4; k++) {
        rubus_array_destroy(all[k]);
    }
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    return r;
}

int main(void)
{
    rubus_context *context;
    rubus_module *module;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "poisson.rk", source, NULL, &module));
    result before = {0, 0, 0};
    printf("  points     error  order\n");
    for (int n = 4; n <= 64; n *= 2) {
        const result r = solve(context, module, n);
        const double order = log(before.error / r.error) / log(before.hmax / r.hmax);
        printf("%3d x %-3d %9.3e", n + 1, n + 2, r.error);
        printf(n > 4 ? "  %.2f\n" : "\n", order);
        before = r;
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return 0;
}
