/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole strings to numbers, in the C locale whatever the process's locale is: "1.5x" is
 * an error and never 1.5. Numbers in the middle of a text: decimal_read.c.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "libcore/base/c_locale.h"

static locale_t c_locale;
static pthread_once_t c_locale_once = PTHREAD_ONCE_INIT;

static void c_locale_make(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t rubus__c_locale(void)
{
    pthread_once(&c_locale_once, c_locale_make);
    return c_locale;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Whether only blanks follow. */
static bool ends(const char *at)
{
    while (is_blank(*at)) {
        at++;
    }
    return *at == '\0';
}

bool rubus__parse_f64(const char *text, double *out)
{
    const locale_t c = rubus__c_locale();
    char *end = NULL;
    const int errno_before = errno;
    errno = 0;
    const double value = c == (locale_t)0 ? strtod(text, &end) : strtod_l(text, &end, c);
    // ERANGE comes with underflow too, where the rounded value is what is wanted
    const bool too_large = errno == ERANGE && isinf(value);
    errno = errno_before;
    if (end == text || too_large || !ends(end)) {
        return false;
    }
    *out = value;
    return true;
}

bool rubus__parse_f32(const char *text, float *out)
{
    const locale_t c = rubus__c_locale();
    char *end = NULL;
    const int errno_before = errno;
    errno = 0;
    const float value = c == (locale_t)0 ? strtof(text, &end) : strtof_l(text, &end, c);
    const bool too_large = errno == ERANGE && isinf(value);
    errno = errno_before;
    if (end == text || too_large || !ends(end)) {
        return false;
    }
    *out = value;
    return true;
}

bool rubus__parse_i64(const char *text, int64_t *out)
{
    const char *at = text;
    while (is_blank(*at)) {
        at++;
    }
    const bool minus = *at == '-';
    if (*at == '-' || *at == '+') {
        at++;
    }
    if (*at < '0' || *at > '9') {
        return false;
    }
    int64_t value = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        // built up below zero, where INT64_MIN has its place
        if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
            __builtin_sub_overflow(value, (int64_t)(*at - '0'), &value)) {
            return false;
        }
    }
    if (!ends(at) || (!minus && value == INT64_MIN)) {
        return false;
    }
    *out = minus ? value : -value;
    return true;
}
