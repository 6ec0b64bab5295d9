/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Binding a launch: from the sizes of its arguments to the values of all symbols and the
 * ranges of all passes. Every condition of the kernel is checked here, and every access
 * that the compiler listed is proven to stay inside its array, before anything runs.
 */
#include "config.h"

#include "libcore/kernel/program.h"

#include <string.h>

typedef struct binder {
    const rk_program *program;
    const rk_kernel *kernel;
    const rk_work *work;
    const rk_argument *args;
    int64_t *symbol;
} binder;

static const char *const axis_name[3] = {"first", "second", "third"};

static void place_of(rk_span at, char *out, size_t room)
{
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(at, &line, &column);
    rubus__snprintf(out, room, "%s:%d:%d", at.source == NULL ? "?" : at.source->name,
                    (int)line, (int)column);
}

/* The text of the source between the ends of a span, cut to what a message can hold. */
static void source_text(rk_span at, char *out, size_t room)
{
    size_t n = at.source == NULL ? 0 : (size_t)(at.last - at.first);
    const bool cut = n > room - 5;
    n = cut ? room - 5 : n;
    if (n > 0) {
        memcpy(out, at.source->text + at.first, n);
    }
    while (cut && n > 0 && ((unsigned char)out[n - 1] & 0xC0u) == 0x80u) {
        n--; /* not inside a UTF-8 sequence */
    }
    strcpy(out + n, cut ? "..." : "");
}

/* An affine expression as text. (rk_affine_text takes memory of the compilation, which
 * may not grow any more: launches run on any thread.) */
static void affine_write(const rk_work *work, rk_affine a, char *out, size_t room)
{
    size_t n = 0;
    out[0] = '\0';
    for (int32_t i = 0; i < a.nterm && n + 1 < room; i++) {
        const int64_t coef = a.term[i].coef;
        const char *name = work->symbol[a.term[i].symbol].name;
        const char *plus = i > 0 && coef > 0 ? "+" : "";
        if (coef == 1 || coef == -1) {
            rubus__snprintf(out + n, room - n, "%s%s%s", plus, coef < 0 ? "-" : "", name);
        } else {
            rubus__snprintf(out + n, room - n, "%s%lld*%s", plus, (long long)coef, name);
        }
        n = strlen(out);
    }
    if ((a.constant != 0 || a.nterm == 0) && n + 1 < room) {
        rubus__snprintf(out + n, room - n, a.nterm > 0 ? "%+lld" : "%lld",
                        (long long)a.constant);
    }
}

/* --- symbols ---------------------------------------------------------------------- */

/* Value of a rank-0 int field over symbols (an OPAQUE expression). */
static rk_value field_value(const binder *b, const rk_field *f)
{
    const rk_numbers wide = {true, true};
    rk_value zero = {RK_INT, {0}};
    if (f == NULL) {
        return zero;
    }
    switch (f->kind) {
    case RK_FIELD_CONST:
        return f->value;
    case RK_FIELD_SYMBOL:
        zero.u.i = 0;
        (void)rk_affine_eval(f->affine, b->symbol, &zero.u.i);
        return zero;
    case RK_FIELD_SCALAR:
        zero.u.i = b->args[f->param].integer;
        return zero;
    case RK_FIELD_APPLY: {
        rk_value v[3];
        const rk_field *operand[3] = {f->a, f->b, f->c};
        for (int i = 0; i < 3; i++) {
            v[i] = field_value(b, operand[i]);
        }
        return rk_apply(&wide, f->op, v[0], v[1], v[2]);
    }
    default:
        return zero;
    }
}

static rubus_status bad_extent(const binder *b, int32_t param, int32_t dim,
                               const char *expected)
{
    const rk_decl *decl = b->work->decl->param[param];
    char declared[96];
    affine_write(b->work, b->work->extent[param][dim], declared, sizeof(declared));
    return rubus__fail(RUBUS_ESHAPE,
                       "kernel `%s`: the %s extent of `%s` is %lld, but its declaration "
                       "(%s) needs %s; pass an array of that size",
                       b->work->decl->name, axis_name[dim], decl->name,
                       (long long)b->args[param].n[dim], declared, expected);
}

