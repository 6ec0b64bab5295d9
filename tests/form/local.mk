# SPDX-License-Identifier: Apache-2.0
# Forms: what is wrong in them, and their kernels against dense matrices.
FORM_SETTING = tests/form/form_model.c tests/form/form_model.h tests/form/form_run.h \
	tests/form/form_setting.c tests/form/form_setting.h
check_PROGRAMS += tests/form/test_form_error tests/form/test_form_scatter \
	tests/form/test_form_random tests/form/test_form_table
tests_form_test_form_error_SOURCES = tests/form/test_form_error.c
tests_form_test_form_error_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_form_test_form_scatter_SOURCES = tests/form/test_form_scatter.c $(FORM_SETTING)
tests_form_test_form_scatter_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
tests_form_test_form_random_SOURCES = tests/form/test_form_random.c $(FORM_SETTING)
tests_form_test_form_random_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
tests_form_test_form_table_SOURCES = tests/form/test_form_table.c tests/form/form_run.h
tests_form_test_form_table_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)

# Forms on meshes.
EXTRA_DIST += tests/form/csr_probe.h tests/form/form_probe.h tests/form/problem_probe.h
check_PROGRAMS += tests/form/test_cases_matrix tests/form/test_constraint \
	tests/form/test_destroy_all \
	tests/form/test_form_fill tests/form/test_form_matrix tests/form/test_form_memory \
	tests/form/test_form_param tests/form/test_form_stored tests/form/test_forms \
	tests/form/test_plain_kernels \
	tests/form/test_poisson tests/form/test_problems tests/form/test_system \
	tests/form/test_two_contexts
tests_form_test_cases_matrix_SOURCES = tests/form/test_cases_matrix.c
tests_form_test_cases_matrix_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_constraint_SOURCES = tests/form/test_constraint.c
tests_form_test_constraint_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_destroy_all_SOURCES = tests/form/test_destroy_all.c
tests_form_test_destroy_all_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_form_fill_SOURCES = tests/form/test_form_fill.c
tests_form_test_form_fill_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_form_matrix_SOURCES = tests/form/test_form_matrix.c
tests_form_test_form_matrix_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_form_memory_SOURCES = tests/form/test_form_memory.c
tests_form_test_form_memory_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_form_param_SOURCES = tests/form/test_form_param.c
tests_form_test_form_param_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_form_stored_SOURCES = tests/form/test_form_stored.c
tests_form_test_form_stored_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_forms_SOURCES = tests/form/test_forms.c
tests_form_test_forms_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_plain_kernels_SOURCES = tests/form/test_plain_kernels.c \
	tests/form/form_run.h
tests_form_test_plain_kernels_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_poisson_SOURCES = tests/form/test_poisson.c
tests_form_test_poisson_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_problems_SOURCES = tests/form/test_problems.c
tests_form_test_problems_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_system_SOURCES = tests/form/test_system.c
tests_form_test_system_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
tests_form_test_two_contexts_SOURCES = tests/form/test_two_contexts.c
tests_form_test_two_contexts_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
