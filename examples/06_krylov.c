/* SPDX-License-Identifier: Apache-2.0 */
// The temperature of a plate whose rim is held at given values, by conjugate gradients.
// The operator is a kernel, and no matrix is stored: a struct of functions tells the
// solver how to apply it, what its diagonal is, and which points are held.
#include <rubus/rubus.h>

// A = -(second differences) inside; on the rim the rows of the identity.
static const char source[] =
    "kernel apply(inout real y[nx,ny], in real x[nx,ny], in bool rim[nx,ny],\n"
    "             real alpha, real beta)\n"
    "{\n"
    "    let ax = rim ? x : pad(-(d2_xi(x) + d2_yi(x)), 0);\n"
    "    y = beta == 0 ? alpha * ax : alpha * ax + beta * y;\n"
    "}\n"
    "kernel diagonal(out real d[nx,ny], in bool rim[nx,ny]) { d = rim ? 1 : 4; }\n"
    "reduce max difference(in real a[,], in real b[,]) = abs(a - b);\n";

enum { N = 101 };

typedef struct plate {
    const rubus_kernel *apply;
    const rubus_kernel *diagonal;
    rubus_array *rim;
} plate;

static rubus_status apply(void *self, double alpha, rubus_array *x, double beta,
                          rubus_array *y)
{
    const plate *p = self;
    return rubus_launch(p->apply, y, x, p->rim, alpha, beta);
}

static rubus_status diagonal(void *self, rubus_array *d)
{
    const plate *p = self;
    return rubus_launch(p->diagonal, d, p->rim);
}

static rubus_status constraint(void *self, rubus_array **out_mask)
{
    *out_mask = ((plate *)self)->rim;
    return RUBUS_OK;
}

int main(void)
{
    // x^2 - y^2 solves the equation, also in differences. F has its values on the rim,
    // and no sources inside.
    static double exact[N][N];
    static double right[N][N];
    static bool on_rim[N][N];
    for (int j = 0; j < N; j++) {
        for (int i = 0; i < N; i++) {
            exact[j][i] = (double)(i * i - j * j) / ((N - 1) * (N - 1));
            on_rim[j][i] = i == 0 || j == 0 || i == N - 1 || j == N - 1;
            right[j][i] = on_rim[j][i] ? exact[j][i] : 0;
        }
    }
    rubus_context *context;
    rubus_module *module;
    rubus_array *F;
    rubus_array *u; // zeros: where the iteration starts
    rubus_array *solution;
    plate p;
    RUBUS_MUST(rubus_context_create(NULL, &context)); // $RUBUS_BACKEND, or threads
    RUBUS_MUST(rubus_module_create(context, "plate.rk", source, NULL, &module));
    RUBUS_MUST(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(N, N), right, &F));
    RUBUS_MUST(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(N, N), &u));
    RUBUS_MUST(rubus_array_from(context, RUBUS_F64, RUBUS_SHAPE(N, N), exact, &solution));
    RUBUS_MUST(rubus_array_from(context, RUBUS_BOOL, RUBUS_SHAPE(N, N), on_rim, &p.rim));
    p.apply = rubus_module_kernel(module, "apply");
    p.diagonal = rubus_module_kernel(module, "diagonal");
    const rubus_operator_ops ops = {.struct_size = sizeof ops,
                                    .symmetric = RUBUS_SYMMETRIC_YES,
                                    .apply = apply,
                                    .diagonal = diagonal,
                                    .constraint = constraint};
    rubus_operator *A;
    rubus_krylov_report report = {.struct_size = sizeof report};
    double error = 0;
    RUBUS_MUST(rubus_operator_create(context, (int64_t)N * N, &ops, &p, &A));
    RUBUS_MUST(rubus_solve_cg(A, F, u, NULL, &report));
    RUBUS_MUST(
        rubus_launch(rubus_module_kernel(module, "difference"), u, solution, &error));
    printf("%s after %lld iterations: |F - A u| = %.1e |F|\n",
           rubus_outcome_name(report.outcome), (long long)report.iterations,
           report.residual / report.norm);
    printf("largest error %.0e\n", error);
    RUBUS_MUST(rubus_picture_write("plate.png", u));

    rubus_context_destroy_all(context); // with all that was made in it
    return report.outcome == RUBUS_OUTCOME_CONVERGED ? 0 : 1;
}
