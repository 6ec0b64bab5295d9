/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules: a copy of what launches need of a description, and pipelines for its entries.
 * A module that is compiled or read from the cache makes all of them here, beside other
 * calls of its context, so its errors come here too. One that is built into the plugin
 * was checked when Rubus was built and has many entries of which a program uses few: it
 * makes each at its first launch. So does 64-bit index arithmetic, which hardly anybody
 * needs.
 */
#include "config.h"

#include "plugins/vulkan/vk_module.h"

#include <string.h>

#define PIECE 16u /* every part of the module's memory begins at a multiple */

/* --- the copy --------------------------------------------------------------------- */

/* Hands out parts of one block; without a block it only counts. */
typedef struct carver {
    unsigned char *at;
    size_t size;
} carver;

static void *carve(carver *c, size_t size)
{
    void *part = c->at == NULL ? NULL : c->at + c->size;
    c->size += (size + PIECE - 1) / PIECE * PIECE;
    return part;
}

static const char *carve_text(carver *c, const char *text, size_t size)
{
    char *copy = carve(c, size + 1);
    if (copy != NULL) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

uint64_t vk_type_size(uint32_t type)
{
    return type == RUBUS_BOOL ? 1 : type == RUBUS_F64 || type == RUBUS_I64 ? 8 : 4;
}

/* Parts of the entry; *to is untouched while only counting. */
static void copy_entry(carver *c, const rubus_entry *from, vk_entry *to)
{
    uint32_t nlong = 0;
    const bool counting = c->at == NULL || to == NULL;
    vk_operand *operand = carve(c, from->nbuffer * sizeof *operand);
    uint32_t *place = carve(c, from->nparam * sizeof *place);
    vk_access *access = carve(c, from->nbuffer * sizeof *access);
    VkDescriptorBufferInfo *bound = carve(c, (from->nbuffer + 1) * sizeof *bound);
    const char *label = carve_text(c, from->label, strlen(from->label));
    for (uint32_t i = 0; i < from->nparam; i++) {
        const rubus_param *p = &from->param[i];
        if (p->is_buffer == 0) {
            nlong += p->type == RUBUS_I64;
            if (!counting && p->type == RUBUS_I64) {
                place[nlong - 1] = p->offset;
            }
            continue;
        }
        const char *name = carve_text(c, p->name, strlen(p->name));
        if (!counting) {
            operand[p->index] = (vk_operand){.offset = p->offset,
                                             .access = p->access,
                                             .narrow = vk_type_size(p->type) * INT32_MAX,
                                             .name = name};
            access[p->index].access = p->access;
        }
    }
    if (!counting) {
        to->nbuffer = from->nbuffer;
        to->nlong = nlong;
        to->operand = operand;
        to->long_place = place;
        to->access = access;
        to->bound = bound;
        to->label = label;
    }
}

static void describe_entry(const vk_context *ctx, const rubus_entry *from, vk_entry *to)
{
    to->block_size = from->block_size;
    to->pushed = from->block_size <= RUBUS_GLSL_PUSH;
    // addresses are pushed where the block is not; descriptors need none
    to->push_size = to->pushed ? (from->block_size + 3) / 4 * 4 : 8;
    to->groups = (from->flags & RUBUS_ENTRY_GROUPS) != 0;
    to->loops = (from->flags & RUBUS_ENTRY_LOOPS) != 0;
    to->turns = to->groups ? VK_GROUP_TURNS : to->loops ? VK_LOOP_TURNS : 0;
    to->point_cost = from->bytes_per_point > from->ops_per_point ? from->bytes_per_point
                                                                 : from->ops_per_point;
    if (to->point_cost == 0) {
        to->point_cost = 16;
    }
    if (to->groups) {
        memcpy(to->local, (const uint32_t[3]){1, 1, 1}, sizeof to->local);
    } else {
        vk_local_size(ctx, from->ndim, to->local);
    }
}

static vk_module *carve_module(carver *c, const rubus_module_desc *desc)
{
    vk_module *module = carve(c, sizeof *module);
    vk_entry *entry = carve(c, desc->nentry * sizeof *entry);
    if (module != NULL) {
        module->entry = entry;
        module->nentry = desc->nentry;
    }
    for (uint32_t e = 0; e < desc->nentry; e++) {
        copy_entry(c, &desc->entry[e], module == NULL ? NULL : &entry[e]);
    }
    const char *name = carve_text(c, desc->name, strlen(desc->name));
    const char *text = carve_text(c, desc->text, desc->text_size);
    if (module != NULL) {
        module->name = name;
        module->text = text;
        module->text_size = desc->text_size;
    }
    return module;
}

static vk_module *create(vk_context *ctx, const rubus_module_desc *desc)
{
    const rubus_host *host = ctx->host;
    carver count = {0};
    (void)carve_module(&count, desc);
    carver c = {.at = host->alloc(host->ctx, count.size, PIECE)};
    if (c.at == NULL) {
        return NULL;
    }
    memset(c.at, 0, count.size);
    vk_module *module = carve_module(&c, desc);
    module->ctx = ctx;
    module->flags = desc->flags;
    memcpy(module->key, desc->key, sizeof module->key);
    for (uint32_t e = 0; e < desc->nentry; e++) {
        module->entry[e].number = e;
        describe_entry(ctx, &desc->entry[e], &module->entry[e]);
    }
    return module;
}

/* --- what the device must have ---------------------------------------------------- */

static rubus_status check_entry(const vk_context *ctx, const rubus_module_desc *desc,
                                const rubus_entry *entry)
{
    const rubus_host *host = ctx->host;
    const char *device = ctx->physical->properties.deviceName;
    for (uint32_t i = 0; i < entry->nparam; i++) {
        const rubus_param *p = &entry->param[i];
        if (p->offset > entry->block_size || p->size > entry->block_size - p->offset ||
            (p->is_buffer != 0 && p->index >= entry->nbuffer)) {
            return host->fail(host->ctx, RUBUS_EINVAL,
                              "module %s, %s: argument %s lies outside the block",
                              desc->name, entry->label, p->name);
        }
        if (p->is_buffer != 0 && p->type == RUBUS_BOOL && !ctx->limits.bytes) {
            return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                              "module %s, %s: array %s is of bool, and the device %s has "
                              "no 8-bit storage: use int there",
                              desc->name, entry->label, p->name, device);
        }
    }
    if ((entry->flags & RUBUS_ENTRY_NEEDS_F64) != 0 && !ctx->limits.float64) {
        return host->fail(
            host->ctx, RUBUS_EUNSUPPORTED,
            "module %s, %s: it computes in double, and the device %s has no "
            "64-bit floating point: build it for f32, or take another "
            "device",
            desc->name, entry->label, device);
    }
    return RUBUS_OK;
}

