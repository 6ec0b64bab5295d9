/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CONTEXT_H
#define RUBUS_CONTEXT_H
/** Contexts: an opened device of a backend, with one in-order queue. */
#include <stddef.h>
#include <stdint.h>

#include <rubus/status.h>
#include <rubus/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RUBUS_VERSION_MAJOR 0
#define RUBUS_VERSION_MINOR 1
#define RUBUS_VERSION_PATCH 0

/** Version of the library that runs, for example "0.1.0".
 *  @return A constant string.
 *  @threads Any thread. */
RUBUS_API const char *rubus_version(void);

typedef struct rubus_context rubus_context;

/** What rubus_context_info_get reports. Strings live as long as the context. */
typedef struct rubus_context_info {
    size_t struct_size;  /**< set by the caller: sizeof(rubus_context_info) */
    const char *backend; /**< "threads" */
    const char *device;  /**< name of the device */
    const char *driver;  /**< "" where the backend tells none */
    const char *plugin;  /**< path of the plugin file; "(built in)" */
    const char *version; /**< version of the plugin */
    const char *dialect; /**< "c", "glsl", "opencl" or "rk" */
    const char *why;     /**< "RUBUS_BACKEND", "default", "argument" */
    uint32_t device_index;
    uint32_t kind;    /**< RUBUS_KIND_* */
    uint32_t fp64;    /**< 0 no, 1 emulated, 2 native */
    uint32_t memory;  /**< RUBUS_AT_* */
    uint32_t threads; /**< CPU threads the backend was told to use; 0 not known */
    uint32_t reserved0;
    uint64_t mem_total; /**< bytes; 0 not known */
} rubus_context_info;

/** Counters of a context since it was made; all in units of the name. */
typedef struct rubus_context_counters {
    size_t struct_size;   /**< set by the caller */
    uint64_t write_calls; /**< host to device transfers */
    uint64_t write_bytes;
    uint64_t read_calls; /**< device to host transfers */
    uint64_t read_bytes;
    uint64_t launches;      /**< entries enqueued (passes, not kernels) */
    uint64_t modules_built; /**< text given to the backend */
    uint64_t live_buffers;  /**< buffers alive now */
    uint64_t live_bytes;
    uint64_t small_transfers; /**< transfers of fewer than 64 bytes */
} rubus_context_counters;

/**
 * Opens a device. spec: see docs/environment.md; NULL takes $RUBUS_BACKEND, or "threads".
 *
 * @param[out] out_context  Destroy with rubus_context_destroy.
 * @return RUBUS_OK
 * @return RUBUS_EINVAL   the spec is malformed; the text gives the position
 * @return RUBUS_ENODEV   no such backend or device; the text lists what exists and why
 *                        plugins were refused
 * @return RUBUS_EPLUGIN  the plugin is broken, foreign or of another ABI
 * @return RUBUS_ENOMEM   out of memory
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_context_create(const char *spec,
                                            rubus_context **out_context) RUBUS_CHECKED;

/** Gives the context back. Objects made in it hold it: any order is right. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_context_destroy(rubus_context *context);

/**
 * Destroys every object that was made in the context and not yet destroyed, then the
 * context: arrays and windows, modules, meshes, spaces, constraints, forms, operators,
 * matrices, solvers. No pointer to one of them means anything afterwards. NULL allowed.
 * In a child process after fork it does nothing.
 * @threads No other thread uses the context or an object in it. */
RUBUS_API void rubus_context_destroy_all(rubus_context *context);

/** Waits until everything enqueued is done, and reports what went wrong in it, once.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL), RUBUS_EBOUNDS (a checked kernel left an array),
 *          RUBUS_ELOST, RUBUS_EFORKED, or what the backend reports
 *  @threads Any thread; other threads may go on enqueueing. */
RUBUS_API rubus_status rubus_context_synchronize(rubus_context *context) RUBUS_CHECKED;

