/* SPDX-License-Identifier: Apache-2.0 */
// Steady diffusion in three dimensions by accelerated dynamic relaxation, with one pass
// over memory an iteration:
//
//     04_relax_3d [04_relax_3d.rk [NX]]
//
// The algorithm is that of 02_relax_1d.c and 03_relax_2d.c; 04_relax_3d.rk tells how it
// fits into one kernel.
#include <math.h>
#include <stdio.h>

#include <rubus/rubus.h>

static rubus_array *cube(rubus_context *context, int n)
{
    rubus_array *array; // all zero
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(n, n, n), &array));
    return array;
}

static void swap(rubus_array **a, rubus_array **b)
{
    rubus_array *c = *a;
    *a = *b;
    *b = c;
}

int main(int argc, char **argv)
{
    const char *kernels = argc > 1 ? argv[1] : "04_relax_3d.rk";
    const int nx = argc > 2 ? atoi(argv[2]) : 64;
    if (nx < 8) {
        fprintf(stderr, "NX must be 8 or more\n");
        return 1;
    }
    const double dx = 20.0 / nx;
    const double _dx = 1 / dx;
    const int check = (nx + 9) / 10;

    rubus_context *context;
    rubus_module *module;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create_file(context, kernels, NULL, &module));
    const rubus_kernel *setup = rubus_module_kernel(module, "setup");
    const rubus_kernel *step = rubus_module_kernel(module, "step");
    const rubus_kernel *step_to_sums = rubus_module_kernel(module, "step_to_sums");
    const rubus_kernel *update_d = rubus_module_kernel(module, "update_d");

    rubus_array *u = cube(context, nx);
    rubus_array *un = cube(context, nx);
    rubus_array *lam = cube(context, nx);
    rubus_array *Q = cube(context, nx - 2);
    rubus_array *d = cube(context, nx - 2);
    rubus_array *dn = cube(context, nx - 2);
    rubus_array *z = cube(context, nx - 2);
    rubus_array *largest; // a result that stays on the device until it is looked at
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(1), &largest));
    RUBUS_MUST(rubus_launch(setup, un, lam, Q, dx, dx, dx));
    RUBUS_MUST(rubus_array_copy(u, un));

    double beta = 1 - 2 * acos(-1) / nx;
    double history_x[160]; // at most 15 NX iterations, a check every NX / 10
    double history_y[160];
    size_t nhistory = 0;
    double err = INFINITY;
    int it = 0;
    while (err >= 1e-6 && it < 15 * nx) {
        it++;
        const double alpha = 0.99 * (1 + beta);
        if (it % 10 == 0) {
            double num;
            double den; // dn is free in this iteration, and takes the new z
            RUBUS_MUST(rubus_launch(step_to_sums, un, dn, &num, &den, largest, u, d, lam,
                                    Q, z, alpha, _dx, _dx, _dx));
            beta = pow(1 - sqrt(fabs(num) / den), 2);
            RUBUS_MUST(rubus_launch(update_d, d, dn, beta));
        } else {
            RUBUS_MUST(rubus_launch(step, un, dn, z, largest, u, d, lam, Q, alpha, beta,
                                    _dx, _dx, _dx));
            swap(&d, &dn);
        }
        swap(&u, &un);
        if (it % check == 0) {
            RUBUS_MUST(rubus_array_read(largest, &err, sizeof(err)));
            printf("%6d  %.3e\n", it, err);
            history_x[nhistory] = (double)it / nx;
            history_y[nhistory++] = err;
        }
    }
    printf("%s after %d iterations\n", err < 1e-6 ? "converged" : "not converged", it);

    // In three dimensions the picture shows the middle slice.
    const rubus_output_desc desc = {.struct_size = sizeof(desc),
                                    .title = "Steady diffusion around an anomaly",
                                    .spacing = {dx, dx, dx},
                                    .contour_first = 0.05,
                                    .contour_step = 0.1,
                                    .contour_last = 0.95,
                                    .history_x = history_x,
                                    .history_y = history_y,
                                    .nhistory = nhistory,
                                    .history_label_x = "iterations / nx",
                                    .history_label_y = "largest residual"};
    RUBUS_MUST(rubus_field_write("relax_3d.png", u, &desc));

    rubus_array *all[] = {u, un, lam, Q, d, dn, z, largest};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rubus_array_destroy(all[i]);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return err < 1e-6 ? 0 : 1;
}
