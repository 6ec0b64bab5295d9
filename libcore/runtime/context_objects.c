/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects that the user of a context has made and not yet destroyed, for
 * rubus_context_destroy_all. Kernels and modules that the library makes for itself are
 * not among them.
 */
#include "config.h"

#include "libcore/runtime/runtime.h"

void rubus__object_add(rubus_context *context, rubus__object *object, rubus__rank rank,
                       void (*destroy)(void *self), void *self)
{
    object->rank = rank;
    object->destroy = destroy;
    object->self = self;
    pthread_mutex_lock(&context->object_lock);
    object->before = NULL;
    object->next = context->object[rank];
    if (object->next != NULL) {
        object->next->before = object;
    }
    context->object[rank] = object;
    pthread_mutex_unlock(&context->object_lock);
}

void rubus__object_remove(rubus_context *context, rubus__object *object)
{
    // a child process has the list as it was at fork, maybe half changed
    if (object->destroy == NULL || rubus__context_forked(context)) {
        return;
    }
    pthread_mutex_lock(&context->object_lock);
    if (object->before != NULL) {
        object->before->next = object->next;
    } else {
        context->object[object->rank] = object->next;
    }
    if (object->next != NULL) {
        object->next->before = object->before;
    }
    pthread_mutex_unlock(&context->object_lock);
    object->destroy = NULL;
}

static rubus__object *newest(rubus_context *context, int32_t rank)
{
    pthread_mutex_lock(&context->object_lock);
    rubus__object *object = context->object[rank];
    pthread_mutex_unlock(&context->object_lock);
    return object;
}

void rubus_context_destroy_all(rubus_context *context)
{
    if (context == NULL || rubus__context_forked(context)) {
        return;
    }
    // one call may destroy several: the functions of a user's operator may
    for (int32_t rank = 0; rank < RUBUS__RANKS; rank++) {
        for (rubus__object *o = newest(context, rank); o != NULL;
             o = newest(context, rank)) {
            o->destroy(o->self);
        }
    }
    rubus_context_destroy(context);
}
