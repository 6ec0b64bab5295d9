/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The floating-point mode of the calling thread while it works for the backend.
 */
#include "config.h"

#include "plugins/threads/threads_plugin.h"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

#define MXCSR_DEFAULT 0x1f80u
#define MXCSR_FLAGS 0x3fu

void threads_float_enter(threads_float_mode *mode)
{
#if defined(__SSE2__)
    mode->mxcsr = _mm_getcsr();
    if ((mode->mxcsr & ~MXCSR_FLAGS) != MXCSR_DEFAULT) {
        _mm_setcsr(MXCSR_DEFAULT);
    }
#else
    fegetenv(&mode->env);
    fesetenv(FE_DFL_ENV);
#endif
}

void threads_float_leave(const threads_float_mode *mode)
{
#if defined(__SSE2__)
    if ((mode->mxcsr & ~MXCSR_FLAGS) != MXCSR_DEFAULT) {
        _mm_setcsr(mode->mxcsr);
    }
#else
    fesetenv(&mode->env);
#endif
}