static rubus_status check_module(const vk_context *ctx, const rubus_module_desc *desc)
{
    const rubus_host *host = ctx->host;
    const char *device = ctx->physical->properties.deviceName;
    if (strcmp(desc->dialect, "glsl") != 0) {
        return host->fail(
            host->ctx, RUBUS_EUNSUPPORTED,
            "module %s: dialect '%s' was given to the backend vulkan, which "
            "takes glsl",
            desc->name, desc->dialect);
    }
    if ((desc->flags & RUBUS_MODULE_F64) != 0 && !ctx->limits.float64) {
        return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                          "module %s: its reals are double, and the device %s has no "
                          "64-bit floating point: build it for f32, or take another "
                          "device",
                          desc->name, device);
    }
    if ((desc->flags & RUBUS_MODULE_INT64) != 0 && !ctx->limits.int64) {
        return host->fail(host->ctx, RUBUS_EUNSUPPORTED,
                          "module %s: its integers are 64 bits wide, and the device %s "
                          "has only 32: build it with 32-bit integers, or take another "
                          "device",
                          desc->name, device);
    }
    rubus_status st = RUBUS_OK;
    for (uint32_t e = 0; e < desc->nentry && st == RUBUS_OK; e++) {
        st = check_entry(ctx, desc, &desc->entry[e]);
    }
    return st;
}

/* --- slots ------------------------------------------------------------------------ */

static void free_module(vk_context *ctx, void *thing)
{
    vk_module *module = thing;
    const bool mine = !vk_backend_forked(ctx->be);
    for (uint32_t e = 0; e < module->nentry && mine; e++) {
        vk_entry_free(ctx, &module->entry[e]);
    }
    ctx->host->free(ctx->host->ctx, module);
}

rubus_status vk_module_create(void *context, const rubus_module_desc *desc,
                              void **out_module)
{
    vk_context *ctx = context;
    rubus_status st = vk_usable(ctx);
    if (st == RUBUS_OK) {
        st = check_module(ctx, desc);
    }
    if (st != RUBUS_OK) {
        return st;
    }
    vk_module *module = create(ctx, desc);
    if (module == NULL) {
        return RUBUS_ENOMEM;
    }
    module->prebuilt = vk_prebuilt_find(module->key);
    for (uint32_t e = 0; e < module->nentry && st == RUBUS_OK; e++) {
        st = vk_layouts_make(ctx, &module->entry[e]);
        if (st == RUBUS_OK && module->prebuilt == NULL) {
            st = vk_pipeline_make(module, &module->entry[e], false);
        }
    }
    if (st != RUBUS_OK) {
        free_module(ctx, module);
        return st;
    }
    *out_module = module;
    return RUBUS_OK;
}

void vk_module_destroy(void *context, void *pointer)
{
    vk_context *ctx = context;
    vk_module *module = pointer;
    if (module == NULL) {
        return;
    }
    if (module->last == 0 || vk_backend_forked(ctx->be)) {
        free_module(ctx, module);
    } else {
        vk_queue_retire(ctx, module->last, free_module, module);
    }
}
