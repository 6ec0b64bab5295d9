# SPDX-License-Identifier: Apache-2.0
# The plugin of which tests make good and faulty copies.
check_LTLIBRARIES += tests/plugins/rubus-probe.la
tests_plugins_rubus_probe_la_SOURCES = tests/plugins/probe_plugin.c
tests_plugins_rubus_probe_la_LDFLAGS = -module -avoid-version -shared \
	-rpath $(abs_builddir)/tests/plugins -export-symbols-regex '^rubus_backend_plugin$$'

# The same, built against the header of another minor version.
EXTRA_DIST += tests/plugins/other_minor.awk
OTHER_MINORS = tests/plugins/older/rubus/backend.h tests/plugins/newer/rubus/backend.h
CLEANFILES += $(OTHER_MINORS)
$(OTHER_MINORS): include/rubus/backend.h tests/plugins/other_minor.awk
	$(AM_V_GEN)minor=`echo $@ | sed 's,/rubus/.*,,; s,.*/,,'` && \
	$(MKDIR_P) `dirname $@` && header=$(srcdir)/include/rubus/backend.h && \
	$(AWK) -v minor=$$minor -f $(srcdir)/tests/plugins/other_minor.awk $$header \
	    $$header >$@.new && mv $@.new $@
check_LTLIBRARIES += tests/plugins/minor/rubus-older.la tests/plugins/minor/rubus-newer.la
tests_plugins_minor_rubus_older_la_SOURCES = tests/plugins/probe_plugin.c
tests_plugins_minor_rubus_older_la_CPPFLAGS = -Itests/plugins/older $(AM_CPPFLAGS)
tests_plugins_minor_rubus_older_la_LDFLAGS = $(tests_plugins_rubus_probe_la_LDFLAGS)
tests_plugins_minor_rubus_newer_la_SOURCES = tests/plugins/probe_plugin.c
tests_plugins_minor_rubus_newer_la_CPPFLAGS = -Itests/plugins/newer $(AM_CPPFLAGS)
tests_plugins_minor_rubus_newer_la_LDFLAGS = $(tests_plugins_rubus_probe_la_LDFLAGS)
$(tests_plugins_minor_rubus_older_la_OBJECTS): tests/plugins/older/rubus/backend.h
$(tests_plugins_minor_rubus_newer_la_OBJECTS): tests/plugins/newer/rubus/backend.h
check_PROGRAMS += tests/plugins/test_minor
tests_plugins_test_minor_SOURCES = tests/plugins/test_minor.c
tests_plugins_test_minor_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)

# Plugins that wrap another one.
WRAP_SOURCES = tests/plugins/wrap_plugin.c tests/plugins/wrap_plugin.h
WRAP_LDFLAGS = $(tests_plugins_rubus_probe_la_LDFLAGS)
check_LTLIBRARIES += tests/plugins/rubus-fault.la
tests_plugins_rubus_fault_la_SOURCES = tests/plugins/fault_plugin.c $(WRAP_SOURCES)
tests_plugins_rubus_fault_la_LDFLAGS = $(WRAP_LDFLAGS)
tests_plugins_rubus_fault_la_LIBADD = -ldl
check_LTLIBRARIES += tests/plugins/rubus-chaos.la
CHAOS_SOURCES = tests/plugins/chaos_command.c tests/plugins/chaos_command.h \
	tests/plugins/chaos_queue.c tests/plugins/chaos_queue.h
tests_plugins_rubus_chaos_la_SOURCES = tests/plugins/chaos_plugin.c $(CHAOS_SOURCES) \
	$(WRAP_SOURCES)
