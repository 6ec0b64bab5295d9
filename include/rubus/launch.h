/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_LAUNCH_H
#define RUBUS_LAUNCH_H
/**
 * The macros rubus_launch and rubus_launch_range (C only): they count their arguments and
 * turn each into a rubus_arg. At most 32 arguments; rubus_launch_args takes more.
 */
#include <rubus/kernel.h>

/** rubus_launch(kernel, a, b, 0.5, &err): see rubus_launch_args. */
#define rubus_launch(kernel, ...)                                                        \
    rubus_launch_args((kernel), (rubus_arg[]){RUBUS_EACH_(__VA_ARGS__)},                 \
                      RUBUS_NARG_(__VA_ARGS__))
/** rubus_launch_range(kernel, lo, hi, a, b, ...): see rubus_launch_range_args. */
#define rubus_launch_range(kernel, lo, hi, ...)                                          \
    rubus_launch_range_args((kernel), (lo), (hi),                                        \
                            (rubus_arg[]){RUBUS_EACH_(__VA_ARGS__)},                     \
                            RUBUS_NARG_(__VA_ARGS__))

#define RUBUS_NARG_(...)                                                                 \
    (sizeof((rubus_arg[]){RUBUS_EACH_(__VA_ARGS__)}) / sizeof(rubus_arg))
#define RUBUS_EACH_(...)                                                                 \
    RUBUS_PASTE_(RUBUS_E, RUBUS_COUNT_NAME_(__VA_ARGS__))(__VA_ARGS__, 0)
#define RUBUS_PASTE_(a, b) RUBUS_PASTE2_(a, b)
#define RUBUS_PASTE2_(a, b) a##b
#define RUBUS_COUNT_NAME_(...)                                                           \
    RUBUS_PICK_(__VA_ARGS__, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, \
                17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define RUBUS_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15,    \
                    a16, a17, a18, a19, a20, a21, a22, a23, a24, a25, a26, a27, a28,     \
                    a29, a30, a31, a32, n, ...)                                          \
    n
/* The last argument of each is a filler: a variadic macro must get one in ISO C11. */
#define RUBUS_E1(x, ...) RUBUS_ARG(x)
#define RUBUS_E2(x, ...) RUBUS_ARG(x), RUBUS_E1(__VA_ARGS__)
#define RUBUS_E3(x, ...) RUBUS_ARG(x), RUBUS_E2(__VA_ARGS__)
#define RUBUS_E4(x, ...) RUBUS_ARG(x), RUBUS_E3(__VA_ARGS__)
#define RUBUS_E5(x, ...) RUBUS_ARG(x), RUBUS_E4(__VA_ARGS__)
#define RUBUS_E6(x, ...) RUBUS_ARG(x), RUBUS_E5(__VA_ARGS__)
#define RUBUS_E7(x, ...) RUBUS_ARG(x), RUBUS_E6(__VA_ARGS__)
#define RUBUS_E8(x, ...) RUBUS_ARG(x), RUBUS_E7(__VA_ARGS__)
#define RUBUS_E9(x, ...) RUBUS_ARG(x), RUBUS_E8(__VA_ARGS__)
#define RUBUS_E10(x, ...) RUBUS_ARG(x), RUBUS_E9(__VA_ARGS__)
#define RUBUS_E11(x, ...) RUBUS_ARG(x), RUBUS_E10(__VA_ARGS__)
#define RUBUS_E12(x, ...) RUBUS_ARG(x), RUBUS_E11(__VA_ARGS__)
#define RUBUS_E13(x, ...) RUBUS_ARG(x), RUBUS_E12(__VA_ARGS__)
#define RUBUS_E14(x, ...) RUBUS_ARG(x), RUBUS_E13(__VA_ARGS__)
#define RUBUS_E15(x, ...) RUBUS_ARG(x), RUBUS_E14(__VA_ARGS__)
#define RUBUS_E16(x, ...) RUBUS_ARG(x), RUBUS_E15(__VA_ARGS__)
#define RUBUS_E17(x, ...) RUBUS_ARG(x), RUBUS_E16(__VA_ARGS__)
#define RUBUS_E18(x, ...) RUBUS_ARG(x), RUBUS_E17(__VA_ARGS__)
#define RUBUS_E19(x, ...) RUBUS_ARG(x), RUBUS_E18(__VA_ARGS__)
#define RUBUS_E20(x, ...) RUBUS_ARG(x), RUBUS_E19(__VA_ARGS__)
#define RUBUS_E21(x, ...) RUBUS_ARG(x), RUBUS_E20(__VA_ARGS__)
#define RUBUS_E22(x, ...) RUBUS_ARG(x), RUBUS_E21(__VA_ARGS__)
#define RUBUS_E23(x, ...) RUBUS_ARG(x), RUBUS_E22(__VA_ARGS__)
#define RUBUS_E24(x, ...) RUBUS_ARG(x), RUBUS_E23(__VA_ARGS__)
#define RUBUS_E25(x, ...) RUBUS_ARG(x), RUBUS_E24(__VA_ARGS__)
#define RUBUS_E26(x, ...) RUBUS_ARG(x), RUBUS_E25(__VA_ARGS__)
#define RUBUS_E27(x, ...) RUBUS_ARG(x), RUBUS_E26(__VA_ARGS__)
#define RUBUS_E28(x, ...) RUBUS_ARG(x), RUBUS_E27(__VA_ARGS__)
#define RUBUS_E29(x, ...) RUBUS_ARG(x), RUBUS_E28(__VA_ARGS__)
#define RUBUS_E30(x, ...) RUBUS_ARG(x), RUBUS_E29(__VA_ARGS__)
#define RUBUS_E31(x, ...) RUBUS_ARG(x), RUBUS_E30(__VA_ARGS__)
#define RUBUS_E32(x, ...) RUBUS_ARG(x), RUBUS_E31(__VA_ARGS__)

#endif
