/* SPDX-License-Identifier: Apache-2.0 */
/* The interpreter as oracle; see conform_compare.h. */
#include "config.h"

#include "conform_compare.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_PARAMS = 40 };

/* --- extents, from the text ------------------------------------------------------- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (unsigned char)c > 127;
}

static int64_t symbol(const char *name, size_t size, const int64_t n[3])
{
    static const struct {
        const char *name;
        int dim;
    } known[] = {{"nx", 0}, {"ny", 1}, {"nz", 2}, {"n", 0}, {"m", 1}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (strlen(known[i].name) == size && strncmp(known[i].name, name, size) == 0) {
            return n[known[i].dim];
        }
    }
    conform_fail("a check of the suite uses the extent '%.*s', which it does not know",
                 (int)size, name);
}

/* The extent written at *at, up to its ',' or ']'; blank: that of the dimension. */
static int64_t read_extent(const char **at, int dim, const int64_t n[3])
{
    int64_t sum = 0;
    int64_t term = 1;
    int sign = 1;
    bool any = false;
    const char *c = *at;
    for (; *c != ',' && *c != ']'; c++) {
        if (*c == '+' || *c == '-') {
            sum += any ? sign * term : 0;
            sign = *c == '+' ? 1 : -1;
            term = 1;
        } else if (isdigit((unsigned char)*c)) {
            char *end = NULL;
            term *= strtoll(c, &end, 10);
            c = end - 1;
            any = true;
        } else if (in_word(*c)) {
            size_t size = 0;
            while (in_word(c[size])) {
                size++;
            }
            term *= symbol(c, size, n);
            c += size - 1;
            any = true;
        }
    }
    *at = c;
    return any ? sum + sign * term : n[dim];
}

/* The declaration of the kernel: from its name to the end of its parameters. */
static const char *find_kernel(const char *text, const char *kernel)
{
    const size_t size = strlen(kernel);
    for (const char *at = strstr(text, kernel); at != NULL; at = strstr(at + 1, kernel)) {
        if (at > text && at[-1] == ' ' && at[size] == '(') {
            return at + size;
        }
    }
    conform_fail("the text has no kernel %s", kernel);
}

static rubus_shape find_shape(const char *text, const char *kernel,
                              const rubus_kernel_param *param, const int64_t n[3])
{
    rubus_shape shape = {param->rank, 0, {1, 1, 1, 1}};
    const char *at = find_kernel(text, kernel);
    const size_t size = strlen(param->name);
    while (strncmp(at, param->name, size) != 0 || in_word(at[-1]) || at[size] != '[') {
        at++;
        conform_true(*at != '\0', "the text does not declare %s", param->name);
    }
    at += size + 1;
    for (int d = 0; d < param->rank; d++) {
        const int64_t extent = read_extent(&at, d, n);
        shape.n[d] = extent > 0 ? extent : 0;
        at++;
    }
    return shape;
}

/* --- values ----------------------------------------------------------------------- */

static double random_real(conform_dice *dice, const conform_case *c, bool f64)
{
    const double least = f64 ? 0x1p-1074 : 0x1p-149;
    const double largest = f64 ? DBL_MAX : (double)FLT_MAX;
    const double specials[] = {NAN,    INFINITY, -INFINITY,    -0.0,     least,
                               -least, largest,  -largest / 3, 5 * least};
    const int64_t how = conform_below(dice, 20);
    if (how == 0 && c->special) {
        return specials[conform_below(dice, 9)];
    }
    if (how < 5) {
        return (double)(conform_below(dice, 17) - 8) / 2;
    }
    if (how == 5) {
        return (conform_unit(dice) - 0.5) * 2e5;
    }
    return conform_unit(dice) * 8 - 4;
}

static int64_t random_int(conform_dice *dice)
{
    static const int64_t odd[] = {65537, -65536, INT32_MAX, INT32_MIN, 1000003};
    const int64_t how = conform_below(dice, 24);
    return how < 5 ? odd[how] : conform_below(dice, 41) - 20;
}

static void put_value(void *data, int64_t at, int32_t type, const char *name,
                      conform_dice *dice, const conform_case *c)
{
    int64_t whole = 0;
    switch (type) {
    case RUBUS_F64:
        ((double *)data)[at] = random_real(dice, c, true);
        break;
    case RUBUS_F32:
        ((float *)data)[at] = (float)random_real(dice, c, false);
        break;
    case RUBUS_BOOL:
        ((unsigned char *)data)[at] = (unsigned char)conform_below(dice, 2);
        break;
    default:
        whole = name[0] == 'p' ? (c->n[0] > 0 ? conform_below(dice, c->n[0]) : 0)
                               : random_int(dice);
        if (type == RUBUS_I32) {
            ((int32_t *)data)[at] = (int32_t)whole;
        } else {
            ((int64_t *)data)[at] = whole;
        }
        break;
    }
}

