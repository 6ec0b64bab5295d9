/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks Q: one queue, in order. Each command sees all effects of those before it,
 * whatever engine does the work.
 */
#include "config.h"

#include "check_order.h"

#include <stdlib.h>
#include <string.h>

static const char kit_text[] =
    "kernel add(out int c[n], in int a[n], in int b[n], int k) { c = a + k * b; }\n"
    "kernel more(inout int u[n], int k) { u += k; }\n"
    // zero is 0, which no compiler knows
    "kernel slow_put(out int u[n], int v, int turns, int zero) over (i)\n"
    "{\n"
    "    int x = i;\n"
    "    for (int t = 0; t < turns; t++) { x = x * 1664525 + 1013904223; }\n"
    "    u[i] = v + i + x * zero;\n"
    "}\n"
    "kernel slow_copy(out int b[n], in int a[n], int turns, int zero) over (i)\n"
    "{\n"
    "    int x = i;\n"
    "    for (int t = 0; t < turns; t++) { x = x * 1664525 + 1013904223; }\n"
    "    b[i] = a[mod(i + x * zero, n)];\n"
    "}\n";

void order_kit_open(order_kit *kit)
{
    const bool slow = conform_interprets();
    kit->context = conform_open();
    kit->module = conform_module(kit->context, kit_text, RUBUS_F32);
    kit->add = conform_kernel(kit->module, "add");
    kit->more = conform_kernel(kit->module, "more");
    kit->slow_put = conform_kernel(kit->module, "slow_put");
    kit->slow_copy = conform_kernel(kit->module, "slow_copy");
    kit->n = slow ? 1000 : 20000;
    kit->turns = slow ? 10 : 1000;
}

void order_kit_close(order_kit *kit)
{
    rubus_module_destroy(kit->module);
    rubus_context_destroy(kit->context);
}

rubus_array *order_ints(const order_kit *kit, int64_t n)
{
    rubus_array *array = NULL;
    conform_ok(rubus_array_create(kit->context, RUBUS_I32, RUBUS_SHAPE(n), &array));
    return array;
}

void order_want(rubus_array *array, int64_t first, int64_t step, const char *what)
{
    const int64_t n = rubus_array_count(array);
    int32_t *got = conform_contents(array);
    int32_t *want = conform_memory((size_t)n * sizeof *want);
    for (int64_t i = 0; i < n; i++) {
        want[i] = (int32_t)(uint32_t)(uint64_t)(first + step * i);
    }
    conform_same(got, want, n, RUBUS_I32, what);
    free(got);
    free(want);
}

static int32_t *ramp(int64_t n, int32_t first)
{
    int32_t *data = conform_memory((size_t)n * sizeof *data);
    for (int64_t i = 0; i < n; i++) {
        data[i] = first + (int32_t)i;
    }
    return data;
}

/* --- writes ----------------------------------------------------------------------- */

/* A fill by one engine and a bulk copy by another: no zero of the fill may remain. */
static void fill_then_flush(void)
{
    static const int64_t sizes[] = {33 * 33, 513 * 513, 1025 * 1025 * 4};
    static const int rounds[] = {200, 60, 8};
    order_kit kit;
    order_kit_open(&kit);
    for (int s = 0; s < (conform_interprets() ? 1 : 3); s++) {
        rubus_array *values = order_ints(&kit, sizes[s]);
        for (int round = 0; round < rounds[s]; round++) {
            int32_t *mirror = ramp(sizes[s], round + 1);
            conform_say("%lld values, round %d: ", (long long)sizes[s], round);
            conform_ok(rubus_array_fill(values, 0));
            conform_ok(rubus_array_write(values, mirror, (size_t)sizes[s] * 4));
            order_want(values, round + 1, 1, "values written after a fill with 0");
            free(mirror);
        }
        rubus_array_destroy(values);
    }
    order_kit_close(&kit);
}

