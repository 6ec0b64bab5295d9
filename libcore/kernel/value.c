/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arithmetic of the language on constants: what folding and the reference interpreter
 * compute with, and so the meaning that every dialect must keep.
 *
 * A module's int is 32 or 64 bits and wraps around; its real is float or double, and each
 * operation on floats is done in float. This file is built with -ffp-contract=off.
 */
#include "config.h"

#include "libcore/kernel/tree.h"

#include <math.h>

/* --- the list of operations --------------------------------------------------------- */

const char *rk_op_spelling(rk_op op)
{
    static const char *const spelling[] = {
#define SPELLING_(name, text, operands) text,
        RK_OP_LIST(SPELLING_)
#undef SPELLING_
    };
    return spelling[op];
}

int rk_op_operands(rk_op op)
{
    static const int count[] = {
#define OPERANDS_(name, text, operands) operands,
        RK_OP_LIST(OPERANDS_)
#undef OPERANDS_
    };
    return count[op];
}

/* --- types -------------------------------------------------------------------------- */

/* What an operation takes and gives. */
typedef enum {
    RULE_NONE,     /* no operation on values */
    RULE_NUMBER,   /* ints give an int; with a real among them, a real */
    RULE_REAL,     /* reals give a real */
    RULE_INT,      /* ints give an int */
    RULE_BOOL,     /* bools give a bool */
    RULE_COMPARE,  /* both ints or both reals; gives a bool */
    RULE_EQUAL,    /* like COMPARE, or both bools */
    RULE_SELECT,   /* bool, then two of one type */
    RULE_TEST,     /* a real gives a bool */
    RULE_EXPONENT, /* a real gives an int */
    RULE_SCALE,    /* real, int: gives a real */
    RULE_POWER,    /* number, int: gives the type of the number */
    RULE_TO_REAL,
    RULE_TO_INT
} rule;

static rule rule_of(rk_op op)
{
    static const rule list[RK_OP_COUNT] = {
        [RK_OP_ADD] = RULE_NUMBER,        [RK_OP_SUB] = RULE_NUMBER,
        [RK_OP_MUL] = RULE_NUMBER,        [RK_OP_MIN] = RULE_NUMBER,
        [RK_OP_MAX] = RULE_NUMBER,        [RK_OP_NEG] = RULE_NUMBER,
        [RK_OP_ABS] = RULE_NUMBER,        [RK_OP_SIGN] = RULE_NUMBER,
        [RK_OP_DIV] = RULE_REAL,          [RK_OP_SQRT] = RULE_REAL,
        [RK_OP_FLOOR] = RULE_REAL,        [RK_OP_CEIL] = RULE_REAL,
        [RK_OP_ROUND] = RULE_REAL,        [RK_OP_TRUNC] = RULE_REAL,
        [RK_OP_FMA] = RULE_REAL,          [RK_OP_FREXP] = RULE_REAL,
        [RK_OP_IDIV] = RULE_INT,          [RK_OP_FLD] = RULE_INT,
        [RK_OP_REM] = RULE_INT,           [RK_OP_MOD] = RULE_INT,
        [RK_OP_NOT] = RULE_BOOL,          [RK_OP_AND] = RULE_BOOL,
        [RK_OP_OR] = RULE_BOOL,           [RK_OP_EQ] = RULE_EQUAL,
        [RK_OP_NE] = RULE_EQUAL,          [RK_OP_LT] = RULE_COMPARE,
        [RK_OP_LE] = RULE_COMPARE,        [RK_OP_GT] = RULE_COMPARE,
        [RK_OP_GE] = RULE_COMPARE,        [RK_OP_SELECT] = RULE_SELECT,
        [RK_OP_ISNAN] = RULE_TEST,        [RK_OP_ISFINITE] = RULE_TEST,
        [RK_OP_EXPONENT] = RULE_EXPONENT, [RK_OP_LDEXP] = RULE_SCALE,
        [RK_OP_POWI] = RULE_POWER,        [RK_OP_TO_REAL] = RULE_TO_REAL,
        [RK_OP_TO_INT] = RULE_TO_INT,
    };
    return list[op];
}

static bool is_number(rk_type type)
{
    return type == RK_INT || type == RK_REAL;
}

/* The type that two or more numbers meet in; RK_VOID if one is none. */
static rk_type meet(rk_type a, rk_type b)
{
    if (!is_number(a) || !is_number(b)) {
        return RK_VOID;
    }
    return a == RK_REAL || b == RK_REAL ? RK_REAL : RK_INT;
}

static rk_type meet_all(int operands, rk_type a, rk_type b, rk_type c)
{
    rk_type type = meet(a, a);
    type = operands > 1 ? meet(type, b) : type;
    return operands > 2 ? meet(type, c) : type;
}

