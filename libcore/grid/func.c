/* SPDX-License-Identifier: Apache-2.0 */
/* Funcs at the points and cells of a mesh: the check of their heads, the kernel's text.
 * */
#include "config.h"

#include "libcore/grid/func.h"

#include <string.h>

/* Gauss-Legendre on [0, 1], exact for polynomials of degree 11. */
const double rubus__gauss_node[RUBUS__GAUSS] = {0.033765242898423975, 0.1693953067668677,
                                                0.3806904069584015,   0.6193095930415985,
                                                0.8306046932331323,   0.966234757101576};
const double rubus__gauss_weight[RUBUS__GAUSS] = {
    0.08566224618958525, 0.1803807865240693, 0.23395696728634552,
    0.23395696728634552, 0.1803807865240693, 0.08566224618958525};

static const char axis_name[] = "xyz";
static const char index_name[] = "ijk";
static const char node_name[] = "abc";

/* --- heads ------------------------------------------------------------------------ */

static rubus_status wrong_head(const char *what, const rk_decl *decl, int32_t ndim,
                               rk_type result)
{
    static const char *const point[] = {"real x", "real x, real y",
                                        "real x, real y, real z"};
    const bool real = result == RK_REAL;
    return rubus__fail(RUBUS_EINVAL,
                       "%s: func `%s` does not fit a mesh of %d ax%ss; wanted: func %s "
                       "%s(%s [, real t]%s)",
                       what, decl->name, (int)ndim, ndim == 1 ? "i" : "e",
                       real ? "real" : "bool", decl->name, point[ndim - 1],
                       real ? " [, int component]" : "");
}

rubus_status rubus__func_check(const char *what, const rubus_func *func,
                               const rubus_context *context, int32_t ndim, rk_type result,
                               rubus__func_takes *out_takes)
{
    if (func == NULL) {
        return rubus__no_func(what);
    }
    const rk_decl *decl = func->decl;
    const rubus_context *other = func->module->context;
    if (other != context) {
        return rubus__fail(RUBUS_EFOREIGN,
                           "%s: func `%s` is of a module on backend %s (device \"%s\"), "
                           "the mesh lives on %s (device \"%s\") in another context; "
                           "create the module there",
                           what, decl->name, other->dev->name, other->dev->caps.name,
                           context->dev->name, context->dev->caps.name);
    }
    int32_t n = decl->nparam;
    out_takes->component =
        result == RK_REAL && n > 0 && decl->param[n - 1]->type == RK_INT;
    n -= out_takes->component ? 1 : 0;
    out_takes->time = n == ndim + 1;
    bool fits = decl->type == result && (n == ndim || n == ndim + 1);
    for (int32_t i = 0; i < n; i++) {
        fits = fits && decl->param[i]->type == RK_REAL;
    }
    return fits ? RUBUS_OK : wrong_head(what, decl, ndim, result);
}

/* --- the kernel's text ------------------------------------------------------------ */

typedef struct writer {
    rubus__text *out;
    int32_t ndim;
    const char *func;
    rubus__func_takes takes;
    bool masked;
} writer;

/* "[nx,ny]" or "[i,j]" */
static void write_list(const writer *w, const char *before, const char *names)
{
    for (int32_t d = 0; d < w->ndim; d++) {
        rubus__text_format(w->out, "%s%s%c", d > 0 ? "," : "[", before, names[d]);
    }
    rubus__text_add(w->out, "]");
}

/* cells: the arrays of an axis are the ends of cells, one more than there are points. */
static void write_head(const writer *w, const char *name, const char *type, bool cells)
{
    rubus__text_format(w->out, "kernel %s(out %s u", name, type);
    write_list(w, "n", axis_name);
    if (w->masked) {
        rubus__text_add(w->out, ", in bool m");
        write_list(w, "n", axis_name);
    }
    for (int32_t d = 0; d < w->ndim; d++) {
        const char c = axis_name[d];
        rubus__text_format(w->out, ", in real %c[n%c%s]", c, c, cells ? "+1" : "");
    }
    rubus__text_add(w->out, ", real t, int component) over (");
    for (int32_t d = 0; d < w->ndim; d++) {
        rubus__text_format(w->out, "%s%c", d > 0 ? ", " : "", index_name[d]);
    }
    rubus__text_format(w->out, ")\n{\n    %s value;\n", type);
}

static void write_condition(const writer *w)
{
    if (w->masked) {
        rubus__text_add(w->out, "    if (m");
        write_list(w, "", index_name);
        rubus__text_add(w->out, ")\n");
    }
}

/* The call; `point` gives a coordinate, with the axis and the index for its two %c. */
static void write_call(const writer *w, bool nodes)
{
    rubus__text_format(w->out, "%s(", w->func);
    for (int32_t d = 0; d < w->ndim; d++) {
        rubus__text_format(w->out, nodes ? "%sp%c" : "%s%c[%c]", d > 0 ? ", " : "",
                           axis_name[d], index_name[d]);
    }
    rubus__text_format(w->out, "%s%s)", w->takes.time ? ", t" : "",
                       w->takes.component ? ", component" : "");
}

static void write_point(const writer *w)
{
    write_condition(w);
    rubus__text_add(w->out, "        value = ");
    write_call(w, false);
    rubus__text_add(w->out, ";\n");
}

