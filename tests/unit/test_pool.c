/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of the threads backend alone, and the rule that deals points out: every point
 * exactly once, whatever the shape and the number of threads; many short tasks; sleeping
 * and spinning threads; two pools at once.
 */
#include "config.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "plugins/threads/cpu_count.h"
#include "plugins/threads/pool.h"
#include "tests/support/fake_host.h"
#include "tests/support/suite.h"

static fake_host fake;

static void setup(void)
{
    fake_host_init(&fake);
}

static threads_pool *make_pool(int nthread, int ncpu, _Atomic int *busy)
{
    threads_pool *pool = NULL;
    ck_assert_int_eq(threads_pool_create(&fake.host, nthread, ncpu, busy, &pool),
                     RUBUS_OK);
    return pool;
}

/* --- partition -------------------------------------------------------------------- */

/* Marks the pieces in a box of n[0] x n[1] x n[2] and compares with "each point once". */
static void check_cover(const int64_t n[3], int64_t wanted)
{
    const int64_t lo[3] = {3, -2, 5};
    int64_t hi[3];
    for (int d = 0; d < 3; d++) {
        hi[d] = lo[d] + n[d];
    }
    threads_partition partition;
    threads_partition_init(&partition, lo, hi, wanted);
    ck_assert_int_ge(partition.count, 1);
    ck_assert_int_le(partition.count, wanted);
    size_t total = (size_t)(n[0] * n[1] * n[2]);
    unsigned char *seen = calloc(total, 1);
    for (int64_t k = 0; k < partition.count; k++) {
        int64_t first[3];
        int64_t end[3];
        threads_partition_get(&partition, k, first, end);
        for (int d = 0; d < 3; d++) {
            ck_assert_int_lt(first[d], end[d]);
            ck_assert_int_ge(first[d], lo[d]);
            ck_assert_int_le(end[d], hi[d]);
        }
        for (int64_t z = first[2]; z < end[2]; z++) {
            for (int64_t y = first[1]; y < end[1]; y++) {
                for (int64_t x = first[0]; x < end[0]; x++) {
                    seen[((z - lo[2]) * n[1] + y - lo[1]) * n[0] + x - lo[0]]++;
                }
            }
        }
    }
    for (size_t i = 0; i < total; i++) {
        ck_assert_msg(seen[i] == 1, "point %zu of %lldx%lldx%lld in %lld parts: %d times",
                      i, (long long)n[0], (long long)n[1], (long long)n[2],
                      (long long)wanted, seen[i]);
    }
    free(seen);
}

START_TEST(partition_any_box_covers_each_point_once)
{
    static const int64_t sizes[][3] = {{1, 1, 1},    {5, 1, 1},  {7, 3, 1},    {1, 1, 9},
                                       {4, 1, 3},    {1, 17, 2}, {5000, 1, 1}, {2, 2, 2},
                                       {4097, 2, 1}, {16, 5, 7}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int64_t wanted = 1; wanted <= 9; wanted++) {
            check_cover(sizes[s], wanted);
        }
        check_cover(sizes[s], 64);
        check_cover(sizes[s], 257);
    }
}
END_TEST

START_TEST(partition_slow_dimension_is_cut_first)
{
    const int64_t lo[3] = {0, 0, 0};
    const int64_t hi[3] = {100, 50, 1};
    threads_partition partition;
    threads_partition_init(&partition, lo, hi, 4);
    ck_assert_int_eq(partition.piece[0], 1);
    ck_assert_int_eq(partition.piece[1], 4);
    ck_assert_int_eq(partition.piece[2], 1);
    int64_t first[3];
    int64_t end[3];
    threads_partition_get(&partition, 1, first, end);
    ck_assert_int_eq(first[1], 12); // 50 * 1 / 4
    ck_assert_int_eq(end[1], 25);
    ck_assert_int_eq(end[0], 100);
}
END_TEST

START_TEST(partition_short_slow_dimension_cuts_the_next)
{
    const int64_t lo[3] = {0, 0, 0};
    const int64_t hi[3] = {10, 100, 3};
    threads_partition partition;
    threads_partition_init(&partition, lo, hi, 8);
    ck_assert_int_eq(partition.piece[2], 2); // largest divisor of 8 up to 3
    ck_assert_int_eq(partition.piece[1], 4);
    ck_assert_int_eq(partition.count, 8);
    threads_partition_init(&partition, lo, hi, 7);
    ck_assert_int_eq(partition.piece[2], 1); // 7 has no other divisor
    ck_assert_int_eq(partition.piece[1], 7);
}
END_TEST

