/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The compiler from outside: one call from text to a program. All memory of a compilation
 * lies in one arena that the program keeps; running out of it, or of the budget that
 * guards against sources that expand without end, comes back here by longjmp.
 */
#include "config.h"

#include "libcore/kernel/form_tree.h"
#include "libcore/kernel/program.h"

#include <setjmp.h>
#include <string.h>

/* Steps of lowering and expansion; a kernel of 1000 statements takes some 3 * 10^6. */
#define BUDGET 20000000

/* The deepest source takes 5.5 MiB of stack, and some times as much without optimisation
 * or with the frames of a sanitizer. */
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
#define FRAMES 1u
#else
#define FRAMES 6u
#endif
#define COMPILE_STACK ((size_t)(7u * FRAMES) << 20u)

static const rk_dialect *const dialect_list[] = {&rk_dialect_c, &rk_dialect_glsl,
                                                 &rk_dialect_opencl, &rk_dialect_rk};

typedef struct compilation {
    rk_program program;
    rk_unit unit;
    jmp_buf leave;
} compilation;

static const rk_dialect *dialect_find(const char *name)
{
    for (size_t i = 0; i < sizeof(dialect_list) / sizeof(dialect_list[0]); i++) {
        if (strcmp(dialect_list[i]->name, name) == 0) {
            return dialect_list[i];
        }
    }
    return NULL;
}

static void out_of_memory(void *user)
{
    rk_unit *unit = user;
    unit->status = RUBUS_ENOMEM;
    longjmp(*(jmp_buf *)unit->leave, 1);
}

const rk_embedded *rk_embedded_find(const char *name)
{
    for (const rk_embedded *e = rk_embedded_list; e->name != NULL; e++) {
        if (strcmp(e->name, name) == 0) {
            return e;
        }
    }
    return NULL;
}

char *rk_read_embedded(void *user, const char *importer, const char *name,
                       char **out_name, size_t *out_size, const char **out_reason)
{
    (void)user;
    (void)importer;
    const rk_embedded *e = rk_embedded_find(name);
    if (e == NULL) {
        *out_reason = "the library has no source of that name inside";
        return NULL;
    }
    *out_reason = "out of memory";
    char *text = rubus__strndup(e->text, e->size);
    *out_name = text == NULL ? NULL : rubus__strdup(e->name);
    if (text == NULL || *out_name == NULL) {
        rubus__free(text);
        return NULL;
    }
    *out_size = e->size;
    return text;
}

int32_t rk_param_type(const rk_program *program, const rk_decl *param)
{
    const rk_numbers *numbers = &program->unit->numbers;
    switch (param->type) {
    case RK_REAL:
        return numbers->f64 ? RUBUS_F64 : RUBUS_F32;
    case RK_INT:
        return numbers->int64 ? RUBUS_I64 : RUBUS_I32;
    default:
        return RUBUS_BOOL;
    }
}

static rk_source *source_new(rk_unit *unit, const char *name, const char *text,
                             size_t size)
{
    rk_source *source = RK_NEW(unit, rk_source);
    source->name = rubus__arena_strndup(unit->arena, name, strlen(name));
    char *copy =
        rk_new(unit, size + 1); /* whole: a NUL inside is for the lexer to report */
    memcpy(copy, text, size);
    source->text = copy;
    source->size = (int32_t)size;
    return source;
}

static void build_kernels(compilation *c)
{
    rk_unit *unit = &c->unit;
    rk_program *program = &c->program;
    program->kernel =
        rk_new(unit, ((size_t)unit->module.nkernel + 1u) * sizeof(rk_kernel));
    for (int32_t i = 0; i < unit->module.nkernel; i++) {
        rk_decl *decl = unit->module.kernel[i];
        if (decl->at.source->library) {
            continue;
        }
        rk_work *work = rk_work_build(unit, decl);
        rk_plan *plan = work == NULL ? NULL : rk_plan_build(work);
        if (plan == NULL) {
            continue;
        }
        rk_kernel *kernel = &program->kernel[program->nkernel++];
        kernel->decl = decl;
        kernel->work = work;
        kernel->plan = plan;
        kernel->result_param = rk_new(unit, (size_t)decl->nparam * sizeof(int32_t) + 1u);
        for (int32_t p = 0; p < decl->nparam; p++) {
            if (decl->param[p]->is_result) {
                kernel->result_param[kernel->nresult++] = p;
            }
        }
    }
}

static void make_key(rk_program *program, const rk_dialect *dialect)
{
    const rk_unit *unit = program->unit;
    const uint8_t flags[4] = {unit->numbers.f64, unit->numbers.int64, unit->check,
                              unit->fast};
    const rubus__part parts[] = {{dialect->name, strlen(dialect->name)},
                                 {&dialect->version, sizeof(dialect->version)},
                                 {flags, sizeof(flags)},
                                 {program->text, program->text_size}};
    rubus__sha256(parts, sizeof(parts) / sizeof(parts[0]), program->key);
}

static void emit(compilation *c, const rk_dialect *dialect)
{
    rk_program *program = &c->program;
    rk_layout(program);
    rubus__text *text = &c->unit.draft;
    dialect->emit(program, text);
    program->text_size = text->size;
    program->text = rubus__text_take(text);
    if (program->text == NULL) {
        out_of_memory(&c->unit);
    }
    make_key(program, dialect);
}

