# SPDX-License-Identifier: Apache-2.0
# The plugin of which tests make good and faulty copies.
check_LTLIBRARIES += tests/plugins/rubus-probe.la
tests_plugins_rubus_probe_la_SOURCES = tests/plugins/probe_plugin.c
tests_plugins_rubus_probe_la_LDFLAGS = -module -avoid-version -shared \
	-rpath $(abs_builddir)/tests/plugins -export-symbols-regex '^rubus_backend_plugin$$'