static void write_after_write(void)
{
    enum { ROUNDS = 25 };
    order_kit kit;
    order_kit_open(&kit);
    rubus_array *u = order_ints(&kit, kit.n);
    rubus_array *v = order_ints(&kit, kit.n);
    int32_t *data = ramp(kit.n, 5000);
    conform_ok(rubus_array_write(v, data, (size_t)kit.n * 4));
    for (int round = 0; round < ROUNDS; round++) {
        static const char *const second[] = {"a kernel", "a fill", "a write", "a copy",
                                             "a slow kernel"};
        conform_say("round %d, %s after a slow kernel: ", round, second[round % 5]);
        conform_ok(rubus_launch(kit.slow_put, u, -1000000, kit.turns, 0));
        switch (round % 5) {
        case 0:
            conform_ok(rubus_launch(kit.add, u, v, v, 0));
            break;
        case 1:
            conform_ok(rubus_array_fill(u, 5000));
            conform_ok(rubus_launch(kit.slow_put, u, 5000, 0, 0));
            break;
        case 2:
            conform_ok(rubus_array_write(u, data, (size_t)kit.n * 4));
            break;
        case 3:
            conform_ok(rubus_array_copy(u, v));
            break;
        default:
            conform_ok(rubus_launch(kit.slow_put, u, 5000, kit.turns / 10, 0));
            break;
        }
        order_want(u, 5000, 1, "the second of two writes");
    }
    free(data);
    rubus_array_destroy(u);
    rubus_array_destroy(v);
    order_kit_close(&kit);
}

static void chain(void)
{
    enum { LINKS = 1000 };
    static const int64_t sizes[] = {7, 1000, 60001};
    order_kit kit;
    order_kit_open(&kit);
    for (int s = 0; s < (conform_interprets() ? 2 : 3); s++) {
        rubus_array *a = order_ints(&kit, sizes[s]);
        rubus_array *b = order_ints(&kit, sizes[s]);
        conform_say("%lld ints: ", (long long)sizes[s]);
        conform_ok(rubus_launch(kit.slow_put, a, 0, kit.turns, 0));
        for (int link = 0; link < LINKS; link++) {
            conform_ok(rubus_launch(kit.add, b, a, a, 0)); // b = a
            conform_ok(rubus_launch(kit.more, b, 1));
            conform_ok(rubus_array_copy(a, b));
        }
        order_want(a, LINKS, 1, "a chain of 1000 times kernel, kernel, copy");
        rubus_array_destroy(a);
        rubus_array_destroy(b);
    }
    order_kit_close(&kit);
}

/* The input of a slow kernel is overwritten at once. */
static void write_after_read(void)
{
    enum { ROUNDS = 24 };
    order_kit kit;
    order_kit_open(&kit);
    rubus_array *a = order_ints(&kit, kit.n);
    rubus_array *b = order_ints(&kit, kit.n);
    int32_t *data = ramp(kit.n, -3);
    int32_t *other = conform_memory((size_t)kit.n * 4);
    memset(other, 0x77, (size_t)kit.n * 4);
    for (int round = 0; round < ROUNDS; round++) {
        static const char *const second[] = {"a kernel", "a fill", "a write", "a map"};
        conform_say("round %d, %s after a slow kernel that reads: ", round,
                    second[round % 4]);
        conform_ok(rubus_array_fill(b, 0));
        conform_ok(rubus_array_write(a, data, (size_t)kit.n * 4));
        conform_ok(rubus_launch(kit.slow_copy, b, a, kit.turns, 0));
        void *host = NULL;
        switch (round % 4) {
        case 0:
            conform_ok(rubus_launch(kit.more, a, 1000000));
            break;
        case 1:
            conform_ok(rubus_array_fill(a, 1000000));
            break;
        case 2:
            conform_ok(rubus_array_write(a, other, (size_t)kit.n * 4));
            break;
        default:
            conform_ok(rubus_array_map(a, RUBUS_WRITE, &host));
            memcpy(host, other, (size_t)kit.n * 4);
            conform_ok(rubus_array_unmap(a));
            break;
        }
        order_want(b, -3, 1, "what was read before the write");
    }
    free(data);
    free(other);
    rubus_array_destroy(a);
    rubus_array_destroy(b);
    order_kit_close(&kit);
}

