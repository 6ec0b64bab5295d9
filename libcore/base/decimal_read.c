/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimals in the middle of a text to numbers, correctly rounded and fast.
 *
 * Up to 19 digits are one integer. Its product with a power of ten known to 128 bits lies
 * in a narrow interval; if both ends round to the same number, that is it. The few other
 * inputs (halfway cases, subnormal and enormous numbers, long mantissas near a tie) go to
 * strtod, with digits that can no longer matter cut off.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "libcore/base/decimal.h"

/* No tie between two doubles has more significant digits than 767. */
enum { DIGITS_FAST = 19, DIGITS_SLOW = 770, EXPONENT_MOST = 1000000000 };

/* (-1)^minus * (w, or between w and w + 1 if cut) * 10^exponent */
typedef struct decimal {
    uint64_t w;
    int64_t exponent;
    bool minus;
    bool cut;           /* digits were dropped that are not all zero */
    const char *digits; /* first digit or point, and behind the last one */
    const char *digits_end;
    int64_t exponent_written;
} decimal;

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') <= 9;
}

/* One digit more; how many significant ones there are. */
static inline int take_digit(decimal *d, char c, int n)
{
    if (n < DIGITS_FAST) {
        d->w = 10 * d->w + (uint64_t)(c - '0');
        return n + (d->w != 0);
    }
    d->cut |= c != '0';
    d->exponent++;
    return n;
}

/* [e|E|d|D [+-] digits]; what is no exponent is left alone. */
static const char *scan_exponent(const char *at, const char *end, decimal *d)
{
    d->exponent_written = 0;
    if (at == end || ((*at | 0x20) != 'e' && (*at | 0x20) != 'd')) {
        return at;
    }
    const char *p = at + 1;
    const bool minus = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) {
        p++;
    }
    if (p == end || !is_digit(*p)) {
        return at;
    }
    int64_t e = 0;
    for (; p < end && is_digit(*p); p++) {
        e = e < EXPONENT_MOST ? 10 * e + (*p - '0') : e;
    }
    d->exponent_written = minus ? -e : e;
    d->exponent += d->exponent_written;
    return p;
}

/* NULL if no number stands there. */
static const char *scan(const char *at, const char *end, decimal *d)
{
    d->w = 0;
    d->exponent = 0;
    d->cut = false;
    d->minus = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    d->digits = at;
    int n = 0;
    for (; at < end && is_digit(*at); at++) {
        n = take_digit(d, *at, n);
    }
    int64_t ndigit = at - d->digits;
    if (at < end && *at == '.') {
        const char *point = at++;
        for (; at < end && is_digit(*at); at++) {
            n = take_digit(d, *at, n);
        }
        d->exponent -= at - point - 1;
        ndigit += at - point - 1;
    }
    if (ndigit == 0) {
        return NULL;
    }
    d->digits_end = at;
    return scan_exponent(at, end, d);
}

/* value = mantissa * 2^exponent with a mantissa of exactly `bits` bits. False where the
 * product is not known well enough. */
static inline bool round_product(const decimal *d, int bits, uint64_t *out_mantissa,
                                 int32_t *out_exponent)
{
    if (d->exponent < RUBUS__POWER_LEAST || d->exponent > RUBUS__POWER_MOST) {
        return false;
    }
    const int32_t e = (int32_t)d->exponent;
    const uint64_t *power = rubus__powers[e - RUBUS__POWER_LEAST];
    const int shift = __builtin_clzll(d->w);
    const uint64_t w = d->w << shift;
    const rubus__u128 low = (rubus__u128)w * power[1];
    const rubus__u128 product = (rubus__u128)w * power[0] + (uint64_t)(low >> 64);
    // The power is too large by less than 1, so the product by less than 2^64, its upper
    // 128 bits by less than 1. Two bits are given up for room at the top.
    const rubus__u128 v = product >> 2;
    const rubus__u128 spread = d->cut ? (rubus__u128)1 << (shift + 62) : 0;
    const int drop = (v >> 125 == 0 ? 125 : 126) - bits;
    const rubus__u128 half = (rubus__u128)1 << (drop - 1);
    uint64_t mantissa = (uint64_t)((v - 1 + half) >> drop);
    if (mantissa != (uint64_t)((v + 2 + spread + half) >> drop)) {
        return false;
    }
    int32_t exponent = rubus__log2_of_power(e) - 61 - shift + drop;
    if (mantissa >> bits != 0) {
        mantissa >>= 1;
        exponent++;
    }
    *out_mantissa = mantissa;
    *out_exponent = exponent;
    return true;
}

