/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands of the chaos queue: made from the arguments of a slot, run later.
 */
#include "config.h"

#include "tests/plugins/chaos_command.h"

#include <stdlib.h>
#include <string.h>

chaos_command *chaos_command_new(chaos_kind kind)
{
    chaos_command *c = calloc(1, sizeof *c);
    if (c != NULL) {
        c->kind = kind;
    }
    return c;
}

void chaos_command_free(chaos_command *c)
{
    if (c != NULL) {
        if (!c->borrowed) {
            free(c->data);
        }
        free(c);
    }
}

static chaos_command *with_data(chaos_kind kind, uint64_t nbyte)
{
    chaos_command *c = chaos_command_new(kind);
    if (c != NULL) {
        c->data = malloc(nbyte + 1);
        c->nbyte = nbyte;
    }
    if (c != NULL && c->data == NULL) {
        free(c);
        return NULL;
    }
    return c;
}

static bool inside(const wrap_buffer *buffer, uint64_t first, uint64_t n)
{
    return buffer != NULL && first <= buffer->nbyte && n <= buffer->nbyte - first;
}

chaos_command *chaos_command_write(wrap_buffer *buffer, uint64_t first, const void *src,
                                   uint64_t n, bool borrow)
{
    if (!inside(buffer, first, n) || src == NULL) {
        return NULL;
    }
    chaos_command *c =
        borrow ? chaos_command_new(CHAOS_WRITE) : with_data(CHAOS_WRITE, n);
    if (c == NULL) {
        return NULL;
    }
    if (borrow) {
        c->borrowed = true;
        memcpy(&c->data, &src, sizeof c->data);
    } else {
        memcpy(c->data, src, n);
    }
    c->buffer = buffer;
    c->first = first;
    c->n = n;
    return c;
}

chaos_command *chaos_command_fill(wrap_buffer *buffer, uint64_t first, uint64_t n,
                                  const void *pattern, uint32_t pattern_size)
{
    const bool fits = pattern_size > 0 && pattern_size <= 16 &&
                      (pattern_size & (pattern_size - 1)) == 0 &&
                      first % pattern_size == 0 && n % pattern_size == 0;
    if (!inside(buffer, first, n) || !fits || pattern == NULL) {
        return NULL;
    }
    chaos_command *c = chaos_command_new(CHAOS_FILL);
    if (c != NULL) {
        c->buffer = buffer;
        c->first = first;
        c->n = n;
        memcpy(c->pattern, pattern, pattern_size);
        c->pattern_size = pattern_size;
    }
    return c;
}

chaos_command *chaos_command_copy(wrap_buffer *dst, uint64_t dst_first,
                                  const wrap_buffer *src, uint64_t src_first, uint64_t n)
{
    if (!inside(dst, dst_first, n) || !inside(src, src_first, n)) {
        return NULL;
    }
    chaos_command *c = chaos_command_new(CHAOS_COPY);
    if (c != NULL) {
        c->buffer = dst;
        c->first = dst_first;
        c->from = src;
        c->from_first = src_first;
        c->n = n;
    }
    return c;
}

static void *put(char **at, const void *from, uint64_t n)
{
    void *here = *at;
    if (n > 0) {
        memcpy(here, from, n);
    }
    *at += (n + 15) / 16 * 16;
    return here;
}

chaos_command *chaos_command_launch(wrap_module *module, const rubus_launch_info *info,
                                    bool borrow)
{
    if (info->entry >= module->nentry || info->nbuffer != module->nbuffer[info->entry]) {
        return NULL;
    }
    for (uint32_t i = 0; i < info->nbuffer; i++) {
        if (!inside(info->buffer[i], info->first_byte[i], info->nbyte[i])) {
            return NULL;
        }
    }
    const uint64_t block = module->block_size[info->entry];
    const uint64_t list = (uint64_t)info->nbuffer * 8;
    chaos_command *c = with_data(CHAOS_LAUNCH, block + 3 * list + 64);
    if (c != NULL) {
        char *at = c->data;
        c->module = module;
        c->info = *info;
        c->info.block = borrow ? info->block : put(&at, info->block, block);
        c->info.buffer = put(&at, info->buffer, info->nbuffer * sizeof(void *));
        c->info.first_byte = put(&at, info->first_byte, list);
        c->info.nbyte = put(&at, info->nbyte, list);
    }
    return c;
}

static uint64_t size_of(uint32_t type)
{
    return type == RUBUS_F64 || type == RUBUS_I64 ? 8 : 4;
}

chaos_command *chaos_command_sparse(chaos_kind kind, const rubus_csr_desc *a,
                                    double alpha, double beta)
{
    const uint64_t index = size_of(a->index_type);
    const uint64_t rows = a->mirror_rowptr == NULL ? 0 : ((uint64_t)a->nrow + 1) * index;
    const uint64_t columns = a->mirror_colval == NULL ? 0 : (uint64_t)a->nnz * index;
    const uint64_t values =
        a->mirror_nzval == NULL ? 0 : (uint64_t)a->nnz * size_of(a->value_type);
    chaos_command *c = with_data(kind, rows + columns + values + 48);
    if (c != NULL) {
        char *at = c->data;
        c->csr = *a;
        c->csr.mirror_rowptr =
            rows == 0 ? a->mirror_rowptr : put(&at, a->mirror_rowptr, rows);
        c->csr.mirror_colval =
            columns == 0 ? a->mirror_colval : put(&at, a->mirror_colval, columns);
        c->csr.mirror_nzval =
            values == 0 ? a->mirror_nzval : put(&at, a->mirror_nzval, values);
        c->alpha = alpha;
        c->beta = beta;
    }
    return c;
}

rubus_status chaos_command_run(wrap_context *ctx, const chaos_command *c)
{
    switch (c->kind) {
    case CHAOS_WRITE:
        return wrap_forward.write(ctx, c->buffer, c->first, c->data, c->n);
    case CHAOS_FILL:
        return wrap_forward.fill(ctx, c->buffer, c->first, c->n, c->pattern,
                                 c->pattern_size);
    case CHAOS_COPY:
        return wrap_forward.copy(ctx, c->buffer, c->first, c->from, c->from_first, c->n);
    case CHAOS_UNMAP:
        return wrap_forward.unmap(ctx, c->buffer);
    case CHAOS_LAUNCH:
        return wrap_forward.launch(ctx, c->module, &c->info);
    case CHAOS_SPMV:
        return wrap_forward.spmv(ctx, &c->csr, &c->vec[0], &c->vec[1], c->alpha, c->beta);
    case CHAOS_SPMM:
        return wrap_forward.spmm(ctx, &c->csr, &c->mat[0], &c->mat[1], c->alpha, c->beta);
    case CHAOS_FLUSH:
        return wrap_forward.scatter_flush(ctx, &c->csr);
    case CHAOS_BUFFER_DESTROY:
        wrap_forward.buffer_destroy(ctx, c->buffer);
        return RUBUS_OK;
    case CHAOS_MODULE_DESTROY:
        wrap_forward.module_destroy(ctx, c->module);
        return RUBUS_OK;
    }
    return RUBUS_EINTERNAL;
}

void chaos_spoil(wrap_context *ctx, wrap_buffer *buffer)
{
    void *nonsense = malloc(buffer->nbyte);
    if (nonsense != NULL) {
        memset(nonsense, 0xA5, buffer->nbyte);
        (void)wrap_forward.write(ctx, buffer, 0, nonsense, buffer->nbyte);
    }
    free(nonsense);
}
