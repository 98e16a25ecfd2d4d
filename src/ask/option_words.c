/* Options whose values are words of a closed list: the lists that their parsers read, and those that the trainer and
 * the command line read from here. */
#include "ask/context.h"
#include "ask/plan/tune_asked.h"
#include "ask/predict/exchange_asked.h"
#include "ask/rows/row_kinds.h"
#include "base/words.h"
#include "exchange/collective.h"
#include "exchange/nccl.h"
#include "fleet/job_model.h"
#include "forecast/what_ifs.h"
#include "machine/catalog.h"
#include "step/step.h"

#include <string.h>

typedef struct {
    const char *verb, *option; /* the verb NULL: of any */
    const pace_word_list *words;
    const char *(*word)(pace_context *context, size_t index); /* instead, where they are no array */
} row;

/* Those that `predict` answers come first. */
static const char *fitted_kind(pace_context *context, size_t index) {
    (void)context;
    return index < pace_all_row_kinds.count ? pace_all_row_kinds.items[index]->name : NULL;
}

static const char *predicted_kind(pace_context *context, size_t index) {
    const char *name = fitted_kind(context, index);
    return name && pace_all_row_kinds.items[index]->answer ? name : NULL;
}

static const char *catalogue_approach(pace_context *context, size_t index) {
    const pace_yaml *yaml;
    if (!context || pace_catalog_document(&yaml, context->catalog, "approaches.yaml") != PACE_OK) return NULL;
    const pace_yaml_node *list = pace_yaml_get(pace_yaml_root(yaml), "approaches");
    return index < pace_yaml_count(list) ? pace_yaml_text(pace_yaml_get(pace_yaml_item(list, index), "name")) : NULL;
}

#define WORDS(...) .words = PACE_WORDS(((const char *const[]){__VA_ARGS__}))

/* The trainer numbers studies, runners and approaches by their order here. */
#define APPROACHES "baidu-mpi", "horovod-mpi", "p2p", "mpi-opt", "pearl", "grpc", "grpc+mpi", "grpc+ucx"

static const row rows[] = {
    {"analyze", "format", WORDS("table", "json", "csv", "html", "perfetto", "folded", "folded_device")},
    {"predict", "format", WORDS("table", "json", "csv", "html", "perfetto")},
    {"compare", "format", WORDS("table", "json", "csv", "html", "junit")},
    {"history", "format", WORDS("table", "json", "csv", "html", "junit")},
    {NULL, "format", WORDS("table", "json", "csv", "html")},
    {"train", "clock", WORDS("wall", "thread")},
    {"train", "overlap", WORDS("on", "off")},
    {"train", "data", WORDS("synthetic", "digits")},
    {"train", "runner", WORDS("paceline", "torch", "horovod", "tensorflow")},
    {"validate", "runner", WORDS("paceline", "torch")},
    {"train", "study", WORDS("approaches", "batch", "scaling", "stages", "referees", "partition")},
    {"train", "approach", WORDS(APPROACHES, "segments")},
    {"validate", "approach", WORDS(APPROACHES)},
    {"predict", "approach", .word = catalogue_approach},
    {"predict", "kind", .word = predicted_kind},
    {"fit", "kind", .word = fitted_kind},
    {"analyze", "stage", .words = PACE_WORDS(pace_stage_names)},
    {"predict", "precision", .words = &pace_what_if_precisions},
    {"predict", "algorithm", .words = PACE_WORDS(pace_nccl_algorithm_names)},
    {"predict", "protocol", .words = PACE_WORDS(pace_nccl_protocol_names)},
    {NULL, "collective", .words = PACE_WORDS_OF(pace_collective_rows, name)},
    {NULL, "library", .words = PACE_WORDS(pace_exchange_libraries)},
    {"tune", "dialect", .words = &pace_tune_dialect_names},
    {NULL, "overlap", .words = PACE_WORDS(pace_job_overlaps)},
    {NULL, "contention", .words = PACE_WORDS(pace_job_contentions)},
    {NULL, "nvlink", .words = PACE_WORDS(pace_job_nvlinks)},
};

static const row *find(const char *verb, const char *option) {
    for (const row *r = verb && option ? rows : rows + PACE_COUNT(rows); r < rows + PACE_COUNT(rows); r++)
        if ((!r->verb || strcmp(r->verb, verb) == 0) && strcmp(r->option, option) == 0) return r;
    return NULL;
}

const char *pace_option_word(pace_context *context, const char *verb, const char *option, size_t index) {
    const row *r = find(verb, option);
    return !r ? NULL : r->word ? r->word(context, index) : pace_word_at(r->words, index);
}

pace_status pace_option_word_find(size_t *out, const char *verb, const char *option, const char *text) {
    PACE_GIVEN(out);
    PACE_GIVEN(verb);
    PACE_GIVEN(option);
    PACE_GIVEN(text);
    const row *r = find(verb, option);
    int number;
    if (!r) return pace_fail(PACE_E_USAGE, "%s: %s has no list of its values", option, verb);
    PACE_TRY(pace_word_read(&number, option, r->words, text));
    *out = (size_t)number;
    return PACE_OK;
}
