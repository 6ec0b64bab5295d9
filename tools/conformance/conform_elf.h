/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CONFORM_ELF_H
#define RUBUS_CONFORM_ELF_H
/* What a plugin file exports and runs when it is loaded, read without loading it. */
#include "conform.h"

typedef struct conform_elf {
    char exported[256]; // names that others can see, with blanks between
    unsigned nexported;
    bool exports_data;        // rubus_backend_plugin is there, and data
    uint64_t nconstructor;    // functions that the loader runs
    bool has_instrumentation; // a sanitizer's, which adds constructors
    bool has_resolvers; // of indirect functions; the compiler's library adds one then
} conform_elf;

/* Fails the check if the file cannot be read as a shared object of this machine. */
void conform_elf_read(const char *path, conform_elf *out);

#endif
