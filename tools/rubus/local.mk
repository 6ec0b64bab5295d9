# SPDX-License-Identifier: Apache-2.0
bin_PROGRAMS += tools/rubus/rubus
tools_rubus_rubus_CPPFLAGS = -I$(top_srcdir)/include -I$(top_srcdir)/tools/rubus
tools_rubus_rubus_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
tools_rubus_rubus_LDFLAGS =
if HAVE_ORIGIN_LIBDIR
tools_rubus_rubus_LDFLAGS += -Wl,-rpath,'$$ORIGIN/$(ORIGIN_LIBDIR)'
endif
tools_rubus_rubus_LDADD = librubus.la $(JANSSON_LIBS) -lm
tools_rubus_rubus_SOURCES = \
	%D%/bench.h \
	%D%/bench_assemble.c \
	%D%/bench_dr.c \
	%D%/bench_launch.c \
	%D%/bench_matrix.c \
	%D%/bench_matrix.h \
	%D%/bench_sparse.c \
	%D%/bench_stream.c \
	%D%/case_file.c \
	%D%/case_file.h \
	%D%/case_json.c \
	%D%/case_json.h \
	%D%/cli_options.c \
	%D%/command.h \
	%D%/command_bench.c \
	%D%/command_conformance.c \
	%D%/command_devices.c \
	%D%/command_form.c \
	%D%/command_kernel.c \
	%D%/command_run.c \
	%D%/command_solve.c \
	%D%/command_spmv.c \
	%D%/form_case.c \
	%D%/form_case.h \
	%D%/form_problem.c \
	%D%/form_problem.h \
	%D%/form_result.c \
	%D%/form_result.h \
	%D%/handwritten.c \
	%D%/handwritten.h \
	%D%/handwritten_gpu.h \
	%D%/handwritten_rows.h \
	%D%/input_file.c \
	%D%/json_result.c \
	%D%/main.c \
	%D%/measure.c \
	%D%/measure.h \
	%D%/message.c \
	%D%/result_file.c \
	%D%/solve_options.c \
	%D%/solve_options.h

# Hand-written kernels for GPUs, which bench compares generated ones with.
EXTRA_DIST += %D%/handwritten.comp %D%/handwritten_code.sh
if HAVE_GLSLC
tools_rubus_rubus_CPPFLAGS += -DHANDWRITTEN_GPU
tools_rubus_rubus_LDADD += -ldl
tools_rubus_rubus_SOURCES += \
	%D%/gpu_api.c \
	%D%/gpu_api.h \
	%D%/handwritten_code.h \
	%D%/handwritten_gpu.c
nodist_tools_rubus_rubus_SOURCES = %D%/handwritten_code.c
CLEANFILES += %D%/handwritten_code.c
%D%/handwritten_code.c: %D%/handwritten.comp %D%/handwritten_code.sh
	$(AM_V_GEN)$(MKDIR_P) %D%/ && bash $(srcdir)/%D%/handwritten_code.sh \
	    $(srcdir)/%D%/handwritten.comp '$(GLSLC)' > $@.new && mv $@.new $@
endif
