/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The grammar of a backend spec with every error and its position; which device is taken;
 * lists, `auto`, options, lowered capabilities; and what a failure tells.
 */
#include "config.h"

#include <check.h>

#include "libcore/runtime/plugin.h"
#include "tests/support/probe_files.h"
#include "tests/support/suite.h"

static char folder[64];

static void folder_setup(void)
{
    probe_folder_make(folder);
    probe_environment(folder);
    probe_add(folder, "probe", "good");
}

static void folder_teardown(void)
{
    probe_folder_remove(folder);
}

START_TEST(spec_parts_are_read)
{
    rubus__spec spec;
    ck_assert_int_eq(
        rubus__spec_parse(" Vulkan : rtx 30_a.b-c : VALIDATE = 1 :fp64=OFF ; cpu:2",
                          &spec),
        RUBUS_OK);
    ck_assert_uint_eq(spec.n, 2);
    ck_assert_str_eq(spec.item[0].name, "vulkan");
    ck_assert_str_eq(spec.item[0].part, "rtx 30_a.b-c");
    ck_assert(!spec.item[0].has_number);
    ck_assert_str_eq(rubus__options_get(&spec.item[0].options, "validate"), "1");
    ck_assert_str_eq(rubus__options_get(&spec.item[0].options, "fp64"), "off");
    ck_assert_ptr_null(rubus__options_get(&spec.item[0].options, "threads"));
    ck_assert_str_eq(spec.item[1].text, "cpu:2");
    ck_assert_str_eq(spec.item[1].name, "threads");
    ck_assert(spec.item[1].has_number);
    ck_assert_uint_eq(spec.item[1].number, 2);
    rubus__spec_fini(&spec);
    ck_assert_int_eq(
        rubus__spec_parse("a:uuid=00112233-4455-6677-8899-AABBCCDDEEFF,b", &spec),
        RUBUS_OK);
    ck_assert(spec.item[0].has_uuid);
    for (int i = 0; i < 16; i++) {
        ck_assert_int_eq(spec.item[0].uuid[i], 0x11 * i);
    }
    rubus__spec_fini(&spec);
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(spec_error_gives_its_position)
{
    static const struct {
        const char *spec;
        int position;
        const char *word;
    } cases[] = {
        {"probe;;threads", 7, "empty"},
        {"probe;", 7, "empty"},
        {",probe", 1, "empty"},
        {"probe, ,x", 7, "empty"},
        {"/usr/lib/libm.so.6", 1, "not a backend name"},
        {"./rubus-x.so", 1, "not a backend name"},
        {"probe.so", 6, "not a backend name"},
        {"pro be", 4, "' '"},
        {"probe)", 6, "')'"},
        {"9x", 1, "'9'"},
        {":1", 1, "name is missing"},
        {"probe:", 7, "nothing stands here"},
        {"probe:1:", 9, "nothing stands here"},
        {"probe::threads=2", 7, "nothing stands here"},
        {"probe:threads=2:1", 17, "right after the name"},
        {"probe:A(7)", 8, "'('"},
        {"probe:99999999999999999999", 7, "large"},
        {"probe:4294967296", 7, "large"},
        {"probe:thread=2", 7, "did you mean 'threads'"},
        {"probe:colour=red", 7, "the keys are threads"},
        {"probe:=2", 7, "key is missing"},
        {"probe:threads=", 15, "value of 'threads' is missing"},
        {"probe:threads=0", 15, "from 1 to 4096"},
        {"probe:threads=2x", 15, "from 1 to 4096"},
        {"probe:threads=-3", 15, "from 1 to 4096"},
        {"probe:threads=99999", 15, "from 1 to 4096"},
        {"probe:threads=2:threads=3", 17, "twice"},
        {"probe:validate=maybe", 16, "0 or 1"},
        {"probe:fp64=2", 12, "on or off"},
        {"probe:cap.speed=1", 7, "no capability 'speed'"},
        {"probe:cap.max_buffer=-1", 22, "0 or more"},
        {"probe:uuid=12", 12, "this has 2"},
        {"probe:uuid=0011223344556677889900112233445x", 43, "hexadecimal"},
        {"probe:uuid=00112233445566778899aabbccddeeff00", 44, "hexadecimal"},
        {"auto:1", 6, "takes no device"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rubus__spec spec;
        char position[40];
        snprintf(position, sizeof position, "position %d:", cases[i].position);
        ck_assert_msg(rubus__spec_parse(cases[i].spec, &spec) == RUBUS_EINVAL, "'%s'",
                      cases[i].spec);
        const char *text = rubus_error_text();
        ck_assert_msg(strstr(text, position) != NULL, "'%s': %s", cases[i].spec, text);
        ck_assert_msg(strstr(text, cases[i].word) != NULL, "'%s': %s", cases[i].spec,
                      text);
        ck_assert_msg(strstr(text, cases[i].spec) != NULL, "'%s': %s", cases[i].spec,
                      text);
        ck_assert_int_eq(rubus__alloc_live(), 0);
    }
}
END_TEST

START_TEST(spec_too_long_is_refused)
{
    char text[2000];
    memset(text, ';', sizeof text);
    text[sizeof text - 1] = '\0';
    rubus__spec spec;
    ck_assert_int_eq(rubus__spec_parse(text, &spec), RUBUS_EINVAL);
    memset(text, 'a', sizeof text - 1);
    ck_assert_int_eq(rubus__spec_parse(text, &spec), RUBUS_EINVAL);
    ck_assert_ptr_nonnull(strstr(rubus_error_text(), "at most 63"));
}
END_TEST

/* Opens and gives the number of the device, or the negative status. */
static int opened(const char *spec)
{
    rubus__device *dev = NULL;
    const rubus_status st = rubus__device_open(spec, &dev);
    const int result = st == RUBUS_OK ? (int)dev->index : st;
    rubus__device_close(dev);
    return result;
}

static void fails(const char *spec, rubus_status status, const char *word)
{
    rubus__device *dev = NULL;
    ck_assert_msg(rubus__device_open(spec, &dev) == status, "'%s': %s", spec,
                  rubus_error_text());
    ck_assert_msg(strstr(rubus_error_text(), word) != NULL, "'%s': '%s' is not in: %s",
                  spec, word, rubus_error_text());
    ck_assert_ptr_null(dev);
}

START_TEST(device_is_taken_by_number_name_or_uuid)
{
    ck_assert_int_eq(opened("probe:0"), 0);
    ck_assert_int_eq(opened(" PROBE : 2 "), 2);
    ck_assert_int_eq(opened("probe:soft pipe"), 0);
    ck_assert_int_eq(opened("probe:a70"), 2);
    ck_assert_int_eq(opened("probe:Probe GPU A7"), 1); // in full: not the A70 too
    ck_assert_int_eq(opened("probe:uuid=33333333333333333333333333333333"), 2);
    ck_assert_int_eq(opened("probe:2:uuid=33333333333333333333333333333333"), 2);
    ck_assert_int_eq(opened("probe"), 1); // the first that is no software renderer
    // by kind; a word of a name is as good
    ck_assert_int_eq(opened("probe:software"), 0);
    ck_assert_int_eq(opened("probe:discrete"), 1);
    ck_assert_int_eq(opened("probe: Integrated "), 2);
    ck_assert_int_eq(opened("probe:DISCRETE:uuid=22222222222222222222222222222222"), 1);
    fails("probe:virtual", RUBUS_ENODEV, "no device of backend 'probe' matches");
    fails("probe:cpu", RUBUS_ENODEV, "no device of backend 'probe' matches");
    fails("probe:discret", RUBUS_ENODEV, "no device of backend 'probe' matches");
    fails("probe:discrete:uuid=33333333333333333333333333333333", RUBUS_ENODEV,
          "matches");
    fails("probe:3", RUBUS_ENODEV, "no device 3: 0 'Soft Pipe 9', 1 'Probe GPU A7'");
    fails("probe:gpu", RUBUS_EINVAL, "2 devices of backend 'probe' match");
    fails("probe:radeon", RUBUS_ENODEV, "no device of backend 'probe' matches");
    fails("probe:uuid=44444444444444444444444444444444", RUBUS_ENODEV, "matches");
    fails("probe:1:uuid=33333333333333333333333333333333", RUBUS_ENODEV, "no device");
}
END_TEST

START_TEST(choice_comes_from_argument_variable_or_default)
{
    rubus__device *dev = NULL;
    ck_assert_int_eq(rubus__device_open("probe", &dev), RUBUS_OK);
    ck_assert_str_eq(dev->why, "argument");
    rubus__device_close(dev);
    probe_variable("RUBUS_BACKEND", "probe:0");
    static const char *const unset[] = {NULL, "", "  \t "};
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(rubus__device_open(unset[i], &dev), RUBUS_OK);
        ck_assert_str_eq(dev->why, "RUBUS_BACKEND");
        ck_assert_uint_eq(dev->index, 0);
        rubus__device_close(dev);
    }
    probe_variable("RUBUS_BACKEND", "probe:");
    fails(NULL, RUBUS_EINVAL, "RUBUS_BACKEND: backend 'probe:', position 7");
    fails("probe:", RUBUS_EINVAL, "backend 'probe:'");
    probe_variable("RUBUS_BACKEND", "no_such");
    fails(NULL, RUBUS_ENODEV, "RUBUS_BACKEND: backend 'no_such'");
    probe_variable("RUBUS_BACKEND", "   ");
    rubus__registry_shutdown();
    probe_add(folder, "threads", "good");
    ck_assert_int_eq(rubus__device_open(NULL, &dev), RUBUS_OK);
    ck_assert_str_eq(dev->name, "threads");
    ck_assert_str_eq(dev->why, "default");
    rubus__device_close(dev);
    ck_assert_int_eq(rubus__device_open("CPU", &dev), RUBUS_OK);
    ck_assert_str_eq(dev->name, "threads");
    rubus__device_close(dev);
}
END_TEST

START_TEST(name_unknown_lists_what_exists)
{
    fails("no_such", RUBUS_ENODEV, "there is no backend of that name");
    fails("no_such", RUBUS_ENODEV, "available:");
    fails("no_such", RUBUS_ENODEV, "probe");
    fails("no_such", RUBUS_ENODEV, folder);
    fails("prode", RUBUS_ENODEV, "did you mean 'probe'?");
    fails("vulcan", RUBUS_ENODEV, "did you mean 'vulkan'?");
    fails("cuda", RUBUS_ENODEV, "rubus-cuda.so was not found");
    fails("vulkan", RUBUS_ENODEV, "rubus-vulkan.so was not found");
    fails("vulkan", RUBUS_ENODEV, folder);
}
END_TEST

START_TEST(list_takes_the_first_that_works)
{
    rubus__device *dev = NULL;
    ck_assert_int_eq(rubus__device_open("cuda; somebodys_npu, probe:0;probe:1", &dev),
                     RUBUS_OK);
    ck_assert_uint_eq(dev->index, 0);
    rubus__device_close(dev);
    // nothing stands in for an explicit choice, nor for a slip, nor for a wrong value
    fails("cuda", RUBUS_ENODEV, "cuda");
    fails("prode;probe", RUBUS_ENODEV, "did you mean 'probe'");
    fails("probe:cap.lane_width=99;probe", RUBUS_EINVAL, "lane_width");
    fails("probe:gpu;probe", RUBUS_EINVAL, "match");
    fails("cuda;probe:", RUBUS_EINVAL, "position 12");
}
END_TEST

START_TEST(list_without_success_tells_every_reason)
{
    probe_add(folder, "starts", "open-fails");
    probe_add(folder, "empty", "no-device");
    char path[200];
    snprintf(path, sizeof path, "%s/rubus-junk.so", folder);
    ck_assert_int_eq(rubus__file_write(path, "junk", 4), RUBUS_OK);
    const char *spec = "starts;empty;junk;hip;probe:7";
    static const char *const words[] = {
        "nothing of the list can be used",
        "\n  starts: ",
        "libprobe.so.1 is missing",
        "\n  empty: ",
        "finds no device",
        "\n  junk: ",
        "refused, see below",
        "\n  hip: ",
        "\n  probe:7: ",
        "no device 7",
        "\n  refused: ",
        "rubus-junk.so (elf): it is not an ELF shared object",
        "\n  looked in: "};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        fails(spec, RUBUS_ENODEV, words[i]);
    }
    fails("junk", RUBUS_EPLUGIN, "rubus-junk.so (elf)");
    fails("starts", RUBUS_ENODEV, "install probe-drivers");
}
END_TEST

