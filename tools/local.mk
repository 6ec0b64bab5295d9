# SPDX-License-Identifier: Apache-2.0
EXTRA_DIST += %D%/check %D%/layout %D%/packages.sh %D%/quickstart
dist_bashcompletion_DATA += %D%/completion/rubus
