/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Symbols of a kernel's header: int scalars, names of extents, blank extents, numbered
 * in an order in which each can be computed from the arguments and the earlier ones.
 *
 * A name of extents is solved from the first array dimension in which it is the only
 * name not solved yet; dimensions where it has coefficient 1 or -1 come before others.
 * What cannot be solved so is an error: a launch would not know its value.
 */
#include "config.h"

#include "libcore/kernel/check.h"

#include <string.h>

typedef struct header {
    rk_unit *unit;
    rk_decl *kernel;
    rk_work *work;
    int32_t *scalar;  /* [nparam] symbol of an int scalar, or -1 */
    int32_t extent_0; /* symbol of the first name of extents */
    bool *solved;     /* [nextent] */
    bool good;
} header;

/* --- names -------------------------------------------------------------------------- */

static rk_decl *find_param(const rk_decl *kernel, const char *name)
{
    for (int32_t i = 0; i < kernel->nparam; i++) {
        if (kernel->param[i]->name == name) {
            return kernel->param[i];
        }
    }
    return NULL;
}

static rk_decl *find_extent(const rk_decl *kernel, const char *name)
{
    for (int32_t i = 0; i < kernel->nextent; i++) {
        if (kernel->extent_decl[i]->name == name) {
            return kernel->extent_decl[i];
        }
    }
    return NULL;
}

static void add_extent(header *h, const rk_expr *name)
{
    rk_decl *decl = RK_NEW(h->unit, rk_decl);
    decl->kind = RK_DECL_EXTENT;
    decl->name = name->name;
    decl->at = name->at;
    decl->type = RK_INT;
    h->kernel->extent_decl =
        rk_extend(h->unit, h->kernel->extent_decl, h->kernel->nextent, sizeof(rk_decl *));
    h->kernel->extent_decl[h->kernel->nextent++] = decl;
}

/* Collects the names of extents; those of parameters must be int scalars. */
static void find_names(header *h, const rk_expr *e)
{
    if (e->kind == RK_EXPR_UNARY) {
        find_names(h, e->a);
    } else if (e->kind == RK_EXPR_BINARY) {
        find_names(h, e->a);
        find_names(h, e->b);
    } else if (e->kind == RK_EXPR_NAME) {
        const rk_decl *param = find_param(h->kernel, e->name);
        if (param == NULL && find_extent(h->kernel, e->name) == NULL) {
            rk_spend(h->unit, 1 + h->kernel->nextent / 16, e->at);
            add_extent(h, e);
        } else if (param != NULL && (param->rank > 0 || param->type != RK_INT ||
                                     param->mode == RK_MODE_OUT)) {
            rk_error(h->unit, RK_BAD_EXTENT, e->at,
                     "extents are made of names of their own and int parameters",
                     "`%s` is %s%s and cannot be an extent", e->name,
                     param->rank > 0 || param->mode == RK_MODE_OUT ? ""
                     : param->type == RK_REAL                      ? "real, "
                                                                   : "bool, ",
                     rk_decl_text(param));
            rk_note(h->unit, param->at, "declared here");
            h->good = false;
        }
    }
}

/* --- affine expressions of them ----------------------------------------------------- */

static bool not_affine(header *h, const rk_expr *e)
{
    if (h->good) {
        rk_error(
            h->unit, RK_BAD_EXTENT, e->at,
            "use names, + and -, and literals as factors (nx, nx-2, 2*n+1), a name of "
            "its own, or a blank",
            "an extent is an affine expression of names");
    }
    h->good = false;
    return false;
}

static bool extent_affine(header *h, const rk_expr *e, rk_affine *out);

