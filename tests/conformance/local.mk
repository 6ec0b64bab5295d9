# SPDX-License-Identifier: Apache-2.0
dist_check_SCRIPTS += %D%/certificates.sh %D%/command_conformance.sh
