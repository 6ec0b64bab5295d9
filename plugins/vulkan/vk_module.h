/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_MODULE_H
#define RUBUS_VK_MODULE_H
/*
 * Modules, between the files that make and launch them: an entry with its pipelines, and
 * what of its description a launch needs.
 */
#include "plugins/vulkan/vulkan.h"

typedef struct vk_operand { /* a buffer of an entry */
    uint32_t offset;        /* of its address in the block */
    uint32_t access;
    uint64_t narrow; /* bytes that 32-bit index arithmetic reaches */
    const char *name;
} vk_operand;

/* Points that an invocation on a CPU may get: see vk_launch.c. */
enum { VK_GROUP_TURNS = 64, VK_LOOP_TURNS = 4 };

typedef struct vk_entry {
    uint32_t number;
    uint32_t nbuffer;
    uint32_t nlong;
    uint32_t block_size;
    uint32_t push_size; /* bytes of push constants */
    uint32_t local[3];  /* points along each dimension that a group takes at once */
    bool groups;        /* of RUBUS_ENTRY_GROUPS */
    bool loops;         /* of RUBUS_ENTRY_LOOPS: on a CPU one point each, if it can be */
    uint32_t turns;     /* most points of an invocation on a CPU; 0: as the loops allow */
    bool pushed;        /* the block is the push constants */
    uint64_t point_cost;
    const char *label;
    const vk_operand *operand;  /* [nbuffer] */
    const uint32_t *long_place; /* [nlong] offsets of int64 scalars in the block */
    vk_access *access;          /* [nbuffer] of the launch at hand */
    VkDescriptorBufferInfo *bound;
    VkDescriptorSetLayout sets; /* descriptors=on; else none, and the shared layout */
    VkPipelineLayout layout;
    VkPipeline pipeline[2]; /* 32-bit and 64-bit index arithmetic; made when needed */
} vk_entry;

typedef struct vk_module {
    vk_context *ctx;
    uint64_t last; /* timeline value of the last batch with a launch */
    uint8_t key[32];
    uint32_t flags;
    uint32_t nentry;
    const struct vk_prebuilt *prebuilt; /* or NULL */
    const char *name;
    const char *text;
    uint64_t text_size;
    vk_entry *entry;
} vk_module;

/* --- vk_module.c ------------------------------------------------------------------ */

uint64_t vk_type_size(uint32_t type); /* bytes of an element */

/* --- vk_spirv.c ------------------------------------------------------------------- */

typedef struct vk_code {
    const uint32_t *word;
    size_t nbyte;
    unsigned char *owned; /* NULL for what is built in */
} vk_code;

/* The module of that key that is built into the plugin, or NULL. */
const struct vk_prebuilt *vk_prebuilt_find(const uint8_t key[32]);
/* Built in, cached, or compiled. ECOMPILE with the compiler's words, EUNSUPPORTED without
 * a compiler, ENOMEM. */
rubus_status vk_code_get(const vk_module *module, const vk_entry *entry, bool wide,
                         vk_code *out_code);
/* vk_exact.c: replaces the code by one that keeps to the language's arithmetic. */
rubus_status vk_code_exact(const vk_module *module, vk_code *code);
void vk_code_free(const vk_context *ctx, vk_code *code);

/* --- vk_pipeline.c ---------------------------------------------------------------- */

typedef struct vk_pipelines {
    VkPipelineCache cache;
    VkPipelineLayout layout; /* of all entries without descriptors */
    uint8_t key[32];         /* of the cache's entry on disk */
    atomic_uint made;        /* pipelines since it was loaded */
    /* What is bound in the command buffer being recorded. */
    VkCommandBuffer command;
    uint64_t batch;
    VkPipeline bound;
    struct vk_pools *pools; /* vk_descriptors.c */
} vk_pipelines;

/* How many points along each dimension a group takes: by number of dimensions, within the
 * limits of the device. */
void vk_local_size(const vk_context *ctx, uint32_t ndim, uint32_t out_local[3]);
/* Layouts of the entry, where it has its own. */
rubus_status vk_layouts_make(vk_context *ctx, vk_entry *entry);
rubus_status vk_pipeline_make(vk_module *module, vk_entry *entry, bool wide);
void vk_entry_free(vk_context *ctx, vk_entry *entry);

/* --- vk_descriptors.c ------------------------------------------------------------- */

/* A set for the batch being recorded: argument block (if the entry has one in a buffer),
 * then the buffers, as entry->bound says. */
rubus_status vk_set_make(vk_context *ctx, const vk_entry *entry,
                         VkDescriptorSet *out_set);
void vk_pools_fini(vk_context *ctx);

#endif
