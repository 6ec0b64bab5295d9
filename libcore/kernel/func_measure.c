/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a func amounts to: expressions and operations in it and in all it calls, whether
 * it is free of loops, how high its calls stack up. Each func is looked at once, after
 * those it calls; the walk keeps its own stack, so long chains of funcs do no harm.
 *
 * Operations are counted alike in per-point code and in passes: an operator or a built-in
 * function is one, a func of the user what its text holds (a loop once), and a func of
 * the library ten, a rough price of a transcendental function.
 */
#include "config.h"

#include "libcore/kernel/emit.h"
#include "libcore/kernel/lower.h"

#define MOST ((int64_t)1 << 40u)
#define LIBRARY_OPS 10

static int64_t add_up(int64_t a, int64_t b)
{
    return a + b < MOST ? a + b : MOST;
}

static bool is_call(const rk_expr *expr)
{
    return expr->decl != NULL && expr->decl->kind == RK_DECL_FUNC &&
           (expr->kind == RK_EXPR_CALL || expr->kind == RK_EXPR_POWER);
}

static int64_t ops_of(const rk_decl *func)
{
    return func->at.source->library ? LIBRARY_OPS : func->nop;
}

typedef struct sum {
    int64_t nexpr;
    int64_t nop;
    int32_t height; /* of the funcs called */
    bool straight;
} sum;

static void count_expr(void *user, rk_expr *expr)
{
    sum *s = user;
    s->nexpr = add_up(s->nexpr, 1);
    if (is_call(expr)) {
        s->nexpr = add_up(s->nexpr, expr->decl->weight);
        s->nop = add_up(s->nop, ops_of(expr->decl));
        s->straight = s->straight && expr->decl->straight;
        s->height = expr->decl->height > s->height ? expr->decl->height : s->height;
        return;
    }
    switch (expr->kind) {
    case RK_EXPR_CALL:
        s->nop = add_up(s->nop, expr->op != RK_OP_NONE && expr->op != RK_OP_TO_REAL &&
                                        expr->op != RK_OP_EXTENT
                                    ? 1
                                    : 0);
        break;
    case RK_EXPR_UNARY:
    case RK_EXPR_BINARY:
    case RK_EXPR_POWER:
    case RK_EXPR_SELECT:
        s->nop = add_up(s->nop, 1);
        break;
    default:
        break;
    }
}

/* `u += x` is an operation too. */
static void count_updates(const rk_stmt *stmt, sum *s)
{
    if (stmt == NULL) {
        return;
    }
    if ((stmt->kind == RK_STMT_ASSIGN && stmt->op != RK_OP_NONE) ||
        stmt->kind == RK_STMT_ATOMIC) {
        s->nop = add_up(s->nop, 1);
    }
    count_updates(stmt->init, s);
    count_updates(stmt->step, s);
    count_updates(stmt->then, s);
    count_updates(stmt->other, s);
    for (int32_t i = 0; i < stmt->nbody; i++) {
        count_updates(stmt->body[i], s);
    }
}

static sum sum_of(rk_stmt *body)
{
    sum s = {.straight =
                 !rk_stmt_has(body, RK_STMT_FOR) && !rk_stmt_has(body, RK_STMT_WHILE)};
    rk_visit_stmt(body, count_expr, &s);
    count_updates(body, &s);
    return s;
}

static void finish(rk_decl *func)
{
    const sum s = sum_of(func->body);
    func->weight = s.nexpr;
    func->nop = s.nop;
    func->straight = s.straight;
    func->height = s.height + 1;
    func->measured = true;
    func->measuring = false;
}

typedef struct step {
    rk_decl *func;
    int32_t next; /* the call to follow next */
} step;

static void measure(rk_unit *unit, rk_decl *func)
{
    step *stack = NULL;
    int32_t room = 0;
    int32_t depth = 0;
    rk_room(unit, (void **)&stack, &room, depth, sizeof(step));
    stack[depth++] = (step){func, 0};
    func->measuring = true;
    while (depth > 0) {
        step *top = &stack[depth - 1];
        if (top->func->measured || top->next == top->func->ncall) {
            finish(top->func);
            depth--;
            continue;
        }
        rk_decl *called = top->func->call[top->next++];
        if (!called->measured && !called->measuring) {
            called->measuring = true;
            rk_room(unit, (void **)&stack, &room, depth, sizeof(step));
            stack[depth++] = (step){called, 0};
        }
    }
}

int64_t rk_func_ops(rk_unit *unit, rk_decl *func)
{
    if (!func->measured) {
        measure(unit, func);
    }
    unit->call_height =
        func->height > unit->call_height ? func->height : unit->call_height;
    return ops_of(func);
}

int64_t rk_point_ops(rk_unit *unit, rk_decl *kernel)
{
    for (int32_t i = 0; i < kernel->ncall; i++) {
        (void)rk_func_ops(unit, kernel->call[i]);
    }
    return sum_of(kernel->body).nop;
}

int64_t rk_func_weight(const rk_decl *func, int64_t most)
{
    return func->weight <= most ? func->weight : most + 1;
}

bool rk_func_is_straight(const rk_decl *func)
{
    return func->straight;
}

/* --- lists of funcs ---------------------------------------------------------------- */

void rk_func_list_add(rk_func_list *list, const rk_decl *func)
{
    rk_unit *unit = list->unit;
    if (list->n == 0) {
        unit->func_list++; /* a new list: nobody is in it */
    }
    if (func->listed == unit->func_list) {
        return;
    }
    step *stack = NULL;
    int32_t room = 0;
    int32_t depth = 0;
    rk_room(unit, (void **)&stack, &room, depth, sizeof(step));
    stack[depth++] = (step){(rk_decl *)(uintptr_t)func, 0};
    while (depth > 0) {
        step *top = &stack[depth - 1];
        if (top->next < top->func->ncall) {
            rk_decl *called = top->func->call[top->next++];
            if (called->listed != unit->func_list) {
                rk_room(unit, (void **)&stack, &room, depth, sizeof(step));
                stack[depth++] = (step){called, 0};
            }
            continue;
        }
        depth--;
        if (top->func->listed != unit->func_list) {
            top->func->listed = unit->func_list;
            rk_room(unit, (void **)&list->func, &list->room, list->n, sizeof(rk_decl *));
            list->func[list->n++] = top->func;
        }
    }
}
