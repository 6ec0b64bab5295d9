/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names in sight, and messages about names that are not.
 *
 * A scope is a stack of bound names with hashed chains through it, so finding a name and
 * leaving a block are both cheap; names are interned and compared as pointers. What is
 * called (ops, funcs, built-ins) lives apart from values and is looked up in the module.
 */
#include "config.h"

#include "libcore/kernel/check.h"

#include <string.h>

void *rk_extend(rk_unit *unit, void *array, int32_t n, size_t size)
{
    if (n != 0 && (n < 8 || (n & (n - 1)) != 0)) {
        return array;
    }
    const size_t room = n == 0 ? 8 : 2 * (size_t)n;
    void *grown = rk_new(unit, room * size);
    if (n > 0) {
        memcpy(grown, array, (size_t)n * size);
    }
    return grown;
}

int64_t rk_errors(const rk_unit *unit)
{
    return (int64_t)unit->nerror + unit->nerror_dropped;
}

/* --- scopes ------------------------------------------------------------------------- */

enum { BUCKETS_FIRST = 64 };

static int32_t *bucket_of(const rk_scope *scope, const char *name)
{
    const uintptr_t p = (uintptr_t)name;
    return &scope->bucket[((p >> 4) ^ (p >> 10)) & (uintptr_t)(scope->nbucket - 1)];
}

static void make_buckets(rk_scope *scope, int32_t n)
{
    scope->nbucket = n;
    scope->bucket = rk_new(scope->unit, (size_t)n * sizeof(int32_t));
    for (int32_t i = 0; i < n; i++) {
        scope->bucket[i] = -1;
    }
    for (int32_t i = 0; i < scope->nbound; i++) {
        int32_t *bucket = bucket_of(scope, scope->bound[i].decl->name);
        scope->bound[i].older = *bucket;
        *bucket = i;
    }
}

void rk_scope_init(rk_scope *scope, rk_unit *unit)
{
    memset(scope, 0, sizeof(*scope));
    scope->unit = unit;
    make_buckets(scope, BUCKETS_FIRST);
}

const rk_bound *rk_scope_find(const rk_scope *scope, const char *name)
{
    int32_t i = *bucket_of(scope, name);
    while (i >= scope->floor && scope->bound[i].decl->name != name) {
        i = scope->bound[i].older;
    }
    return i >= scope->floor ? &scope->bound[i] : NULL;
}

void rk_scope_bind(rk_scope *scope, rk_decl *decl, rk_field *field)
{
    if (scope->nbound == scope->room) {
        // by its room: a scope shrinks and grows again at the end of every block
        scope->bound =
            rk_extend(scope->unit, scope->bound, scope->room, sizeof(rk_bound));
        scope->room = scope->room == 0 ? 8 : 2 * scope->room;
    }
    if (scope->nbound >= 8 * scope->nbucket) {
        make_buckets(scope, 8 * scope->nbucket);
    }
    int32_t *bucket = bucket_of(scope, decl->name);
    scope->bound[scope->nbound] = (rk_bound){decl, field, *bucket};
    *bucket = scope->nbound++;
}

void rk_scope_declare(rk_scope *scope, rk_decl *decl, int32_t block)
{
    const rk_bound *first = rk_scope_find(scope, decl->name);
    if (first != NULL && first - scope->bound >= block &&
        !rk_decl_is_unknown(first->decl)) {
        rk_duplicate(scope->unit, RK_DUPLICATE_NAME, decl, first->decl,
                     "give one of them another name");
    }
    rk_scope_bind(scope, decl, NULL);
}

void rk_scope_let(rk_scope *scope, const rk_stmt *s, rk_field *value, const char *cure)
{
    rk_decl *let = RK_NEW(scope->unit, rk_decl);
    let->kind = RK_DECL_LET;
    let->name = s->name;
    let->at = s->at;
    const rk_bound *first = rk_scope_find(scope, s->name);
    if (first != NULL && !rk_decl_is_unknown(first->decl)) {
        rk_duplicate(scope->unit, RK_LET_REUSES_NAME, let, first->decl, cure);
    }
    rk_scope_bind(scope, let, value);
}

void rk_scope_close(rk_scope *scope, int32_t block)
{
    while (scope->nbound > block) {
        const rk_bound *last = &scope->bound[--scope->nbound];
        *bucket_of(scope, last->decl->name) = last->older;
    }
}

/* --- what names are called in messages ---------------------------------------------- */

const char *rk_decl_text(const rk_decl *decl)
{
    switch (decl->kind) {
    case RK_DECL_KERNEL:
        return "a kernel";
    case RK_DECL_OP:
        return "an op";
    case RK_DECL_FUNC:
        return "a func";
    case RK_DECL_PARAM:
        return decl->is_result         ? "a result"
               : decl->rank > 0        ? "an array parameter"
               : decl->type == RK_VOID ? "a parameter"
                                       : "a scalar parameter";
    case RK_DECL_OPPARAM:
        return "a parameter";
    case RK_DECL_EXTENT:
        return "an extent";
    case RK_DECL_INDEX:
        return "an index";
    case RK_DECL_LOCAL:
        return decl->length != NULL ? "a local array" : "a local variable";
    case RK_DECL_LET:
        return "a let";
    case RK_DECL_FORM:
        return "a form";
    case RK_DECL_FORMPARAM:
        return "a parameter";
    }
    return "a name";
}

