#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes ./configure from a checkout. Needed once, and after a change of configure.ac.
set -eu
cd "$(dirname "$0")"

missing=
need() {
    command -v "$1" >/dev/null 2>&1 || missing="$missing $2"
}
need autoconf autoconf
need automake automake
need libtoolize libtool
need pkg-config pkg-config
if [ -z "$missing" ] && [ ! -e "$(aclocal --print-ac-dir)/pkg.m4" ]; then
    missing=" pkg-config"
fi
if [ -n "$missing" ]; then
    echo "autogen.sh: please install (names as in Debian):$missing" >&2
    exit 1
fi
exec autoreconf --force --install
