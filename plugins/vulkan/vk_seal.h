/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_VK_SEAL_H
#define RUBUS_VK_SEAL_H
/*
 * Cache entries of the backend. Drivers do not survive damaged SPIR-V or pipeline data,
 * so an entry carries a seal over all its bytes and over what it is for: one that was
 * cut, overwritten or swapped is as good as none.
 */
#include <stdbool.h>

#include <rubus/backend.h>

#define VK_SEAL_SIZE 48u

/* The seal of data that is kept under key and suffix. */
void vk_seal_make(const void *data, size_t size, const uint8_t key[32],
                  const char *suffix, unsigned char out[VK_SEAL_SIZE]);
/* Whether the file is a seal and exactly the data that it was made for. */
bool vk_seal_check(const void *file, size_t size, const uint8_t key[32],
                   const char *suffix);

/* A whole entry (the data begin at VK_SEAL_SIZE), in memory of the host's; NULL if there
 * is none, it is damaged (which is logged), larger than most, or memory is out. */
unsigned char *vk_seal_load(const rubus_host *host, const uint8_t key[32],
                            const char *suffix, size_t most, size_t *out_size);
/* Stores data under a seal. Failures are logged: a cache only saves time. */
void vk_seal_store(const rubus_host *host, const uint8_t key[32], const char *suffix,
                   const void *data, size_t size);

/* SPIR-V of one module: nothing that a driver would have to trust blindly. */
bool vk_spirv_plausible(const void *data, size_t size);
/* Pipeline data of this device: the header that Vulkan defines names it. */
bool vk_pipelines_plausible(const void *data, size_t size, uint32_t vendor,
                            uint32_t device, const uint8_t uuid[16]);

#endif
