# SPDX-License-Identifier: Apache-2.0
# They see what a user sees: the public headers and the library.
EXAMPLES_CPPFLAGS = -I$(top_srcdir)/include
noinst_PROGRAMS += examples/01_heat
examples_01_heat_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_01_heat_LDADD = librubus.la
examples_01_heat_SOURCES = examples/01_heat.c

noinst_PROGRAMS += examples/02_relax_1d
examples_02_relax_1d_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_02_relax_1d_LDADD = librubus.la -lm
examples_02_relax_1d_SOURCES = examples/02_relax_1d.c

noinst_PROGRAMS += examples/03_relax_2d
examples_03_relax_2d_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_03_relax_2d_LDADD = librubus.la -lm
examples_03_relax_2d_SOURCES = examples/03_relax_2d.c

noinst_PROGRAMS += examples/04_relax_3d
examples_04_relax_3d_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_04_relax_3d_LDADD = librubus.la -lm
examples_04_relax_3d_SOURCES = examples/04_relax_3d.c

noinst_PROGRAMS += examples/05_custom_operator
examples_05_custom_operator_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_05_custom_operator_LDADD = librubus.la -lm
examples_05_custom_operator_SOURCES = examples/05_custom_operator.c

noinst_PROGRAMS += examples/06_krylov
examples_06_krylov_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_06_krylov_LDADD = librubus.la
examples_06_krylov_SOURCES = examples/06_krylov.c

noinst_PROGRAMS += examples/07_poisson
examples_07_poisson_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_07_poisson_LDADD = librubus.la -lm
examples_07_poisson_SOURCES = examples/07_poisson.c

noinst_PROGRAMS += examples/08_variable_coefficient
examples_08_variable_coefficient_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_08_variable_coefficient_LDADD = librubus.la
examples_08_variable_coefficient_SOURCES = examples/08_variable_coefficient.c

noinst_PROGRAMS += examples/09_convection_diffusion
examples_09_convection_diffusion_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_09_convection_diffusion_LDADD = librubus.la
examples_09_convection_diffusion_SOURCES = examples/09_convection_diffusion.c

noinst_PROGRAMS += examples/10_picard
examples_10_picard_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_10_picard_LDADD = librubus.la
examples_10_picard_SOURCES = examples/10_picard.c

noinst_PROGRAMS += examples/11_robin
examples_11_robin_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_11_robin_LDADD = librubus.la -lm
examples_11_robin_SOURCES = examples/11_robin.c

noinst_PROGRAMS += examples/12_system
examples_12_system_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_12_system_LDADD = librubus.la
examples_12_system_SOURCES = examples/12_system.c

noinst_PROGRAMS += examples/13_heat_series
examples_13_heat_series_CPPFLAGS = $(EXAMPLES_CPPFLAGS)
examples_13_heat_series_LDADD = librubus.la -lm
examples_13_heat_series_SOURCES = examples/13_heat_series.c

EXTRA_DIST += \
	%D%/02_relax_1d.rk \
	%D%/03_relax_2d.rk \
	%D%/04_relax_3d.rk \
	%D%/05_custom_operator.rk \
	%D%/forms/poisson.json \
	%D%/forms/poisson.rk \
	%D%/opencl_backend/Makefile \
	%D%/opencl_backend/README.md \
	%D%/opencl_backend/opencl_backend.h \
	%D%/opencl_backend/opencl_device.c \
	%D%/opencl_backend/opencl_error.c \
	%D%/opencl_backend/opencl_launch.c \
	%D%/opencl_backend/opencl_module.c \
	%D%/opencl_backend/opencl_plugin.c

# What tools/new-backend copies, installed beside it.
skeletondir = $(pkgdatadir)/skeleton_backend
dist_skeleton_DATA = \
	%D%/skeleton_backend/Makefile \
	%D%/skeleton_backend/README.md \
	%D%/skeleton_backend/certify.sh \
	%D%/skeleton_backend/skeleton_backend.h \
	%D%/skeleton_backend/skeleton_compile.c \
	%D%/skeleton_backend/skeleton_device.c \
	%D%/skeleton_backend/skeleton_memory.c \
	%D%/skeleton_backend/skeleton_module.c \
	%D%/skeleton_backend/skeleton_plugin.c
dist_check_SCRIPTS += %D%/examples.sh
