/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VULKAN_H
#define RUBUS_VULKAN_H
/*
 * What the files of the Vulkan backend share. One instance serves a backend; every
 * context has a logical device and a queue of its own, so contexts share nothing. Calls
 * on one context come one at a time, but for module_create (vk_module.c, vk_spirv.c,
 * vk_pipeline.c), which touches only what is made for it.
 *
 *   vulkan_plugin  the table          vk_queue     batches, submits, timeline
 *   vk_api         entry points       vk_order     the barriers that are needed
 *   vk_instance    loader, layers     vk_recorder  proof that they were made
 *   vk_physical    devices            vk_ring      upload memory
 *   vk_limits      limits lowered     vk_transfer  write, read, fill, copy
 *   vk_context     logical device     vk_range     free space of blocks
 *   vk_memory      sub-allocation     vk_spirv     GLSL to SPIR-V: built in, cached, made
 *   vk_buffer      buffers            vk_pipeline  pipelines and their cache
 *   vk_error       texts              vk_module, vk_launch
 *   vk_sparse      products of sparse matrices: vk_sparse.h
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/types.h>

#include "plugins/vulkan/vk_api.h"
#include <rubus/backend.h>

typedef struct vk_context vk_context;
typedef struct vk_buffer vk_buffer;

/* --- vk_instance.c, vk_physical.c -------------------------------------------------- */

typedef struct vk_limits { /* of the device, lowered by options cap.* */
    uint64_t binding;      /* bytes of a storage buffer that a descriptor reaches */
    uint64_t allocation;   /* bytes of one allocation */
    uint64_t buffer;       /* bytes of one buffer */
    uint32_t allocations;
    uint32_t push; /* bytes of push constants, >= 128 */
    uint32_t groups[3];
    uint32_t group_size[3];
    uint32_t invocations;
    uint32_t offset_align; /* of storage buffers */
    uint32_t atom;         /* nonCoherentAtomSize */
    uint32_t subgroup_least;
    uint32_t subgroup_most;
    bool float64;
    bool int64;
    bool bytes; /* 8-bit storage */
    bool atomic_f32;
    bool atomic_f64;
    bool atomic_i64;
} vk_limits;

typedef struct vk_have { /* features and extensions; all are turned on where present */
    bool address;        /* buffer device addresses; needed */
    bool timeline;       /* timeline semaphores; needed */
    bool scalar_layout;  /* scalarBlockLayout */
    bool maintenance4;
    bool robust;      /* robustBufferAccess; on with validate */
    bool fault;       /* VK_EXT_device_fault */
    bool budget;      /* VK_EXT_memory_budget */
    bool portability; /* VK_KHR_portability_subset */
} vk_have;

typedef struct vk_physical {
    VkPhysicalDevice handle;
    VkPhysicalDeviceProperties properties;
    VkPhysicalDeviceVulkan12Properties vulkan12; /* pNext is NULL */
    VkPhysicalDeviceMemoryProperties memory;
    uint8_t uuid[16];
    uint8_t cache_uuid[16];
    char driver[256];
    uint32_t family;         /* queue family: compute */
    uint32_t version;        /* VK_API_VERSION_1_2 or _1_3: what may be used */
    uint32_t timestamp_bits; /* of its queues */
    uint32_t subgroup_size;  /* what a shader gets that asks for none */
    bool unified;            /* ordinary buffers have a host pointer */
    vk_have have;
    vk_limits limits; /* as they are; vk_context has them lowered */
    char unfit[256];  /* why it cannot be opened and what to do; else empty */
} vk_physical;

/* Options cap.NAME, and fp64. */
typedef enum {
    VK_CAP_FP64,
    VK_CAP_INT64,
    VK_CAP_BOOL8,
    VK_CAP_ATOMICS,
    VK_CAP_SUBGROUP,
    VK_CAP_GROUPS,
    VK_CAP_PUSH,
    VK_CAP_MAX_BINDING,
    VK_CAP_MAX_ALLOC,
    VK_CAP_MAX_BUFFER,
    VK_CAPS
} vk_cap;

