/* SPDX-License-Identifier: Apache-2.0 */
// Heat spreads from a hot square: 2D diffusion, and a picture of it.
#include <rubus/rubus.h>

static const char source[] = "kernel heat(out real Tn[nx,ny], in real T[nx,ny], real c)\n"
                             "{\n"
                             "    inn(Tn) = inn(T) + c * (d2_xi(T) + d2_yi(T));\n"
                             "}\n";

enum { NX = 200, NY = 150 };

int main(void)
{
    static double start[NY][NX];
    for (int j = 50; j < 100; j++) {
        for (int i = 40; i < 90; i++) {
            start[j][i] = 1;
        }
    }

    rubus_context *context;
    rubus_module *module;
    rubus_array *T;
    rubus_array *Tn;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "heat.rk", source, NULL, &module));
    RUBUS_MUST(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(NX, NY), start, &T));
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(NX, NY), &Tn));

    const rubus_kernel *heat = rubus_module_kernel(module, "heat");
    for (int step = 0; step < 500; step++) {
        RUBUS_MUST(rubus_launch(heat, Tn, T, 0.2));
        rubus_array *swap = T;
        T = Tn;
        Tn = swap;
    }
    RUBUS_MUST(rubus_picture_write("heat.png", T));

    rubus_array_destroy(T);
    rubus_array_destroy(Tn);
    rubus_module_destroy(module);
    rubus_context_destroy(context);
    return 0;
}
