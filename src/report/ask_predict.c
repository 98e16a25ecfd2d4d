/* The eight kinds of questions of `predict`: which one is asked, and what its engine is asked with. */
#include "report/ask_parts.h"
#include "model/model_settings.h"
#include "ask/plan/partition_asked.h"
#include "base/print.h"
#include "exchange/collective.h"

#include <string.h>
#include <unistd.h>

typedef enum { STEP, ROWS, JOB, EXCHANGE, SIMULATE, REPLAY, SCALING, PARTITION, KINDS } kind;

/* In the order of the enumerators, then the kinds of rows. */
static const pace_asked_kind kinds[] = {
    [STEP] = {"step", "a step"},
    [ROWS] = {"rows", "a table of questions (" PACE_FIELD "rows)"},
    [JOB] = {"job", "a job (" PACE_FIELD "job)"},
    [EXCHANGE] = {"exchange", "an exchange"},
    [SIMULATE] = {"simulate", "an exchange with " PACE_FIELD "simulate"},
    [REPLAY] = {"replay", "traces with " PACE_FIELD "simulate"},
    [SCALING] = {"scaling", "a step of several workers (" PACE_FIELD "workers)"},
    [PARTITION] = {"partition", "a network on hosts (catalog/hosts.yaml)"},
    {"rows.kernel", "a table about kernels"},
    {"rows.exchange", "a table about exchanges"},
    {"rows.step", "a table about steps"},
    {"rows.scaling", "a table about steps of several workers"},
    {"rows.job", "a table about jobs"},
};
enum { KIND_WORDS = PACE_COUNT(kinds) };

static bool is_scaling(const pace_question *question) {
    pace_words set = pace_question_words(question, "set");
    bool approach = pace_question_has(question, "approach");
    return pace_question_has(question, "workers") || (approach && !pace_settings_name_sharing(&set));
}

static bool is_about_exchange(const pace_question *question) {
    const char *said = pace_question_text(question, "kind");
    if (said) return strcmp(said, "exchange") == 0;
    return pace_question_has(question, "collective") || pace_question_has(question, "bytes");
}

/* An exchange has no input, but a collective is one's first word for it. */
static pace_status check_collective(const pace_question *question) {
    pace_collective collective;
    const char *input = question->inputs.count == 1 ? question->inputs.items[0] : "";
    bool word = *input && !input[strcspn(input, "/.*?[")]; /* no path or pattern of traces */
    if (!word || !pace_collective_find(&collective, input) || access(input, F_OK) == 0) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "%.40s is a collective, not an input: ask with " PACE_FIELD "collective %.40s and " PACE_FIELD
                     "bytes",
                     input, input);
}

/* Simulating has fields of its own, which mean nothing without it. */
static pace_status check_simulated(const pace_question *question) {
    static const char *const fields[] = {"jobs", "straggler", "background", "unfolded", NULL};
    return pace_asked_only_with(question, "simulate", fields);
}

static pace_status kind_of(kind *out, const pace_question *question) {
    bool rows = pace_question_has(question, "rows"), job = pace_question_has(question, "job");
    size_t inputs = question->inputs.count;
    if (rows && job) return pace_fail(PACE_E_USAGE, "job: expected either a job or rows, found both");
    if ((rows || job) && inputs > 0)
        return pace_fail(PACE_E_USAGE, "%s: expected no other input, found \"%.80s\"", rows ? "rows" : "job",
                         question->inputs.items[0]);
    if (rows || job) {
        *out = rows ? ROWS : JOB;
        return PACE_OK;
    }
    PACE_TRY(check_collective(question));
    PACE_TRY(check_simulated(question));
    bool simulated = pace_question_flag(question, "simulate");
    const char *said = pace_question_text(question, "kind");
    if (inputs == 0 && said && strcmp(said, "exchange") != 0)
        return pace_fail(PACE_E_USAGE,
                         "kind: '%.40s' has no effect without " PACE_FIELD "rows; exchange has, with " PACE_FIELD
                         "collective and " PACE_FIELD "bytes",
                         said);
    if (inputs == 0 && !is_about_exchange(question))
        return pace_fail(PACE_E_USAGE, "expected a trace, an execution trace, a model, " PACE_FIELD "rows, " PACE_FIELD
                                       "job or " PACE_FIELD "collective, found none");
    pace_words on = pace_question_words(question, "on");
    bool hosts;
    PACE_TRY(pace_partition_is_of_hosts(&hosts, question->context->catalog, &on));
    if (inputs > 0 && hosts) {
        *out = PARTITION;
        return PACE_OK;
    }
    if (inputs == 0) *out = simulated ? SIMULATE : EXCHANGE;
    else *out = simulated ? REPLAY : is_scaling(question) ? SCALING : STEP;
    return PACE_OK;
}

