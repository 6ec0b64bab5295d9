/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_BASE_H
#define RUBUS_BASE_H
/*
 * The ground layer: status and error text, memory, environment, log, text, digests.
 * Everything else may include this; this includes public headers only.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rubus/status.h>
#include <rubus/types.h>

/* --- status.c: the calling thread's error text ------------------------------------- */

/* Writes the text (replacing the last) and returns st. Long texts are kept whole up to
 * 16 KiB. "First who knows writes": callers pass the code on and do not write again. */
rubus_status rubus__fail(rubus_status st, const char *fmt, ...) RUBUS_PRINTF(2, 3);
rubus_status rubus__vfail(rubus_status st, const char *fmt, va_list args);
/* Puts "prefix: " before the present text; returns st. */
rubus_status rubus__fail_prefix(rubus_status st, const char *fmt, ...) RUBUS_PRINTF(2, 3);
#ifdef __clang_analyzer__ // it reads one file at a time: these never give RUBUS_OK
#define rubus__fail(st, ...) ((rubus__fail)((st), __VA_ARGS__), (st))
#define rubus__fail_prefix(st, ...) ((rubus__fail_prefix)((st), __VA_ARGS__), (st))
#endif
/* EINVAL for the first of the named pointers that is NULL:
 * rubus__need(what, "x", x, "out_set", out_set, NULL). */
rubus_status rubus__need(const char *what, ...);
/* EINVAL for a struct of the caller that is NULL or whose struct_size is not set. */
rubus_status rubus__need_struct(const char *what, const char *name, const void *given);
/* The ending of a noun that counts n things: "%lld point%s". */
#define RUBUS__S(n) ((n) == 1 ? "" : "s")
void rubus__error_clear(void);
/* From now on a text is due: rubus__error_missing() until one is written. So a failure
 * without a text of its own is not given that of an older one. */
void rubus__error_expect(void);
bool rubus__error_missing(void); /* also where there is none at all */
/* Until called with false, texts are not written: what a call that cannot fail has to say
 * must not replace why its caller failed. */
void rubus__error_hold(bool hold);
bool rubus__error_held(void);
/* Saves the text to a fresh string (NULL if out of memory), and puts it back. */
char *rubus__error_take(void);
void rubus__error_restore(const char *text);

/* --- memory.c: counted allocation, with injected failures --------------------------- */

/* NULL (with error text) when out of memory. Zeroed. n == 0 gives a unique pointer. */
void *rubus__alloc(size_t nbyte);
void *rubus__alloc_array(size_t count, size_t size);    /* checks the product */
void *rubus__alloc_aligned(size_t nbyte, size_t align); /* not zeroed */
void *rubus__realloc(void *p,
                     size_t nbyte); /* grown part undefined; p stays on failure */
char *rubus__strdup(const char *text);
char *rubus__strndup(const char *text, size_t n);
char *rubus__format(const char *fmt, ...) RUBUS_PRINTF(1, 2); /* heap string */
void rubus__free(void *p); /* of any of the above; NULL allowed */
/* Tests: the n-th allocation from now (1 = next) and all later ones fail; 0 ends it.
 * The count is of this thread only if thread_only. */
void rubus__alloc_fail_after(int64_t n, bool thread_only);
/* The countdown of this thread only, to hand it over to a thread that works for it. */
int64_t rubus__alloc_fail_swap(int64_t n);
int64_t rubus__alloc_live(void); /* blocks alive now, of the whole process */

/* --- arena.c: memory freed all at once ---------------------------------------------- */

typedef struct rubus__arena rubus__arena;
/* Called when the arena cannot grow; must not return (longjmp). */
typedef void (*rubus__arena_oom)(void *user);
rubus__arena *rubus__arena_create(rubus__arena_oom oom, void *user); /* NULL: ENOMEM */
void rubus__arena_destroy(rubus__arena *arena);
void *rubus__arena_alloc(rubus__arena *arena, size_t nbyte); /* zeroed; never NULL */
char *rubus__arena_strndup(rubus__arena *arena, const char *text, size_t n);
char *rubus__arena_format(rubus__arena *arena, const char *fmt, ...) RUBUS_PRINTF(2, 3);

/* --- text.c: growing strings, numbers in the C locale whatever the process's -------- */

typedef struct rubus__text {
    char *data; /* NUL-terminated, never NULL after a successful init */
    size_t size;
    size_t room;
    bool failed; /* out of memory: later calls do nothing; check once at the end */
} rubus__text;
void rubus__text_init(rubus__text *text);
void rubus__text_fini(rubus__text *text);
void rubus__text_add(rubus__text *text, const char *s);
void rubus__text_add_n(rubus__text *text, const char *s, size_t n);
void rubus__text_format(rubus__text *text, const char *fmt, ...) RUBUS_PRINTF(2, 3);
char *
rubus__text_take(rubus__text *text); /* the string (NULL if failed); text is empty */

