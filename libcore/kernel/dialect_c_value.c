/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialect c: pieces of expressions. Literals are exact (reals in hexadecimal), ints
 * wrap around through the helpers of the prelude, and every operation has the one
 * meaning of the language, whatever C's own operator would do.
 */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "libcore/kernel/dialect_c.h"

/* Powers up to this one are written as products. */
#define UNROLL_MOST 64

/* --- lines ------------------------------------------------------------------------- */

static void add_list(rk_c *c, const char *fmt, va_list args)
{
    char text[512];
    rubus__vsnprintf(text, sizeof(text), fmt, args);
    rubus__text_add(c->out, text);
}

void rk_c_begin(rk_c *c)
{
    static const char blanks[] = "                                        ";
    const size_t most = sizeof(blanks) - 1u;
    const size_t n = (size_t)c->indent * 2u;
    rubus__text_add_n(c->out, blanks, n < most ? n : most);
}

void rk_c_add(rk_c *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    add_list(c, fmt, args);
    va_end(args);
}

void rk_c_line(rk_c *c, const char *fmt, ...)
{
    rk_c_begin(c);
    va_list args;
    va_start(args, fmt);
    add_list(c, fmt, args);
    va_end(args);
    rubus__text_add(c->out, "\n");
}

void rk_c_open(rk_c *c, const char *fmt, ...)
{
    rk_c_begin(c);
    va_list args;
    va_start(args, fmt);
    add_list(c, fmt, args);
    va_end(args);
    rubus__text_add(c->out, " {\n");
    c->indent++;
}

void rk_c_close(rk_c *c)
{
    c->indent--;
    rk_c_line(c, "}");
}

/* --- types and literals ------------------------------------------------------------ */

const char *rk_c_type(rk_type type)
{
    return type == RK_REAL ? "rk_real" : type == RK_INT ? "rk_int" : "_Bool";
}

const char *rk_c_element(rk_type type)
{
    return type == RK_BOOL ? "rk_byte" : rk_c_type(type);
}

static void add_real(rk_c *c, double x)
{
    const char *suffix = c->unit->numbers.f64 ? "" : "f";
    const char *sign = signbit(x) ? "-" : "";
    x = fabs(x);
    const char *open = sign[0] != '\0' ? "(" : "";
    const char *close = sign[0] != '\0' ? ")" : "";
    if (isnan(x)) {
        rk_c_add(c, "(%s__builtin_nan%s(\"\"))", sign, suffix);
    } else if (isinf(x)) {
        rk_c_add(c, "(%s__builtin_inf%s())", sign, suffix);
    } else {
        rk_c_add(c, "%s%s%a%s%s", open, sign, x, suffix, close);
    }
}

static void add_integer(rk_c *c, int64_t i, const char *suffix)
{
    if (i >= 0) {
        rk_c_add(c, "%lld%s", (long long)i, suffix);
    } else if (i == INT64_MIN || (suffix[0] == '\0' && i == INT32_MIN)) {
        rk_c_add(c, "(%lld%s - 1)", (long long)(i + 1), suffix); /* -2^n is no literal */
    } else {
        rk_c_add(c, "(%lld%s)", (long long)i, suffix);
    }
}

void rk_c_int(rk_c *c, int64_t i)
{
    if (c->unit->numbers.int64) {
        rk_c_i64(c, i);
    } else {
        add_integer(c, (int64_t)(int32_t)(uint32_t)(uint64_t)i, "");
    }
}

void rk_c_i64(rk_c *c, int64_t i)
{
    const bool small = i >= -INT32_MAX && i <= INT32_MAX;
    if (small) {
        rk_c_add(c, i < 0 ? "((rk_i64)%lld)" : "(rk_i64)%lld", (long long)i);
    } else {
        rk_c_add(c, "((rk_i64)");
        add_integer(c, i, "LL");
        rk_c_add(c, ")");
    }
}

void rk_c_value(rk_c *c, rk_value value)
{
    if (value.type == RK_REAL) {
        add_real(c, value.u.real);
    } else if (value.type == RK_INT) {
        rk_c_int(c, value.u.i);
    } else {
        rk_c_add(c, value.u.b ? "1" : "0");
    }
}

/* --- affine ------------------------------------------------------------------------ */

void rk_c_plus(rk_c *c, rk_affine a)
{
    for (int32_t i = 0; i < a.nterm; i++) {
        const int64_t coef = a.term[i].coef;
        rk_c_add(c, coef < 0 ? " - " : " + ");
        if (coef == INT64_MIN) {
            rk_c_add(c, "n%d * (-9223372036854775807LL - 1)", (int)a.term[i].symbol);
        } else if (coef == 1 || coef == -1) {
            rk_c_add(c, "n%d", (int)a.term[i].symbol);
        } else {
            rk_c_add(c, "%lld * n%d", (long long)(coef < 0 ? -coef : coef),
                     (int)a.term[i].symbol);
        }
    }
    if (a.constant == INT64_MIN) {
        rk_c_add(c, " - 9223372036854775807LL - 1");
    } else if (a.constant != 0) {
        rk_c_add(c, a.constant < 0 ? " - %lld" : " + %lld",
                 (long long)(a.constant < 0 ? -a.constant : a.constant));
    }
}

