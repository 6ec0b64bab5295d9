/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_PLUGIN_H
#define RUBUS_PLUGIN_H
/*
 * What the files of the registry share among themselves: found plugins, started backends,
 * the parsed spec. The rest of the runtime sees registry.h only.
 */
#include <sys/stat.h>

#include "libcore/runtime/registry.h"

/* --- plugin_folder.c: where plugins are looked for ---------------------------------- */

typedef struct rubus__folder {
    char *path;
    const char *origin; /* "RUBUS_PLUGIN_PATH", "beside the library", "built in" */
    bool named;         /* a user named it: what is wrong with it is worth a warning */
} rubus__folder;

enum { RUBUS__FOLDER_MOST = 64 };
typedef struct rubus__folders {
    size_t n;
    rubus__folder at[RUBUS__FOLDER_MOST];
} rubus__folders;

/* In the order of search. On failure nothing is left to free. */
rubus_status rubus__folders_find(rubus__folders *out);
void rubus__folders_fini(rubus__folders *folders);
void rubus__folders_named_only_for_test(void); /* RUBUS_PLUGIN_PATH and nothing else */

enum { RUBUS__REASON_ROOM = 512 };
/* Whether only root and the caller can change the file; else false and the reason. */
bool rubus__stat_trusted(const struct stat *info, char reason[RUBUS__REASON_ROOM]);

/* --- plugin_scan.c: what lies in them ----------------------------------------------- */

struct rubus__plugin;
typedef struct rubus__found {
    rubus__folders folders;
    struct rubus__plugin **plugin;
    size_t n;
    size_t room;
} rubus__found;

/* Lists the built-in and all files, without opening any. On failure nothing is left. */
rubus_status rubus__scan(rubus__found *out);
void rubus__found_fini(rubus__found *found);
/* Opens the file with O_NONBLOCK; -1 and the reason if it is no trusted regular file. */
int rubus__plugin_file_open(const char *path, struct stat *out_info,
                            char reason[RUBUS__REASON_ROOM]);
/* Whether RUBUS_PLUGIN_DENY has the name. */
bool rubus__plugin_denied(const char *name);

/* --- elf_preflight.c ---------------------------------------------------------------- */

/* Whether the dynamic linker can be let near the file; else false and the reason. */
bool rubus__elf_preflight(int fd, uint64_t size, char reason[RUBUS__REASON_ROOM]);

/* --- plugin_open_ltdl.c ------------------------------------------------------------- */

/* Opens the file for good and finds the symbol. NULL and a reason if that fails;
 * *out_opened tells a file that did not open from one without the symbol. With the
 * registry locked. */
const void *rubus__module_symbol(const char *path, const char *symbol, bool *out_opened,
                                 char reason[RUBUS__REASON_ROOM]);

/* --- plugin_loader.c: the registry -------------------------------------------------- */

enum { RUBUS__USABLE = 0, RUBUS__REFUSED = 1, RUBUS__SHADOWED = 2 };

typedef struct rubus__plugin {
    char *name;
    char *path;
    const char *stage; /* of the refusal */
    char *reason;
    int32_t state;
    bool examined; /* else a file that nobody needed yet */
    dev_t file_device;
    ino_t file_number;
    uint32_t abi_major; /* 0: not read */
    uint32_t abi_minor;
    const rubus_plugin_desc *desc; /* NULL until examined, and if refused before */
    rubus__backend *backends;      /* started ones */
} rubus__plugin;

/* Locks the registry and looks for plugins if nobody did; ESTATE if this thread has it
 * locked already (a plugin or log function that calls back). */
rubus_status rubus__registry_lock(void);
void rubus__registry_unlock(void);
/* Without looking for plugins, and without error text; false if this thread has it. */
bool rubus__registry_relock(void);
/* All of these with the registry locked. */
size_t rubus__registry_count(void);
rubus__plugin *rubus__registry_at(size_t at);
const rubus__folders *rubus__registry_folders(void);
/* Opens what was not opened yet, so that all states are final. ENOMEM. */
rubus_status rubus__registry_examine_all(void);
/* The usable plugin of that name, or NULL with RUBUS_OK. ENOMEM. */
rubus_status rubus__registry_find(const char *name, rubus__plugin **out_plugin);
/* Remembers why a plugin is not usable; the first reason stays. ENOMEM. */
rubus_status rubus__plugin_refuse(rubus__plugin *plugin, const char *stage,
                                  const char *fmt, ...) RUBUS_PRINTF(3, 4);
uint32_t rubus__registry_generation(void); /* counts forks: older backends are dead */

/* --- plugin_descriptor.c ------------------------------------------------------------ */

/* Checks the exported object before any code runs; fills what can be known into *plugin.
 * `expected`: the name of the file. ENOMEM; a refusal is RUBUS_OK. */
rubus_status rubus__descriptor_check(rubus__plugin *plugin, const rubus_plugin_desc *desc,
                                     const char *expected);

/* --- spec.c: the text that chooses -------------------------------------------------- */

enum { RUBUS__OPTION_MOST = 32 };
typedef struct rubus__option {
    char *key;
    char *value;
} rubus__option;
typedef struct rubus__options { /* sorted by key */
    size_t n;
    rubus__option at[RUBUS__OPTION_MOST];
} rubus__options;

typedef struct rubus__item {
    char *text; /* as written, without blanks around it */
    char *name; /* lower case; aliases resolved */
    bool has_number;
    uint32_t number;
    char *part; /* of the device's name, or NULL */
    bool has_uuid;
    uint8_t uuid[16];
    rubus__options options;
} rubus__item;