typedef struct vk_wish {
    bool given;
    uint64_t value;
} vk_wish;

typedef struct vk_backend {
    const rubus_host *host;
    pthread_mutex_t lock;
    atomic_bool started; /* changes under lock; contexts read it without */
    pid_t pid;           /* who started it */
    const uint32_t
        *mine;        /* 1 in the process that started it, 0 in its children; or NULL */
    vk_loader loader; /* vk_api.h: the library and the functions without an instance */
    vk_instance_api api;
    VkInstance instance;
    uint32_t version;     /* of Vulkan: the highest that may be used */
    struct vk_kept *kept; /* vk_instance.c */
    VkDebugUtilsMessengerEXT messenger;
    atomic_uint messages; /* warnings and errors of layers */
    pthread_mutex_t message_lock;
    char message[1024];       /* the first of them; under message_lock */
    char loader_message[512]; /* the loader's first error; under message_lock */
    bool validate;
    bool descriptors;
    vk_wish wish[VK_CAPS];
    uint32_t ndevice;
    vk_physical *device;                     /* one numbering: best first, none twice */
    const struct rubus_glsl_table *compiler; /* vk_spirv.c: NULL until used; under lock */
} vk_backend;

/* Opens loader and instance at the first call; a failure is told again each time. Fills
 * be->device. RUBUS_EFORKED in a child of the process that started it. */
rubus_status vk_backend_start(vk_backend *be);
void vk_backend_stop(vk_backend *be);
/* Whether this process is a child of the one that started the backend, or is ending: then
 * nothing of Vulkan may be called, not even to destroy. */
bool vk_backend_forked(const vk_backend *be);
/* Whether handlers of exit run that come after drivers and layers are gone. */
bool vk_process_ends(void);
rubus_status vk_fail_end(const rubus_host *host); /* RUBUS_ESTATE, with its text */
/* RUBUS_OK, or with validate the error that repeats the first message of a layer. */
rubus_status vk_messages_check(vk_backend *be);
/* Puts a structure at the end of the chain of another. */
void vk_chain(void *base, void *part);
/* A driver that computes on the CPU: invocations cost more than loops there. */
bool vk_is_software(const vk_physical *physical);
rubus_status vk_device_count(void *be, uint32_t *out_n);
rubus_status vk_device_caps(void *be, uint32_t device, rubus_caps *out_caps);
rubus_status vk_device_check(const vk_backend *be, uint32_t device); /* ENODEV */
/* Fills be->device and be->ndevice. */
rubus_status vk_physical_list(vk_backend *be);
/* Fills physical->unfit from properties and features. */
void vk_physical_judge(vk_physical *physical);
/* Whether b is the same GPU as a, under another driver or the same. */
bool vk_physical_same(const vk_physical *a, const vk_physical *b);

/* --- vk_limits.c ------------------------------------------------------------------ */

/* Reads cap.NAME and fp64 of the spec. */
rubus_status vk_wishes_read(vk_backend *be);
/* *out: the device's limits, lowered; false and the reason if a wish cannot be had. */
bool vk_limits_lower(const vk_backend *be, const vk_physical *physical, vk_limits *out,
                     char *why, size_t room);
/* What the library is told of the subgroup size. */
uint32_t vk_lane_width(const vk_physical *physical, const vk_limits *limits);

/* --- memory of the host ------------------------------------------------------------- */

/* Zeroed; NULL with the text set. Goes back to host->free. */
static inline void *vk_new(const rubus_host *host, uint64_t nbyte)
{
    void *p = host->alloc(host->ctx, nbyte, _Alignof(max_align_t));
    if (p != NULL) {
        memset(p, 0, nbyte);
    }
    return p;
}

/* --- vk_error.c --------------------------------------------------------------------- */

const char *vk_result_name(VkResult result);
/* RUBUS_OK for success; else the text "what: name: what to do", and a fitting status.
 * VK_ERROR_DEVICE_LOST makes the context lost for good. */
