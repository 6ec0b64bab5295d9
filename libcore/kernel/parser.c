/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declarations and imports.
 *
 * A recursive-descent parser over the tokens of one source: one function a rule, the rule
 * above it. How it goes on after an error is told in parser.h; tokens, expressions and
 * statements are in the files beside this one.
 */
#include "config.h"

#include "libcore/kernel/parser.h"

#include <setjmp.h>
#include <string.h>

enum { SOURCE_MAX = 16 * 1024 * 1024, IMPORT_DEPTH_MAX = 64, RANK_MAX = 3 };

/* --- parts of declarations ---------------------------------------------------------- */

static void refuse_rank(rk_parser *p, rk_span at, const char *what)
{
    rk_error(p->unit, RK_TOO_MANY_DIMENSIONS, at, "use at most three", "too many %s",
             what);
}

/* "[" [ expr ] { "," [ expr ] } "]" */
static void parse_extents(rk_parser *p, rk_decl *param)
{
    const rk_span open = rk_parser_peek(p)->at;
    rk_parser_expect(p, "[");
    param->has_brackets = true;
    int32_t rank = 0;
    do {
        rk_expr *extent = NULL;
        if (!rk_parser_is(p, ",") && !rk_parser_is(p, "]")) {
            extent = rk_parse_expr(p);
        }
        if (rank < RANK_MAX) {
            param->extent[rank] = extent;
        }
        rank++;
    } while (rk_parser_accept(p, ","));
    const rk_span end = rk_parser_peek(p)->at;
    rk_parser_expect(p, "]");
    if (rank > RANK_MAX) {
        refuse_rank(p, rk_span_join(open, end), "dimensions");
        rank = RANK_MAX;
    }
    param->rank = rank;
}

/* param = [ "in" | "out" | "inout" ] ( scalar | "index" ) NAME
 *         [ "[" [ expr ] { "," [ expr ] } "]" ] */
static rk_decl *parse_param(rk_parser *p)
{
    const rk_mode mode = rk_parser_accept(p, "in")      ? RK_MODE_IN
                         : rk_parser_accept(p, "out")   ? RK_MODE_OUT
                         : rk_parser_accept(p, "inout") ? RK_MODE_INOUT
                                                        : RK_MODE_NONE;
    const bool is_index = rk_parser_accept(p, "index");
    const rk_type type = is_index ? RK_INT : rk_parser_scalar(p);
    rk_decl *param =
        rk_parser_decl(p, RK_DECL_PARAM, rk_parser_name(p, "the name of a parameter"));
    param->type = type;
    param->is_index = is_index;
    param->mode = mode;
    if (rk_parser_is(p, "[")) {
        parse_extents(p, param);
    }
    param->is_result = mode == RK_MODE_OUT && !param->has_brackets;
    return param;
}

/* oparam = NAME [ "[" { "," } "]" ] */
static rk_decl *parse_op_param(rk_parser *p)
{
    rk_decl *param =
        rk_parser_decl(p, RK_DECL_OPPARAM, rk_parser_name(p, "the name of a parameter"));
    if (!rk_parser_is(p, "[")) {
        return param;
    }
    rk_span at = rk_parser_next(p)->at;
    param->has_brackets = true;
    param->rank = 1;
    while (rk_parser_accept(p, ",")) {
        param->rank++;
    }
    at = rk_span_join(at, rk_parser_peek(p)->at);
    if (!rk_parser_accept(p, "]")) {
        rk_parser_expected(p, "`,` or `]`",
                           "parameters of an op have a rank only: A[,] is one of rank 2");
    }
    if (param->rank > RANK_MAX) {
        refuse_rank(p, at, "dimensions");
        param->rank = RANK_MAX;
    }
    return param;
}

static void add_param(rk_parser *p, rk_decl *owner, rk_decl *param)
{
    param->number = owner->nparam;
    owner->param = rk_grow(p->unit, owner->param, owner->nparam, sizeof *owner->param);
    owner->param[owner->nparam++] = param;
}

/* "(" [ param { "," param } ] ")", for ops and funcs with their own rules of one */
void rk_parse_params(rk_parser *p, rk_decl *owner, rk_decl *(*parse_one)(rk_parser *))
{
    rk_parser_expect(p, "(");
    if (!rk_parser_is(p, ")")) {
        do {
            rk_decl *param = parse_one(p);
            if (!p->panic) {
                add_param(p, owner, param);
            }
        } while (rk_parser_accept(p, ","));
    }
    if (!rk_parser_accept(p, ")")) {
        rk_parser_expected(p, "`,` or `)`", NULL);
    }
}

/* Ends a panic in a header: skips to before its body, a block or (`value`) what follows a
 * `=`. Without one it stays in panic and returns false. */
