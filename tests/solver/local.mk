# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/solver/relax_probe.h
check_PROGRAMS += tests/solver/test_relax
tests_solver_test_relax_SOURCES = tests/solver/test_relax.c
tests_solver_test_relax_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
