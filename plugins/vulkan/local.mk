# SPDX-License-Identifier: Apache-2.0
if HAVE_VULKAN
plugin_LTLIBRARIES += rubus-vulkan.la
rubus_vulkan_la_LDFLAGS = -module -avoid-version -shared -no-undefined \
	-export-symbols-regex '^rubus_backend_plugin$$' $(NODELETE_LDFLAGS) $(DEFS_LDFLAGS)
rubus_vulkan_la_LIBADD = libvulkan_prebuilt.la -ldl -lm -lpthread
rubus_vulkan_la_CPPFLAGS = $(AM_CPPFLAGS) -DRUBUS_MODULE_DIR='"$(moduledir)"'
rubus_vulkan_la_SOURCES = \
	%D%/glsl_compiler.h \
	%D%/vk_api.c \
	%D%/vk_api.h \
	%D%/vk_buffer.c \
	%D%/vk_context.c \
	%D%/vk_descriptors.c \
	%D%/vk_error.c \
	%D%/vk_exact.c \
	%D%/vk_instance.c \
	%D%/vk_launch.c \
	%D%/vk_limits.c \
	%D%/vk_memory.c \
	%D%/vk_module.c \
	%D%/vk_module.h \
	%D%/vk_order.c \
	%D%/vk_pace.c \
	%D%/vk_physical.c \
	%D%/vk_pipeline.c \
	%D%/vk_prebuilt.h \
	%D%/vk_queue.c \
	%D%/vk_range.c \
	%D%/vk_range.h \
	%D%/vk_recorder.c \
	%D%/vk_ring.c \
	%D%/vk_seal.c \
	%D%/vk_seal.h \
	%D%/vk_sparse.c \
	%D%/vk_sparse.h \
	%D%/vk_sparse_launch.c \
	%D%/vk_sparse_plan.c \
	%D%/vk_spirv.c \
	%D%/vk_stream.h \
	%D%/vk_transfer.c \
	%D%/vulkan.h \
	%D%/vulkan_plugin.c

# The same objects for tests, which call the descriptor without a plugin file.
check_LTLIBRARIES += libvulkan_backend.la
libvulkan_backend_la_CPPFLAGS = $(AM_CPPFLAGS) \
	-DRUBUS_MODULE_DIR='"$(abs_builddir)/.libs/rubus"'
libvulkan_backend_la_SOURCES = $(rubus_vulkan_la_SOURCES)
VULKAN_LIBS = libvulkan_backend.la libvulkan_prebuilt.la -ldl -lm -lpthread

include %D%/prebuilt.mk

# A library in the build tree looks for plugins beside itself, as an installed one does.
BUILD_LINKS += .libs/rubus/plugins-1/rubus-vulkan.so
.libs/rubus/plugins-1/rubus-vulkan.so: rubus-vulkan.la
	$(AM_V_at)$(MKDIR_P) .libs/rubus/plugins-1 && \
	rm -f $@ && $(LN_S) ../../rubus-vulkan.so $@
endif
