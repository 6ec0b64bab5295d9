/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages about types, shared by per-point code and fields: what an operation takes,
 * what it was given, and how to convert. Which types an operation has is decided in
 * value.c.
 */
#include "config.h"

#include "libcore/kernel/check.h"

#include <string.h>

enum { SHORT_TEXT = 40 };

const char *rk_type_text(rk_type type)
{
    switch (type) {
    case RK_REAL:
        return "real";
    case RK_INT:
        return "int";
    case RK_BOOL:
        return "bool";
    case RK_VOID:
        break;
    }
    return "nothing";
}

const char *rk_source_text(rk_unit *unit, rk_span at)
{
    const int32_t n = at.last - at.first;
    if (n <= 0 || n > SHORT_TEXT ||
        memchr(at.source->text + at.first, '\n', (size_t)n) != NULL) {
        return "this";
    }
    return rk_intern(unit, at.source->text + at.first, n);
}

static bool wants_bool(rk_op op)
{
    return op == RK_OP_AND || op == RK_OP_OR || op == RK_OP_NOT;
}

static bool wants_int(rk_op op)
{
    return op == RK_OP_IDIV || op == RK_OP_FLD || op == RK_OP_REM || op == RK_OP_MOD;
}

static const char *spelled(rk_op op)
{
    return op == RK_OP_REM ? "%` and `rem" : rk_op_spelling(op);
}

/* "(real, int)" */
static const char *type_list(rk_unit *unit, rk_op op, rk_type a, rk_type b, rk_type c)
{
    switch (rk_op_operands(op)) {
    case 1:
        return rk_type_text(a);
    case 2:
        return rubus__arena_format(unit->arena, "%s and %s", rk_type_text(a),
                                   rk_type_text(b));
    default:
        return rubus__arena_format(unit->arena, "%s, %s and %s", rk_type_text(a),
                                   rk_type_text(b), rk_type_text(c));
    }
}

void rk_bad_operands(rk_unit *unit, rk_span at, rk_op op, rk_type a, rk_type b, rk_type c)
{
    const char *given = type_list(unit, op, a, b, c);
    if (op == RK_OP_SELECT && a != RK_BOOL) {
        rk_error(unit, RK_NEEDS_BOOL, at, "compare it: `x != 0 ? a : b`",
                 "the condition of `?:` is %s, not bool", rk_type_text(a));
    } else if (op == RK_OP_SELECT) {
        rk_error(unit, RK_TYPE_MISMATCH, at, "give both the same type",
                 "the branches of `?:` are %s and %s", rk_type_text(b), rk_type_text(c));
    } else if (wants_bool(op)) {
        rk_error(unit, RK_NEEDS_BOOL, at, "compare numbers: `x != 0`",
                 "`%s` takes bools, not %s", rk_op_spelling(op), given);
    } else if (a == RK_BOOL || b == RK_BOOL || c == RK_BOOL) {
        rk_error(unit, RK_BOOL_AS_NUMBER, at,
                 "a bool is no number: write `m ? 1 : 0` for it",
                 "`%s` takes numbers, not %s", spelled(op), given);
    } else if (wants_int(op)) {
        rk_error(unit, RK_TYPE_MISMATCH, at,
                 "convert with int(x); reals are divided with `/`",
                 "`%s` takes ints, not %s", spelled(op), given);
    } else if (op == RK_OP_LDEXP) {
        rk_error(unit, RK_TYPE_MISMATCH, at, "convert the exponent with int(n)",
                 "`ldexp` takes a real and an int, not %s", given);
    } else {
        rk_error(unit, RK_TYPE_MISMATCH, at, "convert with int(x) or real(k)",
                 "`%s` has no meaning for %s", spelled(op), given);
    }
}

void rk_bad_store(rk_unit *unit, rk_span at, rk_type from, rk_type to, const char *what)
{
    if (from == RK_REAL && to == RK_INT) {
        rk_error(unit, RK_REAL_INTO_INT, at,
                 "write int(x), which truncates; ints divide with div or fld",
                 "%s is int, this is real", what);
    } else if (from == RK_BOOL) {
        rk_error(unit, RK_BOOL_AS_NUMBER, at, "a bool is no number: write `m ? 1 : 0`",
                 "%s is %s, this is bool", what, rk_type_text(to));
    } else {
        rk_error(unit, RK_NEEDS_BOOL, at, "compare numbers: `x != 0`",
                 "%s is %s, this is %s", what, rk_type_text(to), rk_type_text(from));
    }
}

void rk_bad_int_division(rk_unit *unit, rk_span at, const char *target)
{
    rk_error(unit, RK_REAL_INTO_INT, at,
             rubus__arena_format(unit->arena, "write %s = div(%s, ...)", target, target),
             "`/=` gives a real, and `%s` is int", target);
}

bool rk_literal_fits(rk_unit *unit, const rk_expr *literal, bool negated)
{
    const int64_t most = INT32_MAX;
    if (unit->numbers.int64 || literal->value.i <= most + (negated ? 1 : 0)) {
        return true;
    }
    rk_error(unit, RK_LITERAL_TOO_LARGE, literal->at,
             "write a real (with a point), or build the module with 64-bit indices",
             "%lld does not fit the 32 bits of int", (long long)literal->value.i);
    return false;
}
