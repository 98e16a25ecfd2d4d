#include "ask/file_kind.h"
#include "ask/rows/exchange_logs.h"
#include "base/print.h"
#include "base/text.h"
#include "source/database.h"
#include "source/traces/foreign_texts.h"
#include "source/traces/nsys.h"
#include "source/traces/trace_formats.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

/* Doors: verbs for their inputs, options for their own files. */
typedef struct {
    const char *what, *doors, *todo;
} file_kind;

static const file_kind of_holding[] = {
    [PACE_HOLDS_STEP] = {"trace of a profiler", " analyze compare slice convert predict plan --calibrate --job train ",
                         "paceline analyze FILE"},
    [PACE_HOLDS_TIMELINE] = {"timeline of a job's operations", " analyze compare ", "paceline analyze FILE"},
    [PACE_HOLDS_GRAPH] = {"step without times", " predict convert plan ", "paceline predict FILE --on DEVICE"},
    [PACE_HOLDS_MODEL] = {"model's description", " predict plan models train convert ",
                          "paceline predict FILE --on DEVICE, where its name ends with .yaml or .json"},
};
static const file_kind nsys = {"export of Nsight Systems", " analyze compare slice convert predict plan --calibrate ",
                               "paceline analyze FILE"};
static const file_kind results = {"store of results", " history --store ", "paceline history FILE"};
static const file_kind database = {"SQLite database", " analyze compare fleet history --store ",
                                   "fleet reads a table of jobs of one"};
static const file_kind fit = {"fit", " --fit ", "predict takes it as --fit FILE"};
static const file_kind overheads = {"table of host overheads", " --overheads fit ",
                                    "predict takes it as --overheads FILE"};
static const file_kind answer = {"answer of this program", " fit ", "give what it was asked of"};
static const file_kind exchanges = {"log of exchanges, as of nccl-tests", " --rows fit tune ",
                                    "predict answers its rows (--rows FILE --kind exchange), fit learns from them"};
static const file_kind devices = {"description of devices or machines", " --on --from machines tune plan --pods ",
                                  "--on FILE, where its name ends with .yaml"};
static const file_kind table = {
    "table", " --rows fleet fit tune --pods --nodes --ledger --data --columns ",
    "fleet reads tables of jobs, predict answers one question a row (--rows FILE), fit learns from one"};

static const file_kind training = {"configuration of a training", " --from ",
                                   "paceline plan " PACE_FIELD "from FILE says what it takes, and what to change"};

/* Words of them at the beginning of a line or behind quotes, none of which stands in what other doors read. */
static const char *const of_trainings[] = {
    "#!/bin/bash",
    "#!/usr/bin/env bash",
    "#!/bin/sh",
    "torchrun ",
    "deepspeed ",
    "[parallelism]",
    "zero_optimization",
    "per_device_train_batch_size",
    "tensor_model_parallel",
    "_component_: torch",
    "base_model:",
    "global_train_batch_size",
    "batch_accumulation_per_replica",
    "distributed_type:",
    "micro_batch_size",
};

enum { HEAD = 1 << 16 }; /* trainers print their arguments before the first step */

static size_t read_head(char *head, const char *path) {
    pace_input *input;
    size_t length = 0, got = 1;
    if (pace_input_open(&input, path) != PACE_OK) return 0;
    while (length < HEAD - 1 && got > 0 && pace_input_read(input, head + length, HEAD - 1 - length, &got) == PACE_OK)
        length += got;
    pace_input_free(input);
    head[length] = '\0';
    return length;
}

static const file_kind *kind_of_database(const char *path) {
    static const char *const events[] = {"CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME", "NVTX_EVENTS"};
    pace_database *opened;
    const file_kind *kind = &database;
    if (pace_database_open(&opened, path) != PACE_OK) return NULL;
    for (size_t i = 0; i < PACE_COUNT(events); i++)
        if (pace_database_has(opened, events[i])) kind = &nsys;
    if (pace_database_has(opened, "paceline_runs")) kind = &results;
    pace_database_free(opened);
    return kind;
}

/* How often one of the signs that part cells stands in a line, as in no sentence. */
static size_t cells_of(const char *line, char sign) {
    size_t count = 0;
    for (; *line && *line != '\n'; line++) count += *line == sign && line[1] != ' ';
    return count;
}

static bool is_table(const char *head, const char *path) {
    static const char signs[] = ",;\t|";
    const char *second = strchr(head, '\n');
    if (pace_has_suffix(path, ".csv") || pace_has_suffix(path, ".csv.gz") || pace_has_suffix(path, ".tsv")) return true;
    for (size_t i = 0; second && !strchr("{[#-%", *head) && signs[i]; i++)
        if (cells_of(head, signs[i]) > 0 && cells_of(head, signs[i]) == cells_of(second + 1, signs[i])) return true;
    return false;
}

