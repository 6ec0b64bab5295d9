/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes on the backend vulkan, through the public interface: arrays beyond what a
 * descriptor reaches, beyond 2^31 elements, beyond what a lowered device gives; and every
 * wrong value of an option, which is an error that names it.
 */
#include "config.h"

#include "tests/runtime/vulkan_probe.h"

enum { SPEC = 300 };

/* --- large arrays ----------------------------------------------------------------- */

START_TEST(binding_limit_holds_for_descriptors_only)
{
    enum { LIMIT = 134217728 };
    char spec[SPEC];
    snprintf(spec, sizeof spec, "vulkan:validate=1:cap.max_binding=%d:descriptors=%s",
             LIMIT, _i == 0 ? "off" : "on");
    rubus_context *context = open_spec(spec);
    rubus_module *module = backends_module(
        context, "kernel twice(inout real a[n]) { a = 2 * a + ix(a); }", RUBUS_F64, 0);
    const rubus_kernel *twice = backends_kernel(module, "twice");
    const int64_t n = LIMIT / 8 + 5;
    rubus_array *a = NULL;
    rubus_array *most = NULL;
    ok(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(n), &a));
    ok(rubus_array_view(a, 0, RUBUS_SHAPE(n - 5), &most));
    ok(rubus_array_fill(a, 3));
    // as much as a descriptor reaches
    ok(rubus_launch(twice, most));
    if (_i == 0) {
        ok(rubus_launch(twice, a));
        ck_assert(backends_get(a, n - 1) == 6 + (double)(n - 1));
        ck_assert(backends_get(a, n - 6) == 12 + 3 * (double)(n - 6));
    } else {
        fails(rubus_launch(twice, a), RUBUS_ELIMIT,
              "array a|134217768 bytes|llvmpipe|134217728|descriptors=on");
        ck_assert(backends_get(a, n - 1) == 3);
        ck_assert(backends_get(a, n - 6) == 6 + (double)(n - 6));
    }
    rubus_array_destroy(most);
    rubus_array_destroy(a);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

/* 2^31 elements in one array: no extent is past 32 bits, and offsets are. */
START_TEST(array_of_two_to_the_31_elements)
{
    enum { WIDTH = 65536, HEIGHT = 32768, LINES = 2 };
    rubus_context *context = open_spec(_i == 0 ? "vulkan" : "vulkan:cap.int64=0");
    rubus_array *m = NULL;
    ok(rubus_array_create(context, RUBUS_BOOL, RUBUS_SHAPE(WIDTH, HEIGHT), &m));
    rubus_module *module =
        backends_module(context,
                        "kernel put(inout bool m[nx,ny], int shift) over (i, j)\n"
                        "{ m[i, j] = (i + 5 * j + shift) % 3 == 0; }\n"
                        "kernel last(inout bool m[n]) over (i) { m[i] = i % 5 == 0; }\n",
                        RUBUS_F32, 0);
    // the first lines, and those around 2^31 bytes
    for (int64_t first = 0; first < HEIGHT; first += HEIGHT - LINES) {
        const int64_t lo[3] = {0, first};
        const int64_t hi[3] = {WIDTH, first + LINES};
        if (_i == 1) {
            fails(rubus_launch_range(backends_kernel(module, "put"), lo, hi, m, first),
                  RUBUS_ELIMIT, "put|elements|llvmpipe|32-bit");
            continue;
        }
        ok(rubus_launch_range(backends_kernel(module, "put"), lo, hi, m, first));
    }
    rubus_array *end = NULL;
    const int64_t count = (int64_t)WIDTH * HEIGHT;
    ok(rubus_array_view(m, count - 7, RUBUS_SHAPE(7), &end));
    ok(rubus_launch(backends_kernel(module, "last"), end));
    static bool got[LINES * WIDTH];
    for (int64_t first = 0; first < HEIGHT && _i == 0; first += HEIGHT - LINES) {
        ok(rubus_array_read_range(m, first * WIDTH, LINES * WIDTH, got));
        for (int64_t k = 0; k < LINES * WIDTH; k++) {
            const int64_t i = k % WIDTH;
            const int64_t at = first * WIDTH + k - (count - 7);
            const bool want =
                at >= 0 ? at % 5 == 0 : (i + 5 * (first + k / WIDTH) + first) % 3 == 0;
            ck_assert_msg(got[k] == want, "line %lld, %lld", (long long)first,
                          (long long)k);
        }
    }
    rubus_array_destroy(end);
    rubus_array_destroy(m);
    rubus_module_destroy(module);
    backends_finish(context);
}
END_TEST

