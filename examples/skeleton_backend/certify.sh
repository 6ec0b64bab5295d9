#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Whether the backend keeps the contract; LEVEL is load, basic, full (unset) or stress.
# The certificate goes to certificate.json.
set -e
cd "$(dirname "$0")"
RUBUS_PLUGIN_PATH=$PWD rubus devices -v
exec rubus conformance --level "${LEVEL:-full}" --json certificate.json \
    "$PWD/rubus-skeleton.so"
