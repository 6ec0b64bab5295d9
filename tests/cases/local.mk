# SPDX-License-Identifier: Apache-2.0
dist_check_SCRIPTS += \
	%D%/backend_choice.sh \
	%D%/command_line.sh \
	%D%/compiler_missing.sh \
	%D%/decimal_comma.sh \
	%D%/form_cases.sh \
	%D%/kernel_cache.sh \
	%D%/kernel_cases.sh \
	%D%/kernel_sources.sh \
	%D%/manual.sh \
	%D%/readme.sh \
	%D%/solver_cases.sh \
	%D%/sparse_cases.sh \
	%D%/vulkan_cases.sh
EXTRA_DIST += %D%/kernels %D%/nonsquare.tsv %D%/vulkan_hosts.c