typedef struct rubus__spec {
    size_t n;
    rubus__item *item;
} rubus__spec;

/* EINVAL with the position, ENOMEM. */
rubus_status rubus__spec_parse(const char *text, rubus__spec *out);
void rubus__spec_fini(rubus__spec *spec);
/* Checks RUBUS_NUM_THREADS and RUBUS_VALIDATE. EINVAL names the variable. */
rubus_status rubus__spec_check_environment(void);

/* --- options.c ---------------------------------------------------------------------- */

enum { RUBUS__THREADS_MOST = 4096 };
/* The one way to write a value ("ON" and "1" of fp64 are "on"); EINVAL without text, and
 * what was wanted instead. */
rubus_status rubus__option_normal(const char *key, const char *value, char out[32],
                                  const char **out_wanted);
rubus_status rubus__options_set(rubus__options *options, const char *key,
                                const char *value);
const char *rubus__options_get(const rubus__options *options, const char *key);
bool rubus__options_equal(const rubus__options *a, const rubus__options *b);
void rubus__options_fini(rubus__options *options);
/* out: a copy of `options` (NULL: none) with what the environment adds. */
rubus_status rubus__options_resolve(const rubus__options *options, rubus__options *out);

/* --- capability.c ------------------------------------------------------------------- */

/* Asks the backend and checks the answer: EPLUGIN if it makes no sense. */
rubus_status rubus__caps_get(rubus__backend *backend, uint32_t device,
                             rubus_caps *out_caps);
/* Lowers caps as fp64=off and cap.NAME=VALUE ask. EINVAL if one would rise. */
rubus_status rubus__caps_lower(rubus_caps *caps, const rubus__options *options);
/* Whether there is a capability of that name that can be lowered. */
bool rubus__caps_known(const char *name);
const char *rubus__caps_names(void); /* all of them, for a message */
const char *rubus__kind_name(uint32_t kind);

/* --- backend_table.c, backend_start.c ----------------------------------------------- */

struct rubus__backend {
    rubus__backend *next;
    rubus__plugin *plugin;
    rubus__options options; /* resolved */
    uint32_t generation;
    uint32_t nuse; /* devices open, and calls under way; under the registry's lock */
    const char *version; /* the plugin's; plugins are never unloaded */
    void (*close)(void *be);
    void *be;
    rubus_host host;
    rubus_ops room; /* what the plugin may write to, at any time */
    rubus_ops ops;  /* what is called: copied once, then never changed */
};

enum { RUBUS__SLOT_COUNT = 22 };
typedef struct rubus__slot {
    const char *name;
    size_t offset; /* in rubus_ops */
    bool required;
    uint32_t since_minor;
} rubus__slot;
extern const rubus__slot rubus__slots[RUBUS__SLOT_COUNT];

bool rubus__slot_filled(const rubus_ops *ops, size_t slot);
/* Copies room to ops; false and the reason if a required slot is missing. */
bool rubus__table_take(rubus__backend *backend, char reason[RUBUS__REASON_ROOM]);
/* Fills dev->optional from own slots and stubs. */
void rubus__table_complete(rubus__device *dev);

/* The backend of that plugin with these options (of a spec; NULL: none), started if need
 * be, with a use taken. Registry locked. */
rubus_status rubus__backend_use(rubus__plugin *plugin, const rubus__options *options,
                                rubus__backend **out_backend);
/* Registry not locked. */
void rubus__backend_release(rubus__backend *backend);
/* Closes those that nobody uses; whether none is left. Registry locked. */
bool rubus__backends_close(rubus__plugin *plugin);
/* As rubus__slot_result, before there is a device. */
rubus_status rubus__backend_result(const rubus__backend *backend, const char *slot,
                                   rubus_status st);

/* --- device.c ----------------------------------------------------------------------- */

/* Which device of the backend the item means; caps as the device has them. */
rubus_status rubus__device_pick(rubus__backend *backend, const rubus__item *item,
                                uint32_t *out_index, rubus_caps *out_caps);
/* 0 for what `auto` never takes; more is better. */
int rubus__device_rank(uint32_t kind);
/* The best device of the backend for `auto`; *out_rank is 0 if it has none. */
rubus_status rubus__device_best(rubus__backend *backend, uint32_t *out_index,
                                rubus_caps *out_caps, int *out_rank);
/* Lowers the capabilities, opens the device and checks it. Takes over the use of backend
 * on success only. */
rubus_status rubus__device_start(rubus__backend *backend, uint32_t index,
                                 const rubus_caps *caps, rubus__device **out_device);

/* --- host_services.c ---------------------------------------------------------------- */

void rubus__host_fill(rubus__backend *backend);

/* --- stub_*.c: what stands in for optional slots ------------------------------------ */

rubus_status rubus__stub_fill(rubus__device *dev, void *buffer, uint64_t first,
                              uint64_t n, const void *pattern, uint32_t pattern_size);
rubus_status rubus__stub_copy(rubus__device *dev, void *dst, uint64_t dst_first,
                              const void *src, uint64_t src_first, uint64_t n);
rubus_status rubus__stub_scatter_flush(rubus__device *dev, const rubus_csr_desc *a);
rubus_status rubus__stub_map(rubus__device *dev, void *buffer, uint64_t first, uint64_t n,
                             uint32_t access, void **out_host);
rubus_status rubus__stub_unmap(rubus__device *dev, void *buffer);
void rubus__stub_map_fini(rubus__device *dev); /* drops what is still mapped */

#endif
