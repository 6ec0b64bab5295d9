/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between cache files and the driver: seals, the shape of SPIR-V, and the
 * header of pipeline data. No device is needed.
 */
#include "config.h"

#include "plugins/vulkan/vk_seal.h"
#include "tests/support/fake_host.h"
#include "tests/support/suite.h"

static const uint8_t key[32] = {1, 2, 3};
static const uint8_t other[32] = {1, 2, 4};
enum { N = 1000, FILE_SIZE = VK_SEAL_SIZE + N };

static void make_file(unsigned char file[FILE_SIZE])
{
    for (int i = 0; i < N; i++) {
        file[VK_SEAL_SIZE + i] = (unsigned char)(i * 7);
    }
    vk_seal_make(file + VK_SEAL_SIZE, N, key, "a", file);
}

START_TEST(seal_of_whole_file_fits)
{
    unsigned char file[FILE_SIZE];
    make_file(file);
    ck_assert(vk_seal_check(file, FILE_SIZE, key, "a"));
}
END_TEST

START_TEST(seal_for_something_else_does_not_fit)
{
    unsigned char file[FILE_SIZE];
    make_file(file);
    ck_assert(!vk_seal_check(file, FILE_SIZE, other, "a"));
    ck_assert(!vk_seal_check(file, FILE_SIZE, key, "b"));
    ck_assert(!vk_seal_check(file, FILE_SIZE, key, ""));
    ck_assert(!vk_seal_check(file, FILE_SIZE, key, "aa"));
}
END_TEST

START_TEST(every_damaged_bit_is_found)
{
    unsigned char file[FILE_SIZE];
    make_file(file);
    for (size_t at = 0; at < FILE_SIZE; at++) {
        for (int bit = 0; bit < 8; bit++) {
            file[at] ^= (unsigned char)(1 << bit);
            ck_assert_msg(!vk_seal_check(file, FILE_SIZE, key, "a"), "byte %d, bit %d",
                          (int)at, bit);
            file[at] ^= (unsigned char)(1 << bit);
        }
    }
}
END_TEST

START_TEST(every_shorter_or_longer_file_is_found)
{
    unsigned char file[FILE_SIZE + 64] = {0};
    make_file(file);
    for (size_t size = 0; size < sizeof file; size++) {
        ck_assert(vk_seal_check(file, size, key, "a") == (size == FILE_SIZE));
    }
}
END_TEST

START_TEST(swapped_words_are_found)
{
    unsigned char file[FILE_SIZE];
    make_file(file);
    for (size_t at = VK_SEAL_SIZE; at + 16 <= FILE_SIZE; at += 8) {
        unsigned char word[8];
        memcpy(word, file + at, 8);
        memcpy(file + at, file + at + 8, 8);
        memcpy(file + at + 8, word, 8);
        const bool same = memcmp(file + at, word, 8) == 0;
        ck_assert(same || !vk_seal_check(file, FILE_SIZE, key, "a"));
        memcpy(file + at + 8, file + at, 8);
        memcpy(file + at, word, 8);
    }
    ck_assert(vk_seal_check(file, FILE_SIZE, key, "a"));
}
END_TEST

/* --- through the cache ------------------------------------------------------------ */

START_TEST(entries_come_back_and_damaged_ones_do_not)
{
    static fake_host fake;
    fake_host_init(&fake);
    char folder[] = "/tmp/rubus-test-XXXXXX";
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(fake.folder, sizeof fake.folder, "%s", folder);
    size_t size = 0;
    ck_assert_ptr_null(vk_seal_load(&fake.host, key, "a", 1 << 20, &size));
    vk_seal_store(&fake.host, key, "a", "nine byte", 9);
    unsigned char *file = vk_seal_load(&fake.host, key, "a", 1 << 20, &size);
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(size, VK_SEAL_SIZE + 9);
    ck_assert_int_eq(memcmp(file + VK_SEAL_SIZE, "nine byte", 9), 0);
    fake_free(&fake, file);
    ck_assert_ptr_null(vk_seal_load(&fake.host, key, "a", VK_SEAL_SIZE + 8, &size));
    char path[1024];
    fake_cache_path(&fake, key, "a", path);
    ck_assert_int_eq(truncate(path, VK_SEAL_SIZE + 8), 0);
    ck_assert_ptr_null(vk_seal_load(&fake.host, key, "a", 1 << 20, &size));
    ck_assert_int_eq(fake.nwarning, 2);
    fake.deny_put = true; // is no failure
    vk_seal_store(&fake.host, key, "a", "nine byte", 9);
    ck_assert_int_eq(fake.live, 0);
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}
END_TEST