static bool all_are(rk_type type, int operands, rk_type a, rk_type b, rk_type c)
{
    return a == type && (operands < 2 || b == type) && (operands < 3 || c == type);
}

rk_type rk_op_type(rk_op op, rk_type a, rk_type b, rk_type c)
{
    const int n = rk_op_operands(op);
    const rk_type number = meet_all(n, a, b, c);
    switch (rule_of(op)) {
    case RULE_NONE:
        return RK_VOID;
    case RULE_NUMBER:
        return number;
    case RULE_REAL:
        return number != RK_VOID ? RK_REAL : RK_VOID;
    case RULE_INT:
        return number == RK_INT ? RK_INT : RK_VOID;
    case RULE_BOOL:
        return all_are(RK_BOOL, n, a, b, c) ? RK_BOOL : RK_VOID;
    case RULE_EQUAL:
        return number != RK_VOID || all_are(RK_BOOL, n, a, b, c) ? RK_BOOL : RK_VOID;
    case RULE_COMPARE:
    case RULE_TEST:
        return number != RK_VOID ? RK_BOOL : RK_VOID;
    case RULE_SELECT:
        if (a != RK_BOOL) {
            return RK_VOID;
        }
        return b == RK_BOOL && c == RK_BOOL ? RK_BOOL : meet(b, c);
    case RULE_EXPONENT:
        return number != RK_VOID ? RK_INT : RK_VOID;
    case RULE_SCALE:
        return is_number(a) && b == RK_INT ? RK_REAL : RK_VOID;
    case RULE_POWER:
        return is_number(a) && b == RK_INT ? a : RK_VOID;
    case RULE_TO_REAL:
        return is_number(a) ? RK_REAL : RK_VOID;
    case RULE_TO_INT:
        return is_number(a) ? RK_INT : RK_VOID;
    }
    return RK_VOID;
}

rk_type rk_op_operand_type(rk_op op, int operand, rk_type a, rk_type b, rk_type c)
{
    const rk_type given[] = {a, b, c};
    rk_type want = given[operand];
    switch (rule_of(op)) {
    case RULE_NUMBER:
    case RULE_COMPARE:
    case RULE_EQUAL:
        want = meet_all(rk_op_operands(op), a, b, c);
        break;
    case RULE_REAL:
    case RULE_TEST:
    case RULE_EXPONENT:
        want = RK_REAL;
        break;
    case RULE_SCALE:
        want = operand == 0 ? RK_REAL : want;
        break;
    case RULE_SELECT:
        want = operand > 0 ? meet(b, c) : want;
        break;
    default:
        break;
    }
    const bool converts = given[operand] == RK_INT && want == RK_REAL;
    return converts ? RK_REAL : RK_VOID;
}

/* --- making values ------------------------------------------------------------------ */

static rk_value of_int(const rk_numbers *numbers, int64_t i)
{
    rk_value v = {.type = RK_INT};
    v.u.i = numbers->int64 ? i : (int64_t)(int32_t)(uint32_t)(uint64_t)i;
    return v;
}

static rk_value of_real(const rk_numbers *numbers, double real)
{
    rk_value v = {.type = RK_REAL};
    v.u.real = numbers->f64 ? real : (double)(float)real;
    return v;
}

static rk_value of_bool(bool b)
{
    rk_value v = {.type = RK_BOOL};
    v.u.b = b;
    return v;
}

static int64_t int_min(const rk_numbers *numbers)
{
    return numbers->int64 ? INT64_MIN : INT32_MIN;
}

static int64_t int_max(const rk_numbers *numbers)
{
    return numbers->int64 ? INT64_MAX : INT32_MAX;
}

/* Truncates; NaN is 0, and what is out of range becomes the nearest int. */
static int64_t to_int(const rk_numbers *numbers, double real)
{
    if (isnan(real)) {
        return 0;
    }
    // both bounds are powers of two, so exact; the upper one is the first that is too
    // large
    const double least = numbers->int64 ? -0x1p63 : -0x1p31;
    if (real <= least) {
        return int_min(numbers);
    }
    if (real >= -least) {
        return int_max(numbers);
    }
    return (int64_t)real;
}

rk_value rk_convert(const rk_numbers *numbers, rk_value v, rk_type to)
{
    if (v.type == RK_INT && to == RK_REAL) {
        return of_real(numbers, numbers->f64 ? (double)v.u.i : (double)(float)v.u.i);
    }
    if (v.type == RK_REAL && to == RK_INT) {
        return of_int(numbers, to_int(numbers, v.u.real));
    }
    if (v.type != to) {
        return (rk_value){.type = RK_VOID};
    }
    return v.type == RK_INT    ? of_int(numbers, v.u.i)
           : v.type == RK_REAL ? of_real(numbers, v.u.real)
                               : v;
}