START_TEST(partition_huge_box_does_not_overflow)
{
    const int64_t lo[3] = {0, 0, 0};
    const int64_t hi[3] = {INT64_MAX, 1, 1};
    threads_partition partition;
    threads_partition_init(&partition, lo, hi, 4096);
    int64_t first[3];
    int64_t end[3];
    int64_t before = 0;
    for (int64_t k = 0; k < partition.count; k++) {
        threads_partition_get(&partition, k, first, end);
        ck_assert_int_eq(first[0], before);
        ck_assert_int_gt(end[0], first[0]);
        before = end[0];
    }
    ck_assert_int_eq(before, INT64_MAX);
}
END_TEST

START_TEST(partition_line_covers_each_byte_once)
{
    static const uint64_t sizes[] = {1, 63, 64, 65, 4096, 4097, 1000003};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for (int nthread = 1; nthread <= 8; nthread++) {
            uint64_t before = 0;
            for (int t = 0; t < nthread; t++) {
                uint64_t first;
                uint64_t end;
                threads_partition_line(sizes[s], 64, t, nthread, &first, &end);
                ck_assert_uint_eq(first, before);
                ck_assert(end == sizes[s] || end % 64 == 0);
                before = end;
            }
            ck_assert_uint_eq(before, sizes[s]);
        }
    }
}
END_TEST

/* --- pool ------------------------------------------------------------------------- */

#define POINTS 5003

typedef struct count_work {
    int nthread;
    _Atomic int next; // -1: fixed shares
    int plain[POINTS];
    _Atomic int called[8];
} count_work;

static void count(void *arg, int thread)
{
    count_work *work = arg;
    work->called[thread]++;
    if (work->next < 0) {
        uint64_t first;
        uint64_t end;
        threads_partition_line(POINTS, 1, thread, work->nthread, &first, &end);
        for (uint64_t i = first; i < end; i++) {
            work->plain[i]++;
        }
        return;
    }
    for (int i; (i = work->next++) < POINTS;) {
        work->plain[i]++;
    }
}

START_TEST(pool_ranges_are_covered_once)
{
    static count_work work;
    for (int nthread = 1; nthread <= 8; nthread++) {
        threads_pool *pool = make_pool(nthread, nthread, NULL);
        for (int uneven = 0; uneven < 2; uneven++) {
            memset(&work, 0, sizeof work);
            work.nthread = nthread;
            work.next = uneven - 1;
            threads_pool_run(pool, count, &work);
            for (int i = 0; i < POINTS; i++) {
                ck_assert_int_eq(work.plain[i], 1);
            }
            for (int t = 0; t < 8; t++) {
                ck_assert_int_eq(work.called[t], t < nthread);
            }
        }
        threads_pool_destroy(pool);
    }
    ck_assert_int_eq(fake.live, 0);
}
END_TEST

/* Plain counters of two threads: each is written by its own and read by the caller. */
typedef struct tick {
    _Alignas(64) int64_t value;
} tick;

static void add_tick(void *arg, int thread)
{
    tick *ticks = arg;
    ticks[thread].value++;
}

static void check_many(int nthread, int ncpu, int ntask, bool pause)
{
    tick ticks[8] = {0};
    threads_pool *pool = make_pool(nthread, ncpu, NULL);
    for (int i = 0; i < ntask; i++) {
        threads_pool_run(pool, add_tick, ticks);
        for (int t = 0; t < nthread; t++) {
            ck_assert_int_eq(ticks[t].value, i + 1);
        }
        if (pause) {
            usleep(500); // longer than anybody spins: all of them sleep
        }
    }
    threads_pool_destroy(pool);
}

START_TEST(pool_ten_thousand_tasks_run_in_order)
{
    check_many(2, 2, 10000, false);
}
END_TEST

START_TEST(pool_more_threads_than_processors_works)
{
    check_many(8, 2, 200, false);
    check_many(2, 1, 1000, false);
}
END_TEST