static bool extent_binary(header *h, const rk_expr *e, rk_affine *out)
{
    rk_affine a = rk_affine_int(0);
    rk_affine b = rk_affine_int(0);
    if (e->op != RK_OP_ADD && e->op != RK_OP_SUB && e->op != RK_OP_MUL) {
        return not_affine(h, e);
    }
    if (!extent_affine(h, e->a, &a) || !extent_affine(h, e->b, &b)) {
        return false;
    }
    int64_t k = 0;
    if (e->op != RK_OP_MUL) {
        *out = rk_affine_add(h->unit, a, e->op == RK_OP_ADD ? 1 : -1, b);
    } else if (rk_affine_is_const(a, &k)) {
        *out = rk_affine_scale(h->unit, b, k);
    } else if (rk_affine_is_const(b, &k)) {
        *out = rk_affine_scale(h->unit, a, k);
    } else {
        return not_affine(h, e);
    }
    return true;
}

static bool extent_affine(header *h, const rk_expr *e, rk_affine *out)
{
    rk_spend(h->unit, 1, e->at);
    if (e->kind == RK_EXPR_INT) {
        *out = rk_affine_int(e->value.i);
        return true;
    }
    if (e->kind == RK_EXPR_NAME) {
        const rk_decl *param = find_param(h->kernel, e->name);
        const int32_t symbol = param != NULL ? h->scalar[param->number]
                                             : find_extent(h->kernel, e->name)->number;
        if (symbol < 0) {
            return not_affine(h, e); // reported: no int
        }
        *out = rk_affine_symbol(h->unit, symbol);
        return true;
    }
    if (e->kind == RK_EXPR_UNARY && e->op == RK_OP_NEG) {
        rk_affine a = rk_affine_int(0);
        if (!extent_affine(h, e->a, &a)) {
            return false;
        }
        *out = rk_affine_scale(h->unit, a, -1);
        return true;
    }
    if (e->kind == RK_EXPR_BINARY) {
        return extent_binary(h, e, out);
    }
    return not_affine(h, e);
}

/* Extents that are not blank, by the present numbers of the names. */
static void evaluate_extents(header *h)
{
    for (int32_t p = 0; p < h->kernel->nparam; p++) {
        const rk_decl *param = h->kernel->param[p];
        for (int32_t d = 0; d < param->rank; d++) {
            if (param->extent[d] != NULL) {
                extent_affine(h, param->extent[d], &h->work->extent[p][d]);
            }
        }
    }
}

/* --- solving ------------------------------------------------------------------------ */

/* Whether only `symbol` is unsolved in a; its coefficient. */
static bool solves(const header *h, rk_affine a, int32_t symbol, int64_t *coef)
{
    bool found = false;
    for (int32_t i = 0; i < a.nterm; i++) {
        const int32_t s = a.term[i].symbol;
        if (s == symbol) {
            found = true;
            *coef = a.term[i].coef;
        } else if (s >= h->extent_0 && !h->solved[s - h->extent_0]) {
            return false;
        }
    }
    return found;
}

/* The dimension that gives a name of extents, or false. */
static bool solve_one(const header *h, int32_t number, int32_t *out_param,
                      int32_t *out_dim)
{
    bool found = false;
    for (int32_t p = 0; p < h->kernel->nparam; p++) {
        const rk_decl *param = h->kernel->param[p];
        for (int32_t d = 0; d < param->rank; d++) {
            int64_t coef = 0;
            if (param->extent[d] == NULL ||
                !solves(h, h->work->extent[p][d], h->extent_0 + number, &coef)) {
                continue;
            }
            const bool whole = coef == 1 || coef == -1;
            if (whole || !found) {
                *out_param = p;
                *out_dim = d;
                found = true;
            }
            if (whole) {
                return true;
            }
        }
    }
    return found;
}

static void unsolved(header *h)
{
    for (int32_t i = 0; i < h->kernel->nextent; i++) {
        const rk_decl *decl = h->kernel->extent_decl[i];
        if (!h->solved[i]) {
            rk_error(h->unit, RK_UNSOLVED_EXTENT, decl->at,
                     rubus__arena_format(h->unit->arena,
                                         "give some array the extent `%s`, or add a "
                                         "parameter `int %s`",
                                         decl->name, decl->name),
                     "a launch cannot tell `%s` from the sizes of the arrays",
                     decl->name);
            h->good = false;
            return; // the others may follow from this one
        }
    }
}