/* Every field that was said must be of the kind. */
static pace_status check_fields(const pace_question *question, kind asked) {
    const pace_option *option;
    const pace_row_kind *of_rows;
    char word[40];
    if (asked != STEP) PACE_TRY(pace_question_check_single(question, "on"));
    if (asked != STEP) PACE_TRY(pace_question_check_single(question, "fit"));
    for (size_t i = 0; (option = pace_option_at("predict", i)); i++)
        if (option->type == PACE_OPTION_NUMBER) PACE_TRY(pace_asked_above_0(question, option->name));
    if (asked != ROWS) return pace_asked_check_fields(question, kinds[asked].word, kinds, KIND_WORDS);
    PACE_TRY(pace_asked_row_kind(&of_rows, question, pace_question_text(question, "rows"), true));
    pace_snprintf(word, sizeof word, "rows.%.20s", of_rows->name);
    return pace_asked_check_fields(question, word, kinds, KIND_WORDS);
}

/* --- the kinds ---------------------------------------------------------------------------------------------------- */

static pace_status ask_rows(pace_report **out, const pace_question *question) {
    pace_rows_options options = {PACE_ASKED_OWN(context),
                                 PACE_ASKED(text, kind),
                                 PACE_ASKED_AS(device, text, on),
                                 PACE_ASKED_AS(fit_path, text, fit),
                                 PACE_ASKED(text, collective),
                                 PACE_ASKED(words, set),
                                 .job = pace_asked_of_jobs(question),
                                 PACE_ASKED_OWN(progress)};
    return pace_predict_rows(out, pace_question_text(question, "rows"), &options);
}

static pace_status ask_job(pace_report **out, const pace_question *question) {
    pace_job_options options = {PACE_ASKED_OWN(context), PACE_ASKED(text, job), PACE_ASKED(words, set),
                                .assume = pace_asked_of_jobs(question)};
    return pace_predict_job(out, &options);
}

static pace_status ask_exchange(pace_report **out, const pace_question *question) {
    pace_exchange_options options = {
        PACE_ASKED_OWN(context),      PACE_ASKED(text, on),       PACE_ASKED_AS(fit_path, text, fit),
        PACE_ASKED(text, collective), PACE_ASKED(text, bytes),    PACE_ASKED(text, library),
        PACE_ASKED(text, algorithm),  PACE_ASKED(text, protocol), PACE_ASKED(number, ranks),
        PACE_ASKED(words, approach)};
    if (options.approach.count) return pace_predict_approaches(out, &options);
    return pace_predict_exchange(out, &options);
}

static pace_status ask_simulation(pace_report **out, const pace_question *question) {
    pace_simulate_options options = {PACE_ASKED_OWN(context),      PACE_ASKED(text, on),
                                     PACE_ASKED(text, collective), PACE_ASKED(text, bytes),
                                     PACE_ASKED(text, library),    PACE_ASKED(text, algorithm),
                                     PACE_ASKED(number, ranks),    PACE_ASKED(number, jobs),
                                     PACE_ASKED(words, straggler), PACE_ASKED(words, background),
                                     PACE_ASKED(flag, unfolded)};
    if (question->inputs.count) return pace_simulate_traces(out, PACE_ASKED_INPUTS(question), &options);
    return pace_simulate_exchange(out, &options);
}

