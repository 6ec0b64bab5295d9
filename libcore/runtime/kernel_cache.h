/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_KERNEL_CACHE_H
#define RUBUS_KERNEL_CACHE_H
/*
 * Compiled kernels on disk, by key (SHA-256 of what was compiled) and suffix (what the
 * backend adds: compiler, processor, driver). A cache that cannot be used is no error:
 * everything is a miss then, and the log says why, once.
 */
#include "libcore/base/base.h"

/* *out_fd: a readable descriptor, or -1. */
rubus_status rubus__cache_get(const uint8_t key[32], const char *suffix, int32_t *out_fd);
/* Stores all of fd, from offset 0. */
rubus_status rubus__cache_put(const uint8_t key[32], const char *suffix, int32_t fd);

#endif
