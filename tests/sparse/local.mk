# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/sparse/sparse_probe.h
check_PROGRAMS += tests/sparse/test_csr
tests_sparse_test_csr_SOURCES = tests/sparse/test_csr.c
tests_sparse_test_csr_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_spmv
tests_sparse_test_spmv_SOURCES = tests/sparse/test_spmv.c
tests_sparse_test_spmv_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
EXTRA_DIST += tests/sparse/path_checks.h tests/sparse/path_matrices.h
check_PROGRAMS += tests/sparse/test_spmv_paths
tests_sparse_test_spmv_paths_SOURCES = tests/sparse/test_spmv_paths.c
tests_sparse_test_spmv_paths_LDADD = $(RUBUS_LIBS) -lm $(CHECK_LIBS)
if HAVE_VULKAN
if HAVE_SHADERC
check_PROGRAMS += tests/sparse/test_spmv_vulkan
tests_sparse_test_spmv_vulkan_SOURCES = tests/sparse/test_spmv_vulkan.c
tests_sparse_test_spmv_vulkan_LDADD = $(RUBUS_LIBS) -lm $(CHECK_LIBS)
endif
endif
check_PROGRAMS += tests/sparse/test_fill
tests_sparse_test_fill_SOURCES = tests/sparse/test_fill.c
tests_sparse_test_fill_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_spmm
tests_sparse_test_spmm_SOURCES = tests/sparse/test_spmm.c
tests_sparse_test_spmm_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_scatter
tests_sparse_test_scatter_SOURCES = tests/sparse/test_scatter.c
tests_sparse_test_scatter_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
EXTRA_DIST += tests/sparse/mm_probe.h
check_PROGRAMS += tests/sparse/test_matrix_market
tests_sparse_test_matrix_market_SOURCES = tests/sparse/test_matrix_market.c
tests_sparse_test_matrix_market_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_sparse_test_matrix_market_LDADD = $(RUBUS_LIBS) $(ZLIB_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_mm_contents
tests_sparse_test_mm_contents_SOURCES = tests/sparse/test_mm_contents.c
tests_sparse_test_mm_contents_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_sparse_test_mm_contents_LDADD = $(RUBUS_LIBS) $(ZLIB_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_mm_write
tests_sparse_test_mm_write_SOURCES = tests/sparse/test_mm_write.c
tests_sparse_test_mm_write_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_sparse_test_mm_write_LDADD = $(RUBUS_LIBS) $(ZLIB_LIBS) $(CHECK_LIBS)
# Random files: the reader never crashes, and agrees with a plain one.
EXTRA_DIST += \
	%D%/plain_reader.h \
	%D%/corpus/array.mtx \
	%D%/corpus/general.mtx \
	%D%/corpus/hermitian.mtx \
	%D%/corpus/pattern.mtx \
	%D%/corpus/skew.mtx \
	%D%/corpus/symmetric.mtx \
	%D%/corpus/triangle.mtx \
	%D%/corpus/wide.mtx
check_PROGRAMS += tests/sparse/fuzz_matrix_market
tests_sparse_fuzz_matrix_market_SOURCES = tests/sparse/fuzz_matrix_market.c
tests_sparse_fuzz_matrix_market_CFLAGS = $(AM_CFLAGS) $(ZLIB_CFLAGS)
tests_sparse_fuzz_matrix_market_LDADD = $(RUBUS_LIBS) $(ZLIB_LIBS)
check_PROGRAMS += tests/sparse/test_algebra
tests_sparse_test_algebra_SOURCES = tests/sparse/test_algebra.c
tests_sparse_test_algebra_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
