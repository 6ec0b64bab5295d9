# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/support/probe_files.h tests/runtime/probe_list.h
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
