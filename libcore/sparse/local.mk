# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libsparse.la
libsparse_la_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
libsparse_la_LIBADD = $(ZLIB_LIBS)
libsparse_la_SOURCES = \
	%D%/csc.c \
	%D%/csr.c \
	%D%/csr.h \
	%D%/csr_algebra.c \
	%D%/csr_build.c \
	%D%/csr_diagonal.c \
	%D%/csr_fill.c \
	%D%/csr_input.c \
	%D%/csr_operator.c \
	%D%/csr_plan.c \
	%D%/csr_product.c \
	%D%/csr_row.c \
	%D%/csr_turn.c \
	%D%/mm.h \
	%D%/mm_csr.c \
	%D%/mm_dense.c \
	%D%/mm_header.c \
	%D%/mm_read.c \
	%D%/mm_source.c \
	%D%/mm_write.c \
	%D%/operator.c \
	%D%/operator_inner.h \
	%D%/scatter.c
