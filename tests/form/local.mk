# SPDX-License-Identifier: Apache-2.0
# Forms: what is wrong in them, and their kernels against dense matrices.
check_PROGRAMS += tests/form/test_form_error tests/form/test_form_random
tests_form_test_form_error_SOURCES = tests/form/test_form_error.c
tests_form_test_form_error_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_form_test_form_random_SOURCES = tests/form/test_form_random.c tests/form/form_model.c \
	tests/form/form_model.h tests/form/form_run.h
tests_form_test_form_random_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
EXTRA_DIST += tests/form/form_probe.h
check_PROGRAMS += tests/form/test_cases_matrix
tests_form_test_cases_matrix_SOURCES = tests/form/test_cases_matrix.c
tests_form_test_cases_matrix_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
