/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_VULKAN_SPECS_H
#define RUBUS_TESTS_VULKAN_SPECS_H
/*
 * How the Vulkan backend stands in lists of backends that tests run on: by addresses and
 * by descriptors, both under validate=1, where every message of a validation layer and
 * every missing barrier is an error. Include after config.h; empty without the backend.
 */
#if defined(HAVE_VULKAN)
#define VULKAN_SPECS , "vulkan:validate=1", "vulkan:validate=1:descriptors=on"
#define VULKAN_SPEC_COUNT 2
#else
#define VULKAN_SPECS
#define VULKAN_SPEC_COUNT 0
#endif

#endif
