/* SPDX-License-Identifier: Apache-2.0 */
/* The list of built-in kernels where there was no glslc to make them: all are compiled at
 * run time. */
#include "config.h"

#include "plugins/vulkan/vk_prebuilt.h"

#include <stddef.h>

const vk_prebuilt *const vk_prebuilt_list[] = {NULL};
