# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/solver/relax_probe.h
check_PROGRAMS += tests/solver/test_relax
tests_solver_test_relax_SOURCES = tests/solver/test_relax.c
tests_solver_test_relax_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/solver/test_relax_outcome
tests_solver_test_relax_outcome_SOURCES = tests/solver/test_relax_outcome.c
tests_solver_test_relax_outcome_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/solver/test_relax_file
tests_solver_test_relax_file_SOURCES = tests/solver/test_relax_file.c
tests_solver_test_relax_file_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
EXTRA_DIST += tests/solver/krylov_probe.h
check_PROGRAMS += tests/solver/test_krylov
tests_solver_test_krylov_SOURCES = tests/solver/test_krylov.c
tests_solver_test_krylov_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS) -lm
check_PROGRAMS += tests/solver/test_krylov_outcome
tests_solver_test_krylov_outcome_SOURCES = tests/solver/test_krylov_outcome.c
tests_solver_test_krylov_outcome_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS) -lm
check_PROGRAMS += tests/solver/test_krylov_refused
tests_solver_test_krylov_refused_SOURCES = tests/solver/test_krylov_refused.c
tests_solver_test_krylov_refused_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS) -lm
check_PROGRAMS += tests/solver/test_operator
tests_solver_test_operator_SOURCES = tests/solver/test_operator.c
tests_solver_test_operator_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS) -lm
EXTRA_DIST += tests/solver/output_probe.h tests/support/leaks.txt tests/support/races.txt
check_PROGRAMS += tests/solver/test_output
tests_solver_test_output_SOURCES = tests/solver/test_output.c
tests_solver_test_output_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
# Through the library itself, which finds its drawing module beside it.
if HAVE_CAIRO
check_PROGRAMS += tests/solver/test_picture
tests_solver_test_picture_SOURCES = tests/solver/test_picture.c
tests_solver_test_picture_CFLAGS = $(AM_CFLAGS) $(CAIRO_CFLAGS)
tests_solver_test_picture_LDADD = librubus.la $(CHECK_LIBS) $(CAIRO_LIBS)
endif