START_TEST(auto_prefers_hardware_and_never_software)
{
    rubus__device *dev = NULL;
    char path[200];
    ck_assert_int_eq(rubus__device_open("auto", &dev), RUBUS_OK);
    ck_assert_str_eq(dev->name, "probe");
    ck_assert_uint_eq(dev->index, 1); // the discrete one
    rubus__device_close(dev);
    rubus__registry_shutdown();

    snprintf(path, sizeof path, "%s/rubus-probe.so", folder);
    ck_assert_int_eq(unlink(path), 0);
    probe_add(folder, "soft", "soft");
    fails("auto", RUBUS_ENODEV, "rubus-threads.so was not found");
    rubus__registry_shutdown();
    probe_add(folder, "threads", "soft");
    probe_add(folder, "another", "open-fails");
    ck_assert_int_eq(rubus__device_open("AUTO:threads=2", &dev), RUBUS_OK);
    ck_assert_str_eq(dev->name, "threads");
    ck_assert_str_eq(rubus__device_option(dev, "threads"), "2");
    rubus__device_close(dev);
    rubus__registry_shutdown();

    probe_add(folder, "hard", "context-fails");
    ck_assert_int_eq(rubus__device_open("auto", &dev), RUBUS_OK);
    ck_assert_str_eq(dev->name, "threads");
    rubus__device_close(dev);
    rubus__registry_shutdown();
    ck_assert_int_eq(rubus__alloc_live(), 0);
}
END_TEST

