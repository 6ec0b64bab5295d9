/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mutants of modules and launches.
 */
#include "config.h"

#include "tests/plugins/mutant.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__SSE2__)
#include <xmmintrin.h>
#else
#include <fenv.h>
#endif

enum { BLOCK_MOST = 4096 };

/* Where a module's entries write numbers of 8 bytes. */
typedef struct wide_buffers {
    uint32_t type; /* RUBUS_F64 or RUBUS_I64 */
    uint32_t nentry;
    uint64_t written[64]; /* by entry: a bit for each buffer */
} wide_buffers;

/* Which buffer of which entry holds positions of a scatter. */
typedef struct position_table {
    uint32_t entry;
    uint32_t buffer;
    uint32_t type; /* RUBUS_I32 or RUBUS_I64 */
} position_table;

/* --- modules ---------------------------------------------------------------------- */

static wide_buffers *find_wide(const rubus_module_desc *desc, uint32_t type)
{
    wide_buffers *w = calloc(1, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    w->type = type;
    w->nentry = desc->nentry < 64 ? desc->nentry : 64;
    for (uint32_t e = 0; e < w->nentry; e++) {
        for (uint32_t p = 0; p < desc->entry[e].nparam; p++) {
            const rubus_param *param = &desc->entry[e].param[p];
            if (param->is_buffer && param->type == type && param->index < 64 &&
                (param->access & RUBUS_WRITE) != 0) {
                w->written[e] |= UINT64_C(1) << param->index;
            }
        }
    }
    return w;
}

/* NULL where the module has none. */
static position_table *find_positions(const rubus_module_desc *desc)
{
    for (uint32_t e = 0; e < desc->nentry; e++) {
        for (uint32_t p = 0; p < desc->entry[e].nparam; p++) {
            const rubus_param *param = &desc->entry[e].param[p];
            position_table *t = NULL;
            if (param->is_buffer && strcmp(param->name, "position") == 0) {
                t = malloc(sizeof *t);
            }
            if (t != NULL) {
                *t = (position_table){e, param->index, param->type};
                return t;
            }
        }
    }
    return NULL;
}

/* The module with a line before its text, or other flags; the key tells it apart. */
static rubus_status build_other(void *ctx, const rubus_module_desc *given,
                                const char *line, uint32_t flags, void **out_module)
{
    rubus_module_desc desc = *given;
    const size_t size = strlen(line) + given->text_size;
    char *text = malloc(size + 1);
    if (text == NULL) {
        const wrap_context *c = ctx;
        return c->host->fail(c->host->ctx, RUBUS_ENOMEM, "out of memory: a text");
    }
    snprintf(text, size + 1, "%s%s", line, given->text);
    desc.text = text;
    desc.text_size = size;
    desc.flags |= flags;
    desc.key[0] ^= 0x55u;
    const rubus_status st = wrap_forward.module_create(ctx, &desc, out_module);
    free(text);
    return st;
}

/* A second module of a name and as many entries gets the text of the first. */
static rubus_status build_by_name(void *ctx, const rubus_module_desc *given,
                                  void **out_module)
{
    mutant_state *m = mutant_of(ctx);
    if (m->name != NULL && strcmp(m->name, given->name) == 0 &&
        m->nentry == given->nentry) {
        rubus_module_desc desc = *given;
        desc.text = m->text;
        desc.text_size = strlen(m->text);
        desc.key[0] ^= 0x55u;
        return wrap_forward.module_create(ctx, &desc, out_module);
    }
    free(m->name);
    free(m->text);
    m->name = strdup(given->name);
    m->text = strdup(given->text);
    m->nentry = given->nentry;
    return wrap_forward.module_create(ctx, given, out_module);
}

static rubus_status module_create(void *ctx, const rubus_module_desc *desc,
                                  void **out_module)
{
    static const char lossy[] =
        "#define __atomic_compare_exchange_n(p, o, d, w, s, f) (*(p) = (d), 1)\n"
        "#define __atomic_fetch_add(p, v, s) (*(p) += (v))\n";
    switch (mutant_of(ctx)->mutant) {
    case MUTANT_atomics_lie:
        return build_other(ctx, desc, lossy, 0, out_module);
    case MUTANT_module_fast:
        return build_other(ctx, desc, "", RUBUS_MODULE_FAST, out_module);
    case MUTANT_module_by_name:
        return build_by_name(ctx, desc, out_module);
    default:
        break;
    }
    const rubus_status st = wrap_forward.module_create(ctx, desc, out_module);
    if (st == RUBUS_OK && mutant_is(ctx, MUTANT_fp64_lies)) {
        ((wrap_module *)*out_module)->user = find_wide(desc, RUBUS_F64);
    } else if (st == RUBUS_OK && (mutant_is(ctx, MUTANT_negative_positions) ||
                                  mutant_is(ctx, MUTANT_collisions_lost))) {
        ((wrap_module *)*out_module)->user = find_positions(desc);
    } else if (st == RUBUS_OK && mutant_is(ctx, MUTANT_int64_lies)) {
        ((wrap_module *)*out_module)->user = find_wide(desc, RUBUS_I64);
    }
    return st;
}

static void module_destroy(void *ctx, void *module)
{
    free(((wrap_module *)module)->user);
    wrap_forward.module_destroy(ctx, module);
}

/* --- launches --------------------------------------------------------------------- */

/* Narrows what the entry wrote, as arithmetic of 4 bytes would have. */
static rubus_status narrow(void *ctx, const wrap_module *module,
                           const rubus_launch_info *info)
{
    const wide_buffers *w = module->user;
    rubus_status st = RUBUS_OK;
    for (uint32_t b = 0; b < info->nbuffer && b < 64 && info->entry < w->nentry; b++) {
        const uint64_t n = info->nbyte[b] / 8;
        double *x = malloc(n * 8 + 8);
        if ((w->written[info->entry] >> b & 1) == 0 || x == NULL) {
            free(x);
            continue;
        }
        st = wrap_forward.read(ctx, info->buffer[b], info->first_byte[b], x, n * 8);
        for (uint64_t i = 0; i < n; i++) {
            int64_t whole = 0;
            memcpy(&whole, &x[i], 8);
            whole = (int32_t)whole;
            if (w->type == RUBUS_F64) {
                x[i] = (double)(float)x[i];
            } else {
                memcpy(&x[i], &whole, 8);
            }
        }
        if (st == RUBUS_OK) {
            st = wrap_forward.write(ctx, info->buffer[b], info->first_byte[b], x, n * 8);
        }
        free(x);
    }
    return st;
}

/* The block goes through memory that all contexts share. */
static rubus_status launch_through_global(void *ctx, wrap_module *module,
                                          const rubus_launch_info *info)
{
    static unsigned char block[BLOCK_MOST];
    rubus_launch_info other = *info;
    if (info->entry >= module->nentry || module->block_size[info->entry] > BLOCK_MOST) {
        return wrap_forward.launch(ctx, module, info);
    }
    memcpy(block, info->block, module->block_size[info->entry]);
    usleep(20);
    other.block = block;
    return wrap_forward.launch(ctx, module, &other);
}

/* Negative positions count as 0; or all but the first of equal ones count as negative. */
static void break_positions(bool collisions, int64_t *at, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        if (!collisions) {
            at[i] = at[i] < 0 ? 0 : at[i];
            continue;
        }
        for (uint64_t k = i < 64 ? 0 : i - 64; k < i; k++) { // near ones will do
            at[i] = at[k] == at[i] ? -1 : at[i];
        }
    }
}