static bool recover_to_body(rk_parser *p, bool value)
{
    if (!p->panic) {
        return true;
    }
    p->panic = false;
    while (rk_parser_peek(p)->kind != RK_TOKEN_END && !rk_parser_is(p, "{") &&
           !rk_parser_is(p, "}") && !(value && rk_parser_is(p, "=")) &&
           !rk_parser_at_declaration(p)) {
        p->fields = p->fields && !rk_parser_is(p, "over");
        rk_parser_next(p);
    }
    p->panic = !rk_parser_is(p, "{") && !rk_parser_is(p, "=");
    return !p->panic;
}

rk_decl *rk_parser_begin(rk_parser *p, rk_decl_kind kind, const rk_token *name,
                         bool fields)
{
    rk_decl *decl = rk_parser_decl(p, kind, name);
    decl->number = p->unit->next_id++;
    p->fields = fields;
    p->form = kind == RK_DECL_FORM;
    p->nlocal = 0;
    p->nest = 0;
    p->depth = 0;
    return decl;
}

/* --- declarations ------------------------------------------------------------------- */

/* range = NAME [ "in" expr ":" expr ] */
static rk_decl *parse_range(rk_parser *p)
{
    rk_decl *index =
        rk_parser_decl(p, RK_DECL_INDEX, rk_parser_name(p, "the name of an index"));
    index->type = RK_INT;
    if (rk_parser_accept(p, "in")) {
        index->lo = rk_parse_expr(p);
        rk_parser_expect(p, ":");
        index->hi = rk_parse_expr(p);
    }
    return index;
}

/* "over" "(" range { "," range } ")" */
static void parse_over(rk_parser *p, rk_decl *kernel)
{
    const rk_span at = rk_parser_next(p)->at;
    rk_parser_expect(p, "(");
    int32_t count = 0;
    do {
        rk_decl *index = parse_range(p);
        if (count < RANK_MAX) {
            index->number = count;
            kernel->index[count] = index;
            kernel->nindex = count + 1;
        }
        count++;
    } while (rk_parser_accept(p, ","));
    rk_parser_expect(p, ")");
    if (count > RANK_MAX) {
        refuse_rank(p, at, "indices");
    }
}

static void add_kernel(rk_parser *p, rk_decl *kernel)
{
    rk_module *module = &p->unit->module;
    module->kernel =
        rk_grow(p->unit, module->kernel, module->nkernel, sizeof *module->kernel);
    module->kernel[module->nkernel++] = kernel;
}

/* kernel = "kernel" NAME "(" [ params ] ")" ( array | "over" "(" range ... ")" block ) */
static void parse_kernel(rk_parser *p)
{
    rk_parser_next(p);
    const rk_token *name = rk_parser_name(p, "the name of a kernel");
    rk_decl *kernel = rk_parser_begin(p, RK_DECL_KERNEL, name, true);
    rk_parse_params(p, kernel, parse_param);
    if (rk_parser_is(p, "over")) {
        p->fields = false;
        parse_over(p, kernel);
    } else if (!p->panic && !rk_parser_is(p, "{")) {
        rk_parser_expected(p, "`{` or `over`", NULL);
    }
    if (recover_to_body(p, false)) {
        kernel->body = rk_parse_block(p);
        add_kernel(p, kernel);
    }
}

/* reduce = "reduce" ( "sum" | "max" | "min" ) NAME "(" params ")" "=" expr ";"
 * Becomes a kernel with a last parameter of its own name: NAME = sum(expr); */
static void parse_reduce(rk_parser *p)
{
    rk_parser_next(p);
    const rk_token *fold = rk_parser_peek(p);
    if (fold->kind == RK_TOKEN_NAME &&
        (strcmp(fold->name, "sum") == 0 || strcmp(fold->name, "max") == 0 ||
         strcmp(fold->name, "min") == 0)) {
        rk_parser_next(p);
    } else {
        rk_parser_expected(p, "`sum`, `max` or `min`", NULL);
    }
    const rk_token *name = rk_parser_name(p, "the name of a reduction");
    rk_decl *kernel = rk_parser_begin(p, RK_DECL_KERNEL, name, true);
    kernel->from_reduce = true;
    rk_parse_params(p, kernel, parse_param);
    recover_to_body(p, true);
    rk_parser_expect(p, "=");
    rk_expr *value = rk_parse_expr(p);
    rk_parser_expect_semicolon(p, NULL);
    if (p->panic) {
        return;
    }
    rk_decl *result = rk_parser_decl(p, RK_DECL_PARAM, name);
    result->type = RK_REAL;
    result->mode = RK_MODE_OUT;
    result->is_result = true;
    add_param(p, kernel, result);
    rk_stmt *assign = rk_new_stmt(p, RK_STMT_ASSIGN, value->at);
    assign->target = rk_new_expr(p, RK_EXPR_NAME, name->at);
    assign->target->name = name->name;
    assign->value = rk_new_expr(p, RK_EXPR_CALL, rk_span_join(fold->at, value->at));
    assign->value->name = fold->name;
    assign->value->narg = 1;
    assign->value->arg = rk_grow(p->unit, NULL, 0, sizeof *assign->value->arg);
    assign->value->arg[0] = value;
    kernel->body = rk_new_stmt(p, RK_STMT_BLOCK, value->at);
    rk_block_add(p, kernel->body, assign);
    add_kernel(p, kernel);
}

