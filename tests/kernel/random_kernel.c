/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame of random kernels: numbers, parameters, statements, printing, and the
 * operations that work point by point, which both kinds of kernels share.
 */
#include "config.h"

#include "tests/kernel/random_kernel.h"

#include <stdlib.h>
#include <string.h>

static void out_of_memory(void *user)
{
    (void)user;
    abort(); /* a test */
}

const char *random_feature_name(int feature)
{
    static const char *const name[] = {
#define RANDOM_FEATURE_NAME_(name) #name,
        RANDOM_FEATURE_LIST(RANDOM_FEATURE_NAME_)
#undef RANDOM_FEATURE_NAME_
    };
    return name[feature];
}

const char *random_prelude(void)
{
    return "op r_twice(A[]) { let g = A[1:] - A[:-1]; return g[1:] - g[:-1]; }\n"
           "op r_twice(A[,]) { let g = d_xa(A); return g[1:, :] - g[:-1, :]; }\n"
           "op r_twice(A[,,]) { let g = A[1:, :, :] - A[:-1, :, :];\n"
           "    return g[1:, :, :] - g[:-1, :, :]; }\n"
           "op r_scale(A[], c) = A * c;\n"
           "op r_scale(A[,], c) = A * c - c;\n"
           "op r_scale(A[,,], c) = c * A;\n"
           "op r_flux(A[]) = pad(A[1:] - A[:-1], 0, 1:0) - A;\n"
           "op r_flux(A[,]) = pad(A[1:, :] - A[:-1, :], 0.5, 1:0, 0:0) * A;\n"
           "op r_flux(A[,,]) = pad(A[:, :, 1:], 0, 0:0, 0:0, 0:1) - A;\n"
           "func real r_mix(real a, real b)\n"
           "{\n"
           "    real q[3];\n"
           "    real s = 0.25;\n"
           "    for (int k = 0; k < 3; k++) {\n"
           "        q[k] = a + k * b;\n"
           "        if (q[k] < s) { continue; }\n"
           "        s += q[k] / (k + 1);\n"
           "    }\n"
           "    return b > 1 ? s : s - q[2];\n"
           "}\n"
           "func int r_step(int a, int b)\n"
           "{\n"
           "    int i = mod(a, 7);\n"
           "    while (i > 2) { i -= 2; if (i == b) { break; } }\n"
           "    return i * b - a;\n"
           "}\n"
           "func bool r_near(real a, real b) { return abs(a - b) < 0.5 && !(a == b); }\n";
}

/* --- numbers ---------------------------------------------------------------------- */

uint64_t random_next(random_state *r)
{
    uint64_t x = r->state += 0x9E3779B97F4A7C15U;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
    return x ^ (x >> 31);
}

int random_below(random_state *r, int n)
{
    return (int)(random_next(r) % (uint64_t)n);
}

bool random_once_in(random_state *r, int n)
{
    return random_below(r, n) == 0;
}

void random_use(random_state *r, random_feature feature)
{
    r->kernel->feature[feature]++;
}

const char *random_op(random_state *r, rk_op op)
{
    r->kernel->op[op]++;
    return rk_op_spelling(op);
}

const char *random_real(random_state *r)
{
    static const char *const list[] = {"0.5",  "1.0",   "2.0", "0.1", "3.",  "1e-3",
                                       "0.25", "1.5e2", "0.0", "7.0", "1e10"};
    return list[random_below(r, (int)(sizeof(list) / sizeof(list[0])))];
}

const char *random_int(random_state *r)
{
    static const char *const list[] = {"0", "1", "2",  "3",   "4",
                                       "5", "7", "10", "100", "65537"};
    return list[random_below(r, (int)(sizeof(list) / sizeof(list[0])))];
}

/* --- parameters and statements ---------------------------------------------------- */

static bool name_taken(const random_kernel *k, const char *name)
{
    for (int p = 0; p < k->nparam; p++) {
        if (strcmp(k->param[p].name, name) == 0) {
            return true;
        }
    }
    return false;
}

