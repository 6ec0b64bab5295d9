/* SPDX-License-Identifier: Apache-2.0 */
// Something flows in through a part of the left side, and is carried by a rotating wind
// while it spreads: -eps div(grad u) + div(b u) = 0, with less and less spreading. The
// operator is not symmetric, and the solver is BiCGStab.
#include <stdio.h>

#include <rubus/rubus.h>

static const char source[] =
    "func bool inlet(real x, real y) { return x == 0 && y > 0.2 && y < 0.4; }\n"
    "func real wind_x(real x, real y) { return 1 - y; }\n"
    "func real wind_y(real x, real y) { return x; }\n"
    "form transport(trial u, test v, real eps, field bx, field by) =\n"
    "    eps * inner_plus(grad(u), grad(v))\n"
    "    - inner_plus((Mm_x(bx * u), Mm_y(by * u)), grad(v));\n";

int main(void)
{
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "wind.rk", source, NULL, &module));
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(81, 81),
                                     (double[]){0, 0}, (double[]){1, 1}, &mesh));
    RUBUS_MUST(rubus_mesh_mark_func(mesh, "inlet", rubus_module_func(module, "inlet")));
    RUBUS_MUST(rubus_space_create(mesh, 1, &space)); // after the marks are made

    rubus_array *u;
    rubus_array *F;
    rubus_array *bx;
    rubus_array *by;
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &F, &bx, &by));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "wind_x"), RUBUS_POINT,
                             NULL, 0, bx));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "wind_y"), RUBUS_POINT,
                             NULL, 0, by));

    rubus_constraint *bc;
    RUBUS_MUST(rubus_constraint_create(space, &bc));
    RUBUS_MUST(rubus_constraint_add(bc, "boundary", RUBUS_ALL, 0.0));
    RUBUS_MUST(rubus_constraint_add(bc, "inlet", RUBUS_ALL, 1.0)); // the last one wins
    RUBUS_MUST(rubus_constraint_apply(bc, F));

    rubus_form *a;
    rubus_operator *A;
    RUBUS_MUST(rubus_form_create(module, "transport", space, space, &a));
    RUBUS_MUST(rubus_form_set(a, "bx", bx));
    RUBUS_MUST(rubus_form_set(a, "by", by));
    RUBUS_MUST(rubus_form_operator(a, bc, &A));
    for (double eps = 1; eps > 0.01; eps /= 2) {
        rubus_krylov_report report = {.struct_size = sizeof(report)};
        double flow = 0;                           // to the right, summed over the square
        RUBUS_MUST(rubus_form_set(a, "eps", eps)); // read at every use
        RUBUS_MUST(rubus_solve_bicgstab(A, F, u, NULL, &report));
        RUBUS_MUST(rubus_inner_h(space, u, bx, NULL, &flow));
        printf("eps %.4f: flow %.4f, %s\n", eps, flow,
               rubus_outcome_name(report.outcome));
    }
    RUBUS_MUST(rubus_picture_write("convection_diffusion.png", u));

    rubus_context_destroy_all(context); // with all that was made in it
    return 0;
}
