/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look at an ELF file before the dynamic linker maps it.
 *
 * The linker trusts the program headers: a file that is cut short ends the process with
 * SIGBUS, and a file for another processor gets a misleading text. So the header is
 * checked against this process, and every extent that will be mapped against the size of
 * the file. Damage elsewhere is not seen.
 */
#include "config.h"

#include "libcore/runtime/plugin.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

/* The machine that this code is compiled for; EM_NONE: not checked. */
#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__i386__)
#define OWN_MACHINE EM_386
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__arm__)
#define OWN_MACHINE EM_ARM
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__s390x__)
#define OWN_MACHINE EM_S390
#else
#define OWN_MACHINE EM_NONE
#endif

enum { SEGMENTS_MOST = 256 };

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_X86_64, "x86-64"}, {EM_386, "x86"},        {EM_AARCH64, "aarch64"},
        {EM_ARM, "arm"},       {EM_RISCV, "riscv"},    {EM_PPC64, "ppc64"},
        {EM_S390, "s390x"},    {EM_MIPS, "mips"},      {EM_LOONGARCH, "loongarch"},
        {EM_PPC, "ppc"},       {EM_SPARCV9, "sparc64"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].machine == machine) {
            return names[i].name;
        }
    }
    return "another processor";
}

static bool refuse(char reason[RUBUS__REASON_ROOM], const char *fmt, ...)
    RUBUS_PRINTF(2, 3);

static bool refuse(char reason[RUBUS__REASON_ROOM], const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    rubus__vsnprintf(reason, RUBUS__REASON_ROOM, fmt, args);
    va_end(args);
    return false;
}

static bool read_at(int fd, void *out, size_t n, uint64_t at)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = pread(fd, (char *)out + done, n - done, (off_t)(at + done));
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        done += (size_t)got;
    }
    return true;
}

/* What stands before the parts whose layout depends on the class. */
static bool identity_fits(const unsigned char *ident, char reason[RUBUS__REASON_ROOM])
{
    const bool wide = sizeof(void *) == 8;
    if (memcmp(ident, ELFMAG, SELFMAG) != 0) {
        return refuse(reason, "it is not an ELF shared object");
    }
    if (ident[EI_CLASS] != (wide ? ELFCLASS64 : ELFCLASS32)) {
        const bool known = ident[EI_CLASS] == ELFCLASS32 || ident[EI_CLASS] == ELFCLASS64;
        return known ? refuse(reason,
                              "it is built for a %d-bit system, this process is %d-bit",
                              wide ? 32 : 64, wide ? 64 : 32)
                     : refuse(reason, "its ELF class %d is unknown", ident[EI_CLASS]);
    }
    if (ident[EI_DATA] != (BYTE_ORDER == LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)) {
        return refuse(reason, "it is built for the other byte order");
    }
    return true;
}

static bool segment_fits(const ElfW(Phdr) * segment, int at, uint64_t size,
                         char reason[RUBUS__REASON_ROOM])
{
    const uint64_t first = segment->p_offset;
    const uint64_t n = segment->p_filesz;
    if (n > UINT64_MAX - first || first + n > size) {
        return refuse(
            reason,
            "it is cut short or damaged: segment %d has %llu bytes from byte %llu "
            "on, the file has %llu",
            at, (unsigned long long)n, (unsigned long long)first,
            (unsigned long long)size);
    }
    if (segment->p_type == PT_LOAD && n > segment->p_memsz) {
        return refuse(
            reason, "it is damaged: segment %d is larger in the file than in memory", at);
    }
    return true;
}

static bool segments_fit(int fd, const ElfW(Ehdr) * header, uint64_t size,
                         char reason[RUBUS__REASON_ROOM])
{
    if (header->e_phentsize != sizeof(ElfW(Phdr)) || header->e_phnum == 0 ||
        header->e_phnum > SEGMENTS_MOST) {
        return refuse(reason, "it is damaged: %d program headers of %d bytes",
                      header->e_phnum, header->e_phentsize);
    }
    bool loads = false;
    bool dynamic = false;
    for (int i = 0; i < header->e_phnum; i++) {
        ElfW(Phdr) segment;
        const uint64_t at = header->e_phoff + (uint64_t)i * sizeof segment;
        if (header->e_phoff > size || !read_at(fd, &segment, sizeof segment, at)) {
            return refuse(reason, "it is cut short: program header %d is missing", i);
        }
        if (segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC) {
            if (!segment_fits(&segment, i, size, reason)) {
                return false;
            }
            loads = loads || segment.p_type == PT_LOAD;
            dynamic = dynamic || segment.p_type == PT_DYNAMIC;
        }
    }
    if (!loads || !dynamic) {
        return refuse(reason,
                      "it has no %s segment: not a shared object that can be loaded",
                      loads ? "dynamic" : "loadable");
    }
    return true;
}

bool rubus__elf_preflight(int fd, uint64_t size, char reason[RUBUS__REASON_ROOM])
{
    ElfW(Ehdr) header;
    memset(&header, 0, sizeof header);
    if (size == 0) {
        return refuse(reason, "it is empty");
    }
    const size_t n = size < sizeof header ? (size_t)size : sizeof header;
    if (!read_at(fd, &header, n, 0)) {
        return refuse(reason, "it cannot be read");
    }
    if (!identity_fits(header.e_ident, reason)) {
        return false;
    }
    if (size < sizeof header) {
        return refuse(reason, "it is cut short: %llu bytes do not hold an ELF header",
                      (unsigned long long)size);
    }
    if (OWN_MACHINE != EM_NONE && header.e_machine != OWN_MACHINE) {
        return refuse(reason, "it is built for %s, this process is %s",
                      machine_name(header.e_machine), machine_name(OWN_MACHINE));
    }
    if (header.e_type != ET_DYN) {
        return refuse(reason, "it is an ELF file, but not a shared object");
    }
    return segments_fit(fd, &header, size, reason);
}