static void write_nodes(const writer *w)
{
    rubus__text_format(w->out, "    real node[%d];\n    real weight[%d];\n", RUBUS__GAUSS,
                       RUBUS__GAUSS);
    for (int k = 0; k < RUBUS__GAUSS; k++) {
        rubus__text_format(w->out, "    node[%d] = %.17g; weight[%d] = %.17g;\n", k,
                           rubus__gauss_node[k], k, rubus__gauss_weight[k]);
    }
}

/* Loops over the nodes of a cell; a single point is its own only node, of weight 1. */
static void write_mean(const writer *w)
{
    write_nodes(w);
    write_condition(w);
    for (int32_t d = 0; d < w->ndim; d++) {
        const char c = axis_name[d];
        const char i = index_name[d];
        const char k = node_name[d];
        rubus__text_format(w->out,
                           "    for (int %c = 0; %c < (n%c == 1 ? 1 : %d); %c++) {\n"
                           "    real w%c = n%c == 1 ? 1 : weight[%c];\n"
                           "    real p%c = %c[%c] + node[%c] * (%c[%c + 1] - %c[%c]);\n",
                           k, k, c, RUBUS__GAUSS, k, c, c, k, c, c, i, k, c, i, c, i);
    }
    rubus__text_add(w->out, "    value += wx");
    for (int32_t d = 1; d < w->ndim; d++) {
        rubus__text_format(w->out, " * w%c", axis_name[d]);
    }
    rubus__text_add(w->out, " * ");
    write_call(w, true);
    rubus__text_add(w->out, ";\n    ");
    for (int32_t d = 0; d < w->ndim; d++) {
        rubus__text_add(w->out, "}");
    }
    rubus__text_add(w->out, "\n");
}

static void write_kernel(const writer *w, const char *name, rubus__func_use use)
{
    write_head(w, name, use == RUBUS__FUNC_MARK ? "bool" : "real",
               use == RUBUS__FUNC_CELL_MEAN);
    if (use == RUBUS__FUNC_CELL_MEAN) {
        write_mean(w);
    } else {
        write_point(w);
    }
    rubus__text_add(w->out, "    u");
    write_list(w, "", index_name);
    rubus__text_add(w->out, " = value;\n}\n");
}

/* --- running it ------------------------------------------------------------------- */

/* A name that none of the module's ops and funcs has. */
static void kernel_name(const rubus_func *func, char out_name[64])
{
    const rk_module *module = &func->module->program->unit->module;
    bool taken = true;
    strcpy(out_name, "on_mesh");
    while (taken && strlen(out_name) < 60) {
        taken = false;
        for (int32_t i = 0; i < module->nfunc; i++) {
            taken = taken || strcmp(module->func[i]->name, out_name) == 0;
        }
        for (int32_t i = 0; i < module->nop; i++) {
            taken = taken || strcmp(module->op[i]->name, out_name) == 0;
        }
        if (taken) {
            strcat(out_name, "_");
        }
    }
}

static rubus_status find_kernel(const rubus_func *func, const rubus__state *state,
                                const rubus__func_sweep *sweep,
                                const rubus_kernel **out_kernel)
{
    writer w = {
        .ndim = state->ndim, .func = func->decl->name, .masked = sweep->mask != NULL};
    rubus_status st = rubus__func_check("a func on a mesh", func, state->context,
                                        state->ndim, func->decl->type, &w.takes);
    if (st != RUBUS_OK) {
        return st;
    }
    char name[64];
    kernel_name(func, name);
    rubus__text text;
    rubus__text_init(&text);
    w.out = &text;
    write_kernel(&w, name, sweep->use);
    rubus_module *module = NULL;
    st = text.failed
             ? rubus__fail(RUBUS_ENOMEM, "a func on a mesh: out of memory")
             : rubus__module_derive(func->module, state->type, text.data, false, &module);
    rubus__text_fini(&text);
    if (st == RUBUS_OK) {
        *out_kernel = rubus_module_kernel(module, name);
    }
    return st == RUBUS_OK && *out_kernel == NULL ? RUBUS_EINTERNAL : st;
}

rubus_status rubus__func_run(const rubus_func *func, const rubus__state *state,
                             const rubus__func_sweep *sweep, rubus_array *out)
{
    const rubus_kernel *kernel = NULL;
    const rubus_status st = find_kernel(func, state, sweep, &kernel);
    if (st != RUBUS_OK) {
        return st;
    }
    const int which =
        sweep->use == RUBUS__FUNC_CELL_MEAN ? RUBUS_MESH_MIDDLES : RUBUS_MESH_POINTS;
    rubus_arg args[8];
    size_t n = 0;
    args[n++] = rubus_arg_array(out);
    if (sweep->mask != NULL) {
        args[n++] = rubus_arg_array(sweep->mask);
    }
    for (int32_t d = 0; d < state->ndim; d++) {
        args[n++] = rubus_arg_array(state->axis[d]->array[which]);
    }
    args[n++] = rubus_arg_real(sweep->time);
    args[n++] = rubus_arg_integer(sweep->component);
    return rubus_launch_args(kernel, args, n);
}
