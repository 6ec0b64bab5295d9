/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module of shaders/spmv.comp for each pair of types, and launches of its entries:
 * what the library does for kernels in its own language is done here by a table.
 */
#include "config.h"

#include "plugins/vulkan/vk_sparse.h"

#include "plugins/vulkan/vk_module.h"
#include "plugins/vulkan/vk_prebuilt.h"

#include <string.h>

enum { PARAMS = 12 };

/* A letter for each argument: R and r for an array of reals that is written and one that
 * is read, N and n for one of int32, i for one of indices; l for an int64, k for an
 * int32, s for a real. */
typedef struct form {
    const char *symbol;
    const char *params;
    const char *name[VK_SPARSE_ARRAYS];
    uint32_t ndim;
    uint32_t flags;
    uint32_t turns; /* see vk_entry */
} form;

#define MATRIX "rowptr", "colval", "nzval"
static const form forms[VK_SPARSE_ENTRIES] = {
    [VK_PACK_STENCIL] = {.symbol = "pack_stencil",
                         .params = "RNniirlk",
                         .name = {"value", "mask", "offset", MATRIX},
                         .ndim = 1,
                         .turns = 256},
    [VK_STENCIL] = {.symbol = "stencil",
                    .params = "Rrrnnllkss",
                    .name = {"y", "x", "value", "offset", "mask"},
                    .ndim = 1,
                    .turns = 64},
    [VK_PACK_SLICES] = {.symbol = "pack_slices",
                        .params = "RNnniirl",
                        .name = {"value", "column", "lane", "start", MATRIX},
                        .ndim = 1,
                        .turns = 64},
    [VK_SLICES] = {.symbol = "slices",
                   .params = "Rrrnnnlss",
                   .name = {"y", "x", "value", "column", "lane", "start"},
                   .ndim = 1,
                   .turns = 64},
    [VK_ROWS] = {.symbol = "rows",
                 .params = "Rriirss",
                 .name = {"y", "x", MATRIX},
                 .ndim = 1,
                 .turns = 64},
    [VK_SEGMENTS] = {.symbol = "segments",
                     .params = "Rriirlll",
                     .name = {"part", "x", "segment", "colval", "nzval"},
                     .ndim = 2,
                     .flags = RUBUS_ENTRY_GROUPS,
                     .turns = 1}, // each is much work
    [VK_LONG_ROWS] = {.symbol = "long_rows",
                      .params = "Rrilllss",
                      .name = {"y", "part", "row"},
                      .ndim = 2,
                      .turns = 1},
    [VK_STENCIL_DENSE] = {.symbol = "stencil_dense",
                          .params = "Rrrnnllkkss",
                          .name = {"y", "x", "value", "offset", "mask"},
                          .ndim = 2,
                          .turns = 64},
    [VK_ROWS_DENSE] = {.symbol = "rows_dense",
                       .params = "Rriirllkkss",
                       .name = {"y", "x", MATRIX},
                       .ndim = 2,
                       .turns = 64},
};

/* --- modules ---------------------------------------------------------------------- */

static uint32_t type_of(const rubus_csr_desc *a, char letter)
{
    return letter == 'R' || letter == 'r' || letter == 's' ? a->value_type
           : letter == 'i'                                 ? a->index_type
           : letter == 'l'                                 ? RUBUS_I64
                                                           : RUBUS_I32;
}

static bool is_array(char letter)
{
    return strchr("RrNni", letter) != NULL;
}

/* Arrays are 8 bytes each; the first real begins at a multiple of 8. */
static void describe(const rubus_csr_desc *a, vk_sparse_entry number, rubus_entry *entry,
                     rubus_param param[PARAMS])
{
    const form *f = &forms[number];
    *entry = (rubus_entry){.struct_size = sizeof *entry,
                           .ndim = f->ndim,
                           .flags = f->flags,
                           .block_size = 48,
                           .symbol = f->symbol,
                           .label = f->symbol,
                           .param = param};
    for (const char *at = f->params; *at != '\0'; at++) {
        const uint32_t type = type_of(a, *at);
        const bool array = is_array(*at);
        const bool writes = *at == 'R' || *at == 'N';
        const uint32_t size = array ? 8 : (uint32_t)vk_type_size(type);
        const uint32_t unit = *at == 's' && at[1] == 's' ? 8 : size;
        entry->block_size = (entry->block_size + unit - 1) / unit * unit;
        param[entry->nparam++] =
            (rubus_param){.is_buffer = array,
                          .type = type,
                          .access = writes ? RUBUS_READ | RUBUS_WRITE : RUBUS_READ,
                          .offset = entry->block_size,
                          .size = size,
                          .index = array ? entry->nbuffer : 0,
                          .name = array ? f->name[entry->nbuffer] : ""};
        entry->block_size += size;
        entry->nbuffer += array;
    }
}

static int module_number(const rubus_csr_desc *a)
{
    return (a->value_type == RUBUS_F64 ? 2 : 0) + (a->index_type == RUBUS_I64 ? 1 : 0);
}

