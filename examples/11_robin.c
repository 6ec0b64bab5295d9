/* SPDX-License-Identifier: Apache-2.0 */
// -div(grad u) + u = f where the boundary gives off what its value exceeds the outside:
// du/dn + beta u = g. No point is held; integrals over the boundary stand in the forms.
#include <math.h>
#include <stdio.h>

#include <rubus/rubus.h>

// On each side g is the slope outward plus 1.7 times the value of the solution.
static const char source[] =
    "func real exact(real x, real y) { return cos(2.2*x) * exp(0.7*y); }\n"
    "func real source(real x, real y) { return (2.2^2 - 0.7^2 + 1) * exact(x, y); }\n"
    "func real slope_x(real x, real y) { return -2.2 * sin(2.2*x) * exp(0.7*y); }\n"
    "func real slope_y(real x, real y) { return 0.7 * exact(x, y); }\n"
    "form robin(trial u, test v, real beta) = inner_plus(grad(u), grad(v))\n"
    "    + inner_h(u, v) + beta * inner_Gamma(u, v);\n"
    "form load(test v, field f, field u, field ux, field uy, real beta) = inner_h(f, v)\n"
    "    + inner_Gamma(beta*u - ux, v, \"left\") + inner_Gamma(beta*u + ux, v, "
    "\"right\")\n"
    "    + inner_Gamma(beta*u - uy, v, \"bottom\") + inner_Gamma(beta*u + uy, v, "
    "\"top\");\n"
    "kernel subtract(inout real u[nx,ny], in real g[nx,ny]) { u = u - g; }\n";

static double solve(rubus_context *context, rubus_module *module, int n)
{
    static const char *const func[4] = {"source", "exact", "slope_x", "slope_y"};
    static const char *const field[4] = {"f", "u", "ux", "uy"};
    rubus_mesh *mesh;
    rubus_space *space;
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(n, n),
                                     (double[]){0, 0}, (double[]){1, 1}, &mesh));
    RUBUS_MUST(rubus_space_create(mesh, 1, &space));

    rubus_array *u;
    rubus_array *F;
    rubus_array *data[4];
    rubus_form *a;
    rubus_form *l;
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &F, &data[0], &data[1], &data[2], &data[3]));
    RUBUS_MUST(rubus_form_create(module, "robin", space, space, &a));
    RUBUS_MUST(rubus_form_create(module, "load", NULL, space, &l));
    RUBUS_MUST(rubus_form_set(a, "beta", 1.7));
    RUBUS_MUST(rubus_form_set(l, "beta", 1.7));
    for (int k = 0; k < 4; k++) {
        RUBUS_MUST(rubus_project(space, rubus_module_func(module, func[k]), RUBUS_POINT,
                                 NULL, 0, data[k]));
        RUBUS_MUST(rubus_form_set(l, field[k], data[k]));
    }

    rubus_operator *A;
    double error = 0;
    RUBUS_MUST(rubus_form_vector(l, NULL, F));
    RUBUS_MUST(rubus_form_operator(a, NULL, &A));
    RUBUS_MUST(rubus_solve_cg(A, F, u, NULL, NULL));
    RUBUS_MUST(rubus_picture_write("robin.png", u));
    RUBUS_MUST(rubus_launch(rubus_module_kernel(module, "subtract"), u, data[1]));
    RUBUS_MUST(rubus_norm_1h(space, u, NULL, &error));

    rubus_operator_destroy(A);
    rubus_form_destroy(a);
    rubus_form_destroy(l);
    rubus_array_destroy(u);
    rubus_array_destroy(F);
    for (int k = 0; k < 4; k++) {
        rubus_array_destroy(data[k]);
    }
    rubus_space_destroy(space);
    rubus_mesh_destroy(mesh);
    return error;
}

int main(void)
{
    rubus_context *context;
    rubus_module *module;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "robin.rk", source, NULL, &module));
    double before = 0;
    for (int n = 9; n <= 65; n = 2 * n - 1) {
        const double error = solve(context, module, n);
        printf("%2d x %-2d: error %.3e", n, n, error);
        printf(n > 9 ? ", order %.2f\n" : "\n", log2(before / error));
        before = error;
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return 0;
}
