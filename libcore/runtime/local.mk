# SPDX-License-Identifier: Apache-2.0
noinst_LTLIBRARIES += libruntime.la
libruntime_la_CPPFLAGS = $(AM_CPPFLAGS) -DRUBUS_PLUGIN_DIR='"$(plugindir)"'
libruntime_la_SOURCES = \
	%D%/array.c \
	%D%/array_axpy.c \
	%D%/array_transfer.c \
	%D%/backend_start.c \
	%D%/backend_table.c \
	%D%/blas.c \
	%D%/capability.c \
	%D%/context.c \
	%D%/context_objects.c \
	%D%/device.c \
	%D%/elf_preflight.c \
	%D%/host_services.c \
	%D%/kernel_cache.c \
	%D%/kept_module.c \
	%D%/kernel_cache.h \
	%D%/launch.c \
	%D%/launch_check.c \
	%D%/launch_list.c \
	%D%/module.c \
	%D%/module_func.c \
	%D%/options.c \
	%D%/plugin.h \
	%D%/plugin_descriptor.c \
	%D%/plugin_folder.c \
	%D%/plugin_info.c \
	%D%/plugin_loader.c \
	%D%/plugin_open_ltdl.c \
	%D%/plugin_scan.c \
	%D%/reduce.c \
	%D%/reference.c \
	%D%/registry.h \
	%D%/runtime.h \
	%D%/selection.c \
	%D%/source.c \
	%D%/spec.c \
	%D%/stub_map.c \
	%D%/stub_move.c \
	%D%/validate.c
