/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_THREADS_OBJECT_H
#define RUBUS_THREADS_OBJECT_H
/*
 * Shared objects made by the compiler: sealed for the cache, checked, and loaded.
 */
#include <stdbool.h>

#include <rubus/backend.h>

#include "plugins/threads/hash.h"

/* What an object must be: of this module, by this compiler for this processor. */
typedef struct threads_stamp {
    uint8_t key[32];
    threads_hash made_by;
} threads_stamp;

/* Room for the text that makes an object carry its stamp. */
#define THREADS_STAMP_ROOM 512
void threads_stamp_text(const threads_stamp *stamp, char out[THREADS_STAMP_ROOM]);

/* Puts a seal behind the object, by which damage is noticed; false if it is no whole
 * object, or cannot be written. */
bool threads_object_seal(const rubus_host *host, int fd, const threads_stamp *stamp);
/* A private copy of a cache entry, if its seal is right; else -1. Closes fd. */
int threads_object_unseal(const rubus_host *host, int fd, const threads_stamp *stamp);
/*
 * Loads the object and compares the stamp inside. unique: an address that is alive as
 * long as the object is loaded. NULL on failure, with the reason in why.
 */
void *threads_object_load(int fd, const threads_stamp *stamp, const void *unique,
                          char *why, size_t room);

#endif
