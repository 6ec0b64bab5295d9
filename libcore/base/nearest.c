/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing names without a locale, and "did you mean": the edit distance in which an
 * insertion, a removal, a replacement and a swap of neighbours cost 1 each.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <limits.h>
#include <string.h>

enum { NAME_LONGEST = 63 };

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : (unsigned char)c;
}

bool rubus__equal_nocase(const char *a, const char *b)
{
    while (*a != '\0' && lower(*a) == lower(*b)) {
        a++;
        b++;
    }
    return lower(*a) == lower(*b);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

int rubus__distance(const char *a, const char *b)
{
    // names are short; of longer ones the tails are compared by length alone
    const int na = (int)strnlen(a, NAME_LONGEST);
    const int nb = (int)strnlen(b, NAME_LONGEST);
    int rows[3][NAME_LONGEST + 1];
    int *before = rows[0]; // distances two rows up, one row up, and of this row
    int *above = rows[1];
    int *row = rows[2];
    for (int j = 0; j <= nb; j++) {
        above[j] = j;
        before[j] = j;
    }
    for (int i = 1; i <= na; i++) {
        row[0] = i;
        for (int j = 1; j <= nb; j++) {
            const int differs = lower(a[i - 1]) != lower(b[j - 1]);
            int d = least(above[j - 1] + differs, least(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                d = least(d, before[j - 2] + 1);
            }
            row[j] = d;
        }
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    const size_t rest_a = strlen(a + na);
    const size_t rest_b = strlen(b + nb);
    const size_t rest = rest_a > rest_b ? rest_a - rest_b : rest_b - rest_a;
    return rest > INT_MAX - 2 * NAME_LONGEST ? INT_MAX : above[nb] + (int)rest;
}

const char *rubus__nearest(const char *name, const char *const *names, size_t n)
{
    const char *best = NULL;
    // a third of the letters may be wrong, but one always, and three at most
    const size_t size = strlen(name);
    int best_distance = 1 + least(3, size < 6 ? 1 : (int)least((int)(size / 3), 3));
    for (size_t i = 0; i < n; i++) {
        const int distance = rubus__distance(name, names[i]);
        // never all of a short word: "ab" is not near "cd"
        if (distance < best_distance && (size_t)distance < strlen(names[i])) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}
