/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes SPIR-V mean what the kernel language says of reals: no contraction to fused
 * operations and no rewriting (NoContraction on every operation), and, as far as the
 * device promises it, NaN, infinities and signed zeros kept, subnormal numbers kept,
 * rounding to nearest even. Done here for every text, built in, cached or fresh: the
 * `precise` of GLSL does not reach through calls, and has no word for the rest. What the
 * SPIR-V says so must not have been through an optimiser before; drivers have their own.
 */
#include "config.h"

#include "plugins/vulkan/vk_module.h"

#include <string.h>

#define HEADER_WORDS 5u
#define WORDS_MOST 128u /* that are added beside decorations */

enum {
    OP_ENTRY_POINT = 15,
    OP_CAPABILITY = 17,
    OP_TYPE_FLOAT = 22,
    OP_EXECUTION_MODE = 16,
    OP_F_NEGATE = 127,
    OP_F_ADD = 129,
    OP_F_SUB = 131,
    OP_F_MUL = 133,
    OP_F_DIV = 136,
    OP_DECORATE = 71,
    NO_CONTRACTION = 42
};

typedef struct sizes {   /* what a first reading finds */
    size_t memory_model; /* place of the first instruction after the capabilities */
    size_t modes;        /* after the last entry point */
    size_t annotations;  /* before the first decoration or type */
    uint32_t entry_point;
    size_t narithmetic;
} sizes;

static bool is_arithmetic(uint32_t op)
{
    return op == OP_F_NEGATE || op == OP_F_ADD || op == OP_F_SUB || op == OP_F_MUL ||
           op == OP_F_DIV;
}

/* Decorations and types come after names and strings, opcodes 2 to 8 and 317. */
static bool is_before_annotations(uint32_t op)
{
    return op == OP_CAPABILITY || op == 10 || op == 11 || op == 14 ||
           op == OP_ENTRY_POINT || op == OP_EXECUTION_MODE || op == 331 ||
           (op >= 2 && op <= 8) || op == 317 || op == 330;
}

static bool read_sizes(const uint32_t *word, size_t n, sizes *out)
{
    *out = (sizes){0};
    for (size_t i = HEADER_WORDS; i < n;) {
        const uint32_t op = word[i] & 0xffffu;
        const size_t length = word[i] >> 16;
        if (length == 0 || length > n - i) {
            return false;
        }
        if (op != OP_CAPABILITY && out->memory_model == 0) {
            out->memory_model = i;
        }
        if (op == OP_ENTRY_POINT && length > 2) {
            out->entry_point = word[i + 2];
            out->modes = i + length;
        }
        if (out->annotations == 0 && !is_before_annotations(op)) {
            out->annotations = i;
        }
        out->narithmetic += is_arithmetic(op) ? 1 : 0;
        i += length;
    }
    return out->modes != 0 && out->annotations >= out->modes &&
           out->memory_model <= out->modes;
}

typedef struct mode {
    uint32_t capability;
    uint32_t mode;
    bool set;
} mode;

/* Rounding and subnormals of one width may be set alone only where the device says so. */
static void choose_modes(const vk_module *module, mode out[3])
{
    const VkPhysicalDeviceVulkan12Properties *has = &module->ctx->physical->vulkan12;
    const bool f64 = (module->flags & RUBUS_MODULE_F64) != 0u;
    const bool denormals =
        has->denormBehaviorIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL ||
        (!f64 && has->denormBehaviorIndependence ==
                     VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY);
    const bool rounding =
        has->roundingModeIndependence == VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_ALL ||
        (!f64 && has->roundingModeIndependence ==
                     VK_SHADER_FLOAT_CONTROLS_INDEPENDENCE_32_BIT_ONLY);
    out[0] = (mode){4466, 4461,
                    f64 ? has->shaderSignedZeroInfNanPreserveFloat64
                        : has->shaderSignedZeroInfNanPreserveFloat32};
    out[1] = (mode){4464, 4459,
                    denormals && (f64 ? has->shaderDenormPreserveFloat64
                                      : has->shaderDenormPreserveFloat32)};
    out[2] = (mode){4467, 4462,
                    rounding && (f64 ? has->shaderRoundingModeRTEFloat64
                                     : has->shaderRoundingModeRTEFloat32)};
}

typedef struct copy {
    const uint32_t *from;
    uint32_t *to;
    size_t nfrom; /* words read */
    size_t nto;
} copy;

static void copy_until(copy *c, size_t end)
{
    memcpy(c->to + c->nto, c->from + c->nfrom, (end - c->nfrom) * sizeof(uint32_t));
    c->nto += end - c->nfrom;
    c->nfrom = end;
}

static void copy_add(copy *c, uint32_t op, const uint32_t *operand, uint32_t n)
{
    c->to[c->nto++] = (n + 1u) << 16 | op;
    memcpy(c->to + c->nto, operand, n * sizeof(uint32_t));
    c->nto += n;
}

static void add_decorations(copy *c, size_t n)
{
    for (size_t i = HEADER_WORDS; i < n; i += c->from[i] >> 16) {
        if (is_arithmetic(c->from[i] & 0xffffu)) {
            const uint32_t operand[2] = {c->from[i + 2], NO_CONTRACTION};
            copy_add(c, OP_DECORATE, operand, 2);
        }
    }
}

rubus_status vk_code_exact(const vk_module *module, vk_code *code)
{
    const rubus_host *host = module->ctx->host;
    const size_t n = code->nbyte / sizeof(uint32_t);
    sizes s;
    if (!read_sizes(code->word, n, &s)) {
        return host->fail(host->ctx, RUBUS_EINTERNAL,
                          "module %s: its SPIR-V cannot be read", module->name);
    }
    const size_t room = n + 3 * s.narithmetic + WORDS_MOST;
    uint32_t *to = host->alloc(host->ctx, room * sizeof(uint32_t), 16);
    if (to == NULL) {
        return RUBUS_ENOMEM;
    }
    mode modes[3];
    choose_modes(module, modes);
    const uint32_t width = (module->flags & RUBUS_MODULE_F64) != 0u ? 64u : 32u;
    copy c = {.from = code->word, .to = to};
    copy_until(&c, s.memory_model);
    for (int i = 0; i < 3; i++) {
        if (modes[i].set) {
            copy_add(&c, OP_CAPABILITY, &modes[i].capability, 1);
        }
    }
    copy_until(&c, s.modes);
    for (int i = 0; i < 3; i++) {
        if (modes[i].set) {
            const uint32_t operand[3] = {s.entry_point, modes[i].mode, width};
            copy_add(&c, OP_EXECUTION_MODE, operand, 3);
        }
    }
    copy_until(&c, s.annotations);
    if ((module->flags & RUBUS_MODULE_FAST) == 0u) {
        add_decorations(&c, n);
    }
    copy_until(&c, n);
    vk_code_free(module->ctx, code);
    *code = (vk_code){
        .word = to, .nbyte = c.nto * sizeof(uint32_t), .owned = (unsigned char *)to};
    return RUBUS_OK;
}
