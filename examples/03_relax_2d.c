/* SPDX-License-Identifier: Apache-2.0 */
// Steady diffusion in two dimensions by accelerated dynamic relaxation, with kernels that
// look like the formulas:
//
//     03_relax_2d [03_relax_2d.rk [NX]]
//
// One iteration is five kernels and moves sixteen arrays through memory; `rubus kernel
// explain 03_relax_2d.rk` tells so. 04_relax_3d.c shows how to do it with one.
#include <math.h>
#include <stdio.h>

#include <rubus/rubus.h>

static rubus_array *new_array(rubus_context *context, int nx, int ny)
{
    rubus_array *array; // all zero
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(nx, ny), &array));
    return array;
}

int main(int argc, char **argv)
{
    const char *kernels = argc > 1 ? argv[1] : "03_relax_2d.rk";
    const int nx = argc > 2 ? atoi(argv[2]) : 128;
    if (nx < 8) {
        fprintf(stderr, "NX must be 8 or more\n");
        return 1;
    }
    const int ny = nx;
    const double dx = 20.0 / nx;
    const double dy = 20.0 / ny;
    const int check = (nx + 9) / 10;

    rubus_context *context;
    rubus_module *module;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create_file(context, kernels, NULL, &module));
    const rubus_kernel *setup = rubus_module_kernel(module, "setup");
    const rubus_kernel *update_u = rubus_module_kernel(module, "update_u");
    const rubus_kernel *flux = rubus_module_kernel(module, "flux");
    const rubus_kernel *residual = rubus_module_kernel(module, "residual");
    const rubus_kernel *precondition = rubus_module_kernel(module, "precondition");
    const rubus_kernel *update_d = rubus_module_kernel(module, "update_d");
    const rubus_kernel *damping = rubus_module_kernel(module, "damping");
    const rubus_kernel *largest = rubus_module_kernel(module, "largest");

    rubus_array *u = new_array(context, nx, ny);
    rubus_array *lam = new_array(context, nx, ny);
    rubus_array *qx = new_array(context, nx - 1, ny - 2);
    rubus_array *qy = new_array(context, nx - 2, ny - 1);
    rubus_array *Q = new_array(context, nx - 2, ny - 2);
    rubus_array *r = new_array(context, nx - 2, ny - 2);
    rubus_array *d = new_array(context, nx - 2, ny - 2);
    rubus_array *z = new_array(context, nx - 2, ny - 2);
    rubus_array *z0 = new_array(context, nx - 2, ny - 2);
    RUBUS_MUST(rubus_launch(setup, u, lam, Q, dx, dy));

    double beta = 1 - 2 * acos(-1) / nx;
    double history_x[160]; // at most 15 NX iterations, a check every NX / 10
    double history_y[160];
    size_t nhistory = 0;
    double err = INFINITY;
    int it = 0;
    while (err >= 1e-6 && it < 15 * nx) {
        it++;
        const double alpha = 0.99 * (1 + beta);
        RUBUS_MUST(rubus_launch(update_u, u, d, alpha));
        RUBUS_MUST(rubus_launch(flux, qx, qy, u, lam, 1 / dx, 1 / dy));
        RUBUS_MUST(rubus_launch(residual, r, qx, qy, 1 / dx, 1 / dy));
        if (it % check == 0) {
            RUBUS_MUST(rubus_launch(largest, r, &err)); // &err: waits for the number
            printf("%6d  %.3e\n", it, err);
            history_x[nhistory] = (double)it / nx;
            history_y[nhistory++] = err;
        }
        if (it % 10 == 0) {
            RUBUS_MUST(rubus_array_copy(z0, z));
        }
        RUBUS_MUST(rubus_launch(precondition, z, Q, r));
        if (it % 10 == 0) {
            double num;
            double den;
            RUBUS_MUST(rubus_launch(damping, &num, &den, d, z, z0));
            beta = pow(1 - sqrt(fabs(num) / den), 2);
        }
        RUBUS_MUST(rubus_launch(update_d, d, z, beta));
    }
    printf("%s after %d iterations\n", err < 1e-6 ? "converged" : "not converged", it);

    const rubus_output_desc desc = {.struct_size = sizeof(desc),
                                    .title = "Steady diffusion through an anomaly",
                                    .spacing = {dx, dy},
                                    .contour_first = 0.05,
                                    .contour_step = 0.1,
                                    .contour_last = 0.95,
                                    .history_x = history_x,
                                    .history_y = history_y,
                                    .nhistory = nhistory,
                                    .history_label_x = "iterations / nx",
                                    .history_label_y = "largest residual"};
    RUBUS_MUST(rubus_field_write("relax_2d.png", u, &desc));

    rubus_array *all[] = {u, lam, qx, qy, Q, r, d, z, z0};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rubus_array_destroy(all[i]);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return err < 1e-6 ? 0 : 1;
}
