# SPDX-License-Identifier: Apache-2.0
# The library's own kernels travel inside it: embedded.c holds the text of each.
SHADERS = \
	%D%/blas.rk \
	%D%/fd.rk \
	%D%/inner_1d.rk \
	%D%/inner_2d.rk \
	%D%/inner_3d.rk \
	%D%/kronecker.rk \
	%D%/krylov.rk \
	%D%/grid.rk \
	%D%/math.rk \
	%D%/mesh.rk \
	%D%/relax_1d.rk \
	%D%/relax_2d.rk \
	%D%/relax_2d_harmonic.rk \
	%D%/relax_2d_kernels.rk \
	%D%/relax_3d.rk \
	%D%/relax_3d_harmonic.rk \
	%D%/relax_3d_kernels.rk \
	%D%/sparse.rk \
	%D%/sparse_atomic.rk
# Written by hand for the backend vulkan, which has it inside: plugins/vulkan/prebuilt.mk.
EXTRA_DIST += $(SHADERS) %D%/spmv.comp build-aux/embed.awk
CLEANFILES += %D%/embedded.c
%D%/embedded.c: $(SHADERS) build-aux/embed.awk
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	LC_ALL=C $(AWK) -f $(srcdir)/build-aux/embed.awk \
	    `for f in $(SHADERS); do echo "$(srcdir)/$$f"; done` >$@-t && mv -f $@-t $@
