/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CONFORM_DIRECT_H
#define RUBUS_CONFORM_DIRECT_H
/*
 * Plays the library for one plugin file: opens it, hands it services, and calls
 * the slots of its table. Its allocator counts, fails when told to, keeps a guard zone
 * behind every block and poisons what is given back.
 */
#include <stdatomic.h>

#include "conform.h"

typedef struct conform_host {
    rubus_host host;
    atomic_llong live;      // blocks not yet given back
    atomic_llong count;     // asked so far
    atomic_llong fail_at;   // this one fails; 0: none
    atomic_bool fail_after; // and all after it
    atomic_llong failed;    // that failed so
    atomic_llong nfail;     // calls of `fail`
} conform_host;

typedef struct conform_direct {
    void *handle;
    const rubus_plugin_desc *desc;
    conform_host host;
    rubus_ops ops;
    void *be;  // NULL: not open
    void *ctx; // NULL: none
} conform_direct;

/* Opens the file of the plugin and finds its descriptor; fails the check otherwise. */
void conform_direct_load(conform_direct *d);
/* `open`, then a context on the device of the spec. What they return is the result; on
 * failure nothing is open. */
rubus_status conform_direct_open(conform_direct *d);
rubus_status conform_direct_context(conform_direct *d);
/* load, open and context; fails the check if one of them does. */
void conform_direct_start(conform_direct *d);
/* Closes what is open; fails the check if blocks are left. */
void conform_direct_close(conform_direct *d);
/* The text of the last `fail` of this thread; "" after conform_direct_forget. */
const char *conform_direct_text(void);
void conform_direct_forget(void);
/* Fails unless the slot's status is RUBUS_OK. */
#define conform_slot_ok(call) conform_slot_ok_((call), #call)
void conform_slot_ok_(rubus_status st, const char *call);
/* Fails unless the status is an error of status.h and a text was written for it. */
void conform_slot_fails(rubus_status st, const char *what);

/* Capabilities of a device straight from the plugin. */
void conform_direct_caps(const conform_facts *facts, uint32_t device, rubus_caps *out);

#endif
