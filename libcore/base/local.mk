# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libbase.la
libbase_la_CFLAGS = $(AM_CFLAGS) $(LIBMD_CFLAGS)
libbase_la_LIBADD = $(LIBMD_LIBS)
libbase_la_SOURCES = \
	%D%/arena.c \
	%D%/base.h \
	%D%/c_locale.h \
	%D%/decimal.h \
	%D%/decimal_print.c \
	%D%/decimal_read.c \
	%D%/digest.c \
	%D%/env.c \
	%D%/file.c \
	%D%/log.c \
	%D%/memory.c \
	%D%/nearest.c \
	%D%/number.c \
	%D%/power_of_ten.c \
	%D%/stack.c \
	%D%/status.c \
	%D%/text.c