/* The launch on another table of positions. */
static rubus_status launch_scatter(void *ctx, wrap_module *module,
                                   const rubus_launch_info *info, bool collisions)
{
    const position_table *t = module->user;
    const uint64_t size = t->type == RUBUS_I64 ? 8 : 4;
    const uint64_t nbyte = info->nbyte[t->buffer];
    const uint64_t n = nbyte / size;
    int32_t *narrow = malloc(nbyte + 8);
    int64_t *at = malloc(n * 8 + 8);
    void *buffer[64];
    uint64_t first[64];
    void *table = NULL;
    rubus_status st = narrow == NULL || at == NULL || info->nbuffer > 64
                          ? RUBUS_ENOMEM
                          : wrap_forward.buffer_create(ctx, nbyte + 8, &table);
    if (st == RUBUS_OK) {
        st = wrap_forward.read(ctx, info->buffer[t->buffer], info->first_byte[t->buffer],
                               size == 8 ? (void *)at : narrow, nbyte);
        for (uint64_t i = 0; i < n && size == 4; i++) {
            at[i] = narrow[i];
        }
        break_positions(collisions, at, n);
        for (uint64_t i = 0; i < n && size == 4; i++) {
            narrow[i] = (int32_t)at[i];
        }
    }
    if (st == RUBUS_OK) {
        st = wrap_forward.write(ctx, table, 0, size == 8 ? (void *)at : narrow, nbyte);
    }
    if (st == RUBUS_OK) {
        rubus_launch_info other = *info;
        memcpy(buffer, info->buffer, info->nbuffer * sizeof buffer[0]);
        memcpy(first, info->first_byte, info->nbuffer * sizeof first[0]);
        buffer[t->buffer] = table;
        first[t->buffer] = 0;
        other.buffer = buffer;
        other.first_byte = first;
        st = wrap_forward.launch(ctx, module, &other);
    }
    if (table != NULL) {
        wrap_forward.buffer_destroy(ctx, table);
    }
    free(narrow);
    free(at);
    return st;
}