random_param *random_add_param(random_state *r, random_param_kind kind, rk_type type,
                               rk_mode mode)
{
    /* words of target languages and letters of the world, for the emitters' spelling */
    static const char *const list[] = {
        "u",   "v",       "λ",     "double", "asm",  "u₀",  "static", "x",
        "η̇",   "char",    "block", "lo",     "ϕ′",   "sin", "main",   "p0",
        "_dx", "int32_t", "∂t",    "out_",   "NULL", "a",   "const",  "w"};
    random_kernel *k = r->kernel;
    const char *name = list[random_below(r, (int)(sizeof(list) / sizeof(list[0])))];
    while (name_taken(k, name)) {
        name = rubus__arena_format(k->arena, "%s%d", name, k->nparam);
    }
    random_param *p = &k->param[k->nparam++];
    p->name = name;
    p->kind = kind;
    p->type = type;
    p->mode = mode;
    p->integer = random_below(r, 3);
    p->real = (random_below(r, 17) - 8) * 0.25;
    if (type == RK_INT && kind == RANDOM_ARRAY) {
        random_use(r, RANDOM_INT_ARRAY);
    } else if (type == RK_BOOL && kind == RANDOM_ARRAY) {
        random_use(r, RANDOM_BOOL_ARRAY);
    }
    return p;
}

random_statement *random_add_statement(random_state *r, random_statement ***at,
                                       const char *text)
{
    random_statement *s = rubus__arena_alloc(r->kernel->arena, sizeof(*s));
    s->text = text;
    **at = s;
    *at = &s->next;
    return s;
}

