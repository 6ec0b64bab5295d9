/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Affine integer expressions: a constant and a sum of coefficients times symbols, the
 * terms sorted by symbol. Values are immutable and share their terms. Sizes, slice
 * bounds and offsets are all of this form, which is what makes shapes comparable at
 * compile time.
 *
 * Arithmetic is exact; what leaves 64 bits ends the compilation, since no array is that
 * large.
 */
#include "config.h"

#include "libcore/kernel/field.h"

#include <string.h>

rk_affine rk_affine_int(int64_t constant)
{
    return (rk_affine){.constant = constant};
}

rk_affine rk_affine_symbol(rk_unit *unit, int32_t symbol)
{
    rk_term *term = RK_NEW(unit, rk_term);
    term->symbol = symbol;
    term->coef = 1;
    return (rk_affine){.nterm = 1, .term = term};
}

/* Ends the compilation with K140. */
static void overflow(rk_unit *unit)
{
    const rk_source *source = unit->module.source;
    if (source == NULL && unit->nsource > 0) {
        source = unit->source[unit->nsource - 1];
    }
    if (source == NULL) {
        rk_give_up(unit);
    }
    const rk_span start = {source, 0, 0};
    rk_error(unit, RK_TOO_LARGE, start, "use smaller constants in extents and bounds",
             "a size or position does not fit 64 bits");
    rk_give_up(unit);
}

static int64_t add_product(rk_unit *unit, int64_t a, int64_t k, int64_t b)
{
    int64_t product = 0;
    int64_t sum = 0;
    if (__builtin_mul_overflow(k, b, &product) ||
        __builtin_add_overflow(a, product, &sum)) {
        overflow(unit);
    }
    return sum;
}

rk_affine rk_affine_add(rk_unit *unit, rk_affine a, int64_t k, rk_affine b)
{
    rk_affine sum = rk_affine_int(add_product(unit, a.constant, k, b.constant));
    if (b.nterm == 0 || k == 0) {
        sum.nterm = a.nterm;
        sum.term = a.term;
        return sum;
    }
    if (a.nterm == 0 && k == 1) {
        sum.nterm = b.nterm;
        sum.term = b.term;
        return sum;
    }
    rk_term *term = rk_new(unit, (size_t)(a.nterm + b.nterm) * sizeof(*term));
    int32_t i = 0;
    int32_t j = 0;
    while (i < a.nterm || j < b.nterm) {
        rk_term next = {0};
        if (j == b.nterm || (i < a.nterm && a.term[i].symbol < b.term[j].symbol)) {
            next = a.term[i++];
        } else if (i == a.nterm || b.term[j].symbol < a.term[i].symbol) {
            next.symbol = b.term[j].symbol;
            next.coef = add_product(unit, 0, k, b.term[j++].coef);
        } else {
            next.symbol = a.term[i].symbol;
            next.coef = add_product(unit, a.term[i++].coef, k, b.term[j++].coef);
        }
        if (next.coef != 0) {
            term[sum.nterm++] = next;
        }
    }
    sum.term = sum.nterm > 0 ? term : NULL;
    return sum;
}

rk_affine rk_affine_scale(rk_unit *unit, rk_affine a, int64_t k)
{
    return rk_affine_add(unit, rk_affine_int(0), k, a);
}

bool rk_affine_equal(rk_affine a, rk_affine b)
{
    if (a.constant != b.constant || a.nterm != b.nterm) {
        return false;
    }
    for (int32_t i = 0; i < a.nterm; i++) {
        if (a.term[i].symbol != b.term[i].symbol || a.term[i].coef != b.term[i].coef) {
            return false;
        }
    }
    return true;
}

bool rk_affine_is_const(rk_affine a, int64_t *out)
{
    if (a.nterm != 0) {
        return false;
    }
    if (out != NULL) {
        *out = a.constant;
    }
    return true;
}

int rk_affine_sign(const rk_symbol *symbols, rk_affine a)
{
    for (int32_t i = 0; i < a.nterm; i++) {
        const rk_symbol_kind kind = symbols[a.term[i].symbol].kind;
        const bool size = kind == RK_SYMBOL_EXTENT || kind == RK_SYMBOL_BLANK;
        if (!size || a.term[i].coef < 0) {
            return -1;
        }
    }
    return a.constant > 0 ? 1 : a.constant == 0 ? 0 : -1;
}

static char *print_i64(int64_t value, char out[24])
{
    rubus__snprintf(out, 24, "%lld", (long long)value);
    return out;
}

const char *rk_affine_text(rk_unit *unit, const rk_symbol *symbols, rk_affine a)
{
    char digits[24];
    if (a.nterm == 0) {
        return rubus__arena_format(unit->arena, "%s", print_i64(a.constant, digits));
    }
    const char *text = "";
    for (int32_t i = 0; i < a.nterm; i++) {
        const int64_t coef = a.term[i].coef;
        const char *sign = coef < 0 ? "-" : i > 0 ? "+" : "";
        const char *name = symbols[a.term[i].symbol].name;
        if (coef == 1 || coef == -1) {
            text = rubus__arena_format(unit->arena, "%s%s%s", text, sign, name);
        } else {
            print_i64(coef, digits);
            text = rubus__arena_format(unit->arena, "%s%s%s*%s", text, sign,
                                       digits[0] == '-' ? digits + 1 : digits, name);
        }
    }
    if (a.constant == 0) {
        return text;
    }
    return rubus__arena_format(unit->arena, "%s%s%s", text, a.constant > 0 ? "+" : "",
                               print_i64(a.constant, digits));
}

bool rk_affine_eval(rk_affine a, const int64_t *values, int64_t *out)
{
    int64_t sum = a.constant;
    for (int32_t i = 0; i < a.nterm; i++) {
        int64_t product = 0;
        if (__builtin_mul_overflow(a.term[i].coef, values[a.term[i].symbol], &product) ||
            __builtin_add_overflow(sum, product, &sum)) {
            return false;
        }
    }
    *out = sum;
    return true;
}