START_TEST(pool_sleeping_threads_wake_up)
{
    check_many(3, 4, 50, true);
}
END_TEST

START_TEST(pool_of_one_has_no_thread)
{
    check_many(1, 1, 100, false);
}
END_TEST

START_TEST(pool_never_used_is_destroyed)
{
    threads_pool_destroy(NULL);
    for (int i = 0; i < 20; i++) {
        threads_pool_destroy(make_pool(1 + i % 5, 2, NULL));
    }
    ck_assert_int_eq(fake.live, 0);
}
END_TEST

static void *run_pool(void *arg)
{
    _Atomic int *busy = arg;
    tick ticks[2] = {0};
    threads_pool *pool = NULL;
    if (threads_pool_create(&fake.host, 2, 2, busy, &pool) != RUBUS_OK) {
        return arg;
    }
    for (int i = 0; i < 2000; i++) {
        threads_pool_run(pool, add_tick, ticks);
    }
    threads_pool_destroy(pool);
    return ticks[0].value == 2000 && ticks[1].value == 2000 ? NULL : arg;
}

START_TEST(pool_two_at_once_share_the_processors)
{
    static _Atomic int busy;
    pthread_t thread[2];
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(pthread_create(&thread[i], NULL, run_pool, &busy), 0);
    }
    for (int i = 0; i < 2; i++) {
        void *wrong;
        ck_assert_int_eq(pthread_join(thread[i], &wrong), 0);
        ck_assert_ptr_null(wrong);
    }
    ck_assert_int_eq(busy, 0);
}
END_TEST

static volatile sig_atomic_t handled_elsewhere;
static pthread_t main_thread;

static void on_signal(int number)
{
    (void)number;
    handled_elsewhere += !pthread_equal(pthread_self(), main_thread);
}

START_TEST(pool_threads_take_no_signals)
{
    main_thread = pthread_self();
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    threads_pool *pool = make_pool(4, 4, NULL);
    // Blocked here, a signal to the process would go to any thread that takes it.
    sigset_t set;
    sigset_t before;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    ck_assert_int_eq(sigismember(&before, SIGUSR1), 0); // as it was before the pool
    tick ticks[4] = {0};
    for (int i = 0; i < 50; i++) {
        kill(getpid(), SIGUSR1);
        threads_pool_run(pool, add_tick, ticks);
    }
    usleep(1000);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    threads_pool_destroy(pool);
    ck_assert_int_eq(handled_elsewhere, 0);
}
END_TEST

