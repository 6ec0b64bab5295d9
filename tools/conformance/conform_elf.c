/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the section headers of a shared object: its dynamic symbols and the arrays of
 * functions that run when it is loaded.
 */
#include "config.h"

#include "conform_elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct image {
    const unsigned char *bytes;
    size_t size;
    ElfW(Ehdr) head;
} image;

/* Copies a header at `offset`; false where the file is too short. */
static bool take(const image *m, uint64_t offset, void *to, size_t size)
{
    if (offset > m->size || size > m->size - offset) {
        return false;
    }
    memcpy(to, m->bytes + offset, size);
    return true;
}

static ElfW(Shdr) section(const image *m, unsigned number)
{
    ElfW(Shdr) s;
    const uint64_t offset = m->head.e_shoff + (uint64_t)number * m->head.e_shentsize;
    conform_true(take(m, offset, &s, sizeof s), "its section headers leave the file");
    return s;
}

static bool is_of_linker(const char *name)
{
    static const char *const names[] = {"_init", "_fini",       "_edata",
                                        "_end",  "__bss_start", "__end__"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void take_symbol(const ElfW(Sym) * s, const char *name, conform_elf *out)
{
    const unsigned bind = s->st_info >> 4;
    const unsigned type = s->st_info & 15u;
    const unsigned visibility = s->st_other & 3u;
    if (s->st_shndx == SHN_UNDEF) {
        if (strncmp(name, "__asan_", 7) == 0 || strncmp(name, "__tsan_", 7) == 0 ||
            strncmp(name, "__ubsan_", 8) == 0) {
            out->has_instrumentation = true;
        }
        return;
    }
    if (bind == STB_LOCAL || name[0] == '\0' || is_of_linker(name) ||
        (visibility != STV_DEFAULT && visibility != STV_PROTECTED)) {
        return;
    }
    out->nexported++;
    const size_t used = strlen(out->exported);
    snprintf(out->exported + used, sizeof out->exported - used, "%s%s",
             used > 0 ? " " : "", name);
    out->exports_data = out->exports_data ||
                        (type == STT_OBJECT && strcmp(name, "rubus_backend_plugin") == 0);
}

static void read_symbols(const image *m, const ElfW(Shdr) * table, conform_elf *out)
{
    const ElfW(Shdr) names = section(m, table->sh_link);
    conform_true(names.sh_offset < m->size &&
                     names.sh_size <= m->size - names.sh_offset && names.sh_size > 0 &&
                     m->bytes[names.sh_offset + names.sh_size - 1] == '\0',
                 "its names of symbols leave the file");
    for (uint64_t at = 0; at + sizeof(ElfW(Sym)) <= table->sh_size;
         at += sizeof(ElfW(Sym))) {
        ElfW(Sym) s;
        conform_true(take(m, table->sh_offset + at, &s, sizeof s) &&
                         s.st_name < names.sh_size,
                     "its symbols leave the file");
        take_symbol(&s, (const char *)m->bytes + names.sh_offset + s.st_name, out);
    }
}

/* Whether the section of relocations has one that calls a resolver. */
static bool calls_resolver(const image *m, const ElfW(Shdr) * s)
{
    static const struct {
        unsigned machine;
        unsigned type;
    } known[] = {{EM_X86_64, 37}, {EM_AARCH64, 1032}, {EM_RISCV, 58}};
    for (uint64_t at = 0; at + sizeof(ElfW(Rela)) <= s->sh_size;
         at += sizeof(ElfW(Rela))) {
        ElfW(Rela) r;
        conform_true(take(m, s->sh_offset + at, &r, sizeof r),
                     "its relocations leave the file");
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            if (m->head.e_machine == known[i].machine &&
                (uint32_t)r.r_info == known[i].type) {
                return true;
            }
        }
    }
    return false;
}

void conform_elf_read(const char *path, conform_elf *out)
{
    memset(out, 0, sizeof *out);
    struct stat info;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    conform_true(fd >= 0 && fstat(fd, &info) == 0, "%s: %s", path, strerror(errno));
    image m = {.size = (size_t)info.st_size};
    void *bytes = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE, fd, 0);
    conform_true(bytes != MAP_FAILED, "%s: %s", path, strerror(errno));
    m.bytes = bytes;
    close(fd);
    conform_true(take(&m, 0, &m.head, sizeof m.head) &&
                     memcmp(m.head.e_ident, ELFMAG, SELFMAG) == 0 &&
                     m.head.e_type == ET_DYN &&
                     m.head.e_shentsize == sizeof(ElfW(Shdr)) && m.head.e_shnum > 0,
                 "%s is no shared object with section headers", path);
    for (unsigned i = 0; i < m.head.e_shnum; i++) {
        const ElfW(Shdr) s = section(&m, i);
        if (s.sh_type == SHT_DYNSYM) {
            read_symbols(&m, &s, out);
        } else if (s.sh_type == SHT_INIT_ARRAY) {
            out->nconstructor += s.sh_size / sizeof(void *);
        } else if (s.sh_type == SHT_RELA && calls_resolver(&m, &s)) {
            out->has_resolvers = true;
        }
    }
    munmap(bytes, m.size);
}
