/*
 * Fuzz target of texts that are no files: values of options, names in tables and traces. The first byte says which
 * parser reads the rest. Each gives what its header promises, or refuses with a message.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "ask/engine_options.h"
#include "fleet/fleet_questions.h"
#include "ask/predict/exchange_words.h"
#include "model/model_settings.h"
#include "ask/predict/scenarios.h"
#include "ask/validate/cases.h"
#include "ask/rows/shape_text.h"
#include "source/jobs/job_columns.h"
#include "source/jobs/job_names.h"
#include "source/traces/nsys_names.h"
#include "step/op_shapes.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What takes longer to read than any text; kept. */
static struct {
    pace_job_catalog jobs;
    pace_job_names names;
    pace_approaches approaches;
    pace_device_catalog devices;
    bool loaded;
} known;

static void must(pace_status status) {
    if (status != PACE_OK) abort();
}

static bool fine(pace_status status) {
    if (status != PACE_OK && !*pace_message()) abort();
    return status == PACE_OK;
}

static bool names_file(const char *text) {
    return strstr(text, ".y") || strstr(text, ".Y") || strstr(text, ".j") || strstr(text, ".J") || strstr(text, ".x");
}

static void sizes(const char *text) {
    pace_sizes found = {0};
    if (fine(pace_read_sizes(&found, text)))
        for (size_t i = 0; i < found.count; i++)
            if (!(found.items[i] >= 0) || !isfinite(found.items[i])) abort();
    PACE_VEC_FREE(&found);
}

static void collective(const char *text) {
    pace_collective found;
    fine(pace_read_collective(&found, text));
}

static void straggler(const char *text) {
    double slowness[24];
    for (int i = 0; i < 24; i++) slowness[i] = 1;
    if (fine(pace_read_straggler(slowness, 24, text)))
        for (int i = 0; i < 24; i++)
            if (!(slowness[i] >= 1) || !isfinite(slowness[i])) abort();
}

static void background(const char *text) {
    pace_backgrounds flows = {0};
    double share = 0;
    if (fine(pace_read_background(&flows, &share, text)) && !(share >= 0 && isfinite(share))) abort();
    PACE_VEC_FREE(&flows);
}

static void network(const char *text) {
    const pace_machine machine = {.name = "two", .devices = 8, .nodes = 16, .nics = 8};
    pace_network found;
    if (fine(pace_network_parse(&found, test_catalog(), &machine, text)) && !(found.oversubscription >= 1)) abort();
}

static void numbers(const char *text) {
    double value;
    if (pace_parse_rate(&value, text) && !(value >= 0)) abort();
    if (pace_parse_time(&value, text) && !(value >= 0)) abort();
    if (pace_parse_bytes(&value, text) && !(value >= 0)) abort();
    if (pace_parse_amount(&value, text, "B") && !(value >= 0)) abort();
    if (pace_parse_amount(&value, text, "FLOP") && !(value >= 0)) abort();
    const char *end = text + strlen(text), *rest = pace_decimal_read(&value, text, end);
    if (rest && (rest < text || rest > end)) abort();
}

static void settings(const char *text) {
    const pace_words words = {&text, 1};
    pace_config config = pace_config_default();
    pace_model_settings found;
    if (fine(pace_model_settings_read(&found, &config, test_catalog(), &words))) pace_model_settings_free(&found);
}

/* The second byte says which option; not those that take a regular expression, whose price is the user's own. */
static void scenarios(const char *text) {
    pace_predict_options options = {.context = test_context(), .samples = 8};
    pace_words *const of[] = {&options.on, pace_what_if_words(&options, "drop_overhead"),
                              pace_what_if_words(&options, "batch"), pace_what_if_words(&options, "precision")};
    pace_device_catalog devices = known.devices; /* its devices are shared, what is made for this text is its own */
    pace_scenarios found;
    if (!*text || names_file(text)) return;
    const char *word = text + 1;
    *of[(unsigned char)*text % 4] = (pace_words){&word, 1};
    if (fine(pace_scenarios_make(&found, &options, true, &devices))) pace_scenarios_free(&found);
    for (size_t i = 0; i < devices.extras.count; i++) pace_free(devices.extras.items[i]);
    PACE_VEC_FREE(&devices.extras);
}

static void approach(const char *text) {
    pace_approach found;
    if (fine(pace_approach_parse(&found, &known.approaches, text)) && !*found.name) abort();
    const pace_approach *spelled = pace_approach_spelled(&known.approaches, text);
    if (spelled && !*spelled->name) abort();
}

