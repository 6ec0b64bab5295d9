/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dialects like C: pieces of expressions. Literals are exact (reals in hexadecimal), ints
 * wrap around through the helpers of the prelude, and every operation has the one
 * meaning of the language, whatever C's own operator would do.
 */
#include "config.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "libcore/kernel/clike.h"

/* Powers up to this one are written as products. */
#define UNROLL_MOST 64

/* --- types and literals ------------------------------------------------------------ */

const char *rk_c_type(const rk_c *c, rk_type type)
{
    return type == RK_REAL ? "rk_real" : type == RK_INT ? "rk_int" : c->target->boolean;
}

bool rk_c_is_byte(const rk_c *c, rk_type type, bool local)
{
    return type == RK_BOOL && (!local || c->target->pointers);
}

const char *rk_c_element(const rk_c *c, rk_type type, bool local)
{
    if (rk_c_is_byte(c, type, local)) {
        return "rk_byte";
    }
    return rk_c_type(c, type);
}

const char *rk_c_zero(const rk_c *c, rk_type type)
{
    return type == RK_REAL ? "RK_REAL(0)" : type == RK_INT ? "RK_INT(0)" : c->target->no;
}

/* The size of a literal of 64 bits, which is none of some languages' plain ints. */
static void add_size(rk_c *c, uint64_t size)
{
    if (size <= INT32_MAX) {
        rk_c_add(c, "%lld", (long long)size);
    } else {
        c->wide = true;
        rk_c_add(c, "%lld%s", (long long)size, c->target->big);
    }
}

static void add_integer(rk_c *c, int64_t i, int64_t least)
{
    if (i >= 0) {
        add_size(c, (uint64_t)i);
        return;
    }
    rk_c_add(c, "(-");
    add_size(c, i == least ? (uint64_t) - (i + 1) : (uint64_t)-i);
    rk_c_add(c, i == least ? " - 1)" : ")"); /* -2^n is no literal */
}

void rk_c_int(rk_c *c, int64_t i)
{
    if (c->unit->numbers.int64) {
        rk_c_i64(c, i);
    } else {
        add_integer(c, (int64_t)(int32_t)(uint32_t)(uint64_t)i, INT32_MIN);
    }
}

void rk_c_i64(rk_c *c, int64_t i)
{
    rk_c_add(c, "RK_I64(");
    add_integer(c, i, INT64_MIN);
    rk_c_add(c, ")");
}

void rk_c_value(rk_c *c, rk_value value)
{
    if (value.type == RK_REAL) {
        c->target->real(c, value.u.real);
    } else if (value.type == RK_INT) {
        rk_c_int(c, value.u.i);
    } else {
        rk_c_add(c, "%s", value.u.b ? c->target->yes : c->target->no);
    }
}

/* --- affine ------------------------------------------------------------------------ */

void rk_c_plus(rk_c *c, rk_affine a)
{
    for (int32_t i = 0; i < a.nterm; i++) {
        const int64_t coef = a.term[i].coef;
        rk_c_add(c, coef < 0 ? " - " : " + ");
        if (coef == INT64_MIN) {
            rk_c_i64(c, INT64_MIN);
            rk_c_add(c, " * ");
        } else if (coef != 1 && coef != -1) {
            add_size(c, (uint64_t)(coef < 0 ? -coef : coef));
            rk_c_add(c, " * ");
        }
        rk_c_add(c, "n%d", (int)a.term[i].symbol);
    }
    if (a.constant == INT64_MIN) {
        rk_c_add(c, " + ");
        rk_c_i64(c, INT64_MIN);
    } else if (a.constant != 0) {
        rk_c_add(c, a.constant < 0 ? " - " : " + ");
        add_size(c, (uint64_t)(a.constant < 0 ? -a.constant : a.constant));
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
    rk_c_add(c, clean ? "(n%d" : "(RK_I64(0)", (int)a.term[0].symbol);
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
        [RK_OP_EQ] = {"($0 == $1)", "($0 == $1)", "($0 == $1)"},
        [RK_OP_NE] = {"($0 != $1)", "($0 != $1)", "($0 != $1)"},
        [RK_OP_LT] = {"($0 < $1)", "($0 < $1)", NULL},
        [RK_OP_LE] = {"($0 <= $1)", "($0 <= $1)", NULL},
        [RK_OP_GT] = {"($0 > $1)", "($0 > $1)", NULL},
        [RK_OP_GE] = {"($0 >= $1)", "($0 >= $1)", NULL},
        [RK_OP_SELECT] = {"($0 ? $1 : $2)", "($0 ? $1 : $2)", "($0 ? $1 : $2)"},
        [RK_OP_MIN] = {"rk_min($0, $1)", "rk_imin($0, $1)", NULL},
        [RK_OP_MAX] = {"rk_max($0, $1)", "rk_imax($0, $1)", NULL},
        [RK_OP_ABS] = {"rk_fabs($0)", "rk_iabs($0)", NULL},
        [RK_OP_SIGN] = {"rk_sign($0)", "rk_isign($0)", NULL},
        [RK_OP_SQRT] = {"rk_sqrt($0)", NULL, NULL},
        [RK_OP_FLOOR] = {"rk_floor($0)", NULL, NULL},
        [RK_OP_CEIL] = {"rk_ceil($0)", NULL, NULL},
        [RK_OP_ROUND] = {"rk_round($0)", NULL, NULL},
        [RK_OP_TRUNC] = {"rk_trunc($0)", NULL, NULL},
        [RK_OP_FMA] = {"rk_fma($0, $1, $2)", NULL, NULL},
        [RK_OP_ISNAN] = {"rk_isnan($0)", NULL, NULL},
        [RK_OP_ISFINITE] = {"rk_isfinite($0)", NULL, NULL},
        [RK_OP_LDEXP] = {"rk_ldexp($0, $1)", NULL, NULL},
        [RK_OP_FREXP] = {"rk_frexp($0)", NULL, NULL},
        [RK_OP_EXPONENT] = {"rk_exponent($0)", NULL, NULL},
        [RK_OP_TO_REAL] = {"$0", "RK_FROM_INT($0)", NULL},
        [RK_OP_TO_INT] = {"rk_to_int($0)", "$0", NULL},
        [RK_OP_POWI] = {"rk_pow($0, $1)", "rk_ipow($0, $1)", NULL},
    };
    return &list[op];
}