START_TEST(allocation_limits_are_named)
{
    rubus_context *context = open_spec("vulkan:validate=1:cap.max_alloc=1048576");
    rubus_array *a = NULL;
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(200000), &a), RUBUS_ELIMIT,
          "1600000 bytes|llvmpipe|1048576 bytes");
    ck_assert_ptr_null(a);
    a = backends_ramp(context, 100000, 0);
    ck_assert(backends_get(a, 99999) == 99999);
    rubus_array_destroy(a);
    rubus_context_destroy(context);
    context = open_spec("vulkan:validate=1:cap.max_buffer=4096");
    fails(rubus_array_create(context, RUBUS_F64, RUBUS_SHAPE(1000), &a), RUBUS_ELIMIT,
          "8000|llvmpipe|4096");
    backends_finish(context);
}
END_TEST

/* --- values that cannot be -------------------------------------------------------- */

static const struct {
    const char *option;
    const char *words;
} wrong[] = {{"cap.groups=0", "cap.groups=0|llvmpipe|1 to"},
             {"cap.groups=4000000000", "cap.groups=4000000000|llvmpipe|only be lowered"},
             {"cap.groups=many", "cap.groups|many|a number"},
             {"cap.groups=-1", "cap.groups|-1|a number"},
             {"cap.groups=", "cap.groups"},
             {"cap.groups=1.5", "cap.groups|1.5|a number"},
             {"cap.groups=99999999999999999999", "cap.groups|a number"},
             {"cap.subgroup=0", "cap.subgroup=0|power of two"},
             {"cap.subgroup=3", "cap.subgroup=3|power of two"},
             {"cap.subgroup=256", "cap.subgroup=256|power of two"},
             {"cap.push=127", "cap.push=127|128 to"},
             {"cap.push=1000000", "cap.push=1000000|128 to"},
             {"cap.max_binding=1", "cap.max_binding=1|llvmpipe"},
             {"cap.max_binding=99999999999", "cap.max_binding=99999999999"},
             {"cap.max_alloc=0", "cap.max_alloc=0"},
             {"cap.max_buffer=0", "cap.max_buffer=0"},
             {"cap.max_buffer=9000000000000000000", "cap.max_buffer"},
             {"cap.int64=3", "cap.int64=3|only be lowered"},
             {"cap.bool8=7", "cap.bool8=7|only be lowered"},
             {"cap.atomics=yes", "cap.atomics|yes|a number"},
             {"cap.atomics=3", "cap.atomics=3"},
             {"cap.nonsense=1", "nonsense"},
             {"fp64=perhaps", "fp64|perhaps|on or off"},
             {"fp64=2", "fp64|2|on or off"},
             {"descriptors=maybe", "descriptors|maybe|on or off"},
             {"validate=2", "validate|2|0 or 1"}};

START_TEST(wrong_value_is_named)
{
    char spec[SPEC];
    snprintf(spec, sizeof spec, "vulkan:%s", wrong[_i].option);
    rubus_context *context = NULL;
    fails(rubus_context_create(spec, &context), RUBUS_EINVAL, wrong[_i].words);
    ck_assert_ptr_null(context);
    rubus_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

static Suite *sizes_suite(void)
{
    TCase *sizes = tcase_create("sizes");
    tcase_add_loop_test(sizes, binding_limit_holds_for_descriptors_only, 0, 2);
    tcase_add_loop_test(sizes, array_of_two_to_the_31_elements, 0, 2);
    tcase_add_test(sizes, allocation_limits_are_named);
    TCase *options = tcase_create("options");
    tcase_add_loop_test(options, wrong_value_is_named, 0, sizeof wrong / sizeof wrong[0]);
    Suite *suite = suite_create("runtime: vulkan sizes");
    suite_add_tcase(suite, sizes);
    suite_add_tcase(suite, options);
    return suite;
}

VULKAN_TEST_MAIN("runtime: vulkan sizes", sizes_suite)