static rubus_status make_module(vk_context *ctx, const rubus_csr_desc *a, void **out)
{
    static const vk_written *const written[VK_SPARSE_MODULES] = {
        &vk_written_spmv_f32_i32, &vk_written_spmv_f32_i64, &vk_written_spmv_f64_i32,
        &vk_written_spmv_f64_i64};
    const vk_written *text = written[module_number(a)];
    rubus_entry entry[VK_SPARSE_ENTRIES];
    rubus_param param[VK_SPARSE_ENTRIES][PARAMS];
    for (int e = 0; e < VK_SPARSE_ENTRIES; e++) {
        describe(a, (vk_sparse_entry)e, &entry[e], param[e]);
    }
    // without RUBUS_MODULE_INT64: only wide launches compute with 64 bits
    rubus_module_desc desc = {.struct_size = sizeof desc,
                              .nentry = VK_SPARSE_ENTRIES,
                              .flags = a->value_type == RUBUS_F64 ? RUBUS_MODULE_F64 : 0,
                              .dialect = "glsl",
                              .name = "spmv.comp",
                              .text = text->text,
                              .text_size = text->text_size,
                              .entry = entry};
    memcpy(desc.key, text->key, sizeof desc.key);
    const rubus_status st = vk_module_create(ctx, &desc, out);
    if (st == RUBUS_OK) {
        vk_module *module = *out;
        for (int e = 0; e < VK_SPARSE_ENTRIES; e++) {
            module->entry[e].turns = forms[e].turns;
        }
    }
    return st;
}

/* NULL with the error set. */
static rubus_status get_module(vk_context *ctx, const rubus_csr_desc *a,
                               vk_module **out_module)
{
    if (ctx->sparse == NULL) {
        ctx->sparse = vk_new(ctx->host, sizeof *ctx->sparse);
        if (ctx->sparse == NULL) {
            return RUBUS_ENOMEM;
        }
    }
    void **module = &ctx->sparse->module[module_number(a)];
    const rubus_status st = *module != NULL ? RUBUS_OK : make_module(ctx, a, module);
    *out_module = *module;
    return st;
}

rubus_status vk_sparse_check(vk_context *ctx, const rubus_csr_desc *a)
{
    vk_module *module = NULL;
    return get_module(ctx, a, &module);
}

void vk_sparse_fini(vk_context *ctx)
{
    if (ctx->sparse == NULL) {
        return;
    }
    for (int i = 0; i < VK_SPARSE_MODULES; i++) {
        vk_module_destroy(ctx, ctx->sparse->module[i]);
    }
    ctx->host->free(ctx->host->ctx, ctx->sparse);
    ctx->sparse = NULL;
}

/* --- launches --------------------------------------------------------------------- */

static void put_real(unsigned char *to, uint32_t type, double value)
{
    const float narrow = (float)value;
    memcpy(to, type == RUBUS_F64 ? (const void *)&value : (const void *)&narrow,
           vk_type_size(type));
}

rubus_status vk_sparse_run(vk_context *ctx, const rubus_csr_desc *a,
                           const vk_sparse_call *call)
{
    vk_module *module = NULL;
    rubus_status st = get_module(ctx, a, &module);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus_entry entry;
    rubus_param param[PARAMS];
    describe(a, call->entry, &entry, param);
    unsigned char block[RUBUS_GLSL_PUSH] = {0};
    void *buffer[VK_SPARSE_ARRAYS];
    uint64_t first_byte[VK_SPARSE_ARRAYS];
    uint64_t nbyte[VK_SPARSE_ARRAYS];
    uint32_t nnumber = 0;
    uint32_t nreal = 0;
    for (uint32_t i = 0; i < entry.nparam; i++) {
        const rubus_param *p = &param[i];
        if (p->is_buffer != 0) {
            const rubus_vec *array = &call->array[p->index];
            buffer[p->index] = array->buffer;
            first_byte[p->index] = array->first_byte;
            nbyte[p->index] = (uint64_t)array->n * vk_type_size(p->type);
        } else if (forms[call->entry].params[i] == 's') {
            put_real(block + p->offset, p->type, nreal++ == 0 ? call->alpha : call->beta);
        } else {
            const int64_t number = call->number[nnumber++];
            const int32_t narrow = (int32_t)number;
            memcpy(block + p->offset,
                   p->size == 8 ? (const void *)&number : (const void *)&narrow, p->size);
        }
    }
    const int64_t n0 = call->points[0];
    const int64_t n1 = call->points[1] > 0 ? call->points[1] : 1;
    const uint64_t cost = call->cost / (uint64_t)(n0 * n1);
    module->entry[call->entry].point_cost = cost > 0 ? cost : 1;
    const rubus_launch_info info = {.struct_size = sizeof info,
                                    .entry = call->entry,
                                    .nbuffer = entry.nbuffer,
                                    .hi = {n0, n1, 1},
                                    .block = block,
                                    .buffer = buffer,
                                    .first_byte = first_byte,
                                    .nbyte = nbyte};
    return vk_launch(ctx, module, &info);
}