/* All of RUBUS_PRINTF above formats in the C locale too (%g never gives a comma). */
int rubus__snprintf(char *out, size_t room, const char *fmt, ...) RUBUS_PRINTF(3, 4);
int rubus__vsnprintf(char *out, size_t room, const char *fmt, va_list args);
/* Whole string (blanks around allowed) as a number; false if none or out of range. */
bool rubus__parse_f64(const char *text, double *out);
bool rubus__parse_f32(const char *text, float *out); /* one rounding, not via double */
bool rubus__parse_i64(const char *text, int64_t *out);
/* The decimal at the start of [at, end), correctly rounded: [+-] digits with a point or
 * without, an exponent after e, E, d or D; or inf, infinity, nan in any letter case. Too
 * large is infinite. Where it ends; NULL if there is none. */
const char *rubus__read_f64(const char *at, const char *end, double *out);
const char *rubus__read_f32(const char *at, const char *end, float *out);
/* Shortest decimal that reads back as the same number ("nan", "inf", "-inf" included);
 * its length. */
size_t rubus__print_f64(double value, char out[32]);
size_t rubus__print_f32(float value, char out[32]);
/* Edit distance for "did you mean"; case ignored (ASCII). */
int rubus__distance(const char *a, const char *b);
/* The nearest of names[0..n) to `name`, or NULL if none is near enough. */
const char *rubus__nearest(const char *name, const char *const *names, size_t n);
bool rubus__equal_nocase(const char *a, const char *b); /* ASCII rules, no locale */

/* --- stack.c: calls that nest deeply ------------------------------------------------ */

typedef rubus_status rubus__stack_call(void *user);
/* call(user) with at least `need` bytes of stack: here if so much is left (96 KiB always
 * are), else on a thread of its own, whose end is waited for. What the call returned and
 * its error text; ENOMEM if no such thread can be had. */
rubus_status rubus__with_stack(size_t need, rubus__stack_call *call, void *user);

/* --- env.c: the only place that reads the environment ------------------------------- */

/* X(symbol, variable, default, meaning) */
#define RUBUS__ENV_LIST(X)                                                               \
    X(BACKEND, "RUBUS_BACKEND", "threads", "backends to try, in order")                  \
    X(PLUGIN_PATH, "RUBUS_PLUGIN_PATH", "", "folders to search first")                   \
    X(PLUGIN_DENY, "RUBUS_PLUGIN_DENY", "", "plugin names never to open")                \
    X(NUM_THREADS, "RUBUS_NUM_THREADS", "", "threads of the pool")                       \
    X(CC, "RUBUS_CC", "", "C compiler for users' kernels")                               \
    X(CACHE_DIR, "RUBUS_CACHE_DIR", "", "kernel cache, or off")                          \
    X(VALIDATE, "RUBUS_VALIDATE", "0", "1: validate mode")                               \
    X(LOG, "RUBUS_LOG", "", "level and topics")
#define RUBUS__ENV_ENUM_(symbol, variable, standard, meaning) RUBUS__ENV_##symbol,
typedef enum { RUBUS__ENV_LIST(RUBUS__ENV_ENUM_) RUBUS__ENV_COUNT } rubus__env_id;
#undef RUBUS__ENV_ENUM_
/* Value as it was at first use, NULL if unset, empty, blank or hidden by secure mode. */
const char *rubus__env(rubus__env_id id);
const char *rubus__env_name(rubus__env_id id);
/* The few foreign variables we honour: HOME, XDG_CACHE_HOME, TMPDIR, PATH. */
const char *rubus__env_system(const char *name);
void rubus__env_reset_for_test(void); /* reads again at the next use */

/* --- log.c -------------------------------------------------------------------------- */

enum { RUBUS__LOG_ERROR = 1, RUBUS__LOG_WARNING, RUBUS__LOG_INFO, RUBUS__LOG_DEBUG };
bool rubus__log_on(int level, const char *topic);
void rubus__log(int level, const char *topic, const char *fmt, ...) RUBUS_PRINTF(3, 4);
void rubus__log_reset_for_test(void); /* reads RUBUS_LOG again; the function stays */

/* --- digest.c ----------------------------------------------------------------------- */

/* SHA-256 of a length-prefixed list of parts: no two different lists share a text. */
typedef struct rubus__part {
    const void *data;
    size_t size;
} rubus__part;
void rubus__sha256(const rubus__part *parts, size_t nparts, uint8_t out[32]);
void rubus__hex(const uint8_t *bytes, size_t n, char *out); /* 2n + 1 bytes */

/* --- file.c ------------------------------------------------------------------------- */

/* Whole regular file into a fresh NUL-terminated string; EIO with path and reason. */
rubus_status rubus__file_read(const char *path, size_t max, char **out_text,
                              size_t *out_size);
/* Writes `path` by way of a temporary name in the same folder and rename: a reader sees
 * the old file or the whole new one. */
rubus_status rubus__file_write(const char *path, const void *data, size_t size);
/* The same in pieces: create, add..., then finish, or discard, which leaves the old file.
 * Both free the handle, whatever they return. */
typedef struct rubus__file rubus__file;
rubus_status rubus__file_create(const char *path, rubus__file **out_file);
rubus_status rubus__file_add(rubus__file *file, const void *data, size_t size);
rubus_status rubus__file_finish(rubus__file *file);
void rubus__file_discard(rubus__file *file); /* NULL allowed */
/* What an errno means, in English; lives as long as the process. */
const char *rubus__errno_text(int number);

size_t rubus__type_size(int32_t type);      /* bytes of RUBUS_F64 ...; 0 if unknown */
const char *rubus__type_name(int32_t type); /* "f64" ... "?" */

#endif