rubus_status vk_check(vk_context *ctx, VkResult result, const char *what);
/* The same where there is no context yet. hint: what to do, or NULL for the usual. */
rubus_status vk_fail_result(const rubus_host *host, VkResult result, const char *what,
                            const char *hint);

/* --- vk_memory.c -------------------------------------------------------------------- */

typedef enum { VK_FOR_DEVICE, VK_FOR_UPLOAD, VK_FOR_READBACK } vk_purpose;
typedef struct vk_memory { /* a piece of a block */
    struct vk_block *block;
    VkDeviceMemory handle; /* of the block */
    void *piece;           /* vk_range.h */
    uint64_t first;
    uint64_t nbyte;
    unsigned char *host; /* mapped for life, or NULL */
    bool coherent;
} vk_memory;

rubus_status vk_memory_take(vk_context *ctx, const VkMemoryRequirements *need,
                            vk_purpose purpose, vk_memory *out_memory);
void vk_memory_give(vk_context *ctx, vk_memory *memory);
/* For memory that is not coherent; nothing else otherwise. Offsets inside the piece. */
rubus_status vk_memory_flush(vk_context *ctx, const vk_memory *memory, uint64_t first,
                             uint64_t nbyte);
rubus_status vk_memory_invalidate(vk_context *ctx, const vk_memory *memory,
                                  uint64_t first, uint64_t nbyte);
rubus_status vk_memory_init(vk_context *ctx);
void vk_memory_fini(vk_context *ctx);
uint64_t vk_memory_used(const vk_context *ctx); /* bytes taken from the driver */
/* Types that suit the purpose, best first; returns their number. bits: of the types that
 * may be used. */
uint32_t vk_memory_order(const VkPhysicalDeviceMemoryProperties *memory, uint32_t bits,
                         vk_purpose purpose, uint32_t out_type[VK_MAX_MEMORY_TYPES]);
/* Whether the host reaches the device's own memory as fast as any other. */
bool vk_memory_unified(const VkPhysicalDeviceMemoryProperties *memory);
/* Bytes of the heap that ordinary buffers lie in. */
uint64_t vk_memory_total(const VkPhysicalDeviceMemoryProperties *memory);

/* --- vk_buffer.c -------------------------------------------------------------------- */

struct vk_buffer {
    VkBuffer handle;
    VkDeviceAddress address;
    uint64_t nbyte;
    uint64_t room;    /* nbyte rounded up to 4, which transfers may touch */
    vk_memory memory; /* .host: the host may read and write it in place */
    uint64_t last;    /* timeline value of the last batch that touches it */
    uint32_t number;  /* for messages */
    void *shadow;     /* host copy while mapped, where .host is NULL */
    uint32_t mapped;  /* RUBUS_READ | RUBUS_WRITE while mapped */
    void *order;      /* vk_order.c */
};

rubus_status vk_buffer_make(vk_context *ctx, uint64_t nbyte, vk_purpose purpose,
                            vk_buffer **out_buffer);
void vk_buffer_free(vk_context *ctx, vk_buffer *buffer); /* at once: no work pending */
rubus_status vk_buffer_create(void *ctx, uint64_t nbyte, void **out_buffer);
void vk_buffer_destroy(void *ctx, void *buffer);
rubus_status vk_locality(void *ctx, const void *buffer, uint32_t *out_where);
rubus_status vk_map(void *ctx, void *buffer, uint32_t access, void **out_host);
rubus_status vk_unmap(void *ctx, void *buffer);

/* --- vk_queue.c, vk_order.c, vk_recorder.c ---------------------------------------- */

typedef struct vk_access { /* what a command touches */
    vk_buffer *buffer;
    uint64_t first;
    uint64_t nbyte;
    uint32_t access; /* RUBUS_READ | RUBUS_WRITE */
} vk_access;

rubus_status vk_queue_init(vk_context *ctx);
void vk_queue_fini(vk_context *ctx); /* waits; legal on a lost device */
/* Begins one command: *out_cmd takes it, with the barriers that its accesses need already
 * recorded. label: for the recorder's and the driver's messages. cost: bytes it moves,
 * bounds the time of a submit. */
