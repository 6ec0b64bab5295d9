/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler for tools: check, explain and emit a source file without a device. Each
 * call compiles for itself and keeps nothing.
 */
#include "config.h"

#include "libcore/kernel/form_tree.h"
#include "libcore/runtime/runtime.h"

#include <rubus/compile.h>
#include <string.h>

#define SOURCE_MAX ((size_t)16 << 20u)

static rubus_status compile_file(const char *where, const char *path,
                                 const rubus_module_options *given, const char *dialect,
                                 rk_program **out_program)
{
    if (path == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: the path is NULL", where);
    }
    rubus_module_options o;
    memset(&o, 0, sizeof(o));
    if (given != NULL) {
        const rubus_status known = rubus__need_struct(where, "the options", given);
        if (known != RUBUS_OK) {
            return known;
        }
        memcpy(&o, given,
               given->struct_size < sizeof(o) ? given->struct_size : sizeof(o));
    }
    const rk_options options = {
        .real = o.real == 0 ? RUBUS_F64 : o.real,
        .index = o.index == 0 ? RUBUS_I32 : o.index,
        .check = o.check != 0,
        .fast = o.fast != 0,
        .dialect = dialect,
        .read = rubus__source_read,
    };
    char *text = NULL;
    size_t size = 0;
    rubus_status st = rubus__file_read(path, SOURCE_MAX, &text, &size);
    if (st == RUBUS_OK) {
        st = rk_compile(&options, path, text, size, out_program);
        rubus__free(text);
    }
    return st;
}

rubus_status rubus_source_check(const char *path, const rubus_module_options *options)
{
    rk_program *program = NULL;
    rubus_status st = compile_file("rubus_source_check", path, options, NULL, &program);
    if (st == RUBUS_OK) {
        rk_program_destroy(program);
    }
    return st;
}

rubus_status rubus_source_explain(const char *path, const rubus_module_options *options,
                                  int32_t json, char **out_text)
{
    if (out_text == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_source_explain: out_text is NULL");
    }
    rk_program *program = NULL;
    rubus_status st = compile_file("rubus_source_explain", path, options, "c", &program);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__text text;
    rubus__text_init(&text);
    rk_explain(program, json != 0, &text);
    rk_program_destroy(program);
    char *taken = rubus__text_take(&text);
    if (taken == NULL) {
        return rubus__fail(RUBUS_ENOMEM, "rubus_source_explain: out of memory");
    }
    *out_text = taken;
    return RUBUS_OK;
}

static rubus_status explain_form(rk_program *program, const char *name, int32_t ndim,
                                 bool json, rubus__text *text)
{
    const int32_t n = rk_form_components(program, name);
    const rk_form_desc desc = {ndim, n, n, -1, NULL};
    rk_form *form = NULL;
    rubus_status st = rk_form_build(program, name, &desc, &form);
    return st != RUBUS_OK ? st : rk_form_explain(form, json, text);
}

rubus_status rubus_source_explain_form(const char *path,
                                       const rubus_module_options *options,
                                       const char *form, int32_t ndim, int32_t json,
                                       char **out_text)
{
    static const char where[] = "rubus_source_explain_form";
    if (out_text == NULL || form == NULL) {
        return rubus__fail(RUBUS_EINVAL, "%s: %s is NULL", where,
                           form == NULL ? "the name of the form" : "out_text");
    }
    if (ndim < 1 || ndim > 3) {
        return rubus__fail(RUBUS_EINVAL, "%s: %d dimensions; a mesh has 1, 2 or 3", where,
                           (int)ndim);
    }
    rk_program *program = NULL;
    rubus_status st = compile_file(where, path, options, NULL, &program);
    if (st != RUBUS_OK) {
        return st;
    }
    rubus__text text;
    rubus__text_init(&text);
    st = explain_form(program, form, ndim, json != 0, &text);
    rk_program_destroy(program);
    if (st == RUBUS_OK) {
        *out_text = rubus__text_take(&text);
    }
    rubus__text_fini(&text);
    return st;
}

rubus_status rubus_source_emit(const char *path, const rubus_module_options *options,
                               const char *dialect, char **out_text)
{
    if (out_text == NULL || dialect == NULL) {
        return rubus__fail(RUBUS_EINVAL, "rubus_source_emit: %s is NULL",
                           dialect == NULL ? "the dialect" : "out_text");
    }
    rk_program *program = NULL;
    rubus_status st = compile_file("rubus_source_emit", path, options, dialect, &program);
    if (st != RUBUS_OK) {
        return st;
    }
    char *taken = rubus__strndup(program->text, program->text_size);
    rk_program_destroy(program);
    if (taken == NULL) {
        return RUBUS_ENOMEM; // the allocator has written the message
    }
    *out_text = taken;
    return RUBUS_OK;
}

void rubus_text_free(char *text)
{
    rubus__free(text);
}