void rk_duplicate(rk_unit *unit, rk_code code, const rk_decl *decl, const rk_decl *first,
                  const char *cure)
{
    rk_error(unit, code, decl->at, cure, "`%s` is already the name of %s", decl->name,
             rk_decl_text(first));
    if (first->at.source != NULL) {
        rk_note(unit, first->at, "declared here");
    }
}

bool rk_decl_is_unknown(const rk_decl *decl)
{
    return decl->kind == RK_DECL_LOCAL && decl->type == RK_VOID;
}

/* --- built-in names ----------------------------------------------------------------- */

static bool is_word(const char *spelling)
{
    return (spelling[0] >= 'a' && spelling[0] <= 'z');
}

rk_op rk_find_builtin(const char *name, int narg)
{
    for (int op = RK_OP_NONE + 1; op < RK_OP_COUNT; op++) {
        if (op != RK_OP_EXTENT && rk_op_operands((rk_op)op) == narg &&
            is_word(rk_op_spelling((rk_op)op)) &&
            strcmp(rk_op_spelling((rk_op)op), name) == 0) {
            return (rk_op)op;
        }
    }
    return RK_OP_NONE;
}

int32_t rk_builtin_operands(const char *name)
{
    for (int n = 1; n <= 3; n++) {
        if (rk_find_builtin(name, n) != RK_OP_NONE) {
            return n;
        }
    }
    return -1;
}

/* Names with rules of their own, and how they are called. */
static const struct {
    const char *name;
    const char *form;
} special_list[] = {
    {"pad", "pad(F, v) or pad(F, v, 1:0, 0:2)"},
    {"ix", "ix(F)"},
    {"iy", "iy(F)"},
    {"iz", "iz(F)"},
    {"extent", "extent(A, 0)"},
    {"sum", "err = sum(F); for a result `out real err`"},
    {"atomic_add", "atomic_add(A[i], v); as a statement"},
};

static const char *special_form(const char *name)
{
    for (size_t i = 0; i < sizeof(special_list) / sizeof(special_list[0]); i++) {
        if (strcmp(special_list[i].name, name) == 0) {
            return special_list[i].form;
        }
    }
    return NULL;
}

bool rk_name_is_taken(const char *name)
{
    return special_form(name) != NULL || rk_builtin_operands(name) >= 0;
}

bool rk_fold_by_name(const char *name, rk_fold_op *out)
{
    static const char *const names[] = {"sum", "max", "min"};
    static const rk_fold_op folds[] = {RK_FOLD_SUM, RK_FOLD_MAX, RK_FOLD_MIN};
    for (int i = 0; i < 3; i++) {
        if (strcmp(name, names[i]) == 0) {
            *out = folds[i];
            return true;
        }
    }
    return false;
}

bool rk_op_exists(rk_unit *unit, const char *name)
{
    const rk_decl *decl = rk_module_named(unit, name);
    while (decl != NULL && (decl->kind != RK_DECL_OP || decl->name != name)) {
        decl = decl->next_named;
    }
    return decl != NULL;
}

/* --- messages ----------------------------------------------------------------------- */

static const char *did_you_mean(rk_unit *unit, const char *name, const char *const *list,
                                int32_t n)
{
    const char *nearest = rubus__nearest(name, list, (size_t)n);
    return nearest == NULL
               ? NULL
               : rubus__arena_format(unit->arena, "did you mean `%s`?", nearest);
}

void rk_unknown_name(rk_scope *scope, const char *name, rk_span at)
{
    rk_unit *unit = scope->unit;
    const char *cure = NULL;
    if (rk_op_exists(unit, name) || rk_find_func(unit, name) != NULL ||
        rk_name_is_taken(name)) {
        cure = rubus__arena_format(unit->arena, "`%s` is a function: call it, %s(...)",
                                   name, name);
    } else {
        const int32_t n = scope->nbound - scope->floor;
        const char **list = rk_new(unit, ((size_t)n + 1) * sizeof(*list));
        int32_t count = 0;
        for (int32_t i = scope->floor; i < scope->nbound; i++) {
            if (!rk_decl_is_unknown(scope->bound[i].decl)) {
                list[count++] = scope->bound[i].decl->name;
            }
        }
        cure = did_you_mean(unit, name, list, count);
    }
    rk_error(unit, RK_UNKNOWN_NAME, at,
             cure != NULL ? cure : "declare it, or make it a parameter",
             "unknown name `%s`", name);
    rk_decl *unknown = RK_NEW(unit, rk_decl);
    unknown->kind = RK_DECL_LOCAL;
    unknown->name = name;
    unknown->at = at;
    rk_scope_bind(scope, unknown, NULL);
}

