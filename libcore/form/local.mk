# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libform.la
libform_la_SOURCES = \
	%D%/constraint.c \
	%D%/fdm.c \
	%D%/form.c \
	%D%/form_assemble.c \
	%D%/form_bind.c \
	%D%/form_free.c \
	%D%/form_matrix.h \
	%D%/form_param.c \
	%D%/form_pattern.c \
	%D%/form_positions.c \
	%D%/form_stored.c \
	%D%/form_use.c \
	%D%/forms.h \
	%D%/kronecker.c \
	%D%/kronecker_inner.h \
	%D%/tridiagonal.c