static void *random_data(int64_t count, int32_t type, const char *name,
                         conform_dice *dice, const conform_case *c)
{
    void *data = conform_memory((size_t)count * conform_type_size(type));
    for (int64_t i = 0; i < count; i++) {
        put_value(data, i, type, name, dice, c);
    }
    return data;
}

static rubus_arg random_scalar(int32_t type, conform_dice *dice)
{
    if (type == RUBUS_F64 || type == RUBUS_F32) {
        return rubus_arg_real((double)(conform_below(dice, 33) - 16) / 4);
    }
    return rubus_arg_integer(type == RUBUS_BOOL ? conform_below(dice, 2)
                                                : conform_below(dice, 4));
}

/* --- one run ---------------------------------------------------------------------- */

typedef struct run {
    uint32_t nparam;
    rubus_kernel_param param[MOST_PARAMS];
    rubus_arg arg[MOST_PARAMS];
    conform_window window[MOST_PARAMS];
    double result[MOST_PARAMS];
    rubus_status status;
    char text[300];
} run;

static void prepare_array(run *r, uint32_t i, rubus_context *context, rubus_shape shape,
                          conform_dice *dice, const conform_case *c)
{
    const rubus_kernel_param *p = &r->param[i];
    conform_window *w = &r->window[i];
    *w = conform_window_make(context, p->type, shape, (int)(i % 4));
    void *data = random_data(w->count, p->type, p->name, dice, c);
    conform_ok(rubus_array_write(w->array, data, rubus_array_nbyte(w->array)));
    free(data);
    r->arg[i] = rubus_arg_array(w->array);
}

static void launch_once(run *r, const conform_pair *pair, int side, const char *name,
                        const conform_case *c)
{
    const rubus_kernel *kernel = conform_kernel(pair->module[side], name);
    conform_dice dice = {c->seed};
    memset(r, 0, sizeof *r);
    r->nparam = rubus_kernel_param_count(kernel);
    conform_true(r->nparam <= MOST_PARAMS, "%s has too many parameters", name);
    for (uint32_t i = 0; i < r->nparam; i++) {
        rubus_kernel_param *p = &r->param[i];
        p->struct_size = sizeof *p;
        conform_ok(rubus_kernel_param_get(kernel, i, p));
        if (p->kind == RUBUS_PARAM_ARRAY) {
            prepare_array(r, i, pair->context[side],
                          find_shape(pair->text, name, p, c->n), &dice, c);
        } else if (p->kind == RUBUS_PARAM_RESULT) {
            r->result[i] = -12345;
            r->arg[i] = rubus_arg_result_f64(&r->result[i]);
        } else {
            r->arg[i] = random_scalar(p->type, &dice);
        }
    }
    r->status = rubus_launch_args(kernel, r->arg, r->nparam);
    if (r->status == RUBUS_OK) {
        r->status = rubus_context_synchronize(pair->context[side]);
    }
    if (r->status != RUBUS_OK) {
        snprintf(r->text, sizeof r->text, "%s", rubus_error_text());
    }
}

static void end_run(run *r, const char *name, bool check)
{
    for (uint32_t i = 0; i < r->nparam; i++) {
        if (r->param[i].kind == RUBUS_PARAM_ARRAY) {
            if (check) {
                conform_window_check(&r->window[i], name);
            }
            conform_window_destroy(&r->window[i]);
        }
    }
}

/* --- comparing -------------------------------------------------------------------- */

static bool same_element(const void *a, const void *b, int64_t i, int32_t type)
{
    const size_t size = conform_type_size(type);
    if (memcmp((const char *)a + (size_t)i * size, (const char *)b + (size_t)i * size,
               size) == 0) {
        return true;
    }
    return (type == RUBUS_F64 || type == RUBUS_F32) &&
           isnan(conform_real_at(a, type, i)) && isnan(conform_real_at(b, type, i));
}

static void print_value(char out[64], const void *data, int64_t i, int32_t type)
{
    if (type == RUBUS_F64 || type == RUBUS_F32) {
        const double x = conform_real_at(data, type, i);
        snprintf(out, 64, "%.17g (%a)", x, x);
    } else {
        const int64_t whole = type == RUBUS_I64   ? ((const int64_t *)data)[i]
                              : type == RUBUS_I32 ? ((const int32_t *)data)[i]
                                                  : ((const unsigned char *)data)[i];
        snprintf(out, 64, "%lld", (long long)whole);
    }
}

static bool differs(char *wrong, size_t room, const char *format, ...) RUBUS_PRINTF(3, 4);

static bool differs(char *wrong, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(wrong, room, format, args);
    va_end(args);
    return true;
}

