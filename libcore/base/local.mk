# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libbase.la
libbase_la_CFLAGS = $(AM_CFLAGS) $(LIBMD_CFLAGS)
libbase_la_LIBADD = $(LIBMD_LIBS)
libbase_la_SOURCES = \
	%D%/arena.c \
	%D%/base.h \
	%D%/c_locale.h \
	%D%/digest.c \
	%D%/env.c \
	%D%/file.c \
	%D%/log.c \
	%D%/memory.c \
	%D%/nearest.c \
	%D%/number.c \
	%D%/stack.c \
	%D%/status.c \
	%D%/text.c