/* Ops and funcs once more as text, for modules that are made of them later. */
static void print_called(compilation *c)
{
    const rk_module *module = &c->unit.module;
    int32_t nown = 0;
    for (int32_t i = 0; i < module->nfunc; i++) {
        nown += module->func[i]->at.source->library ? 0 : 1;
    }
    if (nown == 0) {
        return;
    }
    rk_print_called(&c->unit, &c->unit.draft);
    c->program.called = rubus__text_take(&c->unit.draft);
    if (c->program.called == NULL) {
        out_of_memory(&c->unit);
    }
}

static void compile(compilation *c, const rk_dialect *dialect, const char *text,
                    size_t size)
{
    rk_unit *unit = &c->unit;
    rk_parse(unit, source_new(unit, c->program.name, text, size));
    if (unit->nerror > 0) {
        rk_give_up(unit); /* names and types of half a tree would only add noise */
    }
    rk_form_intern(unit);
    rk_library_parse(unit);
    rk_check_module(unit);
    build_kernels(c); /* also after errors: those of other kernels are reported too */
    if (unit->nerror > 0) {
        rk_give_up(unit);
    }
    c->program.needs_f64 = unit->numbers.f64;
    if (dialect != NULL) {
        emit(c, dialect);
        print_called(c);
    }
}

static rubus_status check_options(const rk_options *o, const rk_dialect *dialect,
                                  size_t size, const char *name)
{
    if ((o->real != RUBUS_F32 && o->real != RUBUS_F64) ||
        (o->index != RUBUS_I32 && o->index != RUBUS_I64)) {
        return rubus__fail(RUBUS_EINVAL, "%s: real must be f32 or f64, index i32 or i64",
                           name);
    }
    if (o->dialect != NULL && dialect == NULL) {
        return rubus__fail(RUBUS_EINVAL,
                           "%s: no kernel dialect `%s` (c, glsl, opencl, rk)", name,
                           o->dialect);
    }
    if (size > (size_t)16 << 20) {
        return rubus__fail(RUBUS_ELIMIT, "%s: %zu bytes of source; at most 16 MiB", name,
                           size);
    }
    return RUBUS_OK;
}

static void unit_init(compilation *c, const rk_options *o, const rk_dialect *dialect)
{
    rk_unit *unit = &c->unit;
    unit->numbers.f64 = o->real == RUBUS_F64;
    unit->numbers.int64 = o->index == RUBUS_I64;
    unit->check = o->check;
    unit->fast = o->fast;
    unit->dialect = dialect;
    unit->read = o->read;
    unit->read_user = o->read_user;
    unit->budget = BUDGET;
    unit->leave = &c->leave;
    c->program.unit = unit;
}

size_t rk_stack_need(const rk_program *program)
{
    return (size_t)program->unit->deepest * 1600u +
           (size_t)program->unit->call_height * 2400u;
}

typedef struct compile_call {
    compilation *c;
    const rk_dialect *dialect;
    const char *text;
    size_t size;
} compile_call;

static rubus_status compile_here(void *user)
{
    const compile_call *call = user;
    if (setjmp(call->c->leave) == 0) {
        compile(call->c, call->dialect, call->text, call->size);
        return RUBUS_OK;
    }
    return call->c->unit.status;
}

rubus_status rk_compile(const rk_options *options, const char *name, const char *text,
                        size_t size, rk_program **out_program)
{
    const rk_dialect *dialect =
        options->dialect == NULL ? NULL : dialect_find(options->dialect);
    rubus_status st = check_options(options, dialect, size, name);
    if (st != RUBUS_OK) {
        return st;
    }
    compilation *c = rubus__alloc(sizeof(*c));
    if (c == NULL) {
        return RUBUS_ENOMEM;
    }
    unit_init(c, options, dialect);
    c->program.name = rubus__strdup(name);
    c->unit.arena = rubus__arena_create(out_of_memory, &c->unit);
    rubus__text_init(&c->unit.messages);
    rubus__text_init(&c->unit.draft);
    rubus__text_init(&c->unit.body);
    if (c->program.name == NULL || c->unit.arena == NULL) {
        rk_program_destroy(&c->program);
        return RUBUS_ENOMEM;
    }
    compile_call call = {c, dialect, text, size};
    st = rubus__with_stack(COMPILE_STACK, compile_here, &call);
    if (st == RUBUS_OK) {
        *out_program = &c->program;
        return RUBUS_OK;
    }
    if (c->unit.status == RUBUS_ECOMPILE && !c->unit.messages.failed) {
        (void)rubus__fail(st, "%s", c->unit.messages.data);
    } else if (c->unit.status != RUBUS_OK) { /* else no stack to run on, as was told */
        st = rubus__fail(RUBUS_ENOMEM, "%s: out of memory while compiling", name);
    }
    rk_program_destroy(&c->program);
    return st;
}

void rk_program_destroy(rk_program *program)
{
    if (program == NULL) {
        return;
    }
    rk_unit *unit = program->unit;
    rubus__text_fini(&unit->messages);
    rubus__text_fini(&unit->draft);
    rubus__text_fini(&unit->body);
    rubus__free(program->text);
    rubus__free(program->called);
    rubus__free((char *)(uintptr_t)program->name);
    if (unit->arena != NULL) {
        rubus__arena_destroy(unit->arena);
    }
    rubus__free(program); /* the compilation begins with its program */
}