/* "=" expr ";" | "{" { let } "return" expr ";" "}" */
void rk_parse_value_body(rk_parser *p, rk_decl *decl)
{
    recover_to_body(p, true);
    if (rk_parser_is(p, "{")) {
        decl->body = rk_parse_op_body(p);
        return;
    }
    rk_parser_expect(p, "=");
    rk_expr *value = rk_parse_expr(p);
    rk_parser_expect_semicolon(p, NULL);
    decl->body = rk_new_stmt(p, RK_STMT_BLOCK, value->at);
    rk_stmt *result = rk_new_stmt(p, RK_STMT_RETURN, value->at);
    result->value = value;
    rk_block_add(p, decl->body, result);
}

/* op = "op" NAME "(" oparam { "," oparam } ")"
 *      ( "=" expr ";" | "{" { let } "return" expr ";" "}" ) */
static void parse_op(rk_parser *p)
{
    rk_parser_next(p);
    const rk_token *name = rk_parser_name(p, "the name of an op");
    rk_decl *op = rk_parser_begin(p, RK_DECL_OP, name, true);
    rk_parse_params(p, op, parse_op_param);
    rk_parse_value_body(p, op);
    if (p->panic) {
        return;
    }
    rk_module *module = &p->unit->module;
    module->op = rk_grow(p->unit, module->op, module->nop, sizeof *module->op);
    module->op[module->nop++] = op;
}

/* scalar NAME */
static rk_decl *parse_func_param(rk_parser *p)
{
    const rk_type type = rk_parser_scalar(p);
    rk_decl *param =
        rk_parser_decl(p, RK_DECL_PARAM, rk_parser_name(p, "the name of a parameter"));
    param->type = type;
    if (rk_parser_is(p, "[")) {
        rk_parser_expected(p, "`,` or `)`", "parameters of a func are scalars");
    }
    return param;
}

/* func = "func" scalar NAME "(" [ scalar NAME { "," scalar NAME } ] ")" block */
static void parse_func(rk_parser *p)
{
    rk_parser_next(p);
    const rk_type type = rk_parser_scalar(p);
    const rk_token *name = rk_parser_name(p, "the name of a func");
    rk_decl *func = rk_parser_begin(p, RK_DECL_FUNC, name, false);
    func->type = type;
    rk_parse_params(p, func, parse_func_param);
    if (!recover_to_body(p, false)) {
        return;
    }
    func->body = rk_parse_block(p);
    rk_module *module = &p->unit->module;
    module->func = rk_grow(p->unit, module->func, module->nfunc, sizeof *module->func);
    module->func[module->nfunc++] = func;
}

/* --- imports ------------------------------------------------------------------------ */

static void add_source(rk_unit *unit, rk_source *source)
{
    unit->source = rk_grow(unit, unit->source, unit->nsource, sizeof *unit->source);
    unit->source[unit->nsource++] = source;
}

typedef struct import_file { /* what a read function gave: heap strings */
    char *text;
    char *name;
    size_t size;
} import_file;

static rk_source *copy_source(rk_unit *unit, const import_file *file, const char *name,
                              bool library)
{
    rk_source *source = RK_NEW(unit, rk_source);
    source->name = rubus__arena_strndup(unit->arena, name, strlen(name));
    char *text = rk_new(unit, file->size + 1);
    memcpy(text, file->text, file->size);
    source->text = text;
    source->size = (int32_t)file->size;
    source->library = library;
    return source;
}

/* copy_source, and frees the heap strings also when memory runs out on the way. */
static rk_source *take_source(rk_unit *unit, import_file file, const char *name,
                              bool library)
{
    void *leave = unit->leave;
    jmp_buf here;
    unit->leave = &here;
    rk_source *volatile source = NULL;
    if (setjmp(here) == 0) {
        source = copy_source(unit, &file, file.name != NULL ? file.name : name, library);
    }
    unit->leave = leave;
    rubus__free(file.text);
    rubus__free(file.name);
    if (source == NULL) {
        longjmp(*(jmp_buf *)leave, 1);
    }
    return source;
}

static bool was_read(const rk_unit *unit, const rk_source *source)
{
    for (int32_t i = 0; i < unit->nsource; i++) {
        if (strcmp(unit->source[i]->name, source->name) == 0 &&
            unit->source[i]->library == source->library) {
            return true;
        }
    }
    return false;
}

