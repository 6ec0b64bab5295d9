/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of SPIR-V that the backend vulkan gives to a driver: a module built for f32
 * declares no Float64 (a device without it could not take the module, and on most GPUs a
 * double hidden in f32 code costs more than all the rest), and one built for f64 does.
 * Looked at in what is built into the plugin, and on the way to vkCreateShaderModule.
 */
#include "config.h"

#include <rubus/solve.h>

#include "libcore/runtime/runtime.h"
#include "plugins/vulkan/vk_prebuilt.h"
#include "plugins/vulkan/vulkan.h"
#include "tests/runtime/vulkan_probe.h"

enum {
    SPIRV_MAGIC = 0x07230203,
    SPIRV_HEAD = 5, // words
    OP_TYPE_FLOAT = 22,
    OP_CAPABILITY = 17,
    CAPABILITY_FLOAT64 = 10
};

/* Whether the words declare Float64; they may have a type of 64 bits only then. */
static bool has_float64(const uint32_t *word, size_t nbyte)
{
    const size_t n = nbyte / 4;
    bool capability = false;
    bool type = false;
    ck_assert(nbyte % 4 == 0 && n > SPIRV_HEAD && word[0] == SPIRV_MAGIC);
    size_t at = SPIRV_HEAD;
    while (at < n) {
        const uint32_t length = word[at] >> 16;
        const uint32_t op = word[at] & 0xffff;
        ck_assert(length > 0 && length <= n - at);
        capability =
            capability || (op == OP_CAPABILITY && word[at + 1] == CAPABILITY_FLOAT64);
        type = type || (op == OP_TYPE_FLOAT && word[at + 2] == 64);
        at += length;
    }
    ck_assert(capability || !type);
    return capability;
}

/* Half of the built-in modules is of f32: each source is there twice, f32 first. */
START_TEST(test_trap_02_built_in_code_of_f32_has_no_float64)
{
    int nmodule = 0;
    int with = 0;
    for (const vk_prebuilt *const *at = vk_prebuilt_list; *at != NULL; at++) {
        for (uint32_t e = 0; e < (*at)->nentry; e++) {
            const vk_prebuilt_code *code = &(*at)->code[e];
            const bool has = has_float64(code->word, code->nbyte);
            ck_assert_msg(!has || nmodule % 2 == 1, "module %d, entry %u: Float64",
                          nmodule, (unsigned)e);
            with += has;
        }
        nmodule++;
    }
    ck_assert_int_eq(nmodule % 2, 0);
    // without glslc the list is empty
    ck_assert(nmodule == 0 || with > nmodule / 2);
}
END_TEST

/* --- on the way to the driver ------------------------------------------------------- */

static PFN_vkCreateShaderModule own;
static int seen[2]; // without and with Float64

static VkResult look(VkDevice device, const VkShaderModuleCreateInfo *info,
                     const VkAllocationCallbacks *memory, VkShaderModule *out)
{
    seen[has_float64(info->pCode, info->codeSize)]++;
    return own(device, info, memory, out);
}

static rubus_context *open_looking(int mode)
{
    rubus_context *context = NULL;
    ok(rubus_context_create(
        mode == 0 ? "vulkan:validate=1" : "vulkan:validate=1:descriptors=on", &context));
    vk_context *ctx = context->dev->ctx;
    own = ctx->api.CreateShaderModule;
    ctx->api.CreateShaderModule = look;
    seen[0] = 0;
    seen[1] = 0;
    return context;
}

/* Everything that needs care: functions, folds, constants, ints, masks. */
static const char text[] =
    "kernel all(inout real a[nx,ny], in bool m[nx,ny], real dt, out real s, out real t)\n"
    "{ let e = exp(a) + sin(a) * pow(a, 0.3) + atan2(a, 2) / 3 + log(a) + a^3;\n"
    "  a = m ? e * dt : -a; s = sum(a * a); t = max(hypot(a, 1e-3)); }\n"
    "kernel point(inout real a[n], in index at[n]) over (i)\n"
    "{ real q = 0.1; for (int k = 0; k < 3; k++) { q += real(at[i] + k) / 7; }\n"
    "  a[i] = ldexp(frexp(a[i] + q), int(q)) + fma(q, q, 1.5); }\n"
    "kernel add(inout real a[n], in index at[n]) over (i) { atomic_add(a[at[i]], 1); }\n";

START_TEST(test_trap_02_compiled_code_of_f32_has_no_float64)
{
    rubus_context *context = open_looking(_i);
    const int32_t reals[] = {RUBUS_F32, RUBUS_F64};
    for (int k = 0; k < 2; k++) {
        for (int32_t check = 0; check < 2; check++) {
            rubus_module *module = backends_module(context, text, reals[k], check);
            ck_assert_msg(seen[k] > 0 && (k == 1 || seen[1] == 0), "real %d: %d and %d",
                          (int)reals[k], seen[0], seen[1]);
            rubus_module_destroy(module);
        }
    }
    backends_finish(context);
}
END_TEST

START_TEST(test_trap_02_solvers_of_f32_run_without_float64)
{
    rubus_context *context = open_looking(_i);
    for (int32_t dim = 1; dim <= 3; dim++) {
        for (int32_t kernels = 1; kernels <= 3; kernels++) {
            for (int32_t mean = 1; mean <= (dim == 1 ? 1 : 2); mean++) {
                const rubus_relax_desc desc = {.struct_size = sizeof desc,
                                               .dim = dim,
                                               .real = RUBUS_F32,
                                               .kernels = kernels,
                                               .mean = mean,
                                               .n = {9, 8, 7},
                                               .right = 1,
                                               .niter = 30};
                rubus_relax *relax = NULL;
                ok(rubus_relax_create(context, &desc, &relax));
                ok(rubus_relax_run(relax, -1, NULL, NULL));
                rubus_relax_destroy(relax);
            }
        }
    }
    ck_assert_msg(seen[0] > 15 && seen[1] == 0, "%d and %d", seen[0], seen[1]);
    backends_finish(context);
}
END_TEST

static Suite *code_suite(void)
{
    TCase *tc = tcase_create("code");
    tcase_add_test(tc, test_trap_02_built_in_code_of_f32_has_no_float64);
    tcase_add_loop_test(tc, test_trap_02_compiled_code_of_f32_has_no_float64, 0, 2);
    tcase_add_loop_test(tc, test_trap_02_solvers_of_f32_run_without_float64, 0, 2);
    Suite *suite = suite_create("runtime: vulkan code");
    suite_add_tcase(suite, tc);
    return suite;
}

VULKAN_TEST_MAIN("runtime: vulkan code", code_suite)
