#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# handwritten_code.sh SHADER GLSLC: the kernels of handwritten.comp as C, on stdout.
set -euo pipefail
read -ra glslc <<<"$2" # may have arguments

printf '#include "config.h"\n#include "handwritten_code.h"\n'
for real in double float; do
    for kernel in 1 2 3 4 5 6 7; do
        printf 'static const uint32_t %s_%s[] = ' "$real" "$kernel"
        "${glslc[@]}" -O0 --target-env=vulkan1.2 -fshader-stage=compute -mfmt=c \
            -DREAL="$real" -DKERNEL="$kernel" -o - "$1"
        printf ';\n'
    done
done
printf 'const handwritten_code handwritten_codes[2][HANDWRITTEN_KERNELS] = {\n'
for real in double float; do
    printf '{'
    for kernel in 1 2 3 4 5 6 7; do
        printf '{%s_%s, sizeof(%s_%s)},' "$real" "$kernel" "$real" "$kernel"
    done
    printf '},\n'
done
printf '};\n'
