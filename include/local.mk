# SPDX-License-Identifier: Apache-2.0
rubusinclude_HEADERS = \
	%D%/rubus/array.h \
	%D%/rubus/backend.h \
	%D%/rubus/compile.h \
	%D%/rubus/context.h \
	%D%/rubus/form.h \
	%D%/rubus/kernel.h \
	%D%/rubus/kronecker.h \
	%D%/rubus/launch.h \
	%D%/rubus/matrix_market.h \
	%D%/rubus/mesh.h \
	%D%/rubus/operator.h \
	%D%/rubus/output.h \
	%D%/rubus/rubus.h \
	%D%/rubus/set.h \
	%D%/rubus/solve.h \
	%D%/rubus/space.h \
	%D%/rubus/sparse.h \
	%D%/rubus/status.h \
	%D%/rubus/types.h
