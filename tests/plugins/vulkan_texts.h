/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_TESTS_VULKAN_TEXTS_H
#define RUBUS_TESTS_VULKAN_TEXTS_H
/*
 * A module written by hand in the dialect glsl, as the compiler would: four entries in
 * one text, addresses or descriptors, 32-bit or 64-bit index arithmetic, and its
 * description.
 */
#include <stdio.h>
#include <string.h>

#include <rubus/backend.h>

enum { VULKAN_AXPY, VULKAN_BOX, VULKAN_GROUPS, VULKAN_LONG, VULKAN_ENTRIES };

/* Before the entries, behind the version and the macros REAL and SIZE. */
static const char vulkan_text_head[] =
    "#extension GL_EXT_buffer_reference : require\n"
    "#extension GL_EXT_buffer_reference_uvec2 : require\n"
    "#extension GL_EXT_scalar_block_layout : require\n"
    "#if RK_WIDE\n"
    "#extension GL_EXT_shader_explicit_arithmetic_types_int64 : require\n"
    "#define INT int64_t\n"
    "#define LOW(v) packInt2x32(ivec2(v))\n"
    "#else\n"
    "#define INT int\n"
    "#define LOW(v) int((v).x)\n"
    "#endif\n"
    "#if RK_ENTRY != 2\n"
    "layout(local_size_x_id = 0, local_size_y_id = 1, local_size_z_id = 2) in;\n"
    "#else\n"
    "layout(local_size_x = 32) in;\n"
    "#endif\n"
    "#if RK_DESCRIPTORS\n"
    "#define ARRAY(n) layout(set = 0, binding = 1 + n, scalar) buffer A##n "
    "{ REAL at[]; } array##n;\n"
    "#define AT(n, i) array##n.at[int(block.slot##n.x / SIZE) + int(i)]\n"
    "#else\n"
    "layout(buffer_reference, scalar, buffer_reference_align = 4) buffer Reals "
    "{ REAL at[]; };\n"
    "#define ARRAY(n)\n"
    "#if RK_WIDE\n"
    "#define AT(n, i) Reals(uint64_t(packInt2x32(ivec2(block.slot##n)) + (i) * "
    "SIZE)).at[0]\n"
    "#else\n"
    "#define AT(n, i) Reals(block.slot##n).at[i]\n"
    "#endif\n"
    "#endif\n";

/* Entry 0, block of 80 bytes: y[i] += a * x[i]. */
static const char vulkan_text_axpy[] =
    "#if RK_ENTRY == 0\n"
    "layout(push_constant, scalar) uniform Block { uvec2 lo[3]; uvec2 hi[3]; "
    "uvec2 slot0; uvec2 slot1; uvec2 n; REAL a; } block;\n"
    "ARRAY(0)\n"
    "ARRAY(1)\n"
    "void main() {\n"
    "    INT step = INT(gl_NumWorkGroups.x * gl_WorkGroupSize.x);\n"
    "    for (INT i = LOW(block.lo[0]) + INT(gl_GlobalInvocationID.x);\n"
    "         i < LOW(block.hi[0]); i += step) {\n"
    "        precise REAL r = AT(0, i) + block.a * AT(1, i);\n"
    "        AT(0, i) = r;\n"
    "    }\n"
    "}\n"
    "#endif\n";