/** Fills *info, up to info->struct_size bytes.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, struct_size 0)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_context_info_get(rubus_context *context,
                                              rubus_context_info *info) RUBUS_CHECKED;

/** Fills *counters, up to counters->struct_size bytes.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, struct_size 0)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_context_counters_get(
    rubus_context *context, rubus_context_counters *counters) RUBUS_CHECKED;

/** One backend plugin that was found, or refused. Strings live until rubus_shutdown. */
typedef struct rubus_plugin_info {
    size_t struct_size;  /**< set by the caller */
    const char *name;    /**< "threads"; for a refused file its base name */
    const char *path;    /**< "(built in)" for the reference backend */
    const char *version; /**< "" when refused before it could be read */
    const char *vendor;
    const char *licence;
    uint32_t abi_major;
    uint32_t abi_minor;
    int32_t refused; /**< 0: usable; 1: refused, see stage and reason;
                               2: shadowed by another of the same name, see reason */
    int32_t reserved0;
    const char *stage;  /**< "folder", "file", "elf", "open", "descriptor", "slots" */
    const char *reason; /**< why it was refused */
} rubus_plugin_info;

/** Looks for plugins (once) and gives how many were found or refused.
 *  @return RUBUS_OK, RUBUS_EINVAL, RUBUS_ENOMEM
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_plugin_count(uint32_t *out_count) RUBUS_CHECKED;

/** Fills *info for plugin `at`, without starting it.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, or at is too large)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_plugin_info_get(uint32_t at,
                                             rubus_plugin_info *info) RUBUS_CHECKED;

/** One device of a plugin. */
typedef struct rubus_device_info {
    size_t struct_size; /**< set by the caller */
    char name[256];
    char driver[256];
    char dialect[16];
    uint8_t uuid[16];
    uint32_t kind;
    uint32_t fp64;
    uint32_t int64;
    uint32_t atomic_f32_add;
    uint32_t atomic_f64_add;
    uint32_t lane_width;
    uint32_t memory;
    uint32_t reserved0;
    uint64_t mem_total;
    uint64_t max_alloc;
    uint64_t max_buffer;
} rubus_device_info;

/** Starts plugin `at` if need be and gives its number of devices.
 *  @return RUBUS_OK, RUBUS_EINVAL, or why the plugin did not start
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_plugin_device_count(uint32_t at,
                                                 uint32_t *out_count) RUBUS_CHECKED;

/** Fills *info for a device of plugin `at`.
 *  @return RUBUS_OK, RUBUS_EINVAL, or why the plugin did not start
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_plugin_device_info(uint32_t at, uint32_t device,
                                                rubus_device_info *info) RUBUS_CHECKED;

/** State of slot number `slot` (order of RUBUS_SLOT_LIST) of plugin `at`: its name and
 *  whether the plugin fills it itself (1) or a stub of the library stands in (0).
 *  @return RUBUS_OK, RUBUS_EINVAL (also past the last slot), or why it did not start
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_plugin_slot(uint32_t at, uint32_t slot,
                                         const char **out_name,
                                         int32_t *out_own) RUBUS_CHECKED;

/** Name, value in force and origin of environment variable number `at` of the library.
 *  The value is "" where unset.
 *  @return RUBUS_OK, RUBUS_EINVAL (NULL, or past the last)
 *  @threads Any thread. */
RUBUS_API rubus_status rubus_environment_get(uint32_t at, const char **out_name,
                                             const char **out_value) RUBUS_CHECKED;

/** Receives log lines; level 1 error, 2 warning, 3 info, 4 debug. */
typedef void (*rubus_log_function)(void *user, int32_t level, const char *topic,
                                   const char *text);

/** Sends log lines to a function (NULL: to stderr as $RUBUS_LOG asks).
 *  @threads Any thread; the function may be called from any thread. */
RUBUS_API void rubus_log_set(rubus_log_function function, void *user);

/** Closes what no context uses any more. Optional and idempotent; the library may be used
 *  again afterwards. Plugins stay loaded.
 *  @threads Any thread, while no other call is running. */
RUBUS_API void rubus_shutdown(void);

#ifdef __cplusplus
}
#endif
#endif