static void import_failed(rk_parser *p, const rk_token *name, const char *reason)
{
    const bool built_in = strcmp(name->name, "fd.rk") == 0 ||
                          strcmp(name->name, "grid.rk") == 0 ||
                          strcmp(name->name, "math.rk") == 0;
    rk_error(p->unit, RK_IMPORT_FAILED, name->at,
             built_in ? "it is always imported: remove the line"
                      : "give the path of the file, seen from the folder of this one",
             "cannot import `%s`: %s", name->name, reason);
}

static void import_source(rk_parser *p, const rk_token *name)
{
    rk_unit *unit = p->unit;
    if (unit->import_depth >= IMPORT_DEPTH_MAX) {
        import_failed(p, name, "imports are nested too deep");
        return;
    }
    import_file file = {NULL, NULL, 0};
    const char *reason = "this program does not read files";
    if (unit->read != NULL) {
        reason = "it cannot be read";
        file.text = unit->read(unit->read_user, p->source->name, name->name, &file.name,
                               &file.size, &reason);
    }
    if (file.text == NULL) {
        import_failed(p, name, reason);
        return;
    }
    if (file.size > SOURCE_MAX) {
        rubus__free(file.text);
        rubus__free(file.name);
        import_failed(p, name, "it is larger than 16 MiB");
        return;
    }
    rk_source *source = take_source(unit, file, name->name, p->source->library);
    if (!was_read(unit, source)) {
        unit->import_depth++;
        rk_parse(unit, source);
        unit->import_depth--;
    }
}

/* "import" STRING ";" */
static void parse_import(rk_parser *p)
{
    rk_parser_next(p);
    const rk_token *name = rk_parser_peek(p);
    if (name->kind != RK_TOKEN_STRING) {
        rk_parser_expected(p, "the name of a file", "write it between quotes: \"a.rk\"");
        return;
    }
    rk_parser_next(p);
    rk_parser_expect_semicolon(p, NULL);
    import_source(p, name);
}

/* --- modules ------------------------------------------------------------------------ */

static void add_form(rk_parser *p, rk_decl *form)
{
    rk_module *module = &p->unit->module;
    if (form != NULL) {
        module->form =
            rk_grow(p->unit, module->form, module->nform, sizeof *module->form);
        module->form[module->nform++] = form;
    }
}

static void no_declaration(rk_parser *p)
{
    static const char *const words[] = {"kernel", "reduce", "op",
                                        "func",   "form",   "import"};
    const rk_token *token = rk_parser_peek(p);
    const char *near = NULL;
    if (token->kind == RK_TOKEN_NAME) {
        near = rubus__nearest(token->name, words, sizeof words / sizeof *words);
    }
    const char *cure = rk_token_is(token, "}") ? "one `}` too many" : NULL;
    if (near != NULL) {
        cure = rubus__arena_format(p->unit->arena, "did you mean `%s`?", near);
    }
    rk_parser_expected(p, "`kernel`, `reduce`, `op`, `func`, `form` or `import`", cure);
}

/* kernel | reduce | op | func | form | import, recovering at the next one */
static void parse_declaration(rk_parser *p)
{
    const int32_t first = p->at;
    if (rk_parser_is(p, "kernel")) {
        parse_kernel(p);
    } else if (rk_parser_is(p, "reduce")) {
        parse_reduce(p);
    } else if (rk_parser_is(p, "op")) {
        parse_op(p);
    } else if (rk_parser_is(p, "func")) {
        parse_func(p);
    } else if (rk_parser_at_form(p)) {
        add_form(p, rk_parse_form(p));
    } else if (rk_parser_is(p, "import")) {
        parse_import(p);
    } else {
        no_declaration(p);
    }
    if (!p->panic) {
        return;
    }
    p->panic = false;
    while (rk_parser_peek(p)->kind != RK_TOKEN_END &&
           (p->at == first || !rk_parser_at_declaration(p))) {
        rk_parser_next(p);
    }
}

void rk_parse_part(rk_unit *unit, const rk_source *source, int32_t first, int32_t last)
{
    int32_t count = 0;
    rk_parser parser = {.unit = unit,
                        .source = source,
                        .token = rk_lex(unit, source, first, last, &count),
                        .error_at = -1};
    parser.end = parser.token[count - 1];
    while (rk_parser_peek(&parser)->kind != RK_TOKEN_END) {
        parse_declaration(&parser);
        rk_stop_if_many(unit);
    }
}

void rk_parse(rk_unit *unit, const rk_source *source)
{
    rk_source *listed = RK_NEW(unit, rk_source);
    *listed = *source;
    add_source(unit, listed);
    rk_parse_part(unit, listed, 0, listed->size);
}