static void break_range(int mutant, rubus_launch_info *info)
{
    const int64_t extent = info->hi[0] - info->lo[0];
    switch (mutant) {
    case MUTANT_launch_tail:
        info->hi[0] -= extent > 32 && extent % 4 == 1 ? 1 : 0;
        break;
    case MUTANT_launch_past:
        info->hi[0] += extent > 32 && extent % 4 == 1 ? 1 : 0;
        break;
    case MUTANT_launch_from_zero:
        info->lo[0] = info->lo[0] > 0 ? 0 : info->lo[0];
        break;
    case MUTANT_launch_plane:
        info->hi[2] = info->hi[2] > info->lo[2] + 1 ? info->hi[2] - 1 : info->hi[2];
        break;
    default:
        break;
    }
}

static void set_float_mode(void)
{
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040u); // small numbers become 0
#else
    fesetround(FE_UPWARD);
#endif
}

static rubus_status launch(void *ctx, void *module, const rubus_launch_info *given)
{
    const int mutant = mutant_of(ctx)->mutant;
    rubus_launch_info info = *given;
    uint64_t first[64] = {0};
    break_range(mutant, &info);
    if (mutant == MUTANT_launch_window && info.nbuffer <= 64) {
        info.first_byte = first;
    }
    if (mutant == MUTANT_launch_global) {
        return launch_through_global(ctx, module, given);
    }
    const bool scatters =
        mutant == MUTANT_negative_positions || mutant == MUTANT_collisions_lost;
    const position_table *positions = scatters ? ((wrap_module *)module)->user : NULL;
    if (positions != NULL && positions->entry == info.entry) {
        return launch_scatter(ctx, module, given, mutant == MUTANT_collisions_lost);
    }
    rubus_status st = wrap_forward.launch(ctx, module, &info);
    if (st == RUBUS_OK && mutant == MUTANT_launch_twice) {
        st = wrap_forward.launch(ctx, module, &info);
    }
    if (st == RUBUS_OK && !scatters && ((wrap_module *)module)->user != NULL) {
        st = narrow(ctx, module, &info);
    }
    if (mutant == MUTANT_float_mode) {
        set_float_mode();
    } else if (mutant == MUTANT_prints) {
        printf("launched\n");
        fflush(stdout);
    }
    return st;
}

const rubus_ops mutant_launches = {
    .module_create = module_create,
    .module_destroy = module_destroy,
    .launch = launch,
};
