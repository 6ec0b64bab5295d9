/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Check Q12: random programs of kernels, fills, copies, writes, mappings and reads on
 * windows of a few buffers, beside a model on the host. A program that goes wrong is made
 * smaller by leaving commands out, and printed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check_order.h"

enum { NBUFFER = 8, NWINDOW = 4, WINDOW = 700, NCOMMAND = 120 };
/* Windows of a buffer overlap their neighbours, so that ranges matter. */
enum { BUFFER = WINDOW + (NWINDOW - 1) * 512 };

typedef enum { ADD, MORE, PUT, FILL, COPY, WRITE, MAP, READ, NKIND } kind;

typedef struct command {
    kind kind;
    int at[3]; // windows: number of the buffer * NWINDOW + of the window
    int32_t value;
    bool dropped;
} command;

typedef struct model {
    order_kit kit;
    rubus_array *buffer[NBUFFER];
    rubus_array *window[NBUFFER * NWINDOW];
    int32_t data[NBUFFER][BUFFER];
    command program[NCOMMAND];
    char wrong[256]; // what differed in the last run
} model;

static int32_t *data_of(model *m, int window)
{
    return m->data[window / NWINDOW] + window % NWINDOW * 512;
}

/* --- running ---------------------------------------------------------------------- */

static bool same(model *m, int number, const int32_t *got, const int32_t *want, int n)
{
    for (int i = 0; i < n; i++) {
        if (got[i] != want[i]) {
            snprintf(m->wrong, sizeof m->wrong,
                     "command %d: element %d is %d, should be %d", number, i, got[i],
                     want[i]);
            return false;
        }
    }
    return true;
}

static void run_on_host(model *m, const command *c)
{
    int32_t *u = data_of(m, c->at[0]);
    const int32_t *a = data_of(m, c->at[1]);
    const int32_t *b = data_of(m, c->at[2]);
    for (int i = 0; i < WINDOW; i++) {
        switch (c->kind) {
        case ADD:
            u[i] = (int32_t)((uint32_t)a[i] + (uint32_t)c->value * (uint32_t)b[i]);
            break;
        case MORE:
            u[i] = (int32_t)((uint32_t)u[i] + (uint32_t)c->value);
            break;
        case PUT:
        case WRITE:
        case MAP:
            u[i] = c->value + i;
            break;
        case FILL:
            u[i] = c->value;
            break;
        case COPY:
            u[i] = a[i];
            break;
        default:
            break;
        }
    }
}

static bool run_on_device(model *m, const command *c, int number)
{
    rubus_array *u = m->window[c->at[0]];
    rubus_array *a = m->window[c->at[1]];
    int32_t host[WINDOW];
    void *mapped = NULL;
    bool good = true;
    for (int i = 0; i < WINDOW; i++) {
        host[i] = c->value + i;
    }
    switch (c->kind) {
    case ADD:
        conform_ok(rubus_launch(m->kit.add, u, a, m->window[c->at[2]], c->value));
        break;
    case MORE:
        conform_ok(rubus_launch(m->kit.more, u, c->value));
        break;
    case PUT:
        conform_ok(rubus_launch(m->kit.slow_put, u, c->value, m->kit.turns, 0));
        break;
    case FILL:
        conform_ok(rubus_array_fill(u, c->value));
        break;
    case COPY:
        conform_ok(rubus_array_copy(u, a));
        break;
    case WRITE:
        conform_ok(rubus_array_write(u, host, sizeof host));
        break;
    case MAP:
        conform_ok(rubus_array_map(u, RUBUS_READ | RUBUS_WRITE, &mapped));
        good = same(m, number, mapped, data_of(m, c->at[0]), WINDOW);
        memcpy(mapped, host, sizeof host);
        conform_ok(rubus_array_unmap(u));
        break;
    default:
        conform_ok(rubus_array_read(u, host, sizeof host));
        good = same(m, number, host, data_of(m, c->at[0]), WINDOW);
        break;
    }
    return good;
}

/* True if the device and the host agree all along. */
static bool run_program(model *m)
{
    bool good = true;
    for (int i = 0; i < NBUFFER; i++) {
        memset(m->data[i], 0, sizeof m->data[i]);
        conform_ok(rubus_array_fill(m->buffer[i], 0));
    }
    for (int i = 0; i < NCOMMAND && good; i++) {
        if (!m->program[i].dropped) {
            good = run_on_device(m, &m->program[i], i);
            run_on_host(m, &m->program[i]);
        }
    }
    for (int i = 0; i < NBUFFER; i++) {
        int32_t *got = conform_contents(m->buffer[i]);
        good = good && same(m, NCOMMAND, got, m->data[i], BUFFER);
        free(got);
    }
    return good;
}

