/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_DECIMAL_H
#define RUBUS_DECIMAL_H
/* What reading and printing decimals share. Only the ground layer uses it. */
#include <stdint.h>

enum { RUBUS__POWER_LEAST = -292, RUBUS__POWER_MOST = 324 };
/* 10^k, from the least power on: upper and lower half of 128 bits; see power_of_ten.c. */
extern const uint64_t rubus__powers[RUBUS__POWER_MOST - RUBUS__POWER_LEAST + 1][2];

__extension__ typedef unsigned __int128 rubus__u128;

/* The power of two p with 2^p <= 10^k < 2^(p + 1), for -400 <= k <= 400. */
static inline int32_t rubus__log2_of_power(int32_t k)
{
    return (int32_t)((k * (int64_t)1741647) >> 19);
}

#endif
