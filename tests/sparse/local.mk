# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/sparse/sparse_probe.h
check_PROGRAMS += tests/sparse/test_csr
tests_sparse_test_csr_SOURCES = tests/sparse/test_csr.c
tests_sparse_test_csr_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_spmv
tests_sparse_test_spmv_SOURCES = tests/sparse/test_spmv.c
tests_sparse_test_spmv_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_fill
tests_sparse_test_fill_SOURCES = tests/sparse/test_fill.c
tests_sparse_test_fill_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_spmm
tests_sparse_test_spmm_SOURCES = tests/sparse/test_spmm.c
tests_sparse_test_spmm_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_scatter
tests_sparse_test_scatter_SOURCES = tests/sparse/test_scatter.c
tests_sparse_test_scatter_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
