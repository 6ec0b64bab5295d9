# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Packages of Debian that Rubus needs, and their installation. Sourced by quickstart and
# check; nothing is downloaded if everything is there.

packages_build="gcc libc6-dev make autoconf automake libtool libltdl-dev pkg-config libmd-dev \
libjansson-dev zlib1g-dev libcairo2-dev libvulkan-dev libshaderc-dev glslang-dev \
spirv-tools glslc"
packages_test="check clang-format-14 git mesa-vulkan-drivers vulkan-validationlayers \
xz-utils pocl-opencl-icd ocl-icd-opencl-dev opencl-headers"
packages_full="clang clang-tidy cppcheck shellcheck valgrind bear \
llvm libclang-rt-14-dev"
# Read by the scripts that source this file.
export packages_build packages_test packages_full

# install_packages NAME...: those that are missing, with sudo where needed
install_packages() {
    local missing=() name
    for name in "$@"; do
        if ! dpkg-query -W -f '${db:Status-Abbrev}' "$name" 2>/dev/null | grep -q '^ii'; then
            missing+=("$name")
        fi
    done
    [ ${#missing[@]} -gt 0 ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "rubus: please install: ${missing[*]} (names as in Debian)" >&2
        return 1
    fi
    local root=()
    if [ "$(id -u)" -ne 0 ]; then
        if ! command -v sudo >/dev/null 2>&1; then
            echo "rubus: as root, run: apt-get install ${missing[*]}" >&2
            return 1
        fi
        root=(sudo)
    fi
    echo "Installing ${missing[*]}"
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -q &&
        "${root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -q -y --no-install-recommends "${missing[@]}"
}
