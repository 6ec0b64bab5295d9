/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TOOLS_HANDWRITTEN_GPU_H
#define RUBUS_TOOLS_HANDWRITTEN_GPU_H
/*
 * The 2D relaxation written by hand in GLSL (handwritten.comp), with a Vulkan device of
 * its own: what generated kernels are measured against on a GPU. Iterations are recorded
 * once, with a barrier after each sweep, and submitted together.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { HANDWRITTEN_MATH, HANDWRITTEN_INDEX, HANDWRITTEN_FUSED } handwritten_set;

typedef struct handwritten_gpu handwritten_gpu;

typedef struct handwritten_gpu_problem {
    const char *device; /* its name, as Vulkan tells it */
    handwritten_set set;
    bool f64;
    int32_t n; /* points along each side, at least 4 */
    int iterations;
} handwritten_gpu_problem;

/* NULL: not to be had, `why` says the reason: no Vulkan, no such device, built without
 * glslc, out of memory. */
handwritten_gpu *handwritten_gpu_create(const handwritten_gpu_problem *problem, char *why,
                                        size_t room);
void handwritten_gpu_destroy(handwritten_gpu *gpu); /* NULL allowed */
/* Runs the iterations and waits for them. False: the device failed. */
bool handwritten_gpu_run(handwritten_gpu *gpu);

#endif