/* Adds the user's names of a list that may begin with the library's. */
static int32_t add_users(const char **list, int32_t n, rk_decl *const *decl,
                         int32_t ndecl)
{
    for (int32_t i = 0; i < ndecl; i++) {
        if (!decl[i]->at.source->library) {
            list[n++] = decl[i]->name;
        }
    }
    return n;
}

static int32_t add_library(rk_unit *unit, const char **list, int32_t n,
                           const rk_library_name *name, int32_t nname, bool ops)
{
    for (int32_t i = 0; i < nname; i++) {
        if (name[i].is_op == ops) {
            list[n++] = rk_intern(unit, name[i].text, name[i].size);
        }
    }
    return n;
}

/* The nearest name of anything that can be called. */
static const char *nearest_call(rk_unit *unit, const char *name)
{
    const rk_module *module = &unit->module;
    int32_t nlibrary = 0;
    const rk_library_name *library = rk_library_names(unit, &nlibrary);
    const size_t room =
        (size_t)nlibrary + (size_t)module->nop + (size_t)module->nfunc + RK_OP_COUNT + 16;
    const char **list = rk_new(unit, room * sizeof(*list));
    int32_t n = add_library(unit, list, 0, library, nlibrary, true);
    n = add_users(list, n, module->op, module->nop);
    n = add_library(unit, list, n, library, nlibrary, false);
    n = add_users(list, n, module->func, module->nfunc);
    for (int op = RK_OP_NONE + 1; op < RK_OP_COUNT; op++) {
        if (is_word(rk_op_spelling((rk_op)op))) {
            list[n++] = rk_op_spelling((rk_op)op);
        }
    }
    for (size_t i = 0; i < sizeof(special_list) / sizeof(special_list[0]); i++) {
        list[n++] = special_list[i].name;
    }
    return did_you_mean(unit, name, list, n);
}

void rk_unknown_call(rk_scope *scope, const rk_expr *call)
{
    rk_unit *unit = scope->unit;
    const char *name = call->name;
    const int32_t want = rk_builtin_operands(name);
    if (want >= 0) {
        rk_error(unit, RK_WRONG_ARGUMENTS, call->at, NULL,
                 "`%s` takes %d argument%s, not %d", name, want, want == 1 ? "" : "s",
                 call->narg);
        return;
    }
    if (special_form(name) != NULL) {
        rk_error(unit, RK_WRONG_ARGUMENTS, call->at,
                 rubus__arena_format(unit->arena, "write %s", special_form(name)),
                 "`%s` cannot be called like this", name);
        return;
    }
    const rk_bound *bound = rk_scope_find(scope, name);
    if (bound != NULL && !rk_decl_is_unknown(bound->decl)) {
        const bool array = bound->decl->rank > 0 || bound->decl->length != NULL;
        const char *cure =
            array ? rubus__arena_format(unit->arena, "elements are written %s[...]", name)
                  : "write a `*` for a product";
        rk_error(unit, RK_UNKNOWN_CALL, call->at, cure, "`%s` is %s, not a function",
                 name, rk_decl_text(bound->decl));
        return;
    }
    const char *cure = nearest_call(unit, name);
    rk_error(unit, RK_UNKNOWN_CALL, call->at,
             cure != NULL ? cure : "define it with `op` (fields) or `func` (scalars)",
             "unknown function `%s`", name);
}

/* --- funcs -------------------------------------------------------------------------- */

static rk_decl *find_in(rk_unit *unit, const char *name, bool library)
{
    const char *own = rk_intern(unit, name, (int32_t)strlen(name));
    rk_decl *decl = rk_module_named(unit, own);
    while (decl != NULL && (decl->kind != RK_DECL_FUNC || decl->name != own ||
                            decl->at.source->library != library)) {
        decl = decl->next_named;
    }
    return decl;
}

rk_decl *rk_find_func(rk_unit *unit, const char *name)
{
    rk_decl *func = find_in(unit, name, false);
    return func != NULL ? func : find_in(unit, name, true);
}

rk_decl *rk_find_func_from(rk_unit *unit, const rk_decl *from, const char *name)
{
    if (from->at.source->library) {
        rk_decl *func = find_in(unit, name, true);
        if (func != NULL) {
            return func;
        }
    }
    return rk_find_func(unit, name);
}

rk_decl *rk_find_pow(rk_unit *unit, rk_span at)
{
    rk_decl *func = find_in(unit, "pow", true);
    func = func != NULL ? func : find_in(unit, "pow", false);
    if (func == NULL || func->type != RK_REAL || func->nparam != 2 ||
        func->param[0]->type != RK_REAL || func->param[1]->type != RK_REAL) {
        rk_error(unit, RK_UNKNOWN_CALL, at, "import a library that has it",
                 "a real exponent needs `func real pow(real x, real y)`");
        return NULL;
    }
    return func;
}
