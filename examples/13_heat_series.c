/* SPDX-License-Identifier: Apache-2.0 */
// Heat that leaves a plate through its rim, by implicit Euler: each step solves
// (M / dt + S) u = M u_before / dt directly, since mass M and stiffness S are products
// over the axes. Every 25th step goes to a file that ParaView opens: heat.pvd.
#include <math.h>
#include <rubus/rubus.h>
#include <stdio.h>

static const char source[] =
    "func real start(real x, real y) { return sin(3.14159265358979 * x)\n"
    "                                       * sin(3.14159265358979 * y); }\n"
    "kernel load(out real F[n,m], in real u[n,m], in real w[n,m], real dt)\n"
    "{ F = w * u / dt; }\n";

enum { N = 33, STEPS = 100 };

int main(void)
{
    const double dt = 0.001;
    const double corner[2][2] = {{0, 0}, {1, 1}};
    rubus_context *context;
    rubus_module *module;
    rubus_mesh *mesh;
    rubus_space *space;
    rubus_array *u;
    rubus_array *F;
    rubus_array *w;
    rubus_operator *A;
    rubus_fdm *fdm;
    rubus_series *series;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND
    RUBUS_MUST(rubus_module_create(context, "heat.rk", source, NULL, &module));
    RUBUS_MUST(rubus_mesh_create_box(context, RUBUS_F64, RUBUS_SHAPE(N, N), corner[0],
                                     corner[1], &mesh));
    RUBUS_MUST(rubus_space_create(mesh, 1, &space));
    RUBUS_MUST(RUBUS_ARRAYS(space, &u, &F, &w));
    RUBUS_MUST(rubus_space_weight(space, 0, w));
    RUBUS_MUST(rubus_project(space, rubus_module_func(module, "start"), RUBUS_POINT,
                             "interior", 0, u));
    const rubus_kronecker_term term[3] = {{.kind = RUBUS_KRONECKER_MASS, .alpha = 1 / dt},
                                          {.kind = RUBUS_KRONECKER_X, .alpha = 1},
                                          {.kind = RUBUS_KRONECKER_Y, .alpha = 1}};
    RUBUS_MUST(rubus_kronecker_create(space, term, 3, "boundary", &A));
    RUBUS_MUST(rubus_fdm_create(A, &fdm));
    RUBUS_MUST(rubus_series_create("heat.pvd", NULL, &series));
    const rubus_kernel *load = rubus_module_kernel(module, "load");
    const rubus_mesh_field field = {"temperature", space, u};
    for (int step = 0; step <= STEPS; step++) {
        if (step > 0) {
            RUBUS_MUST(rubus_launch(load, F, u, w, dt));
            RUBUS_MUST(rubus_fdm_solve(fdm, F, u));
        }
        if (step % 25 == 0) {
            RUBUS_MUST(rubus_series_add(series, step * dt, mesh, &field, 1));
        }
    }
    double most;
    RUBUS_MUST(rubus_norm_inf(space, u, NULL, &most));
    printf("t = %g: centre %.6f, of the heat equation itself %.6f\n", STEPS * dt, most,
           exp(-2 * 3.14159265358979 * 3.14159265358979 * STEPS * dt));
    printf("heat.pvd lists %lld files\n", (long long)rubus_series_count(series));
    rubus_series_destroy(series);
    rubus_context_destroy_all(context); // with all that was made in it
    return 0;
}