/* --- contents --------------------------------------------------------------------- */

START_TEST(spirv_is_words_of_whole_instructions)
{
    // five words of head, then OpCapability Shader and OpNop
    const uint32_t good[] = {0x07230203, 0x10500, 0, 10, 0, 0x20011, 1, 0x10000};
    ck_assert(vk_spirv_plausible(good, sizeof good));
    for (size_t size = 0; size < sizeof good; size++) {
        ck_assert(vk_spirv_plausible(good, size) == (size == 28));
    }
    uint32_t bad[8];
    memcpy(bad, good, sizeof bad);
    bad[5] = 0x00011; // an instruction of no words
    ck_assert(!vk_spirv_plausible(bad, sizeof bad));
    bad[5] = 0x40011; // one that ends behind the data
    ck_assert(!vk_spirv_plausible(bad, sizeof bad));
    memcpy(bad, good, sizeof bad);
    bad[0] = 0x03022307; // the other byte order
    ck_assert(!vk_spirv_plausible(bad, sizeof bad));
}
END_TEST

START_TEST(pipeline_data_must_be_of_this_device)
{
    const uint8_t uuid[16] = {9, 8, 7};
    const uint8_t wrong[16] = {9, 8, 6};
    uint32_t data[10] = {32, 1, 0x10de, 0x2330};
    memcpy(data + 4, uuid, 16);
    ck_assert(vk_pipelines_plausible(data, sizeof data, 0x10de, 0x2330, uuid));
    ck_assert(vk_pipelines_plausible(data, 32, 0x10de, 0x2330, uuid));
    ck_assert(!vk_pipelines_plausible(data, 31, 0x10de, 0x2330, uuid));
    ck_assert(!vk_pipelines_plausible(data, 0, 0x10de, 0x2330, uuid));
    ck_assert(!vk_pipelines_plausible(data, sizeof data, 0x1002, 0x2330, uuid));
    ck_assert(!vk_pipelines_plausible(data, sizeof data, 0x10de, 0x2331, uuid));
    ck_assert(!vk_pipelines_plausible(data, sizeof data, 0x10de, 0x2330, wrong));
    data[0] = 41; // a header longer than the data
    ck_assert(!vk_pipelines_plausible(data, sizeof data, 0x10de, 0x2330, uuid));
    data[0] = 16;
    ck_assert(!vk_pipelines_plausible(data, sizeof data, 0x10de, 0x2330, uuid));
    data[0] = 32;
    data[1] = 2; // a version that is not known
    ck_assert(!vk_pipelines_plausible(data, sizeof data, 0x10de, 0x2330, uuid));
}
END_TEST

static Suite *vulkan_seal_suite(void)
{
    Suite *suite = suite_create("vulkan_seal");
    TCase *tc = tcase_create("seal");
    tcase_add_test(tc, seal_of_whole_file_fits);
    tcase_add_test(tc, seal_for_something_else_does_not_fit);
    tcase_add_test(tc, every_damaged_bit_is_found);
    tcase_add_test(tc, every_shorter_or_longer_file_is_found);
    tcase_add_test(tc, swapped_words_are_found);
    tcase_add_test(tc, entries_come_back_and_damaged_ones_do_not);
    suite_add_tcase(suite, tc);
    tc = tcase_create("contents");
    tcase_add_test(tc, spirv_is_words_of_whole_instructions);
    tcase_add_test(tc, pipeline_data_must_be_of_this_device);
    suite_add_tcase(suite, tc);
    return suite;
}

RUBUS_TEST_MAIN("vulkan_seal", vulkan_seal_suite)
