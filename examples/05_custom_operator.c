/* SPDX-License-Identifier: Apache-2.0 */
// Operators and reductions of one's own: a cloud in a turning wind.
//
//     05_custom_operator [05_custom_operator.rk [STEPS]]
//
// The kernels are in 05_custom_operator.rk; this program only calls them, and checks that
// nothing of the cloud gets lost.
#include <math.h>
#include <stdio.h>

#include <rubus/rubus.h>

enum { NX = 160, NY = 120 };

static rubus_array *new_array(rubus_context *context, int nx, int ny)
{
    rubus_array *array;
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(nx, ny), &array));
    return array;
}

int main(int argc, char **argv)
{
    const char *kernels = argc > 1 ? argv[1] : "05_custom_operator.rk";
    const int steps = argc > 2 ? atoi(argv[2]) : 600;

    rubus_context *context;
    rubus_module *module;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create_file(context, kernels, NULL, &module));
    const rubus_kernel *advect = rubus_module_kernel(module, "advect");
    const rubus_kernel *mass = rubus_module_kernel(module, "mass");
    const rubus_kernel *place = rubus_module_kernel(module, "place");

    rubus_array *c = new_array(context, NX, NY);
    rubus_array *cn = new_array(context, NX, NY);
    rubus_array *psi = new_array(context, NX + 1, NY + 1);
    rubus_array *vx = new_array(context, NX - 1, NY);
    rubus_array *vy = new_array(context, NX, NY - 1);
    RUBUS_MUST(rubus_launch(rubus_module_kernel(module, "setup"), c, psi, vx, vy));

    double before;
    RUBUS_MUST(rubus_launch(mass, c, &before));
    const double dt = 0.1; // the wind crosses about half a cell along each axis
    for (int it = 0; it <= steps; it++) {
        if (it % 100 == 0) {
            double peak;
            double x;
            double y;
            RUBUS_MUST(rubus_launch(place, &peak, &x, &y, c));
            printf("step %4d: highest value %.4f, centre (%.4f, %.4f)\n", it, peak,
                   x / before, y / before);
        }
        RUBUS_MUST(rubus_launch(advect, cn, c, vx, vy, dt));
        rubus_array *swap = c;
        c = cn;
        cn = swap;
    }
    double after;
    RUBUS_MUST(rubus_launch(mass, c, &after));
    printf("mass %.12g before, %.12g after\n", before, after);

    const rubus_output_desc desc = {.struct_size = sizeof(desc),
                                    .name = "c",
                                    .title = "A cloud in a turning wind",
                                    .contour_first = 0.1,
                                    .contour_step = 0.2,
                                    .contour_last = 0.9};
    RUBUS_MUST(rubus_field_write("custom_operator.png", c, &desc));

    rubus_array *all[] = {c, cn, psi, vx, vy};
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        rubus_array_destroy(all[i]);
    }
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return fabs(after - before) < 1e-9 * before ? 0 : 1;
}