/* --- making and shrinking --------------------------------------------------------- */

static bool overlap(int a, int b)
{
    return a / NWINDOW == b / NWINDOW && abs(a - b) * 512 < WINDOW;
}

static void make_program(model *m, conform_dice *dice)
{
    for (int i = 0; i < NCOMMAND; i++) {
        command *c = &m->program[i];
        memset(c, 0, sizeof *c);
        c->kind = (kind)conform_below(dice, NKIND);
        c->value = (int32_t)conform_below(dice, 1000) - 500;
        c->at[0] = (int)conform_below(dice, NBUFFER * NWINDOW);
        for (int k = 1; k < 3; k++) {
            do {
                c->at[k] = (int)conform_below(dice, NBUFFER * NWINDOW);
            } while (overlap(c->at[0], c->at[k]));
        }
    }
}

static bool still_wrong(model *m)
{
    for (int attempt = 0; attempt < 3; attempt++) {
        if (!run_program(m)) {
            return true;
        }
    }
    return false;
}

static void shrink(model *m)
{
    for (int size = NCOMMAND / 2; size > 0; size /= 2) {
        for (int first = 0; first < NCOMMAND; first += size) {
            bool before[NCOMMAND];
            for (int i = 0; i < NCOMMAND; i++) {
                before[i] = m->program[i].dropped;
                m->program[i].dropped = before[i] || (i >= first && i < first + size);
            }
            if (!still_wrong(m)) {
                for (int i = 0; i < NCOMMAND; i++) {
                    m->program[i].dropped = before[i];
                }
            }
        }
    }
}

static void print_program(const model *m, char *out, size_t room)
{
    static const char *const names[NKIND] = {"add",  "more",  "slow_put", "fill",
                                             "copy", "write", "map",      "read"};
    size_t used = 0;
    for (int i = 0; i < NCOMMAND && used + 80 < room; i++) {
        const command *c = &m->program[i];
        if (!c->dropped) {
            used += (size_t)snprintf(
                out + used, room - used, "\n%3d %s b%d.%d b%d.%d b%d.%d %d", i,
                names[c->kind], c->at[0] / NWINDOW, c->at[0] % NWINDOW,
                c->at[1] / NWINDOW, c->at[1] % NWINDOW, c->at[2] / NWINDOW,
                c->at[2] % NWINDOW, c->value);
        }
    }
}

static void run_programs(int n)
{
    model *m = conform_memory(sizeof *m);
    conform_dice dice = {conform_seed()};
    order_kit_open(&m->kit);
    m->kit.turns = conform_interprets() ? 5 : 2000;
    for (int i = 0; i < NBUFFER; i++) {
        m->buffer[i] = order_ints(&m->kit, BUFFER);
        for (int w = 0; w < NWINDOW; w++) {
            conform_ok(rubus_array_view(m->buffer[i], w * 512, RUBUS_SHAPE(WINDOW),
                                        &m->window[i * NWINDOW + w]));
        }
    }
    for (int number = 0; number < n; number++) {
        make_program(m, &dice);
        if (!run_program(m)) {
            char first[256];
            char text[3000] = "";
            snprintf(first, sizeof first, "%s", m->wrong);
            shrink(m);
            print_program(m, text, sizeof text);
            conform_fail("program %d of seed %llu: %s. Smallest program found that goes "
                         "wrong (buffer.window: target, sources, value):%s",
                         number, (unsigned long long)conform_seed(), first, text);
        }
    }
    for (int i = 0; i < NBUFFER * NWINDOW; i++) {
        rubus_array_destroy(m->window[i]);
    }
    for (int i = 0; i < NBUFFER; i++) {
        rubus_array_destroy(m->buffer[i]);
    }
    order_kit_close(&m->kit);
    free(m);
}

static void interleave_model(void)
{
    run_programs(conform_interprets() ? 10 : 60);
}

static void interleave_model_long(void)
{
    run_programs(conform_interprets() ? 100 : 1500);
}

const conform_check conform_order_model_checks[] = {
    {"Q12_interleave_model", CONFORM_FULL, 240, 0,
     "random programs on windows of 8 buffers, beside a model", interleave_model},
    {"Q16_interleave_model_long", CONFORM_STRESS, 1800, 0, "Q12 with 25 times as many",
     interleave_model_long},
    {.name = NULL},
};