START_TEST(options_reach_the_backend_once_for_each_list)
{
    rubus__device *a = NULL;
    rubus__device *b = NULL;
    rubus__device *c = NULL;
    probe_variable("RUBUS_NUM_THREADS", " 5 ");
    ck_assert_int_eq(rubus__device_open("probe", &a), RUBUS_OK);
    ck_assert_int_eq(rubus__device_open("probe:0:threads=5", &b), RUBUS_OK);
    ck_assert_int_eq(rubus__device_open("probe:descriptors=1:threads=2:validate=yes", &c),
                     RUBUS_OK);
    ck_assert_ptr_eq(a->backend, b->backend);
    ck_assert_ptr_ne(a->backend, c->backend);
    ck_assert_str_eq(a->caps.driver,
                     "open=1 threads=5 validate=- cc=- fp64=- descriptors=- cap=-");
    ck_assert_str_eq(c->caps.driver,
                     "open=2 threads=2 validate=1 cc=- fp64=- descriptors=on cap=-");
    ck_assert_str_eq(rubus__device_option(c, "descriptors"), "on");
    ck_assert_ptr_null(rubus__device_option(c, "cc"));
    rubus__device_close(a);
    rubus__device_close(b);
    rubus__device_close(c);
}
END_TEST

START_TEST(variable_with_wrong_value_is_an_error)
{
    static const char *const wrong[] = {"0", "many", "4x", "-1", "99999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        probe_variable("RUBUS_NUM_THREADS", wrong[i]);
        fails("probe", RUBUS_EINVAL, "RUBUS_NUM_THREADS='");
        fails("probe", RUBUS_EINVAL, wrong[i]);
    }
    probe_variable("RUBUS_NUM_THREADS", "");
    ck_assert_int_eq(opened("probe"), 1);
    probe_variable("RUBUS_VALIDATE", "2");
    fails("probe", RUBUS_EINVAL, "RUBUS_VALIDATE='2': it must be 0 or 1");
}
END_TEST

