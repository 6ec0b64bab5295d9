# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libgrid.la
libgrid_la_SOURCES = \
	%D%/axis.c \
	%D%/axis_points.c \
	%D%/face.c \
	%D%/func.c \
	%D%/func.h \
	%D%/grid.h \
	%D%/inner.c \
	%D%/inner_face.c \
	%D%/marker.c \
	%D%/mask.c \
	%D%/mesh.c \
	%D%/mesh_info.c \
	%D%/operator_matrix.c \
	%D%/project.c \
	%D%/set.c \
	%D%/space.c \
	%D%/state.c
