# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += %D%/installed.sh
dist_check_SCRIPTS += %D%/bundle.sh %D%/new_backend.sh %D%/opencl.sh
