# SPDX-License-Identifier: Apache-2.0
dist_man_MANS += %D%/rubus.1
EXTRA_DIST += %D%/backend-author.md %D%/environment.md %D%/file-formats.md \
	%D%/kernel-language.md
