# SPDX-License-Identifier: Apache-2.0
check_PROGRAMS += tests/unit/test_base_status
tests_unit_test_base_status_SOURCES = tests/unit/test_base_status.c
tests_unit_test_base_status_LDADD = libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_base_memory
tests_unit_test_base_memory_SOURCES = tests/unit/test_base_memory.c
tests_unit_test_base_memory_LDADD = libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_base_decimal
tests_unit_test_base_decimal_SOURCES = tests/unit/test_base_decimal.c
tests_unit_test_base_decimal_LDADD = libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_base_number
tests_unit_test_base_number_SOURCES = tests/unit/test_base_number.c
tests_unit_test_base_number_LDADD = libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_base_file
tests_unit_test_base_file_SOURCES = tests/unit/test_base_file.c
tests_unit_test_base_file_LDADD = libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_base_env_log
tests_unit_test_base_env_log_SOURCES = tests/unit/test_base_env_log.c
tests_unit_test_base_env_log_LDADD = libbase.la $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_pool
tests_unit_test_pool_SOURCES = tests/unit/test_pool.c tests/support/fake_host.h
tests_unit_test_pool_LDADD = $(THREADS_LIBS) $(CHECK_LIBS)
check_PROGRAMS += tests/unit/test_handwritten
tests_unit_test_handwritten_SOURCES = tests/unit/test_handwritten.c \
	tools/rubus/handwritten.c tools/rubus/handwritten.h tools/rubus/handwritten_rows.h
tests_unit_test_handwritten_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_srcdir)/tools/rubus
tests_unit_test_handwritten_LDADD = $(CHECK_LIBS) -lpthread