START_TEST(pool_destroy_after_fork_does_not_hang)
{
    threads_pool *pool = make_pool(3, 4, NULL);
    pid_t child = fork();
    if (child == 0) {
        threads_pool_destroy(pool);
        _exit(0);
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    threads_pool_destroy(pool);
}
END_TEST

START_TEST(pool_out_of_memory_fails)
{
    threads_pool *pool = NULL;
    fake.fail_at = 1;
    ck_assert_int_eq(threads_pool_create(&fake.host, 4, 4, NULL, &pool), RUBUS_ENOMEM);
    ck_assert_ptr_null(pool);
}
END_TEST

/* In a process without rights and without threads to spare; 0 if all is as it should. */
static int run_limited(void)
{
    const struct rlimit few = {1, 1};
    if (geteuid() == 0 && setuid(65534) != 0) {
        return 0; // the limit does not hold for root
    }
    threads_pool *pool = NULL;
    if (setrlimit(RLIMIT_NPROC, &few) != 0 ||
        threads_pool_create(&fake.host, 4, 4, NULL, &pool) != RUBUS_ELIMIT ||
        pool != NULL) {
        return 1;
    }
    if (strstr(fake.text, "RUBUS_NUM_THREADS") == NULL ||
        strstr(fake.text, "number 2 of 4") == NULL) {
        return 2;
    }
    return fake.live == 0 ? 0 : 3;
}

START_TEST(pool_thread_limit_fails_with_text)
{
    pid_t child = fork();
    if (child == 0) {
        _exit(run_limited());
    }
    int status = 1;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
}
END_TEST

/* --- what the machine allows ------------------------------------------------------ */

static char folder[64];

static void put(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *slash = path + strlen(folder) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/rubus-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void drop_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

START_TEST(quota_of_version_2_is_rounded_up)
{
    make_folder();
    char self[128];
    snprintf(self, sizeof self, "%s/self", folder);
    put("self", "0::/a/b\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 0);
    put("a/b/cpu.max", "max 100000\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 0);
    put("a/b/cpu.max", "150000 100000\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 2);
    put("a/b/cpu.max", "400000 100000\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 4);
    put("a/cpu.max", "300000 100000\n"); // a group above is tighter
    ck_assert_int_eq(threads_cpu_quota(self, folder), 3);
    put("cpu.max", "10000 100000\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 1);
    put("a/memory.max", "1000000\n");
    ck_assert_uint_eq(threads_memory_limit(self, folder), 1000000);
    drop_folder();
}
END_TEST

START_TEST(quota_of_version_1_is_read)
{
    make_folder();
    char self[128];
    snprintf(self, sizeof self, "%s/self", folder);
    put("self", "7:blkio:/x\n4:cpu,cpuacct:/docker/1\n3:memory:/docker/1\n0::/\n");
    put("cpu,cpuacct/docker/1/cpu.cfs_quota_us", "-1\n");
    put("cpu,cpuacct/docker/1/cpu.cfs_period_us", "100000\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 0);
    put("cpu,cpuacct/docker/1/cpu.cfs_quota_us", "250000\n");
    ck_assert_int_eq(threads_cpu_quota(self, folder), 3);
    put("memory/docker/1/memory.limit_in_bytes", "9223372036854771712\n");
    ck_assert_uint_eq(threads_memory_limit(self, folder), 0);
    put("memory/memory.limit_in_bytes", "5000000\n"); // as seen inside a container
    ck_assert_uint_eq(threads_memory_limit(self, folder), 5000000);
    drop_folder();
}
END_TEST

START_TEST(machine_is_described)
{
    char text[8192];
    ck_assert_int_ge(threads_cpu_affinity(), 1);
    ck_assert_int_ge(threads_cpu_count(), 1);
    ck_assert_int_le(threads_cpu_count(), threads_cpu_affinity());
    ck_assert_uint_gt(threads_memory_total(), 1 << 20);
    threads_cpu_name(text, sizeof text);
    ck_assert_uint_gt(strlen(text), 0);
    ck_assert_uint_eq(threads_cpu_features(text, sizeof text), strlen(text));
    ck_assert_int_eq(threads_cpu_quota("/nonexistent/self", "/nonexistent"), 0);
}
END_TEST

static Suite *pool_suite(void)
{
    Suite *suite = suite_create("pool");
    TCase *partition = tcase_create("partition");
    tcase_add_test(partition, partition_any_box_covers_each_point_once);
    tcase_add_test(partition, partition_slow_dimension_is_cut_first);
    tcase_add_test(partition, partition_short_slow_dimension_cuts_the_next);
    tcase_add_test(partition, partition_huge_box_does_not_overflow);
    tcase_add_test(partition, partition_line_covers_each_byte_once);
    suite_add_tcase(suite, partition);
    TCase *pool = tcase_create("pool");
    tcase_add_checked_fixture(pool, setup, NULL);
    tcase_add_test(pool, pool_ranges_are_covered_once);
    tcase_add_test(pool, pool_ten_thousand_tasks_run_in_order);
    tcase_add_test(pool, pool_more_threads_than_processors_works);
    tcase_add_test(pool, pool_sleeping_threads_wake_up);
    tcase_add_test(pool, pool_of_one_has_no_thread);
    tcase_add_test(pool, pool_never_used_is_destroyed);
    tcase_add_test(pool, pool_two_at_once_share_the_processors);
    tcase_add_test(pool, pool_threads_take_no_signals);
    tcase_add_test(pool, pool_destroy_after_fork_does_not_hang);
    tcase_add_test(pool, pool_out_of_memory_fails);
    tcase_add_test(pool, pool_thread_limit_fails_with_text);
    suite_add_tcase(suite, pool);
    TCase *machine = tcase_create("machine");
    tcase_add_test(machine, quota_of_version_2_is_rounded_up);
    tcase_add_test(machine, quota_of_version_1_is_read);
    tcase_add_test(machine, machine_is_described);
    suite_add_tcase(suite, machine);
    return suite;
}

RUBUS_TEST_MAIN("pool of threads", pool_suite)
