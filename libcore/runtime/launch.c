/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches: check, bind, then enqueue the passes of a kernel in order. Small kernels are
 * launched without touching the heap.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

#define STACK_BYTES 4096 /* working memory of a launch that needs no allocation */

/* --- one entry -------------------------------------------------------------------- */

static void put_scalar(const rk_slot *s, const rubus_arg *arg, char *block)
{
    const bool whole = arg->kind == RUBUS_ARG_INTEGER;
    const double real = whole ? (double)arg->u.integer : arg->u.real;
    const float real32 = whole ? (float)arg->u.integer : (float)arg->u.real;
    const int32_t narrow = (int32_t)arg->u.integer;
    const uint8_t truth = arg->u.integer != 0 ? 1 : 0;
    switch (s->type) {
    case RUBUS_F64:
        memcpy(block + s->offset, &real, sizeof(real));
        break;
    case RUBUS_F32:
        memcpy(block + s->offset, &real32, sizeof(real32));
        break;
    case RUBUS_I32:
        memcpy(block + s->offset, &narrow, sizeof(narrow));
        break;
    case RUBUS_I64:
        memcpy(block + s->offset, &arg->u.integer, sizeof(arg->u.integer));
        break;
    default:
        memcpy(block + s->offset, &truth, sizeof(truth));
        break;
    }
}

/* Slots that only a fold can fill. */
static bool of_fold(const rk_slot *s)
{
    return s->kind == RK_SLOT_PARTIAL || s->kind == RK_SLOT_TREE_SRC ||
           s->kind == RK_SLOT_TREE_DST || s->kind == RK_SLOT_TREE_N ||
           s->kind == RK_SLOT_TREE_LAST;
}

static const rubus__operand *slot_operand(const rubus__bound *bound, const rk_slot *s,
                                          const rubus__fold_slots *fold,
                                          rubus__operand *spare)
{
    switch (s->kind) {
    case RK_SLOT_PARAM:
    case RK_SLOT_RESULT:
        return &bound->operand[s->index];
    case RK_SLOT_PARTIAL:
        return &fold->partial[s->index];
    case RK_SLOT_TREE_SRC:
        return &fold->src;
    case RK_SLOT_TREE_DST:
        return &fold->dst;
    default: /* RK_SLOT_ERROR */
        spare->buffer = bound->kernel->module->error_buffer;
        spare->first_byte = 0;
        spare->nbyte = RK_ERROR_WORDS * sizeof(int64_t);
        return spare;
    }
}

static void put_value(const rubus__bound *bound, const rk_slot *s,
                      const rubus__fold_slots *fold, char *block)
{
    int64_t value = 0;
    switch (s->kind) {
    case RK_SLOT_PARAM:
        put_scalar(s, &bound->args[s->index], block);
        return;
    case RK_SLOT_SYMBOL:
        value = bound->binding.symbol[s->index];
        break;
    case RK_SLOT_TREE_N:
        value = fold->n;
        break;
    case RK_SLOT_TREE_LAST:
        value = fold->last;
        break;
    default: /* the others are buffers */
        break;
    }
    memcpy(block + s->offset, &value, sizeof(value));
}