static void shape(const char *text) {
    pace_shape_text found;
    if (!pace_shape_parse(&found, text)) return;
    if (found.tensors < 1 || found.tensors > PACE_SHAPE_TENSORS) abort();
    for (int family = 0; family < PACE_OP_FAMILIES; family++) {
        pace_op op = {.family = (pace_op_family)family};
        for (int i = 0; i < PACE_OP_SIZES; i++) op.size[i] = NAN;
        pace_shape_fill(&op, &found, family % 2 ? "mnk" : NULL);
    }
    pace_shape_text twice = found;
    pace_shape_append(&twice, &found);
    if (twice.tensors > PACE_SHAPE_TENSORS) abort();
}

static void traced_shapes(const char *text) {
    pace_op_shapes found;
    (void)pace_op_shapes_parse(&found, text);
}

static void nvtx(const char *text) {
    pace_nvtx_range range;
    size_t length = strlen(text);
    pace_nvtx_range_read(&range, text, length);
    if (range.name_length > length || pace_nsys_call_length(text, length) > length) abort();
    if (range.sizes && (range.sizes < text || range.sizes + range.sizes_length > text + length)) abort();
}

static void job_machine(const char *text) {
    pace_job_machine machine;
    if (names_file(text) || !fine(pace_job_machine_parse(&machine, &known.jobs, text))) return;
    for (int f = 0; f < PACE_FIGURES; f++)
        if (!(machine.figure[f] > 0) || !isfinite(machine.figure[f])) abort();
}

static void assumptions(const char *text) {
    const pace_job_setting_words words[] = {{.overlap = text},
                                            {.contention = text},
                                            {.nvlink = text},
                                            {.efficiency = text}};
    pace_job_setting setting;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (fine(pace_job_setting_parse(&setting, &known.jobs, &words[i])) &&
            !(setting.overlap >= 0 && setting.overlap <= 1))
            abort();
}

static void questions(const char *text) {
    const pace_words words = {&text, 1}, none = {0};
    pace_fleet_questions found;
    pace_job_setting setting;
    must(pace_job_setting_parse(&setting, &known.jobs, &(pace_job_setting_words){0}));
    for (int price = 0; price < 2; price++)
        if (fine(pace_fleet_questions_make(&found, &setting, price ? &none : &words, price ? &words : &none)))
            pace_fleet_questions_free(&found);
}

/* As one header's name, and as --columns of a table that has two of them. */
static void columns(const char *text) {
    const char *const header[] = {"job", text, "flops", "arch"};
    const char *unit;
    double factor;
    pace_job_layout layout;
    pace_warnings remarks = {0};
    if (pace_job_name_find(&factor, &unit, &known.names, text) != PACE_JOB_NO_ROLE && !(factor > 0)) abort();
    fine(pace_job_layout_find(&layout, &remarks, test_catalog(), "fuzz", header, 4, NULL));
    fine(pace_job_layout_find(&layout, &remarks, test_catalog(), "fuzz", header, 4, text));
    pace_warnings_free(&remarks);
}

static void bar(const char *text) {
    pace_bar found;
    if (pace_bar_parse(&found, "mape", text) && pace_bar_holds(&found, 0.5) && pace_bar_holds(&found, NAN)) abort();
}

static void system_name(const char *text) {
    pace_machine machine;
    if (fine(pace_machine_named(&machine, test_catalog(), text, 1))) must(pace_machine_check(&machine));
}

static const struct {
    char letter;
    void (*read)(const char *text);
} parsers[] = {
    {'a', approach},    {'b', sizes},   {'c', collective}, {'e', assumptions}, {'g', background},    {'h', shape},
    {'j', job_machine}, {'l', columns}, {'m', settings},   {'n', network},     {'o', traced_shapes}, {'p', bar},
    {'q', questions},   {'r', numbers}, {'s', straggler},  {'t', system_name}, {'v', nvtx},          {'w', scenarios},
};

static void load(void) {
    must(pace_job_catalog_load(&known.jobs, test_catalog()));
    must(pace_job_names_load(&known.names, test_catalog()));
    must(pace_approaches_load(&known.approaches, test_catalog()));
    must(pace_device_catalog_load(&known.devices, test_catalog()));
    known.loaded = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char text[1024];
    if (!known.loaded) load();
    if (size == 0 || size > sizeof text) return 0;
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    for (size_t i = 0; i < sizeof parsers / sizeof *parsers; i++)
        if (data[0] == parsers[i].letter) parsers[i].read(text);
    return 0;
}
