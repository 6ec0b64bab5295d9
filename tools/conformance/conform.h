/* SPDX-License-Identifier: Apache-2.0 */
#ifndef RUBUS_CONFORM_H
#define RUBUS_CONFORM_H
/*
 * The conformance suite of `rubus conformance`: what a check is, how it is run, and what
 * checks share. The suite is a third party's: it includes installed headers only.
 *
 * The process that the user started never opens a backend, because drivers do not survive
 * a fork. It learns what there is from a child (conform_facts), and runs each check in a
 * child of its own, with a limit of time. A check that finds a fault calls conform_fail,
 * which notes the text and ends the child: nothing has to be cleaned up. A check that
 * returns has passed, unless anything was printed meanwhile.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rubus/backend.h>
#include <rubus/rubus.h>

/* --- checks ----------------------------------------------------------------------- */

/* Each level includes those before it. */
enum { CONFORM_LOAD, CONFORM_BASIC, CONFORM_FULL, CONFORM_STRESS, CONFORM_NLEVEL };

/* Declared facts without which a check is skipped; nothing else is ever a reason. */
enum {
    CONFORM_NEEDS_FILE = 1,     // the plugin is a file, not built in
    CONFORM_NEEDS_F64 = 2,      // capability fp64
    CONFORM_NEEDS_BOOL = 4,     // capability bool8
    CONFORM_NEEDS_INT64 = 8,    // capability int64
    CONFORM_NEEDS_ADD_F32 = 16, // capability atomic_f32_add
    CONFORM_NEEDS_ADD_F64 = 32, // capability atomic_f64_add
    CONFORM_NEEDS_C = 64,       // dialect c
    CONFORM_NEEDS_FILL = 256,   // native slots
    CONFORM_NEEDS_COPY = 512,
    CONFORM_NEEDS_MAP = 1024,
    // No need but a mark: a driver's compiler gets wrong text, and what that says on
    // stderr is not the plugin's.
    CONFORM_BROKEN_TEXT = 2048,
};

typedef struct conform_check {
    const char *name; // "B03_write_read_roundtrip": stable
    int level;
    unsigned seconds; // limit of time
    unsigned needs;   // CONFORM_NEEDS_*
    const char *summary;
    void (*run)(void);
} conform_check;

/* The checks of one file: a list that ends with a NULL name. */
extern const conform_check conform_load_checks[];
extern const conform_check conform_caps_checks[];
extern const conform_check conform_buffer_checks[];
extern const conform_check conform_host_memory_checks[];
extern const conform_check conform_memory_checks[];
extern const conform_check conform_order_checks[];
extern const conform_check conform_order_model_checks[];
extern const conform_check conform_launch_checks[];
extern const conform_check conform_language_checks[];
extern const conform_check conform_language_point_checks[];
extern const conform_check conform_language_field_checks[];
extern const conform_check conform_reduce_checks[];
extern const conform_check conform_error_checks[];
extern const conform_check conform_thread_checks[];
extern const conform_check conform_process_checks[];
extern const conform_check conform_random_checks[];
extern const conform_check conform_sparse_checks[];
extern const conform_check conform_scatter_checks[];
extern const conform_check conform_stress_checks[];

/* --- conform_list.c --------------------------------------------------------------- */

/* Check number `at` of all, in order; NULL past the last. */
const conform_check *conform_check_at(size_t at);
const char *conform_level_name(int level);
bool conform_level_parse(const char *text, int *out_level);

/* --- conform_facts.c -------------------------------------------------------------- */

enum { CONFORM_TEXT = 4096 };

/* What the backend says of itself; found out in a child. */
typedef struct conform_facts {
    char spec[512]; // for rubus_context_create
    char name[64];
    char file[1024];   // of the plugin; empty: built in
    char folder[1024]; // to be searched first; empty: as the environment says
    char version[64];
    char vendor[128];
    char licence[64];
    uint32_t abi_major;
    uint32_t abi_minor;
    bool listed;               // the library knows a plugin of that name
    bool refused;              // and refuses it
    bool opened;               // a context could be created
    rubus_status status;       // of the refusal, or of that attempt
    char reason[CONFORM_TEXT]; // why not
    uint32_t device;
    rubus_caps caps; // as the options of the spec lower them
    uint32_t native; // a bit for each slot of RUBUS_SLOT_LIST that the plugin fills
} conform_facts;

/* Fills spec, name, folder and file from what the user wrote: a name, a spec, or a file.
 * Gives 0, or an exit status after a message. */
int conform_facts_parse(const char *operand, conform_facts *facts);
/* In a child: asks the library. */
void conform_facts_survey(conform_facts *facts);
bool conform_slot_native(const conform_facts *facts, const char *slot);
/* NULL, or why the declared facts make the check pointless. */
const char *conform_skip_reason(const conform_facts *facts, unsigned needs);
/* Value of an option of the spec or of its variable; NULL if unset. */
const char *conform_option(const conform_facts *facts, const char *key, char out[256]);

/* --- conform_runner.c ------------------------------------------------------------- */

enum { CONFORM_OK, CONFORM_FAILED, CONFORM_SKIPPED };

typedef struct conform_result {
    int outcome;
    uint64_t seed;
    double seconds;
    char reason[CONFORM_TEXT]; // "" if ok
} conform_result;

