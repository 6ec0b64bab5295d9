/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What can go wrong on the device and is found later: the error record of modules built
 * with checks, and, in validate mode, poisoned fresh memory and guard zones around every
 * buffer.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

#include <string.h>

/* --- error records of checked modules --------------------------------------------- */

static rubus_status report(const rubus_module *module, const int64_t *record)
{
    const rk_program *p = module->program;
    if (record[0] < 1 || record[0] > p->nsite) {
        return rubus__fail(RUBUS_EINTERNAL,
                           "%s: the error record of the module is damaged", p->name);
    }
    const rk_site *site = &p->site[record[0] - 1];
    const rubus_kernel *kernel = &module->kernel[site->kernel];
    int32_t line = 0;
    int32_t column = 0;
    rk_line_column(site->at_source, &line, &column);
    if (site->param < 0) {
        return rubus__fail(RUBUS_EBOUNDS,
                           "kernel `%s`: %s:%d:%d: index %lld is outside a local array; "
                           "the access was not made",
                           kernel->k->decl->name, site->at_source.source->name, (int)line,
                           (int)column, (long long)record[1]);
    }
    const rk_decl *array = kernel->k->decl->param[site->param];
    char index[96] = "";
    char extent[96] = "";
    for (int32_t d = 0; d < site->rank; d++) {
        const char *comma = d == 0 ? "" : ", ";
        rubus__snprintf(index + strlen(index), sizeof(index) - strlen(index), "%s%lld",
                        comma, (long long)record[1 + d]);
        rubus__snprintf(extent + strlen(extent), sizeof(extent) - strlen(extent),
                        "%s%lld", comma, (long long)kernel->extent[site->param][d]);
    }
    return rubus__fail(
        RUBUS_EBOUNDS,
        "kernel `%s`: %s:%d:%d: index [%s] is outside `%s`, whose extents are "
        "[%s]; the access was not made",
        kernel->k->decl->name, site->at_source.source->name, (int)line, (int)column,
        index, array->name, extent);
}

static rubus_status report_one(rubus_module *module)
{
    int64_t record[RK_ERROR_WORDS];
    const int64_t zero[RK_ERROR_WORDS] = {0};
    rubus_context *context = module->context;
    rubus_status st =
        rubus__read_bytes(context, module->error_buffer, 0, record, sizeof(record));
    if (st != RUBUS_OK || record[0] == 0) {
        return st;
    }
    st = rubus__write_bytes(context, module->error_buffer, 0, zero, sizeof(zero));
    return st != RUBUS_OK ? st : report(module, record);
}

/* Reads the record now, and keeps what it says for the next waiting call. The caller's
 * error text stays. */
static void report_later(rubus_module *module)
{
    rubus_context *context = module->context;
    if (context->lost) {
        return;
    }
    char *before =
        rubus_error_text()[0] != '\0' ? rubus__strdup(rubus_error_text()) : NULL;
    if (report_one(module) == RUBUS_EBOUNDS && !context->late) {
        context->late = true;
        context->late_error = rubus__error_take();
    }
    rubus__error_restore(before);
    rubus__free(before);
}

static rubus_status take_late(rubus_context *context)
{
    if (!context->late) {
        return RUBUS_OK;
    }
    context->late = false;
    const rubus_status st = rubus__fail(RUBUS_EBOUNDS, "%s",
                                        context->late_error != NULL
                                            ? context->late_error
                                            : "a kernel of a checked module left an "
                                              "array; there was no memory to keep the "
                                              "details");
    rubus__free(context->late_error);
    context->late_error = NULL;
    return st;
}

static bool extents_changed(const rubus_kernel *kernel, const rk_argument *argument)
{
    for (int32_t i = 0; i < kernel->k->decl->nparam; i++) {
        if (memcmp(kernel->extent[i], argument[i].n, sizeof(argument[i].n)) != 0) {
            return true;
        }
    }
    return false;
}

void rubus__pending_add(const rubus_kernel *kernel, const rk_argument *argument)
{
    rubus_module *module = kernel->module;
    if (extents_changed(kernel, argument)) {
        if (module->is_pending) {
            report_later(module); /* with the extents of the launches so far */
        }
        for (int32_t i = 0; i < kernel->k->decl->nparam; i++) {
            memcpy(kernel->extent[i], argument[i].n, sizeof(argument[i].n));
        }
    }
    if (!module->is_pending) {
        module->is_pending = true;
        module->next_pending = module->context->pending;
        module->context->pending = module;
    }
}

