/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_PREBUILT_H
#define RUBUS_THREADS_PREBUILT_H
/*
 * The library's own kernels, compiled with the plugin. tools/rkc writes a C file for each
 * module, which includes this, and one with the list. A module is found by its key, which
 * covers its text, so a stale one is never taken.
 */
#include <stdint.h>

typedef struct {
    unsigned char key[32];
    uint32_t nentry;
    const char *const *symbol;
    void (*const *function)(void *block);
} threads_prebuilt;

extern const threads_prebuilt *const threads_prebuilt_list[];
extern const unsigned threads_prebuilt_count;

/*
 * Each function is compiled for x86-64 with and without AVX2, and chosen when the plugin
 * is loaded (AVX-512 at 256 bits brings nothing over AVX2). Not under sanitizers, whose
 * run-time libraries are not ready at that moment, nor where the C library or the
 * compiler does not know the way.
 */
#if defined(__gnu_linux__) && defined(__x86_64__) && defined(__GNUC__) &&                \
    !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                             \
    !defined(__SANITIZE_THREAD__)
#if __GNUC__ >= 12 && !defined(__AVX2__)
#define THREADS_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#endif
#endif
#ifndef THREADS_CLONES
#define THREADS_CLONES
#endif

#endif
