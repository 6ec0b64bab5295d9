# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libsolve.la
libsolve_la_SOURCES = \
	%D%/bicgstab.c \
	%D%/cg.c \
	%D%/krylov.c \
	%D%/krylov.h \
	%D%/krylov_check.c \
	%D%/relax.c \
	%D%/relax.h \
	%D%/relax_file.c \
	%D%/relax_setup.c \
	%D%/relax_step.c