static bool array_differs(const run *r, uint32_t i, char *wrong, size_t room)
{
    const rubus_kernel_param *p = &r[0].param[i];
    void *got = conform_contents(r[0].window[i].array);
    void *want = conform_contents(r[1].window[i].array);
    const int64_t count = r[0].window[i].count;
    bool found = false;
    for (int64_t k = 0; k < count && !found; k++) {
        if (!same_element(got, want, k, p->type)) {
            char text[2][64];
            print_value(text[0], got, k, p->type);
            print_value(text[1], want, k, p->type);
            found = differs(wrong, room, "element %lld of `%s` is %s, should be %s",
                            (long long)k, p->name, text[0], text[1]);
        }
    }
    free(got);
    free(want);
    return found;
}

static bool runs_differ(const run *r, char *wrong, size_t room)
{
    if (r[0].status != r[1].status) {
        return differs(wrong, room, "%s (%s), should be %s (%s)",
                       rubus_status_name(r[0].status), r[0].text,
                       rubus_status_name(r[1].status), r[1].text);
    }
    bool found = false;
    for (uint32_t i = 0; i < r[0].nparam && !found; i++) {
        const rubus_kernel_param *p = &r[0].param[i];
        if (p->kind == RUBUS_PARAM_ARRAY) {
            found = array_differs(r, i, wrong, room);
        } else if (p->kind == RUBUS_PARAM_RESULT &&
                   !same_element(&r[0].result[i], &r[1].result[i], 0, RUBUS_F64)) {
            found = differs(
                wrong, room, "result `%s` is %.17g (%a), should be %.17g (%a)", p->name,
                r[0].result[i], r[0].result[i], r[1].result[i], r[1].result[i]);
        }
    }
    return found;
}

bool conform_pair_same(conform_pair *pair, const char *kernel, const conform_case *c,
                       char *wrong, size_t room)
{
    run *r = conform_memory(2 * sizeof *r);
    for (int side = 0; side < 2; side++) {
        launch_once(&r[side], pair, side, kernel, c);
    }
    const bool differ = runs_differ(r, wrong, room);
    end_run(&r[0], kernel, true);
    end_run(&r[1], kernel, false);
    free(r);
    return !differ;
}

/* --- pairs ------------------------------------------------------------------------ */

void conform_pair_open(conform_pair *pair)
{
    memset(pair, 0, sizeof *pair);
    pair->context[0] = conform_open();
    pair->context[1] = conform_oracle();
}

void conform_pair_close(conform_pair *pair)
{
    for (int side = 0; side < 2; side++) {
        rubus_module_destroy(pair->module[side]);
        rubus_context_destroy(pair->context[side]);
    }
}

void conform_pair_build(conform_pair *pair, const char *text, int32_t real, int32_t index,
                        unsigned flags)
{
    const rubus_module_options options = {.struct_size = sizeof options,
                                          .real = real,
                                          .index = index,
                                          .check = (flags & CONFORM_CHECKED) != 0};
    pair->text = text;
    pair->real = real;
    pair->index = index;
    for (int side = 1; side >= 0; side--) {
        rubus_module_destroy(pair->module[side]);
        pair->module[side] = NULL;
        conform_ok(rubus_module_create(pair->context[side], "language.rk", text, &options,
                                       &pair->module[side]));
    }
}

static void compare_shapes(conform_pair *pair)
{
    static const int64_t shapes[][3] = {{6, 7, 5},  {4, 4, 4},  {1, 1, 1}, {2, 3, 1},
                                        {33, 5, 3}, {70, 9, 4}, {0, 2, 2}};
    const uint32_t n = rubus_module_kernel_count(pair->module[1]);
    for (uint32_t k = 0; k < n; k++) {
        const char *name = rubus_kernel_name(rubus_module_kernel_at(pair->module[1], k));
        const size_t nshape = sizeof shapes / sizeof shapes[0];
        // what is the interpreter anyway is compared with itself
        for (size_t s = 0; s < (conform_interprets() ? 3 : nshape); s++) {
            conform_case c = {.seed = conform_seed() + 1000 * k + s,
                              .special = s % 2 != 0};
            char wrong[600];
            memcpy(c.n, shapes[s], sizeof c.n);
            if (!conform_pair_same(pair, name, &c, wrong, sizeof wrong)) {
                conform_fail("kernel %s in %s, int of %d bits, nx %lld, ny %lld, nz "
                             "%lld: %s",
                             name, conform_type_name(pair->real),
                             pair->index == RUBUS_I64 ? 64 : 32, (long long)c.n[0],
                             (long long)c.n[1], (long long)c.n[2], wrong);
            }
        }
    }
}

void conform_compare(const char *text, int32_t index, unsigned flags)
{
    conform_pair pair;
    conform_pair_open(&pair);
    const bool f64 = conform_facts_now()->caps.fp64 != 0;
    for (int32_t real = RUBUS_F32; real <= (f64 ? RUBUS_F64 : RUBUS_F32); real++) {
        conform_pair_build(&pair, text, real, index, flags);
        compare_shapes(&pair);
    }
    conform_pair_close(&pair);
}
