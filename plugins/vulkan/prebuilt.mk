# SPDX-License-Identifier: Apache-2.0
# The library's own kernels as SPIR-V: rkc writes a shader for each entry, glslc compiles
# them, spirv-val checks them, rkc writes the words as C. Files that stay the same are left
# alone. Without glslc the list is empty, and the kernels are compiled when a program runs.
VULKAN_KERNELS = blas.rk inner_1d.rk inner_2d.rk inner_3d.rk kronecker.rk \
	krylov.rk mesh.rk relax_1d.rk relax_2d.rk \
	relax_2d_harmonic.rk relax_3d.rk relax_3d_harmonic.rk sparse.rk sparse_atomic.rk
# Texts written by hand are in the plugin as such too.
VULKAN_WRITTEN = $(srcdir)/shaders/spmv.comp
noinst_LTLIBRARIES += libvulkan_prebuilt.la
libvulkan_prebuilt_la_SOURCES = %D%/vk_prebuilt.h
VULKAN_TEXTS = \
	%D%/spirv/vk_written_spmv_f32_i32.c \
	%D%/spirv/vk_written_spmv_f32_i64.c \
	%D%/spirv/vk_written_spmv_f64_i32.c \
	%D%/spirv/vk_written_spmv_f64_i64.c
nodist_libvulkan_prebuilt_la_SOURCES = $(VULKAN_TEXTS)
VULKAN_TEXT_STAMP = %D%/spirv/text.stamp
$(VULKAN_TEXT_STAMP): tools/rkc/rkc$(EXEEXT) shaders/spmv.comp
	$(AM_V_GEN)$(MKDIR_P) %D%/spirv && \
	tools/rkc/rkc$(EXEEXT) %D%/spirv --text $(VULKAN_WRITTEN) && touch $@
$(VULKAN_TEXTS): $(VULKAN_TEXT_STAMP)
	@test -f $@ || { rm -f $(VULKAN_TEXT_STAMP); \
	    $(MAKE) $(AM_MAKEFLAGS) $(VULKAN_TEXT_STAMP); }
if HAVE_GLSLC
VULKAN_PREBUILT = \
	%D%/spirv/vk_prebuilt_list.c \
	%D%/spirv/vk_prebuilt_blas_f32.c \
	%D%/spirv/vk_prebuilt_blas_f64.c \
	%D%/spirv/vk_prebuilt_kronecker_f32.c \
	%D%/spirv/vk_prebuilt_kronecker_f64.c \
	%D%/spirv/vk_prebuilt_krylov_f32.c \
	%D%/spirv/vk_prebuilt_krylov_f64.c \
	%D%/spirv/vk_prebuilt_inner_1d_f32.c \
	%D%/spirv/vk_prebuilt_inner_1d_f64.c \
	%D%/spirv/vk_prebuilt_inner_2d_f32.c \
	%D%/spirv/vk_prebuilt_inner_2d_f64.c \
	%D%/spirv/vk_prebuilt_inner_3d_f32.c \
	%D%/spirv/vk_prebuilt_inner_3d_f64.c \
	%D%/spirv/vk_prebuilt_mesh_f32.c \
	%D%/spirv/vk_prebuilt_mesh_f64.c \
	%D%/spirv/vk_prebuilt_relax_1d_f32.c \
	%D%/spirv/vk_prebuilt_relax_1d_f64.c \
	%D%/spirv/vk_prebuilt_relax_2d_f32.c \
	%D%/spirv/vk_prebuilt_relax_2d_f64.c \
	%D%/spirv/vk_prebuilt_relax_2d_harmonic_f32.c \
	%D%/spirv/vk_prebuilt_relax_2d_harmonic_f64.c \
	%D%/spirv/vk_prebuilt_relax_3d_f32.c \
	%D%/spirv/vk_prebuilt_relax_3d_f64.c \
	%D%/spirv/vk_prebuilt_relax_3d_harmonic_f32.c \
	%D%/spirv/vk_prebuilt_relax_3d_harmonic_f64.c \
	%D%/spirv/vk_prebuilt_sparse_f32.c \
	%D%/spirv/vk_prebuilt_sparse_f64.c \
	%D%/spirv/vk_prebuilt_sparse_atomic_f32.c \
	%D%/spirv/vk_prebuilt_sparse_atomic_f64.c \
	%D%/spirv/vk_prebuilt_spmv_f32_i32.c \
	%D%/spirv/vk_prebuilt_spmv_f32_i64.c \
	%D%/spirv/vk_prebuilt_spmv_f64_i32.c \
	%D%/spirv/vk_prebuilt_spmv_f64_i64.c
nodist_libvulkan_prebuilt_la_SOURCES += $(VULKAN_PREBUILT)
VULKAN_SPIRV_STAMP = %D%/spirv/prebuilt.stamp
$(VULKAN_SPIRV_STAMP): tools/rkc/rkc$(EXEEXT) tools/rkc/spirv.sh shaders/spmv.comp
	$(AM_V_GEN)$(MKDIR_P) %D%/spirv && \
	tools/rkc/rkc$(EXEEXT) %D%/spirv --glsl $(VULKAN_KERNELS) $(VULKAN_WRITTEN) && \
	bash $(srcdir)/tools/rkc/spirv.sh %D%/spirv '$(GLSLC)' '$(SPIRV_VAL)' && \
	tools/rkc/rkc$(EXEEXT) %D%/spirv --spirv $(VULKAN_KERNELS) $(VULKAN_WRITTEN) && touch $@
$(VULKAN_PREBUILT): $(VULKAN_SPIRV_STAMP)
	@test -f $@ || { rm -f $(VULKAN_SPIRV_STAMP); \
	    $(MAKE) $(AM_MAKEFLAGS) $(VULKAN_SPIRV_STAMP); }
else
libvulkan_prebuilt_la_SOURCES += %D%/vk_prebuilt_none.c
endif
EXTRA_DIST += %D%/vk_prebuilt_none.c

# The compiler module, beside the folder of plugins: it is no plugin.
if HAVE_SHADERC
module_LTLIBRARIES += rubus-glsl.la
rubus_glsl_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^rubus_glsl_compiler$$' $(NODELETE_LDFLAGS) $(DEFS_LDFLAGS)
rubus_glsl_la_LIBADD = $(SHADERC_LIBS)
rubus_glsl_la_SOURCES = \
	%D%/compiler_shaderc.c \
	%D%/glsl_compiler.h
BUILD_LINKS += .libs/rubus/rubus-glsl.so
.libs/rubus/rubus-glsl.so: rubus-glsl.la
	$(AM_V_at)$(MKDIR_P) .libs/rubus && rm -f $@ && $(LN_S) ../rubus-glsl.so $@
endif