void rk_c_affine(rk_c *c, rk_affine a)
{
    if (a.nterm == 0) {
        rk_c_i64(c, a.constant);
        return;
    }
    if (a.nterm == 1 && a.constant == 0 && a.term[0].coef == 1) {
        rk_c_add(c, "n%d", (int)a.term[0].symbol);
        return;
    }
    const bool clean = a.term[0].coef == 1;
    rk_affine rest = a;
    rk_c_add(c, clean ? "(n%d" : "((rk_i64)0", (int)a.term[0].symbol);
    rest.nterm -= clean ? 1 : 0;
    rest.term += clean ? 1 : 0;
    rk_c_plus(c, rest);
    rk_c_add(c, ")");
}

/* --- operations -------------------------------------------------------------------- */

/* $0, $1, $2 stand for the operands; which column is taken follows the type that the
 * operation works in. */
typedef struct op_form {
    const char *real;
    const char *integer;
    const char *boolean;
} op_form;

static const op_form *form_of(rk_op op)
{
    static const op_form list[RK_OP_COUNT] = {
        [RK_OP_ADD] = {"($0 + $1)", "rk_add($0, $1)", NULL},
        [RK_OP_SUB] = {"($0 - $1)", "rk_sub($0, $1)", NULL},
        [RK_OP_MUL] = {"($0 * $1)", "rk_mul($0, $1)", NULL},
        [RK_OP_DIV] = {"($0 / $1)", NULL, NULL},
        [RK_OP_IDIV] = {NULL, "rk_div($0, $1)", NULL},
        [RK_OP_FLD] = {NULL, "rk_fld($0, $1)", NULL},
        [RK_OP_REM] = {NULL, "rk_rem($0, $1)", NULL},
        [RK_OP_MOD] = {NULL, "rk_mod($0, $1)", NULL},
        [RK_OP_NEG] = {"(-$0)", "rk_neg($0)", NULL},
        [RK_OP_NOT] = {NULL, NULL, "(!$0)"},
        [RK_OP_AND] = {NULL, NULL, "($0 & $1)"},
        [RK_OP_OR] = {NULL, NULL, "($0 | $1)"},
        [RK_OP_EQ] = {"($0 == $1)", "($0 == $1)", "($0 == $1)"},
        [RK_OP_NE] = {"($0 != $1)", "($0 != $1)", "($0 != $1)"},
        [RK_OP_LT] = {"($0 < $1)", "($0 < $1)", NULL},
        [RK_OP_LE] = {"($0 <= $1)", "($0 <= $1)", NULL},
        [RK_OP_GT] = {"($0 > $1)", "($0 > $1)", NULL},
        [RK_OP_GE] = {"($0 >= $1)", "($0 >= $1)", NULL},
        [RK_OP_SELECT] = {"($0 ? $1 : $2)", "($0 ? $1 : $2)", "($0 ? $1 : $2)"},
        [RK_OP_MIN] = {"rk_min($0, $1)", "rk_imin($0, $1)", NULL},
        [RK_OP_MAX] = {"rk_max($0, $1)", "rk_imax($0, $1)", NULL},
        [RK_OP_ABS] = {"RK_F(fabs)($0)", "rk_iabs($0)", NULL},
        [RK_OP_SIGN] = {"rk_sign($0)", "rk_isign($0)", NULL},
        [RK_OP_SQRT] = {"RK_F(sqrt)($0)", NULL, NULL},
        [RK_OP_FLOOR] = {"RK_F(floor)($0)", NULL, NULL},
        [RK_OP_CEIL] = {"RK_F(ceil)($0)", NULL, NULL},
        [RK_OP_ROUND] = {"rk_round($0)", NULL, NULL},
        [RK_OP_TRUNC] = {"RK_F(trunc)($0)", NULL, NULL},
        [RK_OP_FMA] = {"rk_fma($0, $1, $2)", NULL, NULL},
        [RK_OP_ISNAN] = {"rk_isnan($0)", NULL, NULL},
        [RK_OP_ISFINITE] = {"rk_isfinite($0)", NULL, NULL},
        [RK_OP_LDEXP] = {"rk_ldexp($0, $1)", NULL, NULL},
        [RK_OP_FREXP] = {"rk_frexp($0)", NULL, NULL},
        [RK_OP_EXPONENT] = {"rk_exponent($0)", NULL, NULL},
        [RK_OP_TO_REAL] = {"$0", "((rk_real)$0)", NULL},
        [RK_OP_TO_INT] = {"rk_to_int($0)", "$0", NULL},
        [RK_OP_POWI] = {"rk_pow($0, $1)", "rk_ipow($0, $1)", NULL},
    };
    return &list[op];
}

