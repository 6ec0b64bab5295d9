/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_STATUS_H
#define RUBUS_STATUS_H
/**
 * Status codes and the text of the last error.
 *
 * Every call that can fail returns a rubus_status: RUBUS_OK, or one of the negative
 * codes below. The text of the failure is kept for the calling thread.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__GNUC__)
#define RUBUS_API __attribute__((visibility("default")))
#define RUBUS_CHECKED __attribute__((warn_unused_result))
#define RUBUS_PRINTF(format_at, first_at)                                                \
    __attribute__((format(printf, format_at, first_at)))
#else
#define RUBUS_API
#define RUBUS_CHECKED
#define RUBUS_PRINTF(format_at, first_at)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** 0, or a negative code of RUBUS_STATUS_LIST. Never an enum: its size is fixed. */
typedef int32_t rubus_status;

#define RUBUS_OK 0

/** X(name, value, meaning). Values keep their meaning for ever. */
#define RUBUS_STATUS_LIST(X)                                                             \
    X(EINVAL, -1, "an argument is wrong")                                                \
    X(ESHAPE, -2, "sizes do not fit together")                                           \
    X(ETYPE, -3, "element types do not fit together")                                    \
    X(EALIAS, -4, "an array that is written overlaps another argument")                  \
    X(EFOREIGN, -5, "operands belong to different contexts")                             \
    X(ESTALE, -6, "the object changed since it was used here")                           \
    X(ESTATE, -7, "the object is not in a state that allows this")                       \
    X(ECOMPILE, -8, "the kernel source has errors")                                      \
    X(EBOUNDS, -9, "an access leaves its array")                                         \
    X(ENOTFOUND, -10, "no object of that name")                                          \
    X(EFORMAT, -11, "the contents of a file are not understood")                         \
    X(EIO, -12, "a file could not be read or written")                                   \
    X(EUNSUPPORTED, -13, "the backend cannot do this")                                   \
    X(ELIMIT, -14, "too large for a limit of the device or the library")                 \
    X(ENOMEM, -15, "out of host memory")                                                 \
    X(EDEVMEM, -16, "out of device memory")                                              \
    X(ENODEV, -17, "no such backend or device")                                          \
    X(EPLUGIN, -18, "a backend plugin is broken or does not fit")                        \
    X(ELOST, -19, "the device is lost")                                                  \
    X(ETIMEOUT, -20, "the device did not answer in time")                                \
    X(EFORKED, -21, "the context was made before fork")                                  \
    X(EINTERNAL, -22, "a fault inside the library")

#define RUBUS_STATUS_ENUM_(name, value, meaning) RUBUS_##name = value,
enum { RUBUS_STATUS_LIST(RUBUS_STATUS_ENUM_) };
#undef RUBUS_STATUS_ENUM_

/**
 * The name of a status, for example "RUBUS_ESHAPE".
 *
 * @return A constant string; "RUBUS_?" for a number that is no status.
 * @threads Any thread.
 */
RUBUS_API const char *rubus_status_name(rubus_status status);

/**
 * What a status means, in a few words.
 *
 * @return A constant string.
 * @threads Any thread.
 */
RUBUS_API const char *rubus_status_text(rubus_status status);

/**
 * The calling thread's last error: operation, object, numbers and remedy.
 *
 * @return Never NULL; "" when no call of this thread has failed. Valid until the next
 *         failing call of the same thread.
 * @threads Any thread; each has its own text.
 */
RUBUS_API const char *rubus_error_text(void);

/** Prints place and text of a failure to stderr and exits with status 1. For programs. */
static inline void rubus_must_(rubus_status status, const char *file, int line)
{
    if (status != RUBUS_OK) {
        fprintf(stderr, "%s:%d: %s: %s\n", file, line, rubus_status_name(status),
                rubus_error_text());
        exit(1);
    }
}

/** RUBUS_MUST(call): for short programs that stop at the first error. */
#define RUBUS_MUST(call) rubus_must_((call), __FILE__, __LINE__)

#ifdef __cplusplus
}
#endif
#endif