/* The name of an extent from the dimension that declares it: (n - rest) / coef. */
static rubus_status solve_extent(binder *b, int32_t number)
{
    const rk_symbol *s = &b->work->symbol[number];
    const rk_affine declared = b->work->extent[s->param][s->dim];
    int64_t rest = declared.constant;
    int64_t coef = 1;
    for (int32_t i = 0; i < declared.nterm; i++) {
        int64_t part = 0;
        if (declared.term[i].symbol == number) {
            coef = declared.term[i].coef;
        } else if (__builtin_mul_overflow(declared.term[i].coef,
                                          b->symbol[declared.term[i].symbol], &part) ||
                   __builtin_add_overflow(rest, part, &rest)) {
            return bad_extent(b, s->param, s->dim, "a value that does not fit 64 bits");
        }
    }
    const int64_t n = b->args[s->param].n[s->dim];
    int64_t over = 0;
    if (__builtin_sub_overflow(n, rest, &over) || over % coef != 0 || over / coef < 0) {
        char text[96];
        rubus__snprintf(text, sizeof(text), "a size for which %s is a whole number >= 0",
                        s->name);
        return bad_extent(b, s->param, s->dim, text);
    }
    b->symbol[number] = over / coef;
    return RUBUS_OK;
}

static rubus_status solve_symbols(binder *b)
{
    for (int32_t i = 0; i < b->work->nsymbol; i++) {
        const rk_symbol *s = &b->work->symbol[i];
        switch (s->kind) {
        case RK_SYMBOL_EXTENT: {
            const rubus_status st = solve_extent(b, i);
            if (st != RUBUS_OK) {
                return st;
            }
            break;
        }
        case RK_SYMBOL_BLANK:
            b->symbol[i] = b->args[s->param].n[s->dim];
            break;
        case RK_SYMBOL_SCALAR:
            b->symbol[i] = b->args[s->param].integer;
            break;
        case RK_SYMBOL_OPAQUE:
            b->symbol[i] = field_value(b, s->expr).u.i;
            break;
        }
    }
    return RUBUS_OK;
}

static rubus_status solve_here(void *user)
{
    return solve_symbols(user);
}

/* Opaque expressions may be deep, and a launch may come from a thread with little stack.
 */
static rubus_status solve(binder *b)
{
    for (int32_t i = 0; i < b->work->nsymbol; i++) {
        if (b->work->symbol[i].kind == RK_SYMBOL_OPAQUE) {
            return rubus__with_stack(rk_stack_need(b->program), solve_here, b);
        }
    }
    return solve_symbols(b);
}

static rubus_status check_extents(const binder *b)
{
    const int64_t most = b->program->unit->numbers.int64 ? INT64_MAX : INT32_MAX;
    for (int32_t p = 0; p < b->work->decl->nparam; p++) {
        const rk_decl *decl = b->work->decl->param[p];
        for (int32_t d = 0; d < 3 && d < decl->rank; d++) {
            const int64_t n = b->args[p].n[d];
            int64_t want = 0;
            const bool fits = rk_affine_eval(b->work->extent[p][d], b->symbol, &want);
            if (!fits || want != n) {
                char text[32];
                rubus__snprintf(text, sizeof(text), "%lld", (long long)want);
                return bad_extent(b, p, d, fits ? text : "more than 64 bits hold");
            }
            if (n > most) {
                return rubus__fail(
                    RUBUS_ELIMIT,
                    "kernel `%s`: the %s extent of `%s` is %lld, more than "
                    "the module's 32-bit int holds; build the module with "
                    "index i64",
                    b->work->decl->name, axis_name[d], decl->name, (long long)n);
            }
        }
    }
    return RUBUS_OK;
}

static rubus_status check_conditions(const binder *b)
{
    for (int32_t i = 0; i < b->work->ncheck; i++) {
        const rk_check *c = &b->work->check[i];
        int64_t a = 0;
        int64_t other = 0;
        const bool fits = rk_affine_eval(c->a, b->symbol, &a) &&
                          rk_affine_eval(c->b, b->symbol, &other);
        if (fits && (c->kind == RK_CHECK_EQUAL ? a == other : a >= 0)) {
            continue;
        }
        char place[256];
        place_of(c->at, place, sizeof(place));
        char left[96];
        char right[96];
        affine_write(b->work, c->a, left, sizeof(left));
        affine_write(b->work, c->b, right, sizeof(right));
        if (c->kind == RK_CHECK_EQUAL) {
            return rubus__fail(RUBUS_ESHAPE,
                               "kernel `%s`: %s: %s (%s is %lld, %s is %lld)",
                               b->work->decl->name, place, c->message, left, (long long)a,
                               right, (long long)other);
        }
        return rubus__fail(RUBUS_ESHAPE,
                           "kernel `%s`: %s: %s; it needs %s >= 0, which is %lld here",
                           b->work->decl->name, place, c->message, left, (long long)a);
    }
    return RUBUS_OK;
}

