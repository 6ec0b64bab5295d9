/* SPDX-License-Identifier: Apache-2.0 */
// -div(kappa grad u) = 1 with u = 0 on the boundary, for a material whose conductivity
// jumps: kappa is a field of the form, read at every use. Mm takes its mean between two
// points, where the slope of u stands.
#include <stdio.h>

#include <rubus/rubus.h>

static const char source[] =
    "func real bar(real x, real y, real t)\n" // t: how well the bar conducts
    "{ return abs(y - 0.5) < 0.1 && x > 0.2 && x < 0.8 ? t : 1; }\n"
    "form diffusion(trial u, test v, field kappa) =\n"
    "    inner_plus(Mm(kappa) * grad(u), grad(v));\n"
    "form load(test v, real f) = inner_h(f, v);\n";

int main(void)
{
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "bar.rk", source, NULL, &module));
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(101, 101),
                                     (double[]){0, 0}, (double[]){1, 1}, &mesh));
    RUBUS_MUST(rubus_space_create(mesh, 1, &space));

    rubus_array *u;
    rubus_array *F;
    rubus_array *kappa;
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &F, &kappa));

    rubus_constraint *bc;
    RUBUS_MUST(rubus_constraint_create(space, &bc));
    RUBUS_MUST(rubus_constraint_add(bc, "boundary", RUBUS_ALL, 0.0));

    rubus_form *a;
    rubus_form *l;
    RUBUS_MUST(rubus_form_create(module, "diffusion", space, space, &a));
    RUBUS_MUST(rubus_form_set(a, "kappa", kappa));
    RUBUS_MUST(rubus_form_create(module, "load", NULL, space, &l));
    RUBUS_MUST(rubus_form_set(l, "f", 1));
    RUBUS_MUST(rubus_form_vector(l, bc, F));

    rubus_operator *A;
    RUBUS_MUST(rubus_form_operator(a, bc, &A)); // once, for all conductivities
    const rubus_func *bar = rubus_module_func(module, "bar");
    for (double t = 1; t <= 1000; t *= 10) {
        rubus_krylov_report report = {.struct_size = sizeof(report)};
        double highest = 0;
        RUBUS_MUST(rubus_project(space, bar, RUBUS_POINT, NULL, t, kappa));
        RUBUS_MUST(rubus_solve_cg(A, F, u, NULL, &report)); // from the last solution on
        RUBUS_MUST(rubus_norm_inf(space, u, NULL, &highest));
        printf("bar of %4g: highest value %.4f, %s after %lld iterations\n", t, highest,
               rubus_outcome_name(report.outcome), (long long)report.iterations);
    }
    RUBUS_MUST(rubus_picture_write("variable_coefficient.png", u));

    rubus_context_destroy_all(context); // with all that was made in it
    return 0;
}