rubus_status rubus__report_checked(rubus_context *context)
{
    rubus_status result = RUBUS_OK;
    while (context->pending != NULL) {
        rubus_module *module = context->pending;
        const rubus_status st = report_one(module);
        context->pending = module->next_pending;
        module->is_pending = false;
        result = st == RUBUS_OK ? result : st; /* the oldest launch stands last */
    }
    const rubus_status late = take_late(context); /* older than all of these */
    return late == RUBUS_OK ? result : late;
}

void rubus__pending_remove(rubus_module *module)
{
    rubus_context *context = module->context;
    for (rubus_module **at = &context->pending; *at != NULL; at = &(*at)->next_pending) {
        if (*at == module) {
            *at = module->next_pending;
            module->is_pending = false;
            report_later(module);
            return;
        }
    }
}

/* --- validate mode ---------------------------------------------------------------- */

#define POISON_BYTE 0xA5
#define GUARD_BYTE 0x5A
#define CHUNK 65536u

static rubus_status write_bytes_of(rubus__storage *storage, uint64_t first, uint64_t n,
                                   const uint8_t *bytes)
{
    rubus__device *dev = storage->context->dev;
    rubus_status st = RUBUS_OK;
    while (st == RUBUS_OK && n > 0) {
        const uint64_t part = n < CHUNK ? n : CHUNK;
        st = RUBUS__SLOT_OF(
            dev, "write", dev->ops->write(dev->ctx, storage->buffer, first, bytes, part));
        first += part;
        n -= part;
    }
    return st;
}

rubus_status rubus__poison(rubus__storage *storage)
{
    if (storage->buffer == NULL) {
        return RUBUS_OK;
    }
    uint8_t *bytes = rubus__alloc(CHUNK);
    if (bytes == NULL) {
        return RUBUS_ENOMEM;
    }
    memset(bytes, GUARD_BYTE, CHUNK);
    rubus_status st = write_bytes_of(storage, 0, storage->base, bytes);
    if (st == RUBUS_OK) {
        st =
            write_bytes_of(storage, storage->base + storage->nbyte, storage->base, bytes);
    }
    /* 0xA5 repeated is no plausible number in any type; every eighth byte makes reals NaN
     * */
    memset(bytes, POISON_BYTE, CHUNK);
    for (uint32_t i = 3; i < CHUNK; i += 4) {
        bytes[i] = 0x7F;
        bytes[i - 1] = i % 8 == 7 ? 0xF5 : POISON_BYTE;
    }
    if (st == RUBUS_OK) {
        st = write_bytes_of(storage, storage->base, storage->nbyte, bytes);
    }
    storage->guarded = st == RUBUS_OK;
    rubus__free(bytes);
    return st;
}

static rubus_status guard_zone(rubus__storage *storage, uint64_t first, const char *side)
{
    uint8_t bytes[4096];
    rubus__device *dev = storage->context->dev;
    for (uint64_t done = 0; done < storage->base; done += sizeof(bytes)) {
        const uint64_t left = storage->base - done;
        const uint64_t n = left < sizeof(bytes) ? left : sizeof(bytes);
        const rubus_status st = RUBUS__SLOT_OF(
            dev, "read",
            dev->ops->read(dev->ctx, storage->buffer, first + done, bytes, n));
        if (st != RUBUS_OK) {
            return st;
        }
        for (uint64_t i = 0; i < n; i++) {
            if (bytes[i] != GUARD_BYTE) {
                const uint64_t at = first + done + i;
                const uint64_t edge = storage->base + storage->nbyte;
                return rubus__fail(RUBUS_EINTERNAL,
                                   "validate: something wrote %s an array of %llu bytes, "
                                   "%llu bytes from "
                                   "its edge; a kernel or the backend left its memory",
                                   side, (unsigned long long)storage->nbyte,
                                   (unsigned long long)(at < storage->base
                                                            ? storage->base - at
                                                            : at - edge + 1));
            }
        }
    }
    return RUBUS_OK;
}

rubus_status rubus__guards_check(rubus__storage *storage)
{
    if (!storage->guarded) {
        return RUBUS_OK;
    }
    const rubus_status st = guard_zone(storage, 0, "before");
    return st != RUBUS_OK ? st
                          : guard_zone(storage, storage->base + storage->nbyte, "behind");
}

rubus_status rubus__guards_check_all(rubus_context *context)
{
    for (rubus__storage *s = context->storages; s != NULL; s = s->next) {
        const rubus_status st = rubus__guards_check(s);
        if (st != RUBUS_OK) {
            return st;
        }
    }
    return RUBUS_OK;
}