/* The same number as digits and an exponent for strtod: no point, at most DIGITS_SLOW
 * significant digits, and a last 1 that stands for all that was cut. */
static void write_plain(const decimal *d, char out[DIGITS_SLOW + 32])
{
    int n = 0;
    int64_t exponent = d->exponent_written;
    bool behind_point = false;
    bool cut = false;
    for (const char *p = d->digits; p < d->digits_end; p++) {
        if (*p == '.') {
            behind_point = true;
            continue;
        }
        const bool kept = n < DIGITS_SLOW;
        if (kept && (n > 0 || *p != '0')) {
            out[n++] = *p;
        }
        cut |= !kept && *p != '0';
        exponent += !kept;
        exponent -= behind_point;
    }
    if (cut) {
        out[n++] = '1';
        exponent--;
    }
    if (n == 0) {
        out[n++] = '0';
    }
    // anything beyond is 0 or infinite whatever the digits
    exponent = exponent > 100000 ? 100000 : exponent < -100000 ? -100000 : exponent;
    rubus__snprintf(out + n, 32, "e%lld", (long long)exponent);
}

static double slow_f64(const decimal *d)
{
    char text[DIGITS_SLOW + 32];
    write_plain(d, text);
    const int errno_before = errno;
    const double value = strtod(text, NULL);
    errno = errno_before;
    return value;
}

static float slow_f32(const decimal *d)
{
    char text[DIGITS_SLOW + 32];
    write_plain(d, text);
    const int errno_before = errno;
    const float value = strtof(text, NULL);
    errno = errno_before;
    return value;
}

/* `word`, in any letter case. */
static bool begins(const char *at, const char *end, const char *word)
{
    const char *p = at;
    for (; *word != '\0'; word++, p++) {
        if (p == end || (*p | 0x20) != *word) {
            return false;
        }
    }
    return true;
}

/* inf, infinity and nan, with a sign or without. */
static const char *scan_special(const char *at, const char *end, double *out)
{
    const bool minus = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) {
        at++;
    }
    if (begins(at, end, "nan")) {
        *out = minus ? -(double)NAN : (double)NAN;
        return at + 3;
    }
    if (begins(at, end, "inf")) {
        *out = minus ? -(double)INFINITY : (double)INFINITY;
        return at + (begins(at, end, "infinity") ? 8 : 3);
    }
    return NULL;
}

const char *rubus__read_f64(const char *at, const char *end, double *out)
{
    decimal d;
    const char *behind = scan(at, end, &d);
    if (behind == NULL) {
        return scan_special(at, end, out);
    }
    double value = 0;
    uint64_t mantissa = 0;
    int32_t exponent = 0;
    if (d.w == 0) {
        value = 0;
    } else if (round_product(&d, 53, &mantissa, &exponent) && exponent >= -1074 &&
               exponent <= 971) {
        const uint64_t bits =
            (uint64_t)(exponent + 1075) << 52 | (mantissa & (((uint64_t)1 << 52) - 1));
        memcpy(&value, &bits, sizeof value);
    } else {
        value = slow_f64(&d);
    }
    *out = d.minus ? -value : value;
    return behind;
}

const char *rubus__read_f32(const char *at, const char *end, float *out)
{
    decimal d;
    const char *behind = scan(at, end, &d);
    if (behind == NULL) {
        double special = 0;
        behind = scan_special(at, end, &special);
        if (behind != NULL) {
            *out = (float)special;
        }
        return behind;
    }
    float value = 0;
    uint64_t mantissa = 0;
    int32_t exponent = 0;
    if (d.w == 0) {
        value = 0;
    } else if (round_product(&d, 24, &mantissa, &exponent) && exponent >= -149 &&
               exponent <= 104) {
        const uint32_t bits = (uint32_t)(exponent + 150) << 23 |
                              ((uint32_t)mantissa & (((uint32_t)1 << 23) - 1));
        memcpy(&value, &bits, sizeof value);
    } else {
        value = slow_f32(&d);
    }
    *out = d.minus ? -value : value;
    return behind;
}
