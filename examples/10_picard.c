/* SPDX-License-Identifier: Apache-2.0 */
// -div(alpha(u) grad u) = f, where the coefficient depends on the solution: Picard's
// iteration solves with the coefficient of the last u, until u changes no more. The form
// reads it from the field w, so the operator is made once, and so are its kernels.
#include <stdio.h>

#include <rubus/rubus.h>

static const char source[] = "func real alpha(real s) { return 3 + 1/(1 + s^2); }\n"
                             "func real slope(real s) { return -2*s/(1 + s^2)^2; }\n"
                             "func real exact(real x, real y) { return exp(x + y); }\n"
                             "func real source(real x, real y)\n"
                             "{\n"
                             "    real u = exp(x + y);\n"
                             "    return -2 * (slope(u) * u^2 + alpha(u) * u);\n"
                             "}\n"
                             "form picard(trial u, test v, field w) =\n"
                             "    inner_plus(alpha(Mm(w)) * grad(u), grad(v));\n"
                             "form load(test v, field f) = inner_h(f, v);\n";

int main(void)
{
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "picard.rk", source, NULL, &module));
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(33, 34),
                                     (double[]){0, 0}, (double[]){1, 1}, &mesh));
    RUBUS_MUST(rubus_space_create(mesh, 1, &space));

    rubus_array *u;
    rubus_array *w; // the last u
    rubus_array *g;
    rubus_array *f;
    rubus_array *F;
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &w, &g, &f, &F));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "exact"), RUBUS_POINT, NULL,
                             0, g));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "source"), RUBUS_CELL_MEAN,
                             NULL, 0, f));

    rubus_constraint *bc;
    rubus_form *a;
    rubus_form *l;
    rubus_operator *A;
    RUBUS_MUST(rubus_constraint_create(space, &bc));
    RUBUS_MUST(rubus_constraint_add(bc, "boundary", RUBUS_ALL, g));
    RUBUS_MUST(rubus_form_create(module, "picard", space, space, &a));
    RUBUS_MUST(rubus_form_set(a, "w", w)); // read at every product with A
    RUBUS_MUST(rubus_form_create(module, "load", NULL, space, &l));
    RUBUS_MUST(rubus_form_set(l, "f", f));
    RUBUS_MUST(rubus_form_vector(l, bc, F));
    RUBUS_MUST(rubus_form_operator(a, bc, &A));

    const rubus_krylov_desc desc = {.struct_size = sizeof(desc), .rtol = 1e-13};
    double step = 1;
    for (int sweep = 1; step > 1e-9 && sweep < 30; sweep++) {
        RUBUS_MUST(rubus_solve_cg(A, F, u, &desc, NULL));
        RUBUS_MUST(rubus_array_axpy(-1, u, w));
        RUBUS_MUST(rubus_norm_1h(space, w, NULL, &step));
        RUBUS_MUST(rubus_array_copy(w, u));
        printf("sweep %d: step %.1e\n", sweep, step);
    }
    double error = 0;
    RUBUS_MUST(rubus_picture_write("picard.png", u));
    RUBUS_MUST(rubus_array_axpy(-1, g, u));
    RUBUS_MUST(rubus_norm_1h(space, u, NULL, &error));
    printf("error %.3e\n", error);

    rubus_context_destroy_all(context); // with all that was made in it
    return 0;
}
