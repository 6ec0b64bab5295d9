/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_COMPILE_H
#define RUBUS_COMPILE_H
/**
 * The kernel compiler without a device: check a source, explain its plan, see the text
 * that a backend would get. For tools; a program that runs kernels needs none of it.
 */
#include <rubus/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Compiles the source file `path` and reports every error in it.
 *
 * @param options  As for rubus_module_create; NULL for the defaults.
 * @return RUBUS_OK        the source is right
 * @return RUBUS_ECOMPILE  it has errors; the error text lists them
 * @return RUBUS_EINVAL    NULL, unknown real or index
 * @return RUBUS_EIO       the file cannot be read
 * @return RUBUS_ENOMEM    out of memory
 * @threads Any thread.
 */
RUBUS_API rubus_status
rubus_source_check(const char *path, const rubus_module_options *options) RUBUS_CHECKED;

/**
 * Tells how the kernels of `path` will run: the passes of each, why each began, the
 * arrays it reads and writes, bytes and operations per point, and what a launch must
 * fulfil.
 *
 * @param json      1: one JSON object, {"kernels": [{"name", "passes": [{"reads",
 *                  "writes", "bytes_per_point"}]}]}; 0: text for people.
 * @param out_text  Give back with rubus_text_free.
 * @return as rubus_source_check
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_source_explain(const char *path,
                                            const rubus_module_options *options,
                                            int32_t json, char **out_text) RUBUS_CHECKED;

/**
 * Tells what a form of `path` becomes on a mesh: its terms, the taps of their sides, its
 * line tables, and passes, bytes and operations a point of its kernels. Any name is a
 * label here.
 *
 * @param form      Name of the form. Its spaces have as many components as it names.
 * @param ndim      Dimensions of the mesh, 1 to 3.
 * @param json      1: one JSON object, {"form", "dim", "components", "entries", "terms":
 *                  [{"factor", "weight", "first", "last", "trial_taps", "test_taps"}],
 *                  "tables": [{"name", "axis", "value"}],
 *                  "kernels": [{"name", "passes", "bytes_per_point",
 *                  "ops_per_point"}]}; 0: text for people.
 * @param out_text  Give back with rubus_text_free.
 * @return as rubus_source_check; RUBUS_EINVAL also for an unknown form, and the error
 *         text lists those that exist; RUBUS_ECOMPILE also for what is wrong in the form
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_source_explain_form(const char *path,
                                                 const rubus_module_options *options,
                                                 const char *form, int32_t ndim,
                                                 int32_t json,
                                                 char **out_text) RUBUS_CHECKED;

/**
 * The text that a backend of a dialect gets for `path`.
 *
 * @param dialect   "c", "glsl", "opencl" or "rk".
 * @param out_text  Give back with rubus_text_free.
 * @return as rubus_source_check; RUBUS_EINVAL also for an unknown dialect, and the error
 *         text lists those that exist
 * @threads Any thread.
 */
RUBUS_API rubus_status rubus_source_emit(const char *path,
                                         const rubus_module_options *options,
                                         const char *dialect,
                                         char **out_text) RUBUS_CHECKED;

/** Gives a text of rubus_source_explain or _emit back. NULL allowed.
 *  @threads Any thread. */
RUBUS_API void rubus_text_free(char *text);

#ifdef __cplusplus
}
#endif
#endif