static void host_write_after_enqueue(void)
{
    static const int64_t sizes[] = {1, 16, 1000, 16384, 300000, 5000000};
    order_kit kit;
    order_kit_open(&kit);
    rubus_array *other = order_ints(&kit, kit.n);
    for (int round = 0; round < 30; round++) {
        const int64_t n = sizes[round % 6];
        int32_t *source = ramp(n, round);
        rubus_array *a = order_ints(&kit, n);
        conform_say("%lld ints, round %d: ", (long long)n, round);
        if (round % 2 == 0) { // something to wait behind
            conform_ok(rubus_launch(kit.slow_put, other, 0, kit.turns, 0));
        }
        conform_ok(rubus_array_write(a, source, (size_t)n * 4));
        memset(source, 0xEE, (size_t)n * 4);
        order_want(a, round, 1, "what the source held when write was called");
        free(source);
        rubus_array_destroy(a);
    }
    rubus_array_destroy(other);
    order_kit_close(&kit);
}

/* --- waiting ---------------------------------------------------------------------- */

static void read_is_ordered(void)
{
    order_kit kit;
    order_kit_open(&kit);
    rubus_array *u = order_ints(&kit, kit.n);
    for (int round = 0; round < 20; round++) {
        conform_say("round %d: ", round);
        conform_ok(rubus_launch(kit.slow_put, u, 100 * round, kit.turns, 0));
        if (round % 3 == 0) {
            order_want(u, 100 * round, 1, "a read behind a slow kernel");
        } else if (round % 3 == 1) {
            int32_t last = -1;
            conform_ok(rubus_array_read_range(u, kit.n - 1, 1, &last));
            conform_true(last == 100 * round + kit.n - 1,
                         "the last element, read behind a slow kernel, is %d, should be "
                         "%lld",
                         last, (long long)(100 * round + kit.n - 1));
        } else {
            void *host = NULL;
            conform_ok(rubus_array_map(u, RUBUS_READ, &host));
            const int32_t *data = host;
            for (int64_t i = kit.n - 1; i >= 0; i--) {
                conform_true(data[i] == 100 * round + i,
                             "element %lld, mapped behind a slow kernel, is %d, should "
                             "be %lld",
                             (long long)i, data[i], (long long)(100 * round + i));
            }
            conform_ok(rubus_array_unmap(u));
        }
    }
    rubus_array_destroy(u);
    order_kit_close(&kit);
}

/* Seconds to enqueue slow kernels, to synchronize, and to read one element then. */
static void time_a_round(const order_kit *kit, rubus_array *u, int launches,
                         double out[3])
{
    int32_t last = -1;
    const double start = conform_clock();
    for (int i = 0; i < launches; i++) {
        conform_ok(rubus_launch(kit->slow_put, u, i, kit->turns, 0));
    }
    const double enqueued = conform_clock();
    conform_ok(rubus_context_synchronize(kit->context));
    const double done = conform_clock();
    conform_ok(rubus_array_read_range(u, kit->n - 1, 1, &last));
    const double end = conform_clock();
    conform_true(last == launches - 1 + kit->n - 1, "the last element is %d", last);
    out[0] = enqueued - start;
    out[1] = done - enqueued;
    out[2] = end - done;
}

static void sync_really_waits(void)
{
    enum { ROUNDS = 5 };
    order_kit kit;
    order_kit_open(&kit);
    rubus_array *u = order_ints(&kit, kit.n);
    int launches = 1;
    double t[3];
    for (;;) { // as many as take a fifth of a second
        time_a_round(&kit, u, launches, t);
        if (t[0] + t[1] + t[2] > 0.2 || launches >= 100000) {
            break;
        }
        launches *= 2;
    }
    int early = 0;
    for (int round = 0; round < ROUNDS; round++) {
        time_a_round(&kit, u, launches, t);
        early += t[2] > 0.02 && t[2] > 0.3 * (t[0] + t[1] + t[2]);
    }
    conform_true(
        early < ROUNDS,
        "%d launches took %.3f s to enqueue and synchronize, and then a read of "
        "one element took %.3f s: synchronize came back before the work was done",
        launches, t[0] + t[1], t[2]);
    rubus_array_destroy(u);
    order_kit_close(&kit);
}

