# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/runtime/probe_list.h
check_PROGRAMS += tests/runtime/test_preflight
tests_runtime_test_preflight_SOURCES = tests/runtime/test_preflight.c
tests_runtime_test_preflight_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_loader
tests_runtime_test_loader_SOURCES = tests/runtime/test_loader.c
tests_runtime_test_loader_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_selection
tests_runtime_test_selection_SOURCES = tests/runtime/test_selection.c
tests_runtime_test_selection_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_stubs
tests_runtime_test_stubs_SOURCES = tests/runtime/test_stubs.c
tests_runtime_test_stubs_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_backend_start
tests_runtime_test_backend_start_SOURCES = tests/runtime/test_backend_start.c
tests_runtime_test_backend_start_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_threads_plugin
tests_runtime_test_threads_plugin_SOURCES = tests/runtime/test_threads_plugin.c \
	tests/runtime/threads_probe.h tests/support/fake_host.h
tests_runtime_test_threads_plugin_LDADD = $(THREADS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_threads_jit
tests_runtime_test_threads_jit_SOURCES = tests/runtime/test_threads_jit.c \
	tests/runtime/threads_probe.h tests/support/fake_host.h
tests_runtime_test_threads_jit_LDADD = $(THREADS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_context
tests_runtime_test_context_SOURCES = tests/runtime/test_context.c
tests_runtime_test_context_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_array
tests_runtime_test_array_SOURCES = tests/runtime/test_array.c
tests_runtime_test_array_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_array_share
tests_runtime_test_array_share_SOURCES = tests/runtime/test_array_share.c
tests_runtime_test_array_share_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_launch
tests_runtime_test_launch_SOURCES = tests/runtime/test_launch.c
tests_runtime_test_launch_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_funcs
tests_runtime_test_funcs_SOURCES = tests/runtime/test_funcs.c
tests_runtime_test_funcs_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_module
tests_runtime_test_module_SOURCES = tests/runtime/test_module.c
tests_runtime_test_module_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_results
tests_runtime_test_results_SOURCES = tests/runtime/test_results.c
tests_runtime_test_results_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_checked
tests_runtime_test_checked_SOURCES = tests/runtime/test_checked.c
tests_runtime_test_checked_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_validate
tests_runtime_test_validate_SOURCES = tests/runtime/test_validate.c
tests_runtime_test_validate_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_small_stack
tests_runtime_test_small_stack_SOURCES = tests/runtime/test_small_stack.c
tests_runtime_test_small_stack_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_cache
tests_runtime_test_cache_SOURCES = tests/runtime/test_cache.c
tests_runtime_test_cache_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_blas
tests_runtime_test_blas_SOURCES = tests/runtime/test_blas.c
tests_runtime_test_blas_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_fork
tests_runtime_test_fork_SOURCES = tests/runtime/test_fork.c
tests_runtime_test_fork_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_threads_api
tests_runtime_test_threads_api_SOURCES = tests/runtime/test_threads_api.c
tests_runtime_test_threads_api_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_alloc_failure
tests_runtime_test_alloc_failure_SOURCES = tests/runtime/test_alloc_failure.c
tests_runtime_test_alloc_failure_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
# The backend vulkan through the public interface; some tests reach for its table of
# driver functions.
if HAVE_VULKAN
EXTRA_DIST += tests/runtime/vulkan_probe.h
if HAVE_SHADERC
check_PROGRAMS += tests/runtime/test_vulkan_limits
tests_runtime_test_vulkan_limits_SOURCES = tests/runtime/test_vulkan_limits.c
tests_runtime_test_vulkan_limits_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_vulkan_sizes
tests_runtime_test_vulkan_sizes_SOURCES = tests/runtime/test_vulkan_sizes.c
tests_runtime_test_vulkan_sizes_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_vulkan_order
tests_runtime_test_vulkan_order_SOURCES = tests/runtime/test_vulkan_order.c
tests_runtime_test_vulkan_order_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_vulkan_end
tests_runtime_test_vulkan_end_SOURCES = tests/runtime/test_vulkan_end.c
tests_runtime_test_vulkan_end_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/runtime/test_vulkan_code
tests_runtime_test_vulkan_code_SOURCES = tests/runtime/test_vulkan_code.c
tests_runtime_test_vulkan_code_LDADD = libvulkan_prebuilt.la $(RUBUS_LIBS) $(CHECK_LIBS)
endif
endif