/* --- ints --------------------------------------------------------------------------- */

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_sub(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a - (uint64_t)b);
}

static int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

/* div, fld, rem, mod: 0 where b is 0. */
static int64_t divide(rk_op op, int64_t a, int64_t b)
{
    const bool quotient = op == RK_OP_IDIV || op == RK_OP_FLD;
    if (b == 0) {
        return 0;
    }
    if (b == -1) {
        return quotient ? wrap_sub(0, a) : 0; // the most negative a has no positive
    }
    const int64_t r = a % b;
    const bool floored = r != 0 && (r < 0) != (b < 0);
    switch (op) {
    case RK_OP_IDIV:
        return a / b;
    case RK_OP_FLD:
        return floored ? a / b - 1 : a / b;
    case RK_OP_REM:
        return r;
    default:
        return floored ? r + b : r;
    }
}

/* x^n by squaring from the top bit of n down. */
static int64_t power_int(const rk_numbers *numbers, int64_t x, int64_t n)
{
    const uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    int64_t r = 1;
    for (int bit = 63; bit >= 0; bit--) {
        r = wrap_mul(r, r);
        if ((size >> bit & 1U) != 0) {
            r = wrap_mul(r, x);
        }
    }
    r = of_int(numbers, r).u.i;
    return n < 0 ? divide(RK_OP_IDIV, 1, r) : r;
}

static int64_t apply_int(const rk_numbers *numbers, rk_op op, int64_t a, int64_t b)
{
    switch (op) {
    case RK_OP_ADD:
        return wrap_add(a, b);
    case RK_OP_SUB:
        return wrap_sub(a, b);
    case RK_OP_MUL:
        return wrap_mul(a, b);
    case RK_OP_MIN:
        return a < b ? a : b;
    case RK_OP_MAX:
        return a > b ? a : b;
    case RK_OP_NEG:
        return wrap_sub(0, a);
    case RK_OP_ABS:
        return a < 0 ? wrap_sub(0, a) : a;
    case RK_OP_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case RK_OP_POWI:
        return power_int(numbers, a, b);
    default:
        return divide(op, a, b);
    }
}

/* --- reals -------------------------------------------------------------------------- */

/* x * 2^n, rounded once. */
static double scale(const rk_numbers *numbers, double x, int64_t n)
{
    // beyond these every finite x is 0 or inf already
    const int bounded = n > 100000 ? 100000 : n < -100000 ? -100000 : (int)n;
    return numbers->f64 ? ldexp(x, bounded) : (double)ldexpf((float)x, bounded);
}

static double power_f64(double x, uint64_t n)
{
    double r = x;
    int bit = 63;
    while ((n >> bit & 1U) == 0) {
        bit--;
    }
    while (--bit >= 0) {
        r = r * r;
        if ((n >> bit & 1U) != 0) {
            r = r * x;
        }
    }
    return r;
}

static float power_f32(float x, uint64_t n)
{
    float r = x;
    int bit = 63;
    while ((n >> bit & 1U) == 0) {
        bit--;
    }
    while (--bit >= 0) {
        r = r * r;
        if ((n >> bit & 1U) != 0) {
            r = r * x;
        }
    }
    return r;
}

/* x^n: by squaring from the top bit of |n| down; 1 for n = 0, 1 / x^|n| for n < 0. */
static double power_real(const rk_numbers *numbers, double x, int64_t n)
{
    const uint64_t size = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    if (n == 0) {
        return 1;
    }
    if (numbers->f64) {
        const double r = power_f64(x, size);
        return n < 0 ? 1 / r : r;
    }
    const float r = power_f32((float)x, size);
    return (double)(n < 0 ? 1 / r : r);
}

static double apply_f64(rk_op op, double a, double b, double c)
{
    int exponent = 0;
    switch (op) {
    case RK_OP_ADD:
        return a + b;
    case RK_OP_SUB:
        return a - b;
    case RK_OP_MUL:
        return a * b;
    case RK_OP_DIV:
        return a / b;
    case RK_OP_MIN:
        return a < b || isnan(b) ? a : b;
    case RK_OP_MAX:
        return a > b || isnan(b) ? a : b;
    case RK_OP_NEG:
        return -a;
    case RK_OP_ABS:
        return fabs(a);
    case RK_OP_SIGN:
        return a > 0 ? 1 : a < 0 ? -1 : a;
    case RK_OP_SQRT:
        return sqrt(a);
    case RK_OP_FLOOR:
        return floor(a);
    case RK_OP_CEIL:
        return ceil(a);
    case RK_OP_ROUND:
        return round(a);
    case RK_OP_TRUNC:
        return trunc(a);
    case RK_OP_FMA:
        return fma(a, b, c);
    default: // frexp
        return frexp(a, &exponent);
    }
}