static random_statement *find(random_statement *list, int *number)
{
    for (; list != NULL; list = list->next) {
        if ((*number)-- == 0) {
            return list;
        }
        random_statement *found = find(list->body, number);
        found = found != NULL ? found : find(list->other, number);
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

random_statement *random_statement_at(const random_kernel *kernel, int number)
{
    return find(kernel->body, &number);
}

int64_t random_extent(const random_kernel *kernel, int param, int dim)
{
    const random_param *p = &kernel->param[param];
    int64_t n = kernel->n[p->axis[dim]] + p->off[dim];
    return n > 0 ? n : 0;
}

/* --- printing --------------------------------------------------------------------- */

static void print_param(rubus__text *out, const random_param *p)
{
    static const char *const mode[] = {"", "in ", "out ", "inout "};
    static const char *const type[] = {"", "real", "int", "bool"};
    static const char *const extent[] = {"nx", "ny", "nz"};
    rubus__text_format(out, "%s%s %s", p->kind == RANDOM_RESULT ? "out " : mode[p->mode],
                       p->is_index ? "index" : type[p->type], p->name);
    for (int d = 0; d < p->rank; d++) {
        rubus__text_add(out, d == 0 ? "[" : ",");
        if (!p->blank) {
            rubus__text_add(out, extent[p->axis[d]]);
            if (p->off[d] != 0) {
                rubus__text_format(out, "%+d", p->off[d]);
            }
        }
    }
    rubus__text_add(out, p->rank > 0 ? "]" : "");
}

static void print_statements(rubus__text *out, const random_statement *s, int indent)
{
    for (; s != NULL; s = s->next) {
        if (s->dropped) {
            continue;
        }
        rubus__text_format(out, "%*s%s", indent, "", s->text);
        if (s->has_body) {
            rubus__text_add(out, " {\n");
            print_statements(out, s->body, indent + 4);
            rubus__text_format(out, "%*s}", indent, "");
        }
        if (s->has_other) {
            rubus__text_add(out, " else {\n");
            print_statements(out, s->other, indent + 4);
            rubus__text_format(out, "%*s}", indent, "");
        }
        rubus__text_add(out, "\n");
    }
}

char *random_kernel_print(const random_kernel *kernel)
{
    rubus__text out;
    rubus__text_init(&out);
    rubus__text_format(&out, "kernel %s(", kernel->name);
    for (int p = 0; p < kernel->nparam; p++) {
        rubus__text_add(&out, p > 0 ? ", " : "");
        print_param(&out, &kernel->param[p]);
    }
    rubus__text_format(&out, ")%s\n{\n", kernel->over);
    print_statements(&out, kernel->body, 4);
    rubus__text_add(&out, "}\n");
    return rubus__text_take(&out);
}

/* --- operations point by point ---------------------------------------------------- */

const char *random_wrap(random_state *r, const char *text, int has, int level)
{
    if (has >= level && !random_once_in(r, 8)) {
        return text;
    }
    return rubus__arena_format(r->kernel->arena, "(%s)", text);
}

typedef struct writer {
    random_state *r;
    random_operand operand;
    void *user;
    int *level;
} writer;

static const char *part(writer *w, rk_type type, int level)
{
    int has = 0;
    const char *text = w->operand(w->user, type, &has);
    return random_wrap(w->r, text, has, level);
}

static const char *infix(writer *w, rk_op op, rk_type left, rk_type right, int level)
{
    const char *a = part(w, left, level == RANDOM_COMPARE ? RANDOM_SUM : level);
    const char *spelling = random_op(w->r, op);
    const char *b = part(w, right, level == RANDOM_COMPARE ? RANDOM_SUM : level + 1);
    *w->level = level;
    return rubus__arena_format(w->r->kernel->arena, "%s %s %s", a, spelling, b);
}

static const char *call(writer *w, const char *name, int n, const rk_type *type)
{
    rubus__arena *arena = w->r->kernel->arena;
    const char *text = rubus__arena_format(arena, "%s(", name);
    for (int k = 0; k < n; k++) {
        text = rubus__arena_format(arena, "%s%s%s", text, k > 0 ? ", " : "",
                                   part(w, type[k], RANDOM_SELECT));
    }
    *w->level = RANDOM_POSTFIX;
    return rubus__arena_format(arena, "%s)", text);
}

static const char *call_op(writer *w, rk_op op, rk_type a, rk_type b, rk_type c)
{
    const rk_type type[3] = {a, b, c};
    return call(w, random_op(w->r, op), rk_op_operands(op), type);
}

static const char *sign_change(writer *w, rk_op op, rk_type type)
{
    const char *spelling = random_op(w->r, op);
    const char *a = part(w, type, RANDOM_UNARY);
    *w->level = RANDOM_UNARY;
    const char *blank = a[0] == '-' ? " " : ""; /* `--` is one word */
    return rubus__arena_format(w->r->kernel->arena, "%s%s%s", spelling, blank, a);
}

static const char *select_one(writer *w, rk_type type)
{
    (void)random_op(w->r, RK_OP_SELECT);
    const char *c = part(w, RK_BOOL, RANDOM_OR);
    const char *a = part(w, type, RANDOM_SELECT);
    const char *b = part(w, type, RANDOM_SELECT);
    *w->level = RANDOM_SELECT;
    return rubus__arena_format(w->r->kernel->arena, "%s ? %s : %s", c, a, b);
}

static const char *power(writer *w, rk_type type)
{
    rubus__arena *arena = w->r->kernel->arena;
    const char *base = part(w, type, RANDOM_POSTFIX);
    *w->level = RANDOM_POWER;
    if (type == RK_REAL && random_once_in(w->r, 3)) {
        random_use(w->r, RANDOM_REAL_POWER);
        return rubus__arena_format(arena, "%s^%s", base,
                                   part(w, RK_REAL, RANDOM_POSTFIX));
    }
    (void)random_op(w->r, RK_OP_POWI);
    if (type == RK_REAL && random_once_in(w->r, 2)) {
        bool less = random_once_in(w->r, 2);
        return rubus__arena_format(arena, "%s^%s%s", base, less ? "-" : "",
                                   part(w, RK_INT, RANDOM_POSTFIX));
    }
    return rubus__arena_format(arena, "%s^%d", base, random_below(w->r, 6));
}

static const char *real_call(writer *w)
{
    static const char *const one[] = {"exp",  "exp2", "log",  "log2", "log10",
                                      "sin",  "cos",  "tan",  "asin", "acos",
                                      "atan", "sinh", "cosh", "tanh"};
    static const char *const two[] = {"atan2", "hypot"};
    const rk_type type[2] = {RK_REAL, RK_REAL};
    if (random_once_in(w->r, 2)) {
        random_use(w->r, RANDOM_FUNC);
        return call(w, "r_mix", 2, type);
    }
    random_use(w->r, RANDOM_MATH);
    if (random_once_in(w->r, 4)) {
        return call(w, two[random_below(w->r, 2)], 2, type);
    }
    return call(w, one[random_below(w->r, (int)(sizeof(one) / sizeof(one[0])))], 1, type);
}

static const char *real_pointwise(writer *w)
{
    static const rk_op one[] = {RK_OP_ABS,  RK_OP_SIGN,  RK_OP_SQRT,  RK_OP_FLOOR,
                                RK_OP_CEIL, RK_OP_ROUND, RK_OP_TRUNC, RK_OP_FREXP};
    switch (random_below(w->r, 17)) {
    case 0:
    case 1:
    case 2:
        return infix(w, RK_OP_ADD, RK_REAL, RK_REAL, RANDOM_SUM);
    case 3:
    case 4:
        return infix(w, RK_OP_SUB, RK_REAL, RK_REAL, RANDOM_SUM);
    case 5:
    case 6:
        return infix(w, RK_OP_MUL, RK_REAL, RK_REAL, RANDOM_PRODUCT);
    case 7:
        return infix(w, RK_OP_DIV, RK_REAL, random_once_in(w->r, 3) ? RK_INT : RK_REAL,
                     RANDOM_PRODUCT);
    case 8:
        return sign_change(w, RK_OP_NEG, RK_REAL);
    case 9:
        return call_op(w, one[random_below(w->r, 8)], RK_REAL, RK_VOID, RK_VOID);
    case 10:
        return call_op(w, random_once_in(w->r, 2) ? RK_OP_MIN : RK_OP_MAX, RK_REAL,
                       RK_REAL, RK_VOID);
    case 11:
        return random_once_in(w->r, 2)
                   ? call_op(w, RK_OP_FMA, RK_REAL, RK_REAL, RK_REAL)
                   : call_op(w, RK_OP_LDEXP, RK_REAL, RK_INT, RK_VOID);
    case 12:
        return select_one(w, RK_REAL);
    case 13:
        return power(w, RK_REAL);
    case 14:
        random_use(w->r, RANDOM_INT_MEETS_REAL);
        return infix(w, RK_OP_MUL, RK_INT, RK_REAL, RANDOM_PRODUCT);
    case 15:
        return call_op(w, RK_OP_TO_REAL, RK_INT, RK_VOID, RK_VOID);
    default:
        return real_call(w);
    }
}

static const char *int_pointwise(writer *w)
{
    static const rk_op divide[] = {RK_OP_IDIV, RK_OP_FLD, RK_OP_REM, RK_OP_MOD};
    static const rk_op sum[] = {RK_OP_ADD, RK_OP_SUB};
    static const rk_type two[2] = {RK_INT, RK_INT};
    switch (random_below(w->r, 11)) {
    case 0:
    case 1:
        return infix(w, sum[random_below(w->r, 2)], RK_INT, RK_INT, RANDOM_SUM);
    case 2:
        return infix(w, RK_OP_MUL, RK_INT, RK_INT, RANDOM_PRODUCT);
    case 3:
    case 4:
        return call_op(w, divide[random_below(w->r, 4)], RK_INT, RK_INT, RK_VOID);
    case 5: {
        const char *a = part(w, RK_INT, RANDOM_PRODUCT);
        const char *b = part(w, RK_INT, RANDOM_UNARY);
        (void)random_op(w->r, RK_OP_REM);
        *w->level = RANDOM_PRODUCT;
        return rubus__arena_format(w->r->kernel->arena, "%s %% %s", a, b);
    }
    case 6:
        return random_once_in(w->r, 2)
                   ? call_op(w, random_once_in(w->r, 2) ? RK_OP_MIN : RK_OP_MAX, RK_INT,
                             RK_INT, RK_VOID)
                   : call_op(w, random_once_in(w->r, 2) ? RK_OP_ABS : RK_OP_SIGN, RK_INT,
                             RK_VOID, RK_VOID);
    case 7:
        return call_op(w, random_once_in(w->r, 3) ? RK_OP_EXPONENT : RK_OP_TO_INT,
                       RK_REAL, RK_VOID, RK_VOID);
    case 8:
        return select_one(w, RK_INT);
    case 9:
        return random_once_in(w->r, 2) ? power(w, RK_INT)
                                       : sign_change(w, RK_OP_NEG, RK_INT);
    default:
        random_use(w->r, RANDOM_FUNC);
        return call(w, "r_step", 2, two);
    }
}

static const char *bool_pointwise(writer *w)
{
    static const rk_op compare[] = {RK_OP_EQ, RK_OP_NE, RK_OP_LT,
                                    RK_OP_LE, RK_OP_GT, RK_OP_GE};
    static const rk_type two[2] = {RK_REAL, RK_REAL};
    switch (random_below(w->r, 9)) {
    case 0:
    case 1:
    case 2:
        return infix(w, compare[random_below(w->r, 6)], RK_REAL, RK_REAL, RANDOM_COMPARE);
    case 3:
        return infix(w, compare[random_below(w->r, 6)], RK_INT, RK_INT, RANDOM_COMPARE);
    case 4:
        return infix(w, RK_OP_AND, RK_BOOL, RK_BOOL, RANDOM_AND);
    case 5:
        return infix(w, RK_OP_OR, RK_BOOL, RK_BOOL, RANDOM_OR);
    case 6:
        return sign_change(w, RK_OP_NOT, RK_BOOL);
    case 7:
        return call_op(w, random_once_in(w->r, 2) ? RK_OP_ISNAN : RK_OP_ISFINITE, RK_REAL,
                       RK_VOID, RK_VOID);
    default:
        random_use(w->r, RANDOM_FUNC);
        return call(w, "r_near", 2, two);
    }
}

const char *random_pointwise(random_state *r, rk_type type, random_operand operand,
                             void *user, int *out_level)
{
    writer w = {r, operand, user, out_level};
    if (type == RK_REAL) {
        return real_pointwise(&w);
    }
    return type == RK_INT ? int_pointwise(&w) : bool_pointwise(&w);
}

/* --- kernels ---------------------------------------------------------------------- */

static void choose_sizes(random_state *r)
{
    static const int most[3] = {120, 34, 11};
    static const int64_t small[] = {0, 1, 2, 3, 4};
    random_kernel *k = r->kernel;
    k->ndim = 1 + random_below(r, 7) % 3;
    random_use(r, (random_feature)(RANDOM_DIM_1 + k->ndim - 1));
    for (int d = 0; d < 3; d++) {
        k->n[d] = 5 + random_below(r, most[k->ndim - 1]);
    }
    if (random_once_in(r, 12)) {
        random_use(r, RANDOM_SMALL_SIZE);
        k->n[random_below(r, k->ndim)] = small[random_below(r, 5)];
    }
    if (k->ndim < 3 && random_once_in(r, 10)) {
        random_use(r, RANDOM_LONG_LINE);
        k->n[0] = 4090 + random_below(r, 12);
        k->n[1] = k->ndim == 2 ? 5 + random_below(r, 2) : k->n[1];
    }
}

random_kernel *random_kernel_create(uint64_t seed)
{
    rubus__arena *arena = rubus__arena_create(out_of_memory, NULL);
    if (arena == NULL) {
        abort();
    }
    random_kernel *k = rubus__arena_alloc(arena, sizeof(*k));
    k->arena = arena;
    k->seed = seed;
    k->name = rubus__arena_format(arena, "k%llu", (unsigned long long)seed);
    k->over = "";
    random_state r = {seed * 0xD1342543DE82EF95U + 1, k};
    choose_sizes(&r);
    if (random_below(&r, 5) < 3) {
        random_write_field_kernel(&r);
    } else {
        random_write_point_kernel(&r);
    }
    return k;
}

void random_kernel_destroy(random_kernel *kernel)
{
    if (kernel != NULL) {
        rubus__arena_destroy(kernel->arena);
    }
}