START_TEST(capability_can_be_lowered_only)
{
    rubus__device *dev = NULL;
    ck_assert_int_eq(
        rubus__device_open(
            "probe:fp64=off:cap.lane_width=1:cap.max_buffer=4096:cap.max_alloc=9:"
            "cap.offset_align=256:cap.atomic_f64_add=0",
            &dev),
        RUBUS_OK);
    ck_assert_uint_eq(dev->caps.fp64, 0);
    ck_assert_uint_eq(dev->caps.lane_width, 1);
    ck_assert_uint_eq(dev->caps.max_buffer, 4096);
    ck_assert_uint_eq(dev->caps.max_alloc, 9); // was not known
    ck_assert_uint_eq(dev->caps.offset_align, 256);
    ck_assert_uint_eq(dev->caps.atomic_f64_add, 0);
    ck_assert_ptr_nonnull(strstr(dev->caps.driver, "fp64=off"));
    ck_assert_ptr_nonnull(strstr(dev->caps.driver, "cap=4096"));
    rubus__device_close(dev);
    fails("probe:cap.lane_width=9", RUBUS_EINVAL,
          "has 8; a capability can only be lowered");
    fails("probe:cap.lane_width=0", RUBUS_EINVAL, "lowered");
    fails("probe:cap.fp64=3", RUBUS_EINVAL, "cap.fp64=3");
    fails("probe:cap.max_buffer=0", RUBUS_EINVAL, "lowered");
    fails("probe:cap.max_buffer=9999999999", RUBUS_EINVAL, "lowered");
    fails("probe:cap.offset_align=8", RUBUS_EINVAL, "stricter");
    fails("probe:cap.offset_align=24", RUBUS_EINVAL, "stricter");
    fails("probe:fp64=on:cap.fp64=3", RUBUS_EINVAL, "cap.fp64");
    rubus_caps poor = {.struct_size = sizeof poor};
    rubus__options options = {0};
    ck_assert_int_eq(rubus__options_set(&options, "fp64", "on"), RUBUS_OK);
    ck_assert_int_eq(rubus__caps_lower(&poor, &options), RUBUS_EINVAL);
    rubus__options_fini(&options);
}
END_TEST