rubus_status vk_queue_command(vk_context *ctx, const char *label, const vk_access *access,
                              uint32_t naccess, uint64_t cost, VkCommandBuffer *out_cmd);
rubus_status vk_queue_commit(vk_context *ctx); /* ends it; may submit */
rubus_status vk_queue_flush(vk_context *ctx);  /* submits what is recorded */
/* Value that the batch being recorded will reach. */
uint64_t vk_queue_value(const vk_context *ctx);
rubus_status vk_queue_wait(vk_context *ctx, uint64_t value); /* submits if it must */
rubus_status vk_queue_finish(vk_context *ctx);
/* Calls free(ctx, thing) when the batch of that value is done (or now if it is). */
void vk_queue_retire(vk_context *ctx, uint64_t value, void (*free)(vk_context *, void *),
                     void *thing);
rubus_status vk_synchronize(void *ctx);

/* --- vk_ring.c, vk_transfer.c ----------------------------------------------------- */

typedef struct
    vk_piece { /* host-visible upload memory, free again when its batch is done */
    unsigned char *host;
    vk_buffer *buffer;
    uint64_t first;
    VkDeviceAddress address;
} vk_piece;

rubus_status vk_ring_take(vk_context *ctx, uint64_t nbyte, uint64_t align,
                          vk_piece *out_piece);
rubus_status vk_ring_init(vk_context *ctx); /* memory comes with the first piece */
void vk_ring_fini(vk_context *ctx);
rubus_status vk_write(void *ctx, void *buffer, uint64_t first, const void *src,
                      uint64_t n);
rubus_status vk_read(void *ctx, const void *buffer, uint64_t first, void *dst,
                     uint64_t n);
rubus_status vk_fill(void *ctx, void *buffer, uint64_t first, uint64_t n,
                     const void *pattern, uint32_t pattern_size);
rubus_status vk_copy(void *ctx, void *dst, uint64_t dst_first, const void *src,
                     uint64_t src_first, uint64_t n);

/* --- vk_module.c, vk_spirv.c, vk_pipeline.c, vk_launch.c -------------------------- */

rubus_status vk_module_create(void *ctx, const rubus_module_desc *desc,
                              void **out_module);
void vk_module_destroy(void *ctx, void *module);
rubus_status vk_launch(void *ctx, void *module, const rubus_launch_info *info);
rubus_status vk_pipelines_init(vk_context *ctx); /* loads the pipeline cache */
void vk_pipelines_fini(vk_context *ctx);         /* stores it */

/* --- vk_context.c ----------------------------------------------------------------- */

struct vk_context {
    vk_backend *be;
    const rubus_host *host;
    const vk_physical *physical;
    vk_limits limits;
    VkDevice device;
    vk_device_api api;
    VkQueue queue;
    atomic_bool lost;     /* for good: every later call but the destroying ones fails */
    char lost_text[512];  /* where it was seen; written once, before `lost` */
    uint32_t nbuffer;     /* made so far: their numbers */
    struct vk_heap *heap; /* vk_memory.c */
    struct vk_stream *stream;       /* vk_queue.c */
    struct vk_orders *orders;       /* vk_order.c */
    struct vk_recorder *recorder;   /* vk_recorder.c; NULL unless validate */
    struct vk_ring *ring;           /* vk_ring.c */
    struct vk_pipelines *pipelines; /* vk_pipeline.c */
    struct vk_sparse *sparse;       /* vk_sparse_launch.c; NULL until used */
};

rubus_status vk_context_create(void *be, uint32_t device, void **out_ctx);
void vk_context_destroy(void *ctx);
/* RUBUS_OK, or the error that a lost device, a fork or the end of the process gives. The
 * first line of every slot. Slots that destroy ask vk_backend_forked(ctx->be), and then
 * free only memory. */
rubus_status vk_usable(vk_context *ctx);

#endif