static bool is_training(const char *head) {
    for (size_t i = 0; i < PACE_COUNT(of_trainings); i++)
        for (const char *at = strstr(head, of_trainings[i]); at; at = strstr(at + 1, of_trainings[i]))
            if (at == head || strchr("\n \"-", at[-1])) return true;
    return false;
}

static const file_kind *kind_of_text(const char *head, const char *path) {
    const char *own = strstr(head, "\"schema\": \"paceline.");
    if (pace_starts(head, "PACEFIT")) return &fit;
    if (pace_has_suffix(path, ".onnx")) return &of_holding[PACE_HOLDS_MODEL];
    if (own && strstr(own, "-fit/")) return &fit;
    if (own) return strstr(own, "paceline.overheads") == strstr(own, "paceline.") ? &overheads : &answer;
    if (pace_starts(head, "devices:") || pace_starts(head, "machines:")) return &devices;
    pace_log_kind kind = pace_log_kind_of(head);
    if (kind != PACE_LOG_NONE && kind != PACE_LOG_NCCL_JSON) return &exchanges;
    if (pace_begins_pipeline_table(path, (const unsigned char *)head, strlen(head)))
        return &of_holding[PACE_HOLDS_TIMELINE];
    return is_table(head, path) ? &table : NULL;
}

/* NULL = not known. PACE_E_INPUT, with a message, where nothing reads it. */
static pace_status find_kind_by(const file_kind **out, const char *path, const char *head) {
    const pace_trace_format *format;
    *out = kind_of_text(head, path);
    if (*out && *out != &table) return PACE_OK;
    PACE_TRY(pace_foreign_refuse_text(path, head, strlen(head)));
    if (*out) return PACE_OK;
    PACE_TRY(pace_trace_format_surely(&format, path));
    if (format) *out = &of_holding[format->holds];
    else if (is_training(head)) *out = &training;
    return PACE_OK;
}

static pace_status find_kind(const file_kind **out, const char *path) {
    *out = NULL;
    if (pace_is_database(path)) return *out = kind_of_database(path), PACE_OK;
    char *head = pace_alloc(HEAD, 1);
    if (!head) return PACE_E_MEMORY;
    pace_status status = read_head(head, path) > 0 ? find_kind_by(out, path, head) : PACE_OK;
    pace_free(head);
    return status;
}

static bool reads(const file_kind *kind, const char *verb, const char *option) {
    char word[64];
    pace_snprintf(word, sizeof word, option ? " --%s " : " %s ", option ? option : verb);
    return strstr(kind->doors, word) != NULL;
}

/* "FILE", and FILE of "FILE*2" and "FILE nodes=2". */
static void take_path(char *out, size_t size, const char *text) {
    pace_snprintf(out, size, "%s", text);
    if (!pace_is_file(out)) out[strcspn(out, " *")] = '\0';
}

/* Whether the message is replaced. */
static bool explain(const char *text, const char *verb, const char *option, const char *message) {
    char path[PATH_MAX];
    struct stat about;
    const file_kind *kind;
    bool told = strstr(message, ": is ") || strstr(message, ", which does not say when");
    take_path(path, sizeof path, text);
    if (!strstr(message, path) || told || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) return false;
    if (about.st_size == 0) return pace_fail(PACE_E_INPUT, "%s: the file is empty", path) == PACE_E_INPUT;
    pace_status status = find_kind(&kind, path);
    if (status == PACE_OK && kind && !reads(kind, verb, option))
        status = pace_fail(PACE_E_INPUT,
                           option ? "%s: is of another kind (%s) than " PACE_FIELD "%s takes: %s"
                                  : "%s: is of another kind (%s) than %s takes: %s",
                           path, kind->what, option ? option : verb, kind->todo);
    return status == PACE_E_INPUT;
}

pace_status pace_explain_input(pace_status status, const pace_question *question) {
    char message[1024];
    const char *verb = question->verb->name;
    if (status != PACE_E_INPUT) return status;
    pace_snprintf(message, sizeof message, "%s", pace_message_marked());
    for (size_t i = 0; i < question->inputs.count; i++)
        if (explain(question->inputs.items[i], verb, NULL, message)) return status;
    for (size_t i = 0; i < question->count; i++)
        for (size_t k = 0; k < question->values[i].texts.count; k++)
            if (explain(question->values[i].texts.items[k], verb, pace_option_at(verb, i)->name, message))
                return status;
    return pace_fail(status, "%s", message);
}