/* They lower what the library does not know: a GPU's plugin does it. */
START_TEST(limits_of_gpus_are_for_gpus)
{
    static const char *const names[] = {"max_binding", "groups", "subgroup", "atomics",
                                        "push"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char spec[64];
        char key[32];
        snprintf(key, sizeof key, "cap.%s", names[i]);
        snprintf(spec, sizeof spec, "probe:%s=64", key);
        fails(spec, RUBUS_EINVAL, key);
        fails(spec, RUBUS_EINVAL, "'Probe GPU A7' has no such limit; only GPUs have");
        ck_assert(rubus__caps_known(names[i]));

        rubus_caps caps = {.struct_size = sizeof caps, .name = "a GPU", .fp64 = 2};
        strcpy(caps.dialect, "glsl");
        const rubus_caps before = caps;
        rubus__options options = {0};
        ck_assert_int_eq(rubus__options_set(&options, key, "64"), RUBUS_OK);
        ck_assert_int_eq(rubus__caps_lower(&caps, &options), RUBUS_OK);
        ck_assert_int_eq(memcmp(&before, &caps, sizeof caps), 0);
        rubus__options_fini(&options);
    }
    ck_assert(!rubus__caps_known("group"));
    ck_assert(!rubus__caps_known("max_bindings"));
    ck_assert(!rubus__caps_known(""));
}
END_TEST