/* --- every pair ------------------------------------------------------------------- */

enum { BY_KERNEL, BY_FILL, BY_WRITE, BY_COPY, BY_MAP, NWAY };
static const char *const way_name[NWAY] = {"kernel", "fill", "write", "copy", "mapping"};

/* Makes all elements of u equal to v by that way. aux holds v where a source is needed.
 */
static void make_all(const order_kit *kit, int way, rubus_array *u, rubus_array *aux,
                     int32_t v)
{
    const size_t nbyte = rubus_array_nbyte(u);
    const int64_t n = rubus_array_count(u);
    int32_t *data = conform_memory(nbyte);
    for (int64_t i = 0; i < n; i++) {
        data[i] = v;
    }
    void *host = NULL;
    switch (way) {
    case BY_KERNEL:
        conform_ok(rubus_array_fill(aux, v));
        conform_ok(rubus_launch(kit->slow_copy, u, aux, kit->turns / 20, 0));
        break;
    case BY_FILL:
        conform_ok(rubus_array_fill(u, v));
        break;
    case BY_WRITE:
        conform_ok(rubus_array_write(u, data, nbyte));
        break;
    case BY_COPY:
        conform_ok(rubus_array_write(aux, data, nbyte));
        conform_ok(rubus_array_copy(u, aux));
        break;
    default:
        conform_ok(rubus_array_map(u, RUBUS_WRITE, &host));
        memcpy(host, data, nbyte);
        conform_ok(rubus_array_unmap(u));
        break;
    }
    free(data);
}

/* Reads u by that way; all elements must be v. */
static void want_all(const order_kit *kit, int way, rubus_array *u, rubus_array *aux,
                     int32_t v)
{
    void *host = NULL;
    switch (way) {
    case BY_KERNEL:
        conform_ok(rubus_launch(kit->add, aux, u, u, 0));
        order_want(aux, v, 0, "what a kernel read");
        break;
    case BY_COPY:
        conform_ok(rubus_array_copy(aux, u));
        order_want(aux, v, 0, "what was copied");
        break;
    case BY_MAP:
        conform_ok(rubus_array_map(u, RUBUS_READ, &host));
        for (int64_t i = 0; i < rubus_array_count(u); i++) {
            conform_true(((int32_t *)host)[i] == v, "element %lld is %d, should be %d",
                         (long long)i, ((int32_t *)host)[i], v);
        }
        conform_ok(rubus_array_unmap(u));
        break;
    default:
        order_want(u, v, 0, "what was read");
        break;
    }
}

static void stub_ordering(void)
{
    static const int64_t sizes[] = {1, 257, 20011};
    order_kit kit;
    order_kit_open(&kit);
    int32_t v = 0;
    for (int s = 0; s < 3; s++) {
        rubus_array *u = order_ints(&kit, sizes[s]);
        rubus_array *aux[2] = {order_ints(&kit, sizes[s]), order_ints(&kit, sizes[s])};
        for (int turn = 0; turn < NWAY * NWAY * NWAY; turn++) {
            const int first = turn % NWAY;
            const int second = turn / NWAY % NWAY;
            const int reader = turn / NWAY / NWAY;
            conform_say("%lld ints, %s then %s, seen by %s: ", (long long)sizes[s],
                        way_name[first], way_name[second], way_name[reader]);
            make_all(&kit, first, u, aux[0], --v);
            make_all(&kit, second, u, aux[1], --v);
            want_all(&kit, reader, u, aux[0], v);
        }
        rubus_array_destroy(u);
        rubus_array_destroy(aux[0]);
        rubus_array_destroy(aux[1]);
    }
    order_kit_close(&kit);
}

/* --- the end ---------------------------------------------------------------------- */

