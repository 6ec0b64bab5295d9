#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# spirv.sh FOLDER GLSLC SPIRV-VAL: compiles FOLDER/*.comp, which rkc wrote, to
# FOLDER/*.comp.spv, and checks them. Those that are newer than their shader are left
# alone. Many shaders go to one glslc: it takes longer to start than to compile one.
set -euo pipefail
read -ra glslc <<<"$2" # may have arguments
read -ra validator <<<"$3"
cd "$1"

stale=()
for shader in *.comp; do
    [ "$shader.spv" -nt "$shader" ] || stale+=("../$shader")
done
[ ${#stale[@]} -gt 0 ] || exit 0

# What glslc leaves half done, or spirv-val refuses, must not look finished.
rm -rf new
mkdir new
cd new
"${glslc[@]}" -O0 --target-env=vulkan1.2 -DRK_WIDE=0 -DRK_DESCRIPTORS=0 -c "${stale[@]}"
for code in *.spv; do
    if ! "${validator[@]}" --target-env vulkan1.2 --scalar-block-layout "$code"; then
        echo "spirv.sh: $code is not valid" >&2
        exit 1
    fi
done
mv -- *.spv ..
cd ..
rmdir new
