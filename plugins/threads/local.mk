# SPDX-License-Identifier: Apache-2.0
plugin_LTLIBRARIES += rubus-threads.la
rubus_threads_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^rubus_backend_plugin$$' $(NODELETE_LDFLAGS) $(DEFS_LDFLAGS)
rubus_threads_la_LIBADD = libthreads_prebuilt.la libthreads_spmv.la -ldl -lm -lpthread
rubus_threads_la_SOURCES = \
	%D%/compile.c \
	%D%/compiler.c \
	%D%/compiler.h \
	%D%/cpu_count.c \
	%D%/cpu_count.h \
	%D%/float_mode.c \
	%D%/hash.c \
	%D%/hash.h \
	%D%/jit.c \
	%D%/launch_threads.c \
	%D%/memory_threads.c \
	%D%/object.c \
	%D%/object.h \
	%D%/partition.c \
	%D%/pool.c \
	%D%/pool.h \
	%D%/prebuilt.h \
	%D%/spawn.c \
	%D%/spawn.h \
	%D%/spmv.h \
	%D%/spmv_inspect.c \
	%D%/spmv_share.c \
	%D%/spmv_slices.c \
	%D%/spmv_slots.c \
	%D%/threads_plugin.c \
	%D%/threads_plugin.h

# Kernels of sparse products, written once for all pairs of types.
noinst_LTLIBRARIES += libthreads_spmv.la
libthreads_spmv_la_CFLAGS = $(AM_CFLAGS) $(KERNEL_CFLAGS) $(KERNEL_WIDTH_CFLAGS)
libthreads_spmv_la_SOURCES = \
	%D%/spmm_kernel.h \
	%D%/spmv_f32_i32.c \
	%D%/spmv_f32_i64.c \
	%D%/spmv_f64_i32.c \
	%D%/spmv_f64_i64.c \
	%D%/spmv_kernel.h \
	%D%/spmv_pack.h \
	%D%/spmv_tiles.h

# The same objects for tests, which call the descriptor without a plugin file.
check_LTLIBRARIES += libthreads.la
libthreads_la_SOURCES = $(rubus_threads_la_SOURCES)
THREADS_LIBS = libthreads.la libthreads_prebuilt.la libthreads_spmv.la -ldl -lm -lpthread

# The library's own kernels, compiled with the flags that kernels get at run time. rkc
# writes all files in one go, and leaves those alone that stay the same.
THREADS_KERNELS = blas.rk inner_1d.rk inner_2d.rk inner_3d.rk kronecker.rk \
	krylov.rk mesh.rk relax_1d.rk relax_2d.rk \
	relax_2d_harmonic.rk relax_3d.rk relax_3d_harmonic.rk \
	sparse.rk sparse.rk@i64 sparse_atomic.rk sparse_atomic.rk@i64
THREADS_PREBUILT = \
	%D%/prebuilt_list.c \
	%D%/prebuilt_blas_f32.c \
	%D%/prebuilt_blas_f64.c \
	%D%/prebuilt_kronecker_f32.c \
	%D%/prebuilt_kronecker_f64.c \
	%D%/prebuilt_krylov_f32.c \
	%D%/prebuilt_krylov_f64.c \
	%D%/prebuilt_inner_1d_f32.c \
	%D%/prebuilt_inner_1d_f64.c \
	%D%/prebuilt_inner_2d_f32.c \
	%D%/prebuilt_inner_2d_f64.c \
	%D%/prebuilt_inner_3d_f32.c \
	%D%/prebuilt_inner_3d_f64.c \
	%D%/prebuilt_mesh_f32.c \
	%D%/prebuilt_mesh_f64.c \
	%D%/prebuilt_relax_1d_f32.c \
	%D%/prebuilt_relax_1d_f64.c \
	%D%/prebuilt_relax_2d_f32.c \
	%D%/prebuilt_relax_2d_f64.c \
	%D%/prebuilt_relax_2d_harmonic_f32.c \
	%D%/prebuilt_relax_2d_harmonic_f64.c \
	%D%/prebuilt_relax_3d_f32.c \
	%D%/prebuilt_relax_3d_f64.c \
	%D%/prebuilt_relax_3d_harmonic_f32.c \
	%D%/prebuilt_relax_3d_harmonic_f64.c \
	%D%/prebuilt_sparse_f32.c \
	%D%/prebuilt_sparse_f64.c \
	%D%/prebuilt_sparse_i64_f32.c \
	%D%/prebuilt_sparse_i64_f64.c \
	%D%/prebuilt_sparse_atomic_f32.c \
	%D%/prebuilt_sparse_atomic_f64.c \
	%D%/prebuilt_sparse_atomic_i64_f32.c \
	%D%/prebuilt_sparse_atomic_i64_f64.c
noinst_LTLIBRARIES += libthreads_prebuilt.la
nodist_libthreads_prebuilt_la_SOURCES = $(THREADS_PREBUILT)
libthreads_prebuilt_la_SOURCES = %D%/prebuilt.h
libthreads_prebuilt_la_CFLAGS = $(AM_CFLAGS) $(KERNEL_CFLAGS) $(KERNEL_WIDTH_CFLAGS) -w
CLEANFILES += $(THREADS_PREBUILT) %D%/prebuilt.stamp
%D%/prebuilt.stamp: tools/rkc/rkc$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) %D% && tools/rkc/rkc$(EXEEXT) %D% $(THREADS_KERNELS) && touch $@
$(THREADS_PREBUILT): %D%/prebuilt.stamp
	@test -f $@ || { rm -f %D%/prebuilt.stamp; \
	    $(MAKE) $(AM_MAKEFLAGS) %D%/prebuilt.stamp; }

# A library in the build tree looks for plugins beside itself, as an installed one does.
BUILD_LINKS += .libs/rubus/plugins-1/rubus-threads.so
.libs/rubus/plugins-1/rubus-threads.so: rubus-threads.la
	$(AM_V_at)$(MKDIR_P) .libs/rubus/plugins-1 && \
	rm -f $@ && $(LN_S) ../../rubus-threads.so $@
