# SPDX-License-Identifier: Apache-2.0
# The kernel compiler. Contraction is off (EXACT_CFLAGS): folded constants and the
# interpreter must round as the text says.
noinst_LTLIBRARIES += libkernel.la
nodist_libkernel_la_SOURCES = shaders/embedded.c
libkernel_la_LIBADD = -lm
libkernel_la_SOURCES = \
	%D%/access.c \
	%D%/affine.c \
	%D%/bind.c \
	%D%/check.c \
	%D%/check.h \
	%D%/check_expr.c \
	%D%/check_func.c \
	%D%/check_names.c \
	%D%/check_op.c \
	%D%/check_stmt.c \
	%D%/check_type.c \
	%D%/codes.def \
	%D%/diagnostic.c \
	%D%/clike.c \
	%D%/clike.h \
	%D%/clike_box.c \
	%D%/clike_expr.c \
	%D%/clike_fold.c \
	%D%/clike_node.c \
	%D%/clike_point.c \
	%D%/clike_value.c \
	%D%/dialect_c.c \
	%D%/dialect_c_fold.c \
	%D%/dialect_c_pass.c \
	%D%/dialect_c_prelude.c \
	%D%/dialect_glsl.c \
	%D%/dialect_glsl.h \
	%D%/dialect_glsl_fma.c \
	%D%/dialect_glsl_fold.c \
	%D%/dialect_glsl_pass.c \
	%D%/dialect_glsl_prelude.c \
	%D%/dialect_rk.c \
	%D%/emit.c \
	%D%/emit.h \
	%D%/emit_region.c \
	%D%/explain.c \
	%D%/field.c \
	%D%/field.h \
	%D%/field_build.h \
	%D%/field_expr.c \
	%D%/field_make.c \
	%D%/field_op.c \
	%D%/field_region.c \
	%D%/field_shape.c \
	%D%/field_special.c \
	%D%/field_statement.c \
	%D%/field_sub.c \
	%D%/interpret.c \
	%D%/interpret.h \
	%D%/interpret_array.c \
	%D%/interpret_expr.c \
	%D%/interpret_fold.c \
	%D%/interpret_grids.c \
	%D%/interpret_grids.h \
	%D%/interpret_point.c \
	%D%/interpret_race.c \
	%D%/layout.c \
	%D%/lexer.c \
	%D%/lower.c \
	%D%/lower.h \
	%D%/node.c \
	%D%/origin.c \
	%D%/parser.c \
	%D%/parser.h \
	%D%/parser_expr.c \
	%D%/parser_stmt.c \
	%D%/parser_token.c \
	%D%/plan.c \
	%D%/plan.h \
	%D%/plan_join.c \
	%D%/plan_meet.c \
	%D%/planner.h \
	%D%/print.c \
	%D%/print.h \
	%D%/print_reach.c \
	%D%/program.c \
	%D%/program.h \
	%D%/symbol.c \
	%D%/tree.h \
	%D%/value.c