/* Puts the names of extents in an order in which each is known when its turn comes. */
static void solve(header *h, rk_symbol *extent)
{
    rk_decl *kernel = h->kernel;
    const int32_t n = kernel->nextent;
    rk_decl **order = rk_new(h->unit, ((size_t)n + 1) * sizeof(*order));
    int32_t norder = 0;
    bool progress = true;
    while (progress && norder < n) {
        progress = false;
        for (int32_t i = 0; i < n; i++) {
            int32_t param = 0;
            int32_t dim = 0;
            rk_spend(h->unit, 1 + kernel->nparam / 4, kernel->at);
            if (h->solved[i] || !solve_one(h, i, &param, &dim)) {
                continue;
            }
            h->solved[i] = true;
            progress = true;
            extent[norder] = (rk_symbol){RK_SYMBOL_EXTENT, kernel->extent_decl[i]->name,
                                         param, dim, NULL};
            order[norder++] = kernel->extent_decl[i];
        }
    }
    if (norder < n) {
        unsolved(h);
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        kernel->extent_decl[i] = order[i];
        order[i]->number = h->extent_0 + i;
    }
}

/* --- all symbols -------------------------------------------------------------------- */

static void add_scalars(header *h)
{
    rk_work *work = h->work;
    for (int32_t p = 0; p < h->kernel->nparam; p++) {
        const rk_decl *param = h->kernel->param[p];
        h->scalar[p] = -1;
        if (param->rank == 0 && param->type == RK_INT && param->mode != RK_MODE_OUT) {
            h->scalar[p] = work->nsymbol;
            work->symbol[work->nsymbol++] =
                (rk_symbol){RK_SYMBOL_SCALAR, param->name, p, 0, NULL};
        }
    }
}

static void add_blanks(header *h)
{
    static const char axis[] = "xyz";
    rk_work *work = h->work;
    for (int32_t p = 0; p < h->kernel->nparam; p++) {
        const rk_decl *param = h->kernel->param[p];
        for (int32_t d = 0; d < param->rank; d++) {
            if (param->extent[d] == NULL) {
                const char *name =
                    rubus__arena_format(h->unit->arena, "%s.%c", param->name, axis[d]);
                work->extent[p][d] = rk_affine_symbol(h->unit, work->nsymbol);
                work->symbol[work->nsymbol++] =
                    (rk_symbol){RK_SYMBOL_BLANK, name, p, d, NULL};
            }
        }
    }
}

bool rk_symbols_build(rk_unit *unit, rk_decl *kernel, rk_work *work)
{
    header h = {.unit = unit, .kernel = kernel, .work = work, .good = true};
    const size_t nparam = (size_t)kernel->nparam;
    if (kernel->nextent == 0) {
        for (int32_t p = 0; p < kernel->nparam; p++) {
            for (int32_t d = 0; d < kernel->param[p]->rank; d++) {
                if (kernel->param[p]->extent[d] != NULL) {
                    find_names(&h, kernel->param[p]->extent[d]);
                }
            }
        }
    }
    const size_t most = 4 * nparam + (size_t)kernel->nextent + 1;
    work->symbol = rk_new(unit, most * sizeof(rk_symbol));
    work->extent = rk_new(unit, (nparam + 1) * sizeof(*work->extent));
    h.scalar = rk_new(unit, (nparam + 1) * sizeof(int32_t));
    h.solved = rk_new(unit, (size_t)kernel->nextent + 1);
    add_scalars(&h);
    h.extent_0 = work->nsymbol;
    for (int32_t i = 0; i < kernel->nextent; i++) {
        kernel->extent_decl[i]->number = h.extent_0 + i;
    }
    evaluate_extents(&h);
    if (h.good) {
        solve(&h, work->symbol + h.extent_0);
        work->nsymbol += kernel->nextent;
        evaluate_extents(&h); // by the final numbers
    }
    add_blanks(&h);
    return h.good;
}
