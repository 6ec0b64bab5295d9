/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rkc FOLDER NAME.rk...: turns kernels of the library into C files for the threads
 * backend, while Rubus is built. For each source and each of f32 and f64 it writes
 * FOLDER/prebuilt_NAME_REAL.c, and then FOLDER/prebuilt_list.c. NAME.rk@i64 stands for
 * the same source with 64-bit indices, NAME_i64 in the names of files. The sources are
 * those embedded in the kernel compiler, and the compiler is the library's own: text and
 * key are those that a program gets when it asks for the same module, so it finds these
 * functions instead of compiling. With --glsl or --spirv behind FOLDER it does the same
 * for the Vulkan backend (rkc_vulkan.c), also for texts written by hand, whose names come
 * last (rkc_written.c).
 */
#include "config.h"

#include "tools/rkc/rkc.h"

#include <stdio.h>
#include <string.h>

int rkc_complain(const char *what, const char *why)
{
    fprintf(stderr, "rkc: %s: %s\n", what, why);
    return 1;
}

bool rkc_stem(const char *name, char out[64])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    size_t n = strspn(name, letters);
    const bool wide = strcmp(name + n, ".rk@i64") == 0;
    if (n == 0 || n > 59 || (!wide && strcmp(name + n, ".rk") != 0)) {
        return false;
    }
    memcpy(out, name, n);
    memcpy(out + n, "_i64", 5);
    out[wide ? n + 4 : n] = '\0';
    return true;
}

/* Whether the file has these contents already. Then it is left alone, and make does not
 * compile it again after every change of the kernel compiler. */
static bool is_same(const char *path, const rubus__text *text)
{
    char *present = NULL;
    size_t size = 0;
    bool same = rubus__file_read(path, (size_t)64 << 20, &present, &size) == RUBUS_OK &&
                size == text->size && memcmp(present, text->data, size) == 0;
    rubus__free(present);
    return same;
}

int rkc_write(const char *folder, const char *name, rubus__text *text)
{
    char *path = name == NULL ? NULL : rubus__format("%s/%s", folder, name);
    int status = 0;
    if (path == NULL || text->failed) {
        status = rkc_complain(folder, "out of memory");
    } else if (!is_same(path, text) &&
               rubus__file_write(path, text->data, text->size) != RUBUS_OK) {
        status = rkc_complain(path, rubus_error_text());
    }
    rubus__free(path);
    return status;
}

static rk_program *compile(const char *name, int32_t real, const char *dialect)
{
    char stem[64];
    char file[64];
    rubus__snprintf(file, sizeof file, "%.*s", (int)strcspn(name, "@"), name);
    const rk_embedded *source = rk_embedded_find(file);
    if (source == NULL || !rkc_stem(name, stem)) {
        rkc_complain(name, "the library has no source of that name inside");
        return NULL;
    }
    const rk_options options = {.real = real,
                                .index =
                                    strchr(name, '@') == NULL ? RUBUS_I32 : RUBUS_I64,
                                .dialect = dialect,
                                .read = rk_read_embedded};
    rk_program *program = NULL;
    if (rk_compile(&options, file, source->text, source->size, &program) != RUBUS_OK) {
        rkc_complain(name, rubus_error_text());
        return NULL;
    }
    if (program->nentry == 0) {
        rkc_complain(name, "it has no kernels");
        rk_program_destroy(program);
        return NULL;
    }
    return program;
}

void rkc_add_key(rubus__text *out, const rk_program *program)
{
    rubus__text_add(out, "    {");
    for (int i = 0; i < 32; i++) {
        rubus__text_format(out, "%d,", program->key[i]);
    }
    rubus__text_add(out, "},\n");
}

static const int32_t reals[] = {RUBUS_F32, RUBUS_F64};
enum { NREAL = sizeof(reals) / sizeof(reals[0]) };

/* BEFORE TYPE_STEM_REAL AFTER for every source and real type. */
static void add_each(rubus__text *out, const char *before, const char *type,
                     char *const *names, int count, const char *after)
{
    for (int i = 0; i < NREAL * count; i++) {
        char stem[64] = "";
        rkc_stem(names[i / NREAL], stem);
        rubus__text_format(out, "%s%s_%s_%s%s\n", before, type, stem,
                           rubus__type_name(reals[i % NREAL]), after);
    }
}

void rkc_add_list(rubus__text *out, const char *type, char **names, int count)
{
    rubus__text_format(out, "typedef const %s rubus_item;\n", type);
    add_each(out, "extern rubus_item ", type, names, count, ";");
    rubus__text_format(out, "\nrubus_item *const %s_list[] = {\n", type);
    add_each(out, "    &", type, names, count, ",");
}

int rkc_each(const char *folder, char **names, int count, const char *dialect,
             rkc_make make)
{
    int status = 0;
    for (int i = 0; i < NREAL * count && status == 0; i++) {
        char stem[64] = "";
        const int32_t real = reals[i % NREAL];
        rk_program *program = compile(names[i / NREAL], real, dialect);
        rkc_stem(names[i / NREAL], stem);
        status =
            program != NULL ? make(folder, program, stem, rubus__type_name(real)) : 1;
        rk_program_destroy(program);
    }
    return status;
}

int main(int argc, char **argv)
{
    const bool option = argc > 2 && argv[2][0] == '-';
    const int first = option ? 3 : 2;
    if (argc <= first) {
        return rkc_complain("usage", "rkc FOLDER [--text | --glsl | --spirv] NAME.rk... "
                                     "NAME.comp...");
    }
    if (!option) {
        return rkc_threads_modules(argv[1], argv + first, argc - first);
    }
    if (strcmp(argv[2], "--text") == 0) {
        return rkc_vulkan_texts(argv[1], argv + first, argc - first);
    }
    if (strcmp(argv[2], "--glsl") == 0) {
        return rkc_vulkan_shaders(argv[1], argv + first, argc - first);
    }
    if (strcmp(argv[2], "--spirv") == 0) {
        return rkc_vulkan_modules(argv[1], argv + first, argc - first);
    }
    return rkc_complain(argv[2], "no such option");
}