tests_plugins_rubus_chaos_la_LDFLAGS = $(WRAP_LDFLAGS)
tests_plugins_rubus_chaos_la_LIBADD = -ldl -lpthread
check_LTLIBRARIES += tests/plugins/chaos/rubus-threads.la
tests_plugins_chaos_rubus_threads_la_SOURCES = $(tests_plugins_rubus_chaos_la_SOURCES)
tests_plugins_chaos_rubus_threads_la_CPPFLAGS = $(AM_CPPFLAGS) -DCHAOS_OVER='"threads"'
tests_plugins_chaos_rubus_threads_la_LDFLAGS = $(WRAP_LDFLAGS)
tests_plugins_chaos_rubus_threads_la_LIBADD = $(tests_plugins_rubus_chaos_la_LIBADD)
if HAVE_VULKAN
check_LTLIBRARIES += tests/plugins/chaos/rubus-vulkan.la
tests_plugins_chaos_rubus_vulkan_la_SOURCES = $(tests_plugins_rubus_chaos_la_SOURCES)
tests_plugins_chaos_rubus_vulkan_la_CPPFLAGS = $(AM_CPPFLAGS) -DCHAOS_OVER='"vulkan"'
tests_plugins_chaos_rubus_vulkan_la_LDFLAGS = $(WRAP_LDFLAGS)
tests_plugins_chaos_rubus_vulkan_la_LIBADD = $(tests_plugins_rubus_chaos_la_LIBADD)
endif
check_LTLIBRARIES += tests/plugins/rubus-mutant.la
tests_plugins_rubus_mutant_la_SOURCES = tests/plugins/mutant.h \
	tests/plugins/mutant_launch.c tests/plugins/mutant_memory.c \
	tests/plugins/mutant_plugin.c tests/plugins/mutant_sparse.c $(CHAOS_SOURCES) \
	$(WRAP_SOURCES)
tests_plugins_rubus_mutant_la_LDFLAGS = $(WRAP_LDFLAGS)
tests_plugins_rubus_mutant_la_LIBADD = -ldl -lpthread
check_PROGRAMS += tests/plugins/test_fault
tests_plugins_test_fault_SOURCES = tests/plugins/test_fault.c \
	tests/plugins/fault_program.h
tests_plugins_test_fault_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/plugins/test_chaos
tests_plugins_test_chaos_SOURCES = tests/plugins/test_chaos.c
tests_plugins_test_chaos_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
dist_check_SCRIPTS += tests/plugins/chaos_suite.sh tests/plugins/mutant_suite.sh
EXTRA_DIST += tests/plugins/mutants.tsv

# The backend vulkan, through its descriptor; what needs a device is left out without one.
if HAVE_VULKAN
EXTRA_DIST += tests/plugins/device_probe.h tests/plugins/module_probe.h \
	tests/plugins/queue_probe.h tests/plugins/vulkan_texts.h
check_PROGRAMS += tests/plugins/test_vulkan_device
tests_plugins_test_vulkan_device_SOURCES = tests/plugins/test_vulkan_device.c
tests_plugins_test_vulkan_device_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/plugins/test_vulkan_memory
tests_plugins_test_vulkan_memory_SOURCES = tests/plugins/test_vulkan_memory.c
tests_plugins_test_vulkan_memory_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
if HAVE_SHADERC
check_PROGRAMS += tests/plugins/test_vulkan_module
tests_plugins_test_vulkan_module_SOURCES = tests/plugins/test_vulkan_module.c
tests_plugins_test_vulkan_module_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/plugins/test_vulkan_sparse
tests_plugins_test_vulkan_sparse_SOURCES = tests/plugins/test_vulkan_sparse.c
tests_plugins_test_vulkan_sparse_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
endif
check_PROGRAMS += tests/plugins/test_vulkan_queue
tests_plugins_test_vulkan_queue_SOURCES = tests/plugins/test_vulkan_queue.c
tests_plugins_test_vulkan_queue_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/plugins/test_vulkan_seal
tests_plugins_test_vulkan_seal_SOURCES = tests/plugins/test_vulkan_seal.c
tests_plugins_test_vulkan_seal_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/plugins/test_vulkan_transfer
tests_plugins_test_vulkan_transfer_SOURCES = tests/plugins/test_vulkan_transfer.c
tests_plugins_test_vulkan_transfer_LDADD = $(VULKAN_LIBS) $(CHECK_LIBS)
endif
