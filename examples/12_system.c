/* SPDX-License-Identifier: Apache-2.0 */
// Two temperatures in a block, of the material (u[0]) and of the fluid in its pores
// (u[1]), that exchange heat: a space of two components. The material is held at 0 on the
// whole boundary, the fluid at 1 at the back and the front, and it cools at the top.
#include <stdio.h>

#include <rubus/rubus.h>

static const char source[] =
    "form system(trial u, test v, real k, real beta) = inner_plus(grad(u), grad(v))\n"
    "    + k * inner_h(u[0] - u[1], v[0] - v[1])\n"
    "    + beta * inner_Gamma(u[1], v[1], \"top\");\n"
    "form mean(test v, real f) = inner_h(f, v);\n"
    "kernel slice(out real s[nx,nz], in real u[nx,ny,nz]) over (i in 0:nx, k in 0:nz)\n"
    "{ s[i,k] = u[i, div(ny, 2), k]; }\n";

enum { N = 25 };

int main(void)
{
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *one;
    rubus_space *space;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "system.rk", source, NULL, &module));
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(N, N, N),
                                     (double[]){0, 0, 0}, (double[]){1, 1, 1}, &mesh));
    RUBUS_MUST(rubus_space_create(mesh, 1, &one));
    RUBUS_MUST(rubus_space_create(mesh, 2, &space));

    rubus_array *u;
    rubus_array *F;
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &F));

    rubus_constraint *bc;
    RUBUS_MUST(rubus_constraint_create(space, &bc));
    RUBUS_MUST(rubus_constraint_add(bc, "boundary", 0, 0.0));
    RUBUS_MUST(rubus_constraint_add(bc, "back,front", 1, 1.0));
    RUBUS_MUST(rubus_constraint_apply(bc, F)); // no sources: F is 0 elsewhere

    rubus_form *a;
    rubus_form *mean;
    rubus_operator *A;
    RUBUS_MUST(rubus_form_create(module, "system", space, space, &a));
    RUBUS_MUST(rubus_form_set(a, "beta", 2));
    RUBUS_MUST(rubus_form_create(module, "mean", NULL, one, &mean));
    RUBUS_MUST(rubus_form_set(mean, "f", 1));
    RUBUS_MUST(rubus_form_operator(a, bc, &A));

    rubus_array *part[2]; // windows on the memory of u
    for (int c = 0; c < 2; c++) {
        RUBUS_MUST(rubus_space_component(space, u, c, &part[c]));
    }
    for (double k = 1; k <= 100; k *= 10) {
        rubus_krylov_report report = {.struct_size = sizeof(report)};
        double material = 0;
        double fluid = 0;
        RUBUS_MUST(rubus_form_set(a, "k", k));
        RUBUS_MUST(rubus_solve_cg(A, F, u, NULL, &report));
        RUBUS_MUST(rubus_form_value(mean, NULL, part[0], &material));
        RUBUS_MUST(rubus_form_value(mean, NULL, part[1], &fluid));
        printf("exchange %3g: means %.4f and %.4f, %s\n", k, material, fluid,
               rubus_outcome_name(report.outcome));
    }
    rubus_array *slice; // of the fluid, in the middle of y
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(N, N), &slice));
    RUBUS_MUST(rubus_launch(rubus_module_kernel(module, "slice"), slice, part[1]));
    RUBUS_MUST(rubus_picture_write("system.png", slice));

    rubus_context_destroy_all(context); // with all that was made in it
    return 0;
}
