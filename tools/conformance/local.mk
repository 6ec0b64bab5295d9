# SPDX-License-Identifier: Apache-2.0
# The suite of `rubus conformance`, part of the program.
tools_rubus_rubus_CPPFLAGS += -I$(top_srcdir)/tools/conformance
tools_rubus_rubus_LDADD += -ldl -lpthread
tools_rubus_rubus_SOURCES += \
	%D%/check_caps.c \
	%D%/check_error.c \
	%D%/check_host_memory.c \
	%D%/check_language.c \
	%D%/check_language_field.c \
	%D%/check_language_point.c \
	%D%/check_launch.c \
	%D%/check_load.c \
	%D%/check_memory.c \
	%D%/check_order.c \
	%D%/check_order.h \
	%D%/check_order_model.c \
	%D%/check_process.c \
	%D%/check_random.c \
	%D%/check_random.h \
	%D%/check_random_text.c \
	%D%/check_reduce.c \
	%D%/check_scatter.c \
	%D%/check_sparse.c \
	%D%/check_sparse.h \
	%D%/check_sparse_data.c \
	%D%/check_stress.c \
	%D%/check_thread.c \
	%D%/conform.h \
	%D%/conform_cache.c \
	%D%/conform_compare.c \
	%D%/conform_compare.h \
	%D%/conform_direct.c \
	%D%/conform_direct.h \
	%D%/conform_elf.c \
	%D%/conform_elf.h \
	%D%/conform_facts.c \
	%D%/conform_json.c \
	%D%/conform_list.c \
	%D%/conform_process.c \
	%D%/conform_process.h \
	%D%/conform_runner.c \
	%D%/conform_tap.c \
	%D%/conform_work.c \
%D%/check_buffer.c
