/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: many small blocks that live and die together, as the nodes of a syntax tree
 * do.
 *
 * Blocks are cut from chunks that double up to 1 MiB; a block too large for a chunk gets
 * one of its own. When memory runs out the owner's function is called, which leaves by
 * longjmp, so callers need no checks. The arena is whole after that and is destroyed as
 * usual.
 */
#include "config.h"

#include "libcore/base/base.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_FIRST = 16 * 1024, CHUNK_LARGEST = 1024 * 1024, ALIGN = 16 };

typedef struct chunk {
    struct chunk *next;
    size_t room;
    size_t used;
    max_align_t data[];
} chunk;

struct rubus__arena {
    chunk *first; /* the one that blocks are cut from */
    size_t next_room;
    rubus__arena_oom oom;
    void *user;
};

rubus__arena *rubus__arena_create(rubus__arena_oom oom, void *user)
{
    rubus__arena *arena = rubus__alloc(sizeof *arena);
    if (arena != NULL) {
        arena->next_room = CHUNK_FIRST;
        arena->oom = oom;
        arena->user = user;
    }
    return arena;
}

void rubus__arena_destroy(rubus__arena *arena)
{
    if (arena == NULL) {
        return;
    }
    chunk *at = arena->first;
    while (at != NULL) {
        chunk *next = at->next;
        rubus__free(at);
        at = next;
    }
    rubus__free(arena);
}

_Noreturn static void out_of_memory(rubus__arena *arena)
{
    arena->oom(arena->user);
    __builtin_unreachable(); // the owner's function must not return
}

static chunk *chunk_add(rubus__arena *arena, size_t room)
{
    if (room > PTRDIFF_MAX) {
        rubus__fail(RUBUS_ENOMEM, "out of host memory: %zu bytes were asked for", room);
        out_of_memory(arena);
    }
    chunk *fresh = rubus__alloc(sizeof(chunk) + room);
    if (fresh != NULL) {
        fresh->room = room;
        return fresh;
    }
    out_of_memory(arena);
}

void *rubus__arena_alloc(rubus__arena *arena, size_t nbyte)
{
    if (nbyte > SIZE_MAX - ALIGN) {
        rubus__fail(RUBUS_ENOMEM, "out of host memory: %zu bytes were asked for", nbyte);
        out_of_memory(arena);
    }
    const size_t size = (nbyte + ALIGN - 1) / ALIGN * ALIGN;
    chunk *at = arena->first;
    if (at == NULL || size > at->room - at->used) {
        if (size > arena->next_room / 4) {
            // a chunk of its own, behind the present one, which stays in use
            chunk *own = chunk_add(arena, size);
            own->used = size;
            if (at == NULL) {
                arena->first = own;
            } else {
                own->next = at->next;
                at->next = own;
            }
            return own->data;
        }
        at = chunk_add(arena, arena->next_room);
        at->next = arena->first;
        arena->first = at;
        if (arena->next_room < CHUNK_LARGEST) {
            arena->next_room *= 2;
        }
    }
    void *block = (char *)at->data + at->used;
    at->used += size;
    return block;
}

char *rubus__arena_strndup(rubus__arena *arena, const char *text, size_t n)
{
    const size_t size = strnlen(text, n);
    char *copy = rubus__arena_alloc(arena, size + 1);
    memcpy(copy, text, size);
    return copy;
}

char *rubus__arena_format(rubus__arena *arena, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    va_list again;
    va_copy(again, args);
    const int n = rubus__vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    const size_t room = n < 0 ? 1 : (size_t)n + 1;
    char *out = rubus__arena_alloc(arena, room);
    rubus__vsnprintf(out, room, fmt, again);
    va_end(again);
    return out;
}