void rk_c_part_write(rk_c *c, const rk_c_part *part)
{
    const bool convert = part->type == RK_INT && part->want == RK_REAL;
    if (convert) {
        rk_c_add(c, "((rk_real)");
    }
    if (part->node != NULL) {
        rk_c_node(c, part->node);
    } else {
        rk_c_expr(c, part->expr);
    }
    if (convert) {
        rk_c_add(c, ")");
    }
}

bool rk_c_literal(const rk_c_part *part, int64_t *out)
{
    if (part->node != NULL) {
        *out = part->node->value.u.i;
        return part->node->kind == RK_IR_CONST;
    }
    const rk_expr *e = part->expr;
    const bool minus = e->kind == RK_EXPR_UNARY && e->op == RK_OP_NEG;
    e = minus ? e->a : e;
    *out = minus ? -e->value.i : e->value.i;
    return e->kind == RK_EXPR_INT;
}

/* x^n with n known, x the text `base`: products, from the top bit of n down. */
static void add_power(rk_c *c, const char *base, rk_type type, int64_t n)
{
    const bool real = type == RK_REAL;
    const uint64_t size = (uint64_t)(n < 0 ? -n : n);
    int top = 0;
    while (size >> (top + 1) != 0) {
        top++;
    }
    const char *square = real ? "rk_square(" : "rk_isquare(";
    if (n < 0) {
        rk_c_add(c, "(1 / ");
    }
    /* the text opens from the last step inwards */
    for (int bit = 0; bit < top; bit++) {
        if ((size >> bit & 1U) != 0) {
            rk_c_add(c, real ? "(" : "rk_mul(");
        }
        rk_c_add(c, "%s", square);
    }
    rk_c_add(c, "%s", base);
    for (int bit = top - 1; bit >= 0; bit--) {
        rk_c_add(c, ")");
        if ((size >> bit & 1U) != 0) {
            rk_c_add(c, real ? " * %s)" : ", %s)", base);
        }
    }
    if (n < 0) {
        rk_c_add(c, ")");
    }
}

static bool try_power(rk_c *c, rk_type type, const rk_c_part *part)
{
    int64_t n = 0;
    if (!rk_c_literal(&part[1], &n) || n > UNROLL_MOST || n < -UNROLL_MOST ||
        (n <= 0 && type != RK_REAL)) {
        return false;
    }
    if (n == 0) {
        rk_c_add(c, "((rk_real)1)");
        return true;
    }
    char base[32];
    rubus__snprintf(base, sizeof(base), "t%d", (int)c->next_temp++);
    rk_c_add(c, "({ const %s %s = ", rk_c_type(type), base);
    rk_c_part_write(c, &part[0]);
    rk_c_add(c, "; ");
    add_power(c, base, type, n);
    rk_c_add(c, "; })");
    return true;
}

void rk_c_apply(rk_c *c, rk_op op, rk_type type, const rk_c_part *part, bool lazy)
{
    rk_c_part p[3];
    memcpy(p, part, sizeof(p));
    const int n = rk_op_operands(op);
    for (int i = 0; i < n; i++) {
        p[i].want = rk_op_operand_type(op, i, p[0].type, p[1].type, p[2].type);
    }
    if (op == RK_OP_POWI && type == RK_REAL) {
        p[0].want = RK_REAL; /* an int to a power that is no literal */
    }
    if (op == RK_OP_POWI && try_power(c, type, p)) {
        return;
    }
    const rk_c_part *leading = op == RK_OP_SELECT ? &p[1] : &p[0];
    const rk_type in = leading->want == RK_REAL ? RK_REAL : leading->type;
    const op_form *form = form_of(op);
    const char *text = in == RK_REAL  ? form->real
                       : in == RK_INT ? form->integer
                                      : form->boolean;
    if (lazy && (op == RK_OP_AND || op == RK_OP_OR)) {
        text = op == RK_OP_AND ? "($0 && $1)" : "($0 || $1)";
    }
    for (; *text != '\0'; text++) {
        if (*text == '$') {
            text++;
            rk_c_part_write(c, &p[*text - '0']);
        } else {
            rubus__text_add_n(c->out, text, 1);
        }
    }
}

/* --- funcs ------------------------------------------------------------------------- */

void rk_c_func_name(rk_c *c, const rk_decl *func)
{
    rk_c_add(c, "f%d_%s", (int)func->number, rk_emit_letters(c->unit, func->name));
}

void rk_c_call_open(rk_c *c, const rk_decl *func)
{
    rk_c_func_name(c, func);
    rk_c_add(c, "(");
    if (c->unit->check) {
        rk_c_add(c, func->nparam > 0 ? "%s, " : "%s", c->error);
    }
}