rubus_status rubus__launch_entry(const rubus__bound *bound, int32_t entry,
                                 const rk_range *range, const rubus__fold_slots *fold)
{
    const rubus_module *module = bound->kernel->module;
    const rk_entry *e = &module->program->entry[entry];
    char *block = bound->block;
    memset(block, 0, e->block_size);
    memcpy(block, range->lo, sizeof(range->lo));
    memcpy(block + sizeof(range->lo), range->hi, sizeof(range->hi));
    uint32_t nbuffer = 0;
    for (int32_t i = 0; i < e->nslot; i++) {
        const rk_slot *s = &e->slot[i];
        if (fold == NULL && of_fold(s)) {
            return rubus__fail(RUBUS_EINTERNAL,
                               "launch of `%s`: its entry %d works on partial results, "
                               "but the pass has none; report this",
                               bound->kernel->k->decl->name, (int)entry);
        }
        if (s->access == 0) {
            put_value(bound, s, fold, block);
            continue;
        }
        rubus__operand spare;
        const rubus__operand *o = slot_operand(bound, s, fold, &spare);
        bound->buffer[nbuffer] = o->buffer;
        bound->first[nbuffer] = o->first_byte;
        bound->nbyte[nbuffer] = o->nbyte;
        nbuffer++;
    }
    rubus_launch_info info;
    info.struct_size = sizeof(info);
    info.entry = (uint32_t)entry;
    info.nbuffer = nbuffer;
    info.reserved0 = 0;
    memcpy(info.lo, range->lo, sizeof(info.lo));
    memcpy(info.hi, range->hi, sizeof(info.hi));
    info.block = block;
    info.buffer = bound->buffer;
    info.first_byte = bound->first;
    info.nbyte = bound->nbyte;
    rubus_context *context = module->context;
    context->counters.launches++;
    return RUBUS__SLOT(context, "launch",
                       context->dev->ops->launch(context->dev->ctx, module->impl, &info));
}

/* --- all passes ------------------------------------------------------------------- */

static bool has_fold(const rk_kernel *k, int32_t pass)
{
    return k->plan->pass[pass].nfold > 0;
}

static rubus_status launch_whole(const rubus__bound *bound)
{
    const rk_kernel *k = bound->kernel->k;
    rk_range once;
    memset(&once, 0, sizeof(once));
    once.hi[0] = once.hi[1] = once.hi[2] = 1;
    const bool point = k->decl->nindex > 0;
    if (point && bound->binding.pass[0].empty) {
        return RUBUS_OK;
    }
    return rubus__launch_entry(bound, k->first_entry, point ? bound->binding.pass : &once,
                               NULL);
}

rubus_status rubus__launch_bound(const rubus__bound *bound)
{
    const rk_kernel *k = bound->kernel->k;
    const rk_entry *entry = bound->kernel->module->program->entry;
    if (entry[k->first_entry].kind == RK_ENTRY_KERNEL) {
        return launch_whole(bound);
    }
    rubus_status st = RUBUS_OK;
    for (int32_t e = 0; st == RUBUS_OK && e < k->nentry; e++) {
        const rk_entry *next = &entry[k->first_entry + e];
        if (next->kind != RK_ENTRY_PASS) {
            continue; /* trees follow their pass */
        }
        if (has_fold(k, next->pass)) {
            st = rubus__launch_fold_pass(bound, next->pass, k->first_entry + e);
        } else if (!bound->binding.pass[next->pass].empty) {
            st = rubus__launch_entry(bound, k->first_entry + e,
                                     &bound->binding.pass[next->pass], NULL);
        }
    }
    return st;
}

/* --- results that the call waits for ---------------------------------------------- */

static rubus_status prepare_results(const rubus_kernel *kernel, const rubus_arg *args,
                                    rubus__operand *operand)
{
    rubus_context *context = kernel->module->context;
    const uint64_t size = kernel->module->program->unit->numbers.f64 ? 8 : 4;
    rubus_status st = RUBUS_OK;
    for (int32_t r = 0; r < kernel->k->nresult; r++) {
        const int32_t p = kernel->k->result_param[r];
        if (args[p].kind == RUBUS_ARG_ARRAY) {
            continue;
        }
        st = rubus__scratch_get(context, &context->results,
                                (uint64_t)kernel->k->nresult * context->result_stride);
        if (st != RUBUS_OK) {
            return st;
        }
        operand[p].first_byte = (uint64_t)r * context->result_stride;
        operand[p].nbyte = size;
    }
    for (int32_t r = 0; r < kernel->k->nresult; r++) {
        const int32_t p = kernel->k->result_param[r];
        if (args[p].kind != RUBUS_ARG_ARRAY) {
            operand[p].buffer = context->results.buffer;
        }
    }
    return st;
}