/* --- ranges ----------------------------------------------------------------------- */

static bool affine_value(const binder *b, rk_affine a, int64_t *out)
{
    *out = 0;
    return rk_affine_eval(a, b->symbol, out);
}

/* Box of an action; false if it holds no point. */
static bool box_value(const binder *b, const rk_box *box, int64_t *lo, int64_t *hi)
{
    bool any = true;
    for (int32_t d = 0; d < 3; d++) {
        lo[d] = 0;
        hi[d] = 1;
        if (box->bounded[d]) {
            any = affine_value(b, box->lo[d], &lo[d]) && any;
            any = affine_value(b, box->hi[d], &hi[d]) && any;
        }
        any = any && lo[d] < hi[d];
    }
    return any;
}

static void fold_range(const binder *b, const rk_pass *pass, rk_range *range)
{
    if (pass->nfold == 0) {
        return;
    }
    for (int32_t i = 0; i < pass->naction; i++) {
        int64_t lo[3];
        int64_t hi[3];
        if (pass->action[i].kind != RK_ACTION_FOLD) {
            continue;
        }
        const bool any = box_value(b, &pass->action[i].box, lo, hi);
        const int64_t nsegment = any ? (hi[0] - lo[0] + RK_SEGMENT - 1) / RK_SEGMENT : 1;
        range->npartial = any ? nsegment * (hi[1] - lo[1]) * (hi[2] - lo[2]) : 0;
        range->lo[0] = 0;
        range->hi[0] = nsegment;
        return;
    }
}

static void pass_range(const binder *b, const rk_pass *pass, rk_range *range)
{
    memset(range, 0, sizeof(*range));
    range->empty = true;
    for (int32_t i = 0; i < pass->naction; i++) {
        int64_t lo[3];
        int64_t hi[3];
        if (!box_value(b, &pass->action[i].box, lo, hi)) {
            continue;
        }
        for (int32_t d = 0; d < 3; d++) {
            range->lo[d] = range->empty || lo[d] < range->lo[d] ? lo[d] : range->lo[d];
            range->hi[d] = range->empty || hi[d] > range->hi[d] ? hi[d] : range->hi[d];
        }
        range->empty = false;
    }
    fold_range(b, pass, range);
}

static rubus_status point_range(const binder *b, const int64_t *lo, const int64_t *hi,
                                rk_range *range)
{
    const int32_t nindex = b->work->decl->nindex;
    memset(range, 0, sizeof(*range));
    for (int32_t d = 0; d < 3; d++) {
        range->lo[d] = 0;
        range->hi[d] = 1;
        if (d < nindex && lo != NULL) {
            range->lo[d] = lo[d];
            range->hi[d] = hi[d];
        } else if (d < nindex &&
                   !(affine_value(b, b->work->range_lo[d], &range->lo[d]) &&
                     affine_value(b, b->work->range_hi[d], &range->hi[d]))) {
            return rubus__fail(RUBUS_ELIMIT,
                               "kernel `%s`: its range does not fit 64 bits",
                               b->work->decl->name);
        }
        range->empty = range->empty || range->lo[d] >= range->hi[d];
    }
    const bool wide = b->program->unit->numbers.int64;
    for (int32_t d = 0; d < nindex && !range->empty && !wide; d++) {
        if (range->lo[d] < INT32_MIN || range->hi[d] - 1 > INT32_MAX) {
            return rubus__fail(RUBUS_ELIMIT,
                               "kernel `%s`: its range [%lld, %lld) is wider than the "
                               "module's 32-bit int; build the module with index i64",
                               b->work->decl->name, (long long)range->lo[d],
                               (long long)range->hi[d]);
        }
    }
    return RUBUS_OK;
}

/* --- proofs ----------------------------------------------------------------------- */

