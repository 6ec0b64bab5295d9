# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += tests/sparse/sparse_probe.h
check_PROGRAMS += tests/sparse/test_csr
tests_sparse_test_csr_SOURCES = tests/sparse/test_csr.c
tests_sparse_test_csr_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/sparse/test_spmv
tests_sparse_test_spmv_SOURCES = tests/sparse/test_spmv.c
tests_sparse_test_spmv_LDADD = $(RUBUS_LIBS) $(CHECK_LIBS)
