# SPDX-License-Identifier: Apache-2.0
# The library's own sources: fd.rk, grid.rk and math.rk, on every backend.
EXTRA_DIST += %D%/make_math_table.py %D%/math_table.txt
check_PROGRAMS += tests/kernel/test_fd
tests_kernel_test_fd_SOURCES = tests/kernel/test_fd.c
tests_kernel_test_fd_LDADD = librubus.la $(CHECK_LIBS)
check_PROGRAMS += tests/kernel/test_grid
tests_kernel_test_grid_SOURCES = tests/kernel/test_grid.c
tests_kernel_test_grid_LDADD = librubus.la $(CHECK_LIBS) -lm
check_PROGRAMS += tests/kernel/test_math
tests_kernel_test_math_SOURCES = tests/kernel/test_math.c
tests_kernel_test_math_LDADD = librubus.la $(CHECK_LIBS) -lm
# Check and fields: one stage each, with a small library of their own.
check_PROGRAMS += tests/kernel/test_affine tests/kernel/test_check tests/kernel/test_field \
	tests/kernel/test_field_statement
tests_kernel_test_affine_SOURCES = tests/kernel/test_affine.c tests/kernel/check_unit.h
tests_kernel_test_affine_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_kernel_test_check_SOURCES = tests/kernel/test_check.c tests/kernel/check_unit.h
tests_kernel_test_check_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_kernel_test_field_SOURCES = tests/kernel/test_field.c tests/kernel/check_unit.h
tests_kernel_test_field_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_kernel_test_field_statement_SOURCES = \
	tests/kernel/test_field_statement.c tests/kernel/check_unit.h
tests_kernel_test_field_statement_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
# Single stages of the compiler, on units made by hand.
check_PROGRAMS += tests/kernel/test_lexer
tests_kernel_test_lexer_SOURCES = tests/kernel/test_lexer.c tests/kernel/kernel_unit.h
tests_kernel_test_lexer_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/kernel/test_parser
tests_kernel_test_parser_SOURCES = tests/kernel/test_parser.c tests/kernel/kernel_unit.h
tests_kernel_test_parser_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/kernel/test_parser_error
tests_kernel_test_parser_error_SOURCES = \
	tests/kernel/test_parser_error.c tests/kernel/kernel_unit.h
tests_kernel_test_parser_error_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/kernel/test_library
tests_kernel_test_library_SOURCES = tests/kernel/test_library.c tests/kernel/kernel_unit.h
tests_kernel_test_library_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/kernel/test_print
tests_kernel_test_print_SOURCES = tests/kernel/test_print.c tests/kernel/kernel_unit.h
tests_kernel_test_print_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/kernel/test_value
tests_kernel_test_value_SOURCES = tests/kernel/test_value.c
tests_kernel_test_value_LDADD = libkernel.la libbase.la $(CHECK_LIBS) -lm
# Entries and the text of dialects c and opencl, built by the system's compiler.
check_PROGRAMS += tests/kernel/test_layout tests/kernel/test_dialect_c \
	tests/kernel/test_dialect_c_fold tests/kernel/test_dialect_opencl \
	tests/kernel/test_clike_value
tests_kernel_test_layout_SOURCES = tests/kernel/test_layout.c tests/kernel/interpret_run.h
tests_kernel_test_layout_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_kernel_test_dialect_c_SOURCES = \
	tests/kernel/test_dialect_c.c tests/kernel/interpret_run.h tests/kernel/text_run.h
tests_kernel_test_dialect_c_LDADD = libkernel.la libbase.la $(CHECK_LIBS) -lm
tests_kernel_test_dialect_c_fold_SOURCES = \
	tests/kernel/test_dialect_c_fold.c tests/kernel/interpret_run.h tests/kernel/text_run.h
tests_kernel_test_dialect_c_fold_LDADD = libkernel.la libbase.la $(CHECK_LIBS) -lm
tests_kernel_test_dialect_opencl_SOURCES = tests/kernel/test_dialect_opencl.c \
	tests/kernel/interpret_run.h tests/kernel/text_run.h
tests_kernel_test_dialect_opencl_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
tests_kernel_test_clike_value_SOURCES = \
	tests/kernel/test_clike_value.c tests/kernel/interpret_run.h tests/kernel/text_run.h
tests_kernel_test_clike_value_LDADD = libkernel.la libbase.la $(CHECK_LIBS) -lm
# The interpreter alone.
check_PROGRAMS += tests/kernel/test_interpret tests/kernel/test_interpret_point
tests_kernel_test_interpret_SOURCES = \
	tests/kernel/test_interpret.c tests/kernel/interpret_run.h
tests_kernel_test_interpret_LDADD = libkernel.la libbase.la $(CHECK_LIBS) -lm
tests_kernel_test_interpret_point_SOURCES = \
	tests/kernel/test_interpret_point.c tests/kernel/interpret_run.h
tests_kernel_test_interpret_point_LDADD = libkernel.la libbase.la $(CHECK_LIBS)
# Random kernels: interpreter and compiled code must give the same bits.
check_PROGRAMS += tests/kernel/test_random
tests_kernel_test_random_SOURCES = \
	tests/kernel/test_random.c \
	tests/kernel/random_field.c \
	tests/kernel/random_field.h \
	tests/kernel/random_kernel.c \
	tests/kernel/random_kernel.h \
	tests/kernel/random_point.c \
	tests/kernel/random_whole.c
tests_kernel_test_random_LDADD = $(RUNTIME_LIBS) $(CHECK_LIBS)
# Random text: the compiler never crashes.
check_PROGRAMS += tests/kernel/fuzz_compile
tests_kernel_fuzz_compile_SOURCES = tests/kernel/fuzz_compile.c
tests_kernel_fuzz_compile_LDADD = libkernel.la libbase.la
EXTRA_DIST += \
	%D%/corpus/cycle.rk \
	%D%/corpus/deep.rk \
	%D%/corpus/diffusion.rk \
	%D%/corpus/empty.rk \
	%D%/corpus/errors.rk \
	%D%/corpus/lift3.rk \
	%D%/corpus/names.rk \
	%D%/corpus/operators.rk \
	%D%/corpus/points.rk \
	%D%/corpus/row_products.rk \
	%D%/corpus/statements.rk \
	%D%/corpus/step.rk

check_PROGRAMS += tests/kernel/test_plan
tests_kernel_test_plan_SOURCES = tests/kernel/test_plan.c
tests_kernel_test_plan_LDADD = libkernel.la libbase.la $(CHECK_LIBS) -lm
