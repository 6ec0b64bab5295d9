/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers to the shortest decimal that reads back as the same number.
 *
 * All decimals of an interval around c * 2^q read back. Scaled by a power of ten that
 * makes them integers of about 17 digits, its ends and its middle are known to a quarter,
 * with a sticky bit, and the shortest integer between is at most two steps away.
 * Source: R. Giulietti, The Schubfach way to render doubles, 2020. The layout is that of
 * %g, with 15 digits (6 for f32) or as many as there are.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <math.h>
#include <string.h>

#include "libcore/base/decimal.h"

/* digits * 10^exponent */
typedef struct shortest {
    uint64_t digits;
    int32_t exponent;
} shortest;

/* Upper part of the product of a power and c, its last bit set if what was cut is not 0
 * (to within the error of the power). */
static uint64_t product_odd(const uint64_t power[2], uint64_t c)
{
    const rubus__u128 low = (rubus__u128)power[1] * c;
    const rubus__u128 high = (rubus__u128)power[0] * c + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The shortest decimal of c * 2^q, c > 0; of several, the nearest. closer: the neighbour
 * below is only half a step away. */
static shortest shortest_of(uint64_t c, int32_t q, bool closer)
{
    const uint64_t open = c & 1; // ends of the interval round to an even c only
    const int32_t k = (int32_t)((q * (int64_t)1262611 - (closer ? 524031 : 0)) >> 22);
    const int32_t h = q + rubus__log2_of_power(-k) + 1;
    const uint64_t *power = rubus__powers[-k - RUBUS__POWER_LEAST];
    const uint64_t low = product_odd(power, (4 * c - 2 + closer) << h) + open;
    const uint64_t middle = product_odd(power, (4 * c) << h);
    const uint64_t high = product_odd(power, (4 * c + 2) << h) - open;
    const uint64_t s = middle / 4;
    if (s >= 10) {
        const uint64_t tens = s / 10;
        const bool below = low <= 40 * tens;
        const bool above = 40 * tens + 40 <= high;
        if (below != above) {
            return (shortest){tens + above, k + 1};
        }
    }
    const bool below = low <= 4 * s;
    const bool above = 4 * s + 4 <= high;
    if (below != above) {
        return (shortest){s + above, k};
    }
    const uint64_t half = 4 * s + 2;
    const bool up = middle > half || (middle == half && (s & 1) != 0);
    return (shortest){s + up, k};
}

/* Digits of n from out on; how many. */
static int put_digits(uint64_t n, char *out)
{
    char back[20];
    int size = 0;
    do {
        back[size++] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    for (int i = 0; i < size; i++) {
        out[i] = back[size - 1 - i];
    }
    return size;
}

/* d.ddde+dd */
static char *put_exponent_form(const char *digits, int n, int exponent, char *out)
{
    *out++ = digits[0];
    if (n > 1) {
        *out++ = '.';
        memcpy(out, digits + 1, (size_t)(n - 1));
        out += n - 1;
    }
    *out++ = 'e';
    *out++ = exponent < 0 ? '-' : '+';
    const unsigned e = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (e < 10) {
        *out++ = '0';
    }
    return out + put_digits(e, out);
}

/* The first digit stands for 10^exponent. */
static char *put_fixed_form(const char *digits, int n, int exponent, char *out)
{
    if (exponent < 0) {
        memcpy(out, "0.0000", 6);
        out += 1 - exponent;
        memcpy(out, digits, (size_t)n);
        return out + n;
    }
    const int whole = exponent + 1;
    if (n <= whole) {
        memcpy(out, digits, (size_t)n);
        memset(out + n, '0', (size_t)(whole - n));
        return out + whole;
    }
    memcpy(out, digits, (size_t)whole);
    out[whole] = '.';
    memcpy(out + whole + 1, digits + whole, (size_t)(n - whole));
    return out + n + 1;
}

static size_t put(bool minus, uint64_t c, int32_t q, bool closer, int precision,
                  char out[32])
{
    char *at = out;
    if (minus) {
        *at++ = '-';
    }
    if (c == 0) {
        *at++ = '0';
    } else {
        const shortest s = shortest_of(c, q, closer);
        char digits[20];
        const int all = put_digits(s.digits, digits);
        int n = all;
        while (n > 1 && digits[n - 1] == '0') {
            n--;
        }
        const int exponent = s.exponent + all - 1;
        precision = n > precision ? n : precision;
        at = exponent < -4 || exponent >= precision
                 ? put_exponent_form(digits, n, exponent, at)
                 : put_fixed_form(digits, n, exponent, at);
    }
    *at = '\0';
    return (size_t)(at - out);
}

static size_t put_special(bool is_nan, bool minus, char out[32])
{
    const char *text = is_nan ? "nan" : minus ? "-inf" : "inf";
    const size_t size = strlen(text);
    memcpy(out, text, size + 1);
    return size;
}

size_t rubus__print_f64(double value, char out[32])
{
    if (!isfinite(value)) {
        return put_special(isnan(value), value < 0, out);
    }
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint64_t one = (uint64_t)1 << 52;
    const uint64_t fraction = bits & (one - 1);
    const int32_t exponent = (int32_t)(bits >> 52 & 0x7ff);
    if (exponent == 0) {
        return put(bits >> 63 != 0, fraction, -1074, false, 15, out);
    }
    return put(bits >> 63 != 0, fraction | one, exponent - 1075,
               fraction == 0 && exponent > 1, 15, out);
}

size_t rubus__print_f32(float value, char out[32])
{
    if (!isfinite(value)) {
        return put_special(isnan(value), value < 0, out);
    }
    uint32_t bits = 0;
    memcpy(&bits, &value, sizeof bits);
    const uint32_t one = (uint32_t)1 << 23;
    const uint32_t fraction = bits & (one - 1);
    const int32_t exponent = (int32_t)(bits >> 23 & 0xff);
    if (exponent == 0) {
        return put(bits >> 31 != 0, fraction, -149, false, 6, out);
    }
    return put(bits >> 31 != 0, fraction | one, exponent - 150,
               fraction == 0 && exponent > 1, 6, out);
}
