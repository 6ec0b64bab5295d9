# SPDX-License-Identifier: Apache-2.0
# They see what a user sees: the public headers and the library.
noinst_PROGRAMS += examples/01_heat
examples_01_heat_CPPFLAGS = -I$(top_srcdir)/include
examples_01_heat_LDADD = librubus.la
examples_01_heat_SOURCES = examples/01_heat.c
