/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The look at ELF files before they are mapped: cut at many places, for other systems, no
 * ELF at all, with damaged headers. None may crash, each refusal has its reason.
 */
#include "config.h"

#include <check.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#include "libcore/runtime/plugin.h"
#include "tests/support/probe_files.h"
#include "tests/support/suite.h"

static char reason[RUBUS__REASON_ROOM];

/* The verdict on the first n bytes of data. */
static bool fits(const void *data, size_t n)
{
    reason[0] = '\0';
    const int fd = memfd_create("elf", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, n), (ssize_t)n);
    const bool good = rubus__elf_preflight(fd, n, reason);
    close(fd);
    ck_assert_msg(good == (reason[0] == '\0'), "%s", reason);
    return good;
}

static void refused(const void *data, size_t n, const char *word)
{
    ck_assert(!fits(data, n));
    ck_assert_msg(strstr(reason, word) != NULL, "'%s' is not in '%s'", word, reason);
}

/* End of the last byte that the linker maps. */
static size_t mapped_end(const probe_image *image)
{
    ElfW(Ehdr) header;
    memcpy(&header, image->data, sizeof header);
    size_t end = 0;
    for (int i = 0; i < header.e_phnum; i++) {
        ElfW(Phdr) segment;
        memcpy(&segment, image->data + header.e_phoff + (size_t)i * sizeof segment,
               sizeof segment);
        if (segment.p_type == PT_LOAD && segment.p_offset + segment.p_filesz > end) {
            end = segment.p_offset + segment.p_filesz;
        }
    }
    return end;
}

START_TEST(file_whole_is_accepted)
{
    probe_image image = probe_read();
    ck_assert_msg(fits(image.data, image.size), "%s", reason);
    // the section table behind the segments is not needed
    ck_assert_msg(fits(image.data, mapped_end(&image)), "%s", reason);
    rubus__free(image.data);
}
END_TEST

START_TEST(file_cut_anywhere_is_refused)
{
    probe_image image = probe_read();
    const size_t end = mapped_end(&image);
    for (size_t n = 1; n < end; n += n < 1000 ? 7 : 97) {
        ck_assert_msg(!fits(image.data, n), "%zu bytes of %zu were accepted", n, end);
    }
    refused(image.data, end - 1, "cut short");
    refused(image.data, 40, "do not hold an ELF header");
    refused(image.data, sizeof(ElfW(Ehdr)), "program header 0 is missing");
    rubus__free(image.data);
}
END_TEST

START_TEST(file_of_other_kind_is_refused)
{
    refused("", 0, "empty");
    refused("hello\n", 6, "not an ELF");
    refused("\177EL", 3, "not an ELF");
    char noise[4096];
    uint32_t bits = 12345;
    for (size_t i = 0; i < sizeof noise; i++) {
        bits = bits * 1664525u + 1013904223u;
        noise[i] = (char)(bits >> 24);
    }
    refused(noise, sizeof noise, "not an ELF");
}
END_TEST

/* Puts one byte at a place of a copy and gives the verdict's word. */
static void refused_with(size_t at, unsigned char value, const char *word)
{
    probe_image image = probe_read();
    image.data[at] = (char)value;
    refused(image.data, image.size, word);
    rubus__free(image.data);
}

START_TEST(file_for_other_system_is_refused)
{
    const bool wide = sizeof(void *) == 8;
    refused_with(EI_CLASS, wide ? ELFCLASS32 : ELFCLASS64, wide ? "32-bit" : "64-bit");
    refused_with(EI_CLASS, 9, "class 9");
    refused_with(EI_DATA, 3, "byte order");
    refused_with(offsetof(ElfW(Ehdr), e_machine), EM_MIPS,
                 "built for mips, this process is");
    refused_with(offsetof(ElfW(Ehdr), e_machine), 0xee, "another processor");
    refused_with(offsetof(ElfW(Ehdr), e_type), ET_EXEC, "not a shared object");
    refused_with(offsetof(ElfW(Ehdr), e_type), ET_REL, "not a shared object");
}
END_TEST

START_TEST(file_with_damaged_headers_is_refused)
{
    refused_with(offsetof(ElfW(Ehdr), e_phnum), 0, "0 program headers");
    refused_with(offsetof(ElfW(Ehdr), e_phentsize), 8, "of 8 bytes");
    refused_with(offsetof(ElfW(Ehdr), e_phoff) + 6, 0x7f, "program header 0 is missing");

    probe_image image = probe_read();
    ElfW(Ehdr) header;
    memcpy(&header, image.data, sizeof header);
    for (int i = 0; i < header.e_phnum; i++) {
        char *at = image.data + header.e_phoff + (size_t)i * sizeof(ElfW(Phdr));
        ElfW(Phdr) good;
        memcpy(&good, at, sizeof good);
        if (good.p_type != PT_LOAD) {
            continue;
        }
        ElfW(Phdr) bad = good;
        bad.p_offset = (ElfW(Off)) - 8; // offset and size together wrap around
        memcpy(at, &bad, sizeof bad);
        refused(image.data, image.size, "damaged");
        bad = good;
        bad.p_memsz = 0;
        memcpy(at, &bad, sizeof bad);
        refused(image.data, image.size, "larger in the file than in memory");
        memcpy(at, &good, sizeof good);
        break;
    }
    // without the dynamic segment, then without any that is loaded
    for (uint32_t type = PT_DYNAMIC;; type = PT_LOAD) {
        for (int i = 0; i < header.e_phnum; i++) {
            char *at = image.data + header.e_phoff + (size_t)i * sizeof(ElfW(Phdr));
            uint32_t here = 0;
            memcpy(&here, at, sizeof here);
            if (here == type) {
                memset(at, 0, sizeof here);
            }
        }
        refused(image.data, image.size,
                type == PT_DYNAMIC ? "no dynamic segment" : "no loadable segment");
        if (type == PT_LOAD) {
            break;
        }
    }
    rubus__free(image.data);
}
END_TEST

static Suite *preflight_suite(void)
{
    TCase *tc = tcase_create("preflight");
    tcase_add_test(tc, file_whole_is_accepted);
    tcase_add_test(tc, file_cut_anywhere_is_refused);
    tcase_add_test(tc, file_of_other_kind_is_refused);
    tcase_add_test(tc, file_for_other_system_is_refused);
    tcase_add_test(tc, file_with_damaged_headers_is_refused);
    Suite *suite = suite_create("runtime: ELF preflight");
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("runtime: ELF preflight", preflight_suite)