/* The operations whose double result, rounded to float, is not the float result for sure:
 * those that round. The others give a float from floats. */
static double apply_f32(rk_op op, double da, double db, double dc)
{
    const float a = (float)da;
    const float b = (float)db;
    const float c = (float)dc;
    switch (op) {
    case RK_OP_ADD:
        return (double)(a + b);
    case RK_OP_SUB:
        return (double)(a - b);
    case RK_OP_MUL:
        return (double)(a * b);
    case RK_OP_DIV:
        return (double)(a / b);
    case RK_OP_SQRT:
        return (double)sqrtf(a);
    case RK_OP_FMA:
        return (double)fmaf(a, b, c);
    default:
        return apply_f64(op, da, db, dc);
    }
}

static int64_t exponent_of(double x)
{
    int exponent = 0;
    if (isfinite(x)) { // C leaves it open for the others
        frexp(x, &exponent);
    }
    return exponent;
}

/* --- application -------------------------------------------------------------------- */

/* -1, 0, 1, or 2 where a NaN leaves no order. */
static int order(rk_value a, rk_value b)
{
    if (a.type == RK_REAL) {
        return a.u.real < b.u.real    ? -1
               : a.u.real > b.u.real  ? 1
               : a.u.real == b.u.real ? 0
                                      : 2;
    }
    const int64_t x = a.type == RK_BOOL ? (int64_t)a.u.b : a.u.i;
    const int64_t y = b.type == RK_BOOL ? (int64_t)b.u.b : b.u.i;
    return x < y ? -1 : x > y ? 1 : 0;
}

static bool apply_bool(rk_op op, rk_value a, rk_value b)
{
    switch (op) {
    case RK_OP_NOT:
        return !a.u.b;
    case RK_OP_AND:
        return a.u.b && b.u.b;
    case RK_OP_OR:
        return a.u.b || b.u.b;
    case RK_OP_EQ:
        return order(a, b) == 0;
    case RK_OP_NE:
        return order(a, b) != 0;
    case RK_OP_LT:
        return order(a, b) == -1;
    case RK_OP_LE:
        return order(a, b) == -1 || order(a, b) == 0;
    case RK_OP_GT:
        return order(a, b) == 1;
    case RK_OP_GE:
        return order(a, b) == 1 || order(a, b) == 0;
    case RK_OP_ISNAN:
        return isnan(a.u.real);
    default: // isfinite
        return isfinite(a.u.real);
    }
}

static rk_value converted(const rk_numbers *numbers, rk_value v, rk_type to)
{
    return to == RK_VOID ? v : rk_convert(numbers, v, to);
}

rk_value rk_apply(const rk_numbers *numbers, rk_op op, rk_value a, rk_value b, rk_value c)
{
    const rk_type type = rk_op_type(op, a.type, b.type, c.type);
    if (type == RK_VOID) {
        return (rk_value){.type = RK_VOID};
    }
    const rk_type to_a = rk_op_operand_type(op, 0, a.type, b.type, c.type);
    const rk_type to_b = rk_op_operand_type(op, 1, a.type, b.type, c.type);
    const rk_type to_c = rk_op_operand_type(op, 2, a.type, b.type, c.type);
    a = converted(numbers, a, to_a);
    b = converted(numbers, b, to_b);
    c = converted(numbers, c, to_c);
    switch (op) {
    case RK_OP_SELECT:
        return a.u.b ? b : c;
    case RK_OP_TO_REAL:
    case RK_OP_TO_INT:
        return rk_convert(numbers, a, type);
    case RK_OP_EXPONENT:
        return of_int(numbers, exponent_of(a.u.real));
    case RK_OP_LDEXP:
        return of_real(numbers, scale(numbers, a.u.real, b.u.i));
    default:
        break;
    }
    if (type == RK_BOOL) {
        return of_bool(apply_bool(op, a, b));
    }
    if (type == RK_INT) {
        return of_int(numbers, apply_int(numbers, op, a.u.i, b.u.i));
    }
    if (op == RK_OP_POWI) {
        return of_real(numbers, power_real(numbers, a.u.real, b.u.i));
    }
    const double real = numbers->f64 ? apply_f64(op, a.u.real, b.u.real, c.u.real)
                                     : apply_f32(op, a.u.real, b.u.real, c.u.real);
    return of_real(numbers, real);
}