static rubus_status read_results(const rubus_kernel *kernel, const rubus_arg *args,
                                 const rubus__operand *operand)
{
    const bool f64 = kernel->module->program->unit->numbers.f64;
    bool reported = false;
    for (int32_t r = 0; r < kernel->k->nresult; r++) {
        const int32_t p = kernel->k->result_param[r];
        if (args[p].kind == RUBUS_ARG_ARRAY) {
            continue;
        }
        double wide = 0;
        float narrow = 0;
        rubus_status st =
            reported ? RUBUS_OK : rubus__report_checked(kernel->module->context);
        reported = true;
        if (st == RUBUS_OK) {
            st = rubus__read_bytes(kernel->module->context, operand[p].buffer,
                                   operand[p].first_byte,
                                   f64 ? (void *)&wide : (void *)&narrow, f64 ? 8 : 4);
        }
        if (st != RUBUS_OK) {
            return st;
        }
        if (args[p].kind == RUBUS_ARG_RESULT_F64) {
            *args[p].u.result_f64 = f64 ? wide : (double)narrow;
        } else {
            *args[p].u.result_f32 = f64 ? (float)wide : narrow;
        }
    }
    return RUBUS_OK;
}

static void array_operands(const rubus_kernel *kernel, const rubus_arg *args,
                           rubus__operand *operand)
{
    for (int32_t i = 0; i < kernel->k->decl->nparam; i++) {
        memset(&operand[i], 0, sizeof(operand[i]));
        if (args[i].kind == RUBUS_ARG_ARRAY) {
            const rubus_array *a = args[i].u.array;
            operand[i].buffer = a->storage->buffer;
            operand[i].first_byte = rubus__array_first_byte(a);
            operand[i].nbyte = a->nbyte;
        }
    }
}

/* --- the call --------------------------------------------------------------------- */

/* Arrays that the kernel writes have new contents from now on. */
static void count_writes(const rubus_kernel *kernel, const rubus_arg *args)
{
    for (int32_t i = 0; i < kernel->k->decl->nparam; i++) {
        const rk_decl *decl = kernel->k->decl->param[i];
        if (args[i].kind == RUBUS_ARG_ARRAY &&
            (decl->is_result || decl->mode == RK_MODE_OUT ||
             decl->mode == RK_MODE_INOUT)) {
            args[i].u.array->storage->version++;
        }
    }
}

rubus_status rubus__launch_prepared(const rubus__prepared *prepared)
{
    const rubus__bound *bound = &prepared->bound;
    const rubus_kernel *kernel = bound->kernel;
    rubus_status st = rubus__launch_check_mapped(kernel, bound->args);
    if (st == RUBUS_OK) {
        st = prepare_results(kernel, bound->args, prepared->operand);
    }
    if (st == RUBUS_OK && kernel->module->error_buffer != NULL) {
        rubus__pending_add(kernel, prepared->argument);
    }
    if (st == RUBUS_OK) {
        count_writes(kernel, bound->args);
        st = rubus__launch_bound(bound);
    }
    if (st == RUBUS_OK && kernel->k->nresult > 0) {
        st = read_results(kernel, bound->args, prepared->operand);
    }
    return st;
}

/* Cuts `size` bytes, aligned to 16, off the working memory. */
static void *cut(char **memory, size_t size)
{
    void *p = *memory;
    *memory += (size + 15u) & ~(size_t)15u;
    return p;
}

size_t rubus__launch_room(const rubus_kernel *kernel)
{
    const size_t nparam = (size_t)kernel->k->decl->nparam;
    const size_t nbuffer = kernel->nbuffer_room;
    const size_t size = nparam * (sizeof(rk_argument) + sizeof(rubus__operand)) +
                        kernel->block_room + rk_binding_size(kernel->k) +
                        nbuffer * (sizeof(void *) + 2 * sizeof(uint64_t)) + 8u * 16u;
    return (size + 15u) & ~(size_t)15u;
}