/* Points at which the access is made; false if there are none. */
static bool access_points(const binder *b, const rk_access *a, const rk_range *range,
                          int64_t *lo, int64_t *hi)
{
    for (int32_t d = 0; d < 3; d++) {
        lo[d] = a->nbox == 0 ? range->lo[d] : INT64_MIN / 4;
        hi[d] = a->nbox == 0 ? range->hi[d] : INT64_MAX / 4;
    }
    for (int32_t i = 0; i < a->nbox; i++) {
        for (int32_t d = 0; d < 3; d++) {
            int64_t l = 0;
            int64_t h = 0;
            if (!a->box[i]->bounded[d]) {
                continue;
            }
            if (!affine_value(b, a->box[i]->lo[d], &l) ||
                !affine_value(b, a->box[i]->hi[d], &h)) {
                return false;
            }
            lo[d] = l > lo[d] ? l : lo[d];
            hi[d] = h < hi[d] ? h : hi[d];
        }
    }
    for (int32_t d = 0; d < 3; d++) {
        if (lo[d] >= hi[d]) {
            return false;
        }
    }
    return true;
}

static rubus_status leaves(const binder *b, const rk_access *a, int32_t d, int64_t index)
{
    char place[256];
    char text[64];
    place_of(a->at_source, place, sizeof(place));
    source_text(a->at_source, text, sizeof(text));
    const rk_decl *decl = b->work->decl->param[a->param];
    const int64_t n = b->args[a->param].n[d];
    if (n == 0) {
        return rubus__fail(RUBUS_EBOUNDS,
                           "kernel `%s`: `%s` at %s reaches element %lld along the %s "
                           "dimension of `%s`, which has no elements there; nothing ran",
                           b->work->decl->name, text, place, (long long)index,
                           axis_name[d], decl->name);
    }
    return rubus__fail(
        RUBUS_EBOUNDS,
        "kernel `%s`: `%s` at %s reaches element %lld along the %s dimension "
        "of `%s`, valid are 0 to %lld; nothing ran; change the range, the "
        "slice or the array's size",
        b->work->decl->name, text, place, (long long)index, axis_name[d], decl->name,
        (long long)(n - 1));
}

static rubus_status prove(const binder *b, const rk_access *a, const rk_range *range)
{
    int64_t lo[3];
    int64_t hi[3];
    if (!access_points(b, a, range, lo, hi)) {
        return RUBUS_OK;
    }
    for (int32_t d = 0; d < a->rank; d++) {
        int64_t off = 0;
        bool fits = affine_value(b, a->off[d], &off);
        int64_t least = off;
        int64_t most = off;
        for (int32_t k = 0; fits && k < 3; k++) {
            const int64_t coef = a->coef[d][k];
            int64_t at_lo = 0;
            int64_t at_hi = 0;
            if (coef != 0) {
                fits = !__builtin_mul_overflow(coef, lo[k], &at_lo) &&
                       !__builtin_mul_overflow(coef, hi[k] - 1, &at_hi) &&
                       !__builtin_add_overflow(least, coef > 0 ? at_lo : at_hi, &least) &&
                       !__builtin_add_overflow(most, coef > 0 ? at_hi : at_lo, &most);
            }
        }
        if (!fits || least < 0) {
            return leaves(b, a, d, fits ? least : INT64_MIN);
        }
        if (most >= b->args[a->param].n[d]) {
            return leaves(b, a, d, most);
        }
    }
    return RUBUS_OK;
}

/* --- the whole -------------------------------------------------------------------- */

size_t rk_binding_size(const rk_kernel *kernel)
{
    return (size_t)kernel->work->nsymbol * sizeof(int64_t) +
           (size_t)kernel->plan->npass * sizeof(rk_range);
}

rubus_status rk_bind(const rk_program *program, const rk_kernel *kernel,
                     const rk_argument *args, const int64_t *lo, const int64_t *hi,
                     void *memory, rk_binding *out_binding)
{
    binder b = {program, kernel, kernel->work, args, memory};
    rk_range *range = (rk_range *)(void *)(b.symbol + kernel->work->nsymbol);
    rubus_status st = solve(&b);
    if (st == RUBUS_OK) {
        st = check_extents(&b);
    }
    if (st == RUBUS_OK) {
        st = check_conditions(&b);
    }
    for (int32_t i = 0; st == RUBUS_OK && i < kernel->plan->npass; i++) {
        if (kernel->decl->nindex > 0) {
            st = point_range(&b, lo, hi, &range[i]);
        } else {
            pass_range(&b, &kernel->plan->pass[i], &range[i]);
        }
    }
    const bool idle = st == RUBUS_OK && kernel->decl->nindex > 0 && range[0].empty;
    for (int32_t i = 0; st == RUBUS_OK && !idle && i < kernel->plan->naccess; i++) {
        st = prove(&b, &kernel->plan->access[i], &range[0]);
    }
    if (st == RUBUS_OK) {
        out_binding->symbol = b.symbol;
        out_binding->pass = range;
    }
    return st;
}
