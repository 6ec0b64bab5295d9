/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The environment, read once; and the log that RUBUS_LOG or a function asks for.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rubus/context.h>

#include "tests/support/suite.h"

static void log_env(const char *value)
{
    if (value == NULL) {
        unsetenv("RUBUS_LOG");
    } else {
        setenv("RUBUS_LOG", value, 1);
    }
    rubus__env_reset_for_test();
}

START_TEST(env_is_read_once_and_trimmed)
{
    setenv("RUBUS_CC", "  gcc -O1 \t", 1);
    setenv("RUBUS_BACKEND", "   ", 1);
    setenv("RUBUS_CACHE_DIR", "", 1);
    setenv("HOME", "/home/x", 1);
    unsetenv("RUBUS_NUM_THREADS");
    rubus__env_reset_for_test();
    ck_assert_str_eq(rubus__env(RUBUS__ENV_CC), "gcc -O1");
    ck_assert_ptr_null(rubus__env(RUBUS__ENV_BACKEND));
    ck_assert_ptr_null(rubus__env(RUBUS__ENV_CACHE_DIR));
    ck_assert_ptr_null(rubus__env(RUBUS__ENV_NUM_THREADS));
    ck_assert_str_eq(rubus__env_system("HOME"), "/home/x");
    ck_assert_ptr_null(rubus__env_system("USER"));
    ck_assert_str_eq(rubus__env_name(RUBUS__ENV_PLUGIN_DENY), "RUBUS_PLUGIN_DENY");
    setenv("RUBUS_CC", "clang", 1);
    ck_assert_str_eq(rubus__env(RUBUS__ENV_CC), "gcc -O1");
    rubus__env_reset_for_test();
    ck_assert_str_eq(rubus__env(RUBUS__ENV_CC), "clang");
}
END_TEST

START_TEST(log_unset_is_silent)
{
    log_env(NULL);
    ck_assert(!rubus__log_on(RUBUS__LOG_ERROR, "load"));
    log_env("off");
    ck_assert(!rubus__log_on(RUBUS__LOG_ERROR, "load"));
}
END_TEST

START_TEST(log_level_is_for_all_topics)
{
    static const char *const values[] = {"info", "INFO", "3", " info,", "load:,info"};
    for (size_t i = 0; i < 4; i++) {
        log_env(values[i]);
        ck_assert(rubus__log_on(RUBUS__LOG_INFO, "anything"));
        ck_assert(!rubus__log_on(RUBUS__LOG_DEBUG, "anything"));
    }
    log_env("warn");
    ck_assert(rubus__log_on(RUBUS__LOG_WARNING, "load"));
    ck_assert(!rubus__log_on(RUBUS__LOG_INFO, "load"));
}
END_TEST

START_TEST(log_topics_have_their_level)
{
    log_env("load");
    ck_assert(rubus__log_on(RUBUS__LOG_DEBUG, "load"));
    ck_assert(!rubus__log_on(RUBUS__LOG_ERROR, "cache"));
    log_env("info:load,cache");
    ck_assert(rubus__log_on(RUBUS__LOG_INFO, "cache"));
    ck_assert(!rubus__log_on(RUBUS__LOG_DEBUG, "cache"));
    ck_assert(!rubus__log_on(RUBUS__LOG_ERROR, "kernel"));
    log_env("error, debug:cache, off:load");
    ck_assert(rubus__log_on(RUBUS__LOG_ERROR, "kernel"));
    ck_assert(rubus__log_on(RUBUS__LOG_DEBUG, "cache"));
    ck_assert(!rubus__log_on(RUBUS__LOG_ERROR, "load"));
}
END_TEST

/* What a log line with this RUBUS_LOG puts on stderr. */
static const char *stderr_of(const char *value, int level, const char *topic,
                             const char *text)
{
    static char got[8192];
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    const int kept = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    log_env(value);
    rubus__log(level, topic, "%s", text);
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(ends[1]);
    const ssize_t n = read(ends[0], got, sizeof got - 1);
    close(ends[0]);
    got[n > 0 ? n : 0] = '\0';
    return got;
}

START_TEST(log_writes_whole_lines)
{
    ck_assert_str_eq(stderr_of("load", RUBUS__LOG_WARNING, "load", "folder gone"),
                     "rubus: warning: load: folder gone\n");
    ck_assert_str_eq(stderr_of("error", RUBUS__LOG_INFO, "load", "x"), "");
    char long_text[6000];
    memset(long_text, 'y', sizeof long_text);
    long_text[sizeof long_text - 1] = '\0';
    const char *line = stderr_of("debug", RUBUS__LOG_DEBUG, "load", long_text);
    ck_assert_int_eq(line[strlen(line) - 1], '\n');
    ck_assert_uint_gt(strlen(line), 4000);
    ck_assert_str_eq(stderr_of("debug", 9, "load", "x"), "rubus: debug: load: x\n");
    ck_assert_str_eq(stderr_of("debug", -3, "load", "x"), "rubus: error: load: x\n");
}
END_TEST

START_TEST(log_unknown_word_is_reported_once)
{
    const char *got = stderr_of("inof", RUBUS__LOG_INFO, "load", "x");
    ck_assert_msg(strstr(got, "'inof'") != NULL && strstr(got, "'info'") != NULL, "%s",
                  got);
    ck_assert_str_eq(strchr(got, '\n'), "\n"); // one line
    got = stderr_of("loud:load", RUBUS__LOG_DEBUG, "load", "x");
    ck_assert_msg(strstr(got, "'loud' is no level") != NULL, "%s", got);
    ck_assert_msg(strstr(got, "rubus: debug: load: x\n") != NULL, "%s", got);
    // a topic nobody knows may be a plugin's name, and counts as such
    got = stderr_of("npu", RUBUS__LOG_DEBUG, "npu", "line");
    ck_assert_msg(strstr(got, "rubus: debug: npu: line\n") != NULL, "%s", got);
}
END_TEST

static int lines;
static char last_line[128];

static void keep_line(void *user, int32_t level, const char *topic, const char *text)
{
    lines++;
    snprintf(last_line, sizeof last_line, "%s %d %s %s", (const char *)user, (int)level,
             topic, text);
    rubus__log_on(level, topic); // no lock is held while the function runs
}

START_TEST(log_function_gets_every_line)
{
    log_env(NULL);
    rubus_log_set(keep_line, "me");
    rubus__log(RUBUS__LOG_DEBUG, "cache", "hit %d", 3);
    ck_assert_int_eq(lines, 1);
    ck_assert_str_eq(last_line, "me 4 cache hit 3");
    rubus_log_set(NULL, NULL);
    rubus__log(RUBUS__LOG_ERROR, "cache", "x");
    ck_assert_int_eq(lines, 1);
}
END_TEST

static Suite *env_log_suite(void)
{
    TCase *tc = tcase_create("env and log");
    tcase_add_test(tc, env_is_read_once_and_trimmed);
    tcase_add_test(tc, log_unset_is_silent);
    tcase_add_test(tc, log_level_is_for_all_topics);
    tcase_add_test(tc, log_topics_have_their_level);
    tcase_add_test(tc, log_writes_whole_lines);
    tcase_add_test(tc, log_unknown_word_is_reported_once);
    tcase_add_test(tc, log_function_gets_every_line);
    Suite *suite = suite_create("base: environment and log");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("base: environment and log", env_log_suite)
