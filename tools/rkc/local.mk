# SPDX-License-Identifier: Apache-2.0
# Runs while Rubus is built: writes the library's own kernels as C and as GLSL.
noinst_PROGRAMS += %D%/rkc
%C%_rkc_SOURCES = %D%/rkc.c %D%/rkc_threads.c %D%/rkc.h %D%/rkc_vulkan.c \
	%D%/rkc_written.c
%C%_rkc_LDADD = libkernel.la libbase.la
EXTRA_DIST += %D%/spirv.sh