/* Runs a check in a child; factor stretches its limit of time. */
void conform_run(const conform_check *check, const conform_facts *facts, uint64_t seed,
                 double factor, conform_result *result);
/* Asks for the facts in a child. */
void conform_survey(conform_facts *facts, double factor);
/* The seed of a check, from the one of the run. */
uint64_t conform_seed_of(const char *name, uint64_t seed);

/* --- conform_cache.c -------------------------------------------------------------- */

/* An empty kernel cache for this run, so that nothing is examined that another plugin, or
 * another version of this one, has built. False after a message. */
bool conform_cache_open(char folder[256]);
/* Removes it; if a signal came meanwhile, the process ends by that. */
void conform_cache_close(const char *folder);
/* A signal that ends the run has come since conform_cache_open. */
bool conform_interrupted(void);
/* In a child: signals do again what they do by default. */
void conform_signals_default(void);
/* Removes a folder and what is in it. */
void conform_remove_tree(const char *folder);

/* --- conform_tap.c, conform_json.c ------------------------------------------------ */

void conform_tap_plan(size_t n, const conform_facts *facts, uint64_t seed);
void conform_tap_result(size_t number, const conform_check *check,
                        const conform_result *result);

/* One check that was run. */
typedef struct conform_row {
    const conform_check *check;
    conform_result result;
} conform_row;

/* Writes the certificate; "-" is stdout. Gives an exit status. */
int conform_json_write(const char *path, const conform_facts *facts, int level,
                       const char *filter, uint64_t seed, const conform_row *row,
                       size_t nrow);

/* --- in a check: conform_runner.c ------------------------------------------------- */

/* The check has failed: notes the text and ends the process. Any thread. */
__attribute__((noreturn)) void conform_fail(const char *format, ...) RUBUS_PRINTF(1, 2);
/* Fails unless the condition holds. */
#define conform_true(condition, ...)                                                     \
    do {                                                                                 \
        if (!(condition)) {                                                              \
            conform_fail(__VA_ARGS__);                                                   \
        }                                                                                \
    } while (0)
/* Fails unless the call gives RUBUS_OK. */
#define conform_ok(call) conform_ok_((call), #call)
void conform_ok_(rubus_status st, const char *call);

const conform_facts *conform_facts_now(void);
uint64_t conform_seed(void);
/* Puts words before the texts of later failures of this thread ("n = 65: "); NULL: none.
 */
void conform_say(const char *format, ...) RUBUS_PRINTF(1, 2);
/* A child of the check that runs `body` and ends; gives its wait status. It fails the
 * check if the child hangs for longer than `seconds`. */
int conform_in_child(void (*body)(void *), void *argument, double seconds);
double conform_clock(void); // seconds

/* --- in a check: conform_work.c --------------------------------------------------- */

/* Numbers: the same seed gives the same sequence. */
typedef struct conform_dice {
    uint64_t state;
} conform_dice;
uint64_t conform_roll(conform_dice *dice);
int64_t conform_below(conform_dice *dice, int64_t n); // [0, n)
double conform_unit(conform_dice *dice);              // [0, 1)

void *conform_memory(size_t nbyte); // never NULL; zeroed; give back with free
size_t conform_type_size(int32_t type);
const char *conform_type_name(int32_t type);

/* Contexts of the backend under test (on the device of the spec) and of the oracle. */
rubus_context *conform_open(void);
rubus_context *conform_open_with(const char *more); // ":validate=1" after the spec
rubus_context *conform_oracle(void);
rubus_module *conform_module(rubus_context *context, const char *text, int32_t real);
const rubus_kernel *conform_kernel(rubus_module *module, const char *name);
/* The backend interprets kernels: checks give it less work. */
bool conform_interprets(void);
/* The real type to compute in where any will do: f64 if the device has it. */
int32_t conform_real(void);

/* Zeros and ones, as bools have to be, without a period; n of them to be freed. */
unsigned char conform_bit_at(uint64_t at, unsigned salt);
unsigned char *conform_bits(size_t n, unsigned salt);
/* An array of n bytes: bools, of which mostly the storage is used. */
rubus_array *conform_bytes(rubus_context *context, int64_t n);
/* An array of n bytes is zero at first, and holds what is written. */
void conform_check_size(rubus_context *context, int64_t n);

/*
 * An array between guard zones, so that whatever is written beside it is found: a window
 * in the middle of a larger array.
 */
typedef struct conform_window {
    rubus_array *whole;
    rubus_array *array; // the window
    int32_t type;
    int64_t count;
    int64_t before; // elements of the zone before it
    int64_t after;
} conform_window;

/* count elements in the given shape, filled with poison; `shift` (0, 1, 2 ...) chooses
 * among the offsets that the device allows. */
conform_window conform_window_make(rubus_context *context, int32_t type,
                                   rubus_shape shape, int shift);
/* Fails if a guard zone was written; the text names `what`. */
void conform_window_check(const conform_window *window, const char *what);
void conform_window_destroy(conform_window *window);
/* Contents of an array, in memory to be freed. */
void *conform_contents(rubus_array *array);
/* Element i of an array of reals. */
double conform_real_at(const void *data, int32_t real, int64_t i);
/* Fails unless the bytes are equal; the text has the first element that differs. */
void conform_same(const void *got, const void *want, int64_t count, int32_t type,
                  const char *what);

#endif
