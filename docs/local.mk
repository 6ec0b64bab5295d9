# SPDX-License-Identifier: Apache-2.0
dist_man_MANS += %D%/rubus.1
dist_doc_DATA = %D%/backend-author.md %D%/conformance.md %D%/environment.md \
	%D%/file-formats.md %D%/forms.md %D%/grids.md %D%/kernel-language.md %D%/sparse.md
EXTRA_DIST += %D%/picture.png