START_TEST(backend_that_contradicts_itself_is_refused)
{
    static const struct {
        const char *manner;
        rubus_status status;
        const char *word;
    } cases[] = {
        {"lies", RUBUS_EPLUGIN, "locality slot says 2"},
        {"bad-dialect", RUBUS_EPLUGIN, "make no sense: dialect"},
        {"bad-memory", RUBUS_EPLUGIN, "make no sense: memory"},
        {"bad-ability", RUBUS_EPLUGIN, "make no sense: ability"},
        {"bad-align", RUBUS_EPLUGIN, "make no sense: offset_align"},
        {"context-fails", RUBUS_EDEVMEM, "device 1 has no memory left"},
        {"context-silent", RUBUS_EDEVMEM, "slot 'context_create' failed without"},
        {"context-positive", RUBUS_EPLUGIN, "slot 'context_create' returned 5"},
        {"count-silent", RUBUS_ELOST, "slot 'device_count' failed without"},
        {"hole:launch", RUBUS_EPLUGIN, "slot 'launch'"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char name[20];
        snprintf(name, sizeof name, "p%d", (int)i);
        probe_add(folder, name, cases[i].manner);
        rubus__fail(RUBUS_EIO, "an older text");
        fails(name, cases[i].status, cases[i].word);
        if (i == 0 || i == 9) { // for good
            fails(name, RUBUS_EPLUGIN, "(slots): ");
            fails(name, RUBUS_EPLUGIN, cases[i].word);
        }
        rubus__registry_shutdown();
        ck_assert_int_eq(rubus__alloc_live(), 0);
    }
}
END_TEST

START_TEST(table_is_out_of_the_plugins_reach)
{
    probe_add(folder, "vandal", "scribble"); // over its own room, when a context is made
    rubus__device *dev = NULL;
    ck_assert_int_eq(rubus__device_open("vandal", &dev), RUBUS_OK);
    void *buffer = NULL;
    ck_assert_int_eq(dev->ops->buffer_create(dev->ctx, 8, &buffer), RUBUS_OK);
    dev->ops->buffer_destroy(dev->ctx, buffer);
    ck_assert(!rubus__device_owns(dev, "fill"));
    ck_assert(rubus__device_owns(dev, "launch"));
    ck_assert(!rubus__device_owns(dev, "no_such_slot"));
    rubus__device_close(dev);
}
END_TEST

static Suite *selection_suite(void)
{
    TCase *grammar = tcase_create("grammar");
    tcase_add_test(grammar, spec_parts_are_read);
    tcase_add_test(grammar, spec_error_gives_its_position);
    tcase_add_test(grammar, spec_too_long_is_refused);

    TCase *choice = tcase_create("choice");
    tcase_add_checked_fixture(choice, folder_setup, folder_teardown);
    tcase_add_test(choice, device_is_taken_by_number_name_or_uuid);
    tcase_add_test(choice, choice_comes_from_argument_variable_or_default);
    tcase_add_test(choice, name_unknown_lists_what_exists);
    tcase_add_test(choice, list_takes_the_first_that_works);
    tcase_add_test(choice, list_without_success_tells_every_reason);
    tcase_add_test(choice, auto_prefers_hardware_and_never_software);
    tcase_add_test(choice, options_reach_the_backend_once_for_each_list);
    tcase_add_test(choice, variable_with_wrong_value_is_an_error);
    tcase_add_test(choice, capability_can_be_lowered_only);
    tcase_add_test(choice, limits_of_gpus_are_for_gpus);
    tcase_add_test(choice, backend_that_contradicts_itself_is_refused);
    tcase_add_test(choice, table_is_out_of_the_plugins_reach);

    Suite *suite = suite_create("runtime: choosing a backend");
    suite_add_tcase(suite, grammar);
    suite_add_tcase(suite, choice);
    return suite;
}

RUBUS_TEST_MAIN("runtime: choosing a backend", selection_suite)