void rk_c_part_write(rk_c *c, const rk_c_part *part)
{
    const bool convert = part->type == RK_INT && part->want == RK_REAL;
    int64_t i = 1;
    const bool literal = convert && rk_c_literal(part, &i);
    if (literal && i == 0) {
        c->target->real(c, 0);
        return;
    }
    if (convert) {
        rk_c_add(c, literal ? "RK_REAL(" : "RK_FROM_INT(");
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

/* Exponents that are known call a function of their own, from the list that the text
 * begins with. */
static bool try_power(rk_c *c, rk_type type, const rk_c_part *part)
{
    int64_t n = 0;
    if (!rk_c_literal(&part[1], &n) || n > UNROLL_MOST || n < -UNROLL_MOST ||
        (n <= 0 && type != RK_REAL)) {
        return false;
    }
    const int size = (int)(n < 0 ? -n : n);
    if (size == 0) {
        rk_c_add(c, "RK_REAL(1)");
        return true;
    }
    c->power[type == RK_REAL ? 0 : 1] |= UINT64_C(1) << (size - 1);
    rk_c_add(c, n < 0 ? "(RK_REAL(1) / " : "");
    rk_c_add(c, type == RK_REAL ? "rk_power%d(" : "rk_ipower%d(", size);
    rk_c_part_write(c, &part[0]);
    rk_c_add(c, n < 0 ? "))" : ")");
    return true;
}

/* x^n by products, from the top bit of n down. */
static void write_power(rk_c *c, bool real, int n, const char *before)
{
    const char *type = real ? "rk_real" : "rk_int";
    rk_c_line(c, "%s%s rk_%spower%d(%s x)", before, type, real ? "" : "i", n, type);
    rk_c_line(c, "{");
    c->indent++;
    rk_c_line(c, "%s r = x;", type);
    int top = 0;
    while (n >> (top + 1) != 0) {
        top++;
    }
    for (int bit = top - 1; bit >= 0; bit--) {
        rk_c_line(c, real ? "r = r * r;" : "r = rk_mul(r, r);");
        if ((n >> bit & 1) != 0) {
            rk_c_line(c, real ? "r = r * x;" : "r = rk_mul(r, x);");
        }
    }
    rk_c_line(c, "return r;");
    rk_c_close(c);
}

void rk_c_powers(rk_c *c, const char *before)
{
    for (int n = 1; n <= UNROLL_MOST; n++) {
        for (int k = 0; k < 2; k++) {
            if ((c->power[k] >> (n - 1) & 1U) != 0) {
                write_power(c, k == 0, n, before);
            }
        }
    }
}

/* What of the table is used for an operation in a type. */
static const char *form_text(const rk_c *c, rk_op op, rk_type in, bool lazy)
{
    if (op == RK_OP_AND || op == RK_OP_OR) {
        const bool both = op == RK_OP_AND;
        if (lazy) {
            return both ? "($0 && $1)" : "($0 || $1)";
        }
        return both ? c->target->both : c->target->either;
    }
    const op_form *form = form_of(op);
    return in == RK_REAL ? form->real : in == RK_INT ? form->integer : form->boolean;
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
    for (const char *text = form_text(c, op, in, lazy); *text != '\0'; text++) {
        if (*text == '$') {
            text++;
            rk_c_part_write(c, &p[*text - '0']);
        } else {
            rubus__text_add_n(c->out, text, 1);
        }
    }
}