static pace_status ask_scaling(pace_report **out, const pace_question *question) {
    pace_scaling_options options = {PACE_ASKED_OWN(context),        PACE_ASKED(text, on),
                                    PACE_ASKED(text, workers),      PACE_ASKED(words, approach),
                                    PACE_ASKED(text, jitter),       PACE_ASKED(words, batch),
                                    PACE_ASKED(words, set),         PACE_ASKED(flag, strong),
                                    PACE_ASKED(number, one_worker), PACE_ASKED(number, samples),
                                    PACE_ASKED(text, from),         PACE_ASKED(text, step_regex),
                                    PACE_ASKED_AS(fits, words, fit)};
    if (options.strong && pace_question_flag(question, "weak"))
        return pace_fail(PACE_E_USAGE, "weak: expected either " PACE_FIELD "weak or " PACE_FIELD "strong, found both");
    return pace_predict_scaling(out, PACE_ASKED_INPUTS(question), &options);
}

static pace_status ask_partition(pace_report **out, const pace_question *question) {
    const pace_plan_options options = {PACE_ASKED_OWN(context), PACE_ASKED(words, on), PACE_ASKED(words, set)};
    if (question->inputs.count > 1)
        return pace_fail(PACE_E_USAGE, "expected one model on hosts, found %zu", question->inputs.count);
    return pace_partition_report(out, question->inputs.items[0], &options, true);
}

/* One approach moves the gradients of a step of ranks. */
static pace_status approach_of(const char **out, const pace_question *question) {
    pace_words approach = pace_question_words(question, "approach");
    *out = approach.count ? approach.items[0] : NULL;
    if (approach.count > 1 || (*out && strchr(*out, ',')))
        return pace_fail(PACE_E_USAGE,
                         "approach: with dp=N in " PACE_FIELD "set the step is walked by one of them (by several with "
                         "" PACE_FIELD "workers), found more");
    return PACE_OK;
}

static void take_what_ifs(pace_words *out, const pace_question *question) {
    static const char *const set[] = {NULL};
    for (size_t i = 0; i < pace_what_if_count; i++) {
        const pace_option *option = &pace_what_ifs[i]->option;
        bool flag = option->type == PACE_OPTION_FLAG;
        out[i] = flag ? (pace_words){set, pace_question_flag(question, option->name)}
                      : pace_question_words(question, option->name);
    }
}

static pace_status ask_step(pace_report **out, const pace_question *question) {
    pace_predict_options options = {PACE_ASKED_OWN(context),      PACE_ASKED(words, on),
                                    PACE_ASKED(text, from),       PACE_ASKED(words, set),
                                    PACE_ASKED(text, jitter),     PACE_ASKED(words, calibrate),
                                    PACE_ASKED(number, samples),  PACE_ASKED_AS(fits, words, fit),
                                    PACE_ASKED(words, overheads), PACE_ASKED(text, step_regex),
                                    PACE_ASKED_OWN(progress)};
    take_what_ifs(options.what_ifs, question);
    PACE_TRY(pace_asked_steps(&options.steps, question));
    PACE_TRY(approach_of(&options.approach, question));
    return pace_predict(out, PACE_ASKED_INPUTS(question), &options);
}

pace_status pace_ask_predict(pace_report **out, const pace_question *question) {
    static pace_status (*const ask[KINDS])(pace_report **, const pace_question *) = {
        [STEP] = ask_step,           [ROWS] = ask_rows,         [JOB] = ask_job,         [EXCHANGE] = ask_exchange,
        [SIMULATE] = ask_simulation, [REPLAY] = ask_simulation, [SCALING] = ask_scaling, [PARTITION] = ask_partition};
    kind asked = STEP;
    PACE_TRY(kind_of(&asked, question));
    PACE_TRY(check_fields(question, asked));
    return ask[asked](out, question);
}