rubus_status rubus__launch_prepare(char *memory, const rubus_kernel *kernel,
                                   const int64_t *lo, const int64_t *hi,
                                   const rubus_arg *args, size_t nargs,
                                   rubus__prepared *out)
{
    const size_t nparam = (size_t)kernel->k->decl->nparam;
    out->argument = cut(&memory, nparam * sizeof(rk_argument));
    out->operand = cut(&memory, nparam * sizeof(rubus__operand));
    rubus__bound *bound = &out->bound;
    bound->kernel = kernel;
    bound->args = args;
    bound->operand = out->operand;
    bound->block = cut(&memory, kernel->block_room);
    bound->buffer = cut(&memory, kernel->nbuffer_room * sizeof(void *));
    bound->first = cut(&memory, kernel->nbuffer_room * sizeof(uint64_t));
    bound->nbyte = cut(&memory, kernel->nbuffer_room * sizeof(uint64_t));
    rubus_status st = rubus__launch_check(kernel, args, nargs, out->argument);
    if (st == RUBUS_OK) {
        st = rk_bind(kernel->module->program, kernel->k, out->argument, lo, hi, memory,
                     &bound->binding);
    }
    if (st == RUBUS_OK) {
        array_operands(kernel, args, out->operand);
    }
    return st;
}

rubus_status rubus__launch_in(char *memory, const rubus_kernel *kernel, const int64_t *lo,
                              const int64_t *hi, const rubus_arg *args, size_t nargs)
{
    rubus_context *context = kernel->module->context;
    rubus__prepared prepared;
    rubus_status st =
        rubus__launch_prepare(memory, kernel, lo, hi, args, nargs, &prepared);
    if (st == RUBUS_OK) {
        st = rubus__enter(context, "rubus_launch");
    }
    if (st != RUBUS_OK) {
        return st;
    }
    return rubus__leave(context, rubus__launch_prepared(&prepared));
}

/* The text of rubus_module_kernel stays, if it is the last one. */
static rubus_status no_kernel(void)
{
    const char *text = rubus_error_text();
    if (strstr(text, "has no kernel `") != NULL ||
        strncmp(text, "rubus_module_kernel:", strlen("rubus_module_kernel:")) == 0) {
        return RUBUS_ENOTFOUND;
    }
    return rubus__fail(RUBUS_ENOTFOUND, "rubus_launch: the kernel is NULL; take it from "
                                        "rubus_module_kernel");
}

static rubus_status launch(const rubus_kernel *kernel, const int64_t *lo,
                           const int64_t *hi, const rubus_arg *args, size_t nargs)
{
    if (kernel == NULL) {
        return no_kernel();
    }
    const size_t size = rubus__launch_room(kernel);
    if (size <= STACK_BYTES) {
        _Alignas(16) char memory[STACK_BYTES];
        return rubus__launch_in(memory, kernel, lo, hi, args, nargs);
    }
    char *memory = rubus__alloc(size);
    if (memory == NULL) {
        return RUBUS_ENOMEM;
    }
    const rubus_status st = rubus__launch_in(memory, kernel, lo, hi, args, nargs);
    rubus__free(memory);
    return st;
}

rubus_status rubus_launch_args(const rubus_kernel *kernel, const rubus_arg *args,
                               size_t nargs)
{
    return launch(kernel, NULL, NULL, args, nargs);
}

rubus_status rubus_launch_range_args(const rubus_kernel *kernel, const int64_t *lo,
                                     const int64_t *hi, const rubus_arg *args,
                                     size_t nargs)
{
    if (kernel != NULL && (kernel->k->decl->nindex == 0 || lo == NULL || hi == NULL)) {
        return rubus__fail(
            RUBUS_EINVAL,
            kernel->k->decl->nindex == 0
                ? "kernel `%s` is a whole-array kernel: it has no range to "
                  "give; use rubus_launch"
                : "kernel `%s`: lo or hi of the range is NULL",
            kernel->k->decl->name);
    }
    return launch(kernel, lo, hi, args, nargs);
}
