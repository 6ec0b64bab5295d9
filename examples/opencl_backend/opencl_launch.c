/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: the arguments one by one, and a grid. The text strides over its range, so
 * any grid is right, and what is chosen here is a matter of speed alone.
 */
#include "opencl_backend.h"

/* GPUs: a group, and what the grid is at most (of work-items along each dimension). */
enum { GROUP = 128, GRID_X = 1 << 22, GRID_YZ = 1 << 16 };
/* CPUs: points of a work-item before there is another, and work-items of a core. */
enum { ITEM_POINTS = 2048, ITEMS_OF_CORE = 4, ITEMS_UNEVEN = 64 };

static size_t least(uint64_t a, uint64_t b)
{
    return (size_t)(a < b ? a : b);
}

static void size_for_gpu(const ocl_entry *entry, const uint64_t n[3], size_t local[3],
                         size_t global[3])
{
    local[0] = 1;
    while (local[0] * 2 <= least(GROUP, entry->group) && local[0] < n[0]) {
        local[0] *= 2;
    }
    local[1] = 1;
    while (local[0] * local[1] * 2 <= least(GROUP, entry->group) && local[1] < n[1]) {
        local[1] *= 2;
    }
    local[2] = 1;
    for (int d = 0; d < 3; d++) {
        const size_t groups = (size_t)((n[d] - 1) / local[d] + 1);
        global[d] = least(groups, (d == 0 ? GRID_X : GRID_YZ) / local[d]) * local[d];
    }
}

/* Work-items get whole rows, or long runs of a row, first along the slowest dimension. */
static void size_for_cpu(const ocl_device *device, const ocl_entry *entry,
                         const uint64_t n[3], size_t global[3])
{
    const bool uneven = (entry->flags & (RUBUS_ENTRY_UNEVEN | RUBUS_ENTRY_LOOPS)) != 0;
    const uint64_t least_points = uneven ? 1 : ITEM_POINTS;
    const double points = (double)n[0] * (double)n[1] * (double)n[2];
    uint64_t left = (uint64_t)device->units * (uneven ? ITEMS_UNEVEN : ITEMS_OF_CORE);
    if (points / (double)least_points < (double)left) {
        left = (uint64_t)(points / (double)least_points) + 1;
    }
    for (int d = 2; d >= 0; d--) {
        global[d] = least(n[d], left);
        left = (left - 1) / global[d] + 1;
    }
}

static void choose_sizes(const ocl_device *device, const ocl_entry *entry,
                         const rubus_launch_info *info, size_t local[3], size_t global[3])
{
    uint64_t n[3];
    for (int d = 0; d < 3; d++) {
        n[d] = (uint64_t)(info->hi[d] - info->lo[d]);
        local[d] = 1;
    }
    if ((entry->flags & RUBUS_ENTRY_GROUPS) != 0) {
        local[0] = entry->group;
        global[0] = least(n[0], GRID_YZ) * entry->group;
        global[1] = least(n[1], GRID_YZ);
        global[2] = least(n[2], GRID_YZ);
    } else if (device->blocks) {
        size_for_cpu(device, entry, n, global);
    } else {
        size_for_gpu(entry, n, local, global);
    }
}

static cl_int set_arguments(const ocl_entry *entry, const rubus_launch_info *info)
{
    cl_uint at = 0;
    cl_int error = CL_SUCCESS;
    for (int d = 0; d < 6 && error == CL_SUCCESS; d++) {
        const cl_long bound = d < 3 ? info->lo[d] : info->hi[d - 3];
        error = clSetKernelArg(entry->kernel, at++, sizeof bound, &bound);
    }
    for (uint32_t i = 0; i < entry->nargument && error == CL_SUCCESS; i++) {
        const ocl_argument *a = &entry->argument[i];
        if (!a->is_buffer) {
            const char *value = (const char *)info->block + a->place;
            error = clSetKernelArg(entry->kernel, at++, a->size, value);
            continue;
        }
        cl_mem mem = info->buffer[a->place];
        const cl_long first = (cl_long)info->first_byte[a->place];
        error = clSetKernelArg(entry->kernel, at++, sizeof mem, &mem);
        if (error == CL_SUCCESS) {
            error = clSetKernelArg(entry->kernel, at++, sizeof first, &first);
        }
    }
    return error;
}

rubus_status ocl_launch(void *pointer, void *handle, const rubus_launch_info *info)
{
    ocl_context *ctx = pointer;
    const ocl_module *module = handle;
    rubus_status st = ocl_check_lost(ctx);
    if (st != RUBUS_OK) {
        return st;
    }
    const ocl_entry *entry = &module->entry[info->entry];
    size_t local[3];
    size_t global[3];
    choose_sizes(ctx->device, entry, info, local, global);
    cl_int error = set_arguments(entry, info);
    if (error == CL_SUCCESS) {
        error = clEnqueueNDRangeKernel(ctx->queue, entry->kernel, 3, NULL, global, local,
                                       0, NULL, NULL);
    }
    if (error == CL_SUCCESS) {
        error = clFlush(ctx->queue); // let it begin while the host goes on
    }
    return error == CL_SUCCESS
               ? RUBUS_OK
               : ocl_fail(ctx->host, ctx, error, false, "launching", entry->label);
}