/* Entry 1, block of 72 bytes: u[i, j, k] += i + 100 j + 10000 k. */
static const char vulkan_text_box[] =
    "#if RK_ENTRY == 1\n"
    "layout(push_constant, scalar) uniform Block { uvec2 lo[3]; uvec2 hi[3]; "
    "uvec2 slot0; uvec2 nx; uvec2 ny; } block;\n"
    "ARRAY(0)\n"
    "void main() {\n"
    "    uvec3 all = gl_NumWorkGroups * gl_WorkGroupSize;\n"
    "    INT nx = LOW(block.nx);\n"
    "    INT ny = LOW(block.ny);\n"
    "    for (INT k = LOW(block.lo[2]) + INT(gl_GlobalInvocationID.z);\n"
    "         k < LOW(block.hi[2]); k += INT(all.z))\n"
    "    for (INT j = LOW(block.lo[1]) + INT(gl_GlobalInvocationID.y);\n"
    "         j < LOW(block.hi[1]); j += INT(all.y))\n"
    "    for (INT i = LOW(block.lo[0]) + INT(gl_GlobalInvocationID.x);\n"
    "         i < LOW(block.hi[0]); i += INT(all.x)) {\n"
    "        INT at = i + nx * (j + ny * k);\n"
    "        AT(0, at) = AT(0, at) + REAL(i + 100 * j + 10000 * k);\n"
    "    }\n"
    "}\n"
    "#endif\n";

/* Entry 2, block of 64 bytes: sum[g] = x[32 g] + ... + x[32 g + 31], a group each. */
static const char vulkan_text_groups[] =
    "#if RK_ENTRY == 2\n"
    "layout(push_constant, scalar) uniform Block { uvec2 lo[3]; uvec2 hi[3]; "
    "uvec2 slot0; uvec2 slot1; } block;\n"
    "ARRAY(0)\n"
    "ARRAY(1)\n"
    "shared REAL part[32];\n"
    "void main() {\n"
    "    int lane = int(gl_LocalInvocationID.x);\n"
    "    for (INT g = LOW(block.lo[0]) + INT(gl_WorkGroupID.x);\n"
    "         g < LOW(block.hi[0]); g += INT(gl_NumWorkGroups.x)) {\n"
    "        part[lane] = AT(1, 32 * g + lane);\n"
    "        barrier();\n"
    "        for (int half_ = 16; half_ > 0; half_ /= 2) {\n"
    "            if (lane < half_) part[lane] += part[lane + half_];\n"
    "            barrier();\n"
    "        }\n"
    "        if (lane == 0) AT(0, g) = part[0];\n"
    "        barrier();\n"
    "    }\n"
    "}\n"
    "#endif\n";

/* Entry 3, block of 152 or 248 bytes, in a buffer: y[i] = c[0] + ... + c[23]. */
static const char vulkan_text_long[] =
    "#if RK_ENTRY == 3\n"
    "#define FIELDS uvec2 lo[3]; uvec2 hi[3]; uvec2 slot0; REAL c[24];\n"
    "#if RK_DESCRIPTORS\n"
    "layout(set = 0, binding = 0, scalar) readonly buffer Block { FIELDS } block;\n"
    "#else\n"
    "layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer "
    "Block { FIELDS };\n"
    "layout(push_constant, scalar) uniform Push { uvec2 address; } push;\n"
    "#define block Block(push.address)\n"
    "#endif\n"
    "ARRAY(0)\n"
    "void main() {\n"
    "    INT step = INT(gl_NumWorkGroups.x * gl_WorkGroupSize.x);\n"
    "    for (INT i = LOW(block.lo[0]) + INT(gl_GlobalInvocationID.x);\n"
    "         i < LOW(block.hi[0]); i += step) {\n"
    "        REAL sum = REAL(0);\n"
    "        for (int k = 0; k < 24; k++) sum += block.c[k];\n"
    "        AT(0, i) = sum;\n"
    "    }\n"
    "}\n"
    "#endif\n";

/* The whole text, for "float" or "double"; room: at least 8 KiB. */
static inline size_t vulkan_text(const char *real, char *out, size_t room)
{
    return (size_t)snprintf(
        out, room, "#version 460\n#define REAL %s\n#define SIZE %d\n%s%s%s%s%s", real,
        strcmp(real, "double") == 0 ? 8 : 4, vulkan_text_head, vulkan_text_axpy,
        vulkan_text_box, vulkan_text_groups, vulkan_text_long);
}

#endif