static void destroy_context_with_work(void)
{
    for (int round = 0; round < 10; round++) {
        order_kit kit;
        order_kit_open(&kit);
        rubus_array *u = order_ints(&kit, kit.n);
        for (int i = 0; i < 10; i++) {
            conform_ok(rubus_launch(kit.slow_put, u, i, kit.turns, 0));
        }
        if (round % 2 == 0) {
            rubus_array_destroy(u);
            order_kit_close(&kit);
        } else { // the other way round: the array holds the context
            order_kit_close(&kit);
            order_want(u, 9, 1, "an array whose context was given back");
            rubus_array_destroy(u);
        }
    }
}

/* Memory of an array that a pending kernel writes is asked for again, and written. */
static void recycled_memory(void)
{
    enum { ROUNDS = 30, NEW = 3 };
    order_kit kit;
    order_kit_open(&kit);
    for (int round = 0; round < ROUNDS; round++) {
        rubus_array *old = order_ints(&kit, kit.n);
        rubus_array *fresh[NEW];
        int32_t *data = ramp(kit.n, 40 * round);
        conform_say("round %d: ", round);
        conform_ok(rubus_launch(kit.slow_put, old, -1, kit.turns, 0));
        rubus_array_destroy(old);
        for (int i = 0; i < NEW; i++) {
            conform_ok(rubus_array_from(kit.context, RUBUS_I32, RUBUS_SHAPE(kit.n), data,
                                        &fresh[i]));
        }
        for (int i = 0; i < NEW; i++) {
            order_want(fresh[i], 40 * round, 1,
                       "an array made while a kernel wrote a destroyed one");
            rubus_array_destroy(fresh[i]);
        }
        free(data);
    }
    order_kit_close(&kit);
}

/* More commands than any ring of a driver has room for. */
static void many_launches(void)
{
    const int launches = conform_interprets() ? 3000 : 20000;
    order_kit kit;
    order_kit_open(&kit);
    rubus_array *u = order_ints(&kit, 64);
    for (int i = 0; i < launches; i++) {
        conform_ok(rubus_launch(kit.more, u, 1 + (i & 1)));
    }
    order_want(u, launches + launches / 2, 0, "launches without a pause");
    rubus_array_destroy(u);
    order_kit_close(&kit);
}

const conform_check conform_order_checks[] = {
    {"Q01_fill_then_flush", CONFORM_BASIC, 120, 0,
     "values written right after a fill: no zero of the fill remains", fill_then_flush},
    {"Q02_write_after_write_two_submits", CONFORM_BASIC, 120, 0,
     "a slow kernel, then another way to write the same array", write_after_write},
    {"Q03_read_after_write_kernel_copy_kernel", CONFORM_BASIC, 120, 0,
     "chains of 1000 dependent kernels and copies", chain},
    {"Q04_write_after_read", CONFORM_BASIC, 120, 0,
     "the input of a slow kernel is overwritten at once", write_after_read},
    {"Q05_host_write_after_enqueue", CONFORM_BASIC, 120, 0,
     "the source of a write changes as soon as the call is back",
     host_write_after_enqueue},
    {"Q06_read_is_ordered_without_sync", CONFORM_BASIC, 120, 0,
     "reads and mappings right behind a slow kernel", read_is_ordered},
    {"Q09_sync_really_waits", CONFORM_BASIC, 180, 0,
     "after synchronize nothing is left to wait for", sync_really_waits},
    {"Q10_stub_ordering", CONFORM_FULL, 240, 0,
     "every two ways of writing, one after the other, and every way of reading",
     stub_ordering},
    {"Q11_destroy_context_with_work", CONFORM_BASIC, 120, 0,
     "a context is destroyed while its kernels run", destroy_context_with_work},
    {"Q13_recycled_memory", CONFORM_BASIC, 120, 0,
     "memory that a pending kernel writes is freed and asked for again", recycled_memory},
    {"Q15_many_launches", CONFORM_FULL, 180, 0, "20000 launches without a pause",
     many_launches},
    {.name = NULL},
};
