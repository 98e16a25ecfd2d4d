/* From a question to an engine, and from its report to an answer. No engine sees a question. */
#include "ask/file_kind.h"
#include "base/decimal.h"
#include "base/input.h"
#include "machine/machine.h"
#include "report/analyze/analyze_parts.h"
#include "report/answer.h"
#include "report/analyze/answer_store.h"
#include "ask/plan/partition_asked.h"
#include "report/ask_parts.h"

#include <string.h>

/* --- the verbs with one kind of question -------------------------------------------------------------------------- */

/* What of the traces is looked at. */
static pace_status read_view(pace_analyze_options *out, const pace_question *question) {
    size_t rank = 0;
    PACE_TRY(pace_asked_steps(&out->steps, question));
    PACE_TRY(pace_asked_whole(&rank, question, "rank"));
    PACE_TRY(pace_asked_whole(&out->rows_shown, question, "top"));
    out->has_rank = pace_question_has(question, "rank");
    out->rank = (int64_t)rank;
    out->filter = pace_question_text(question, "filter");
    out->stage = pace_question_text(question, "stage");
    return pace_asked_above_0(question, "top");
}

static pace_status ask_analyze(pace_report **out, const pace_question *question) {
    pace_analyze_options options = {PACE_ASKED_OWN(context),
                                    PACE_ASKED(text, step_regex),
                                    PACE_ASKED_AS(overheads_path, text, overheads),
                                    PACE_ASKED_AS(device, text, on),
                                    .device_field = "on",
                                    PACE_ASKED_OWN(processes),
                                    PACE_ASKED_AS(samples_per_step, number, samples),
                                    PACE_ASKED(flag, check),
                                    PACE_ASKED_OWN(progress)};
    PACE_TRY(read_view(&options, question));
    PACE_TRY(pace_asked_above_0(question, "samples"));
    const char *profiler = pace_question_text(question, "profiler_us");
    options.profiler_guess = profiler && strcmp(profiler, "auto") == 0;
    bool number = profiler && !options.profiler_guess && pace_number_parse(&options.profiler_event_us, profiler);
    if (profiler && !options.profiler_guess &&
        !(number && options.profiler_event_us >= 0 && options.profiler_event_us <= 1e6))
        return pace_fail(PACE_E_USAGE, "profiler_us: expected a number from 0 to 1e6, or auto, found '%.80s'",
                         profiler);
    return pace_analyze(out, PACE_ASKED_INPUTS(question), &options);
}

/* "+5%", "5 %" or "0.05%": how much longer a step may take. */
static pace_status read_limit(bool *has_limit, double *limit, const pace_question *question) {
    const char *text = pace_question_text(question, "fail_on");
    double percent = -1;
    if (!text) return PACE_OK;
    const char *end = pace_number_read(&percent, *text == '+' ? text + 1 : text);
    while (end && *end == ' ') end++;
    if (!end || strcmp(end, "%") != 0 || !(percent >= 0) || percent > 1e6)
        return pace_fail(PACE_E_USAGE, "fail_on: expected a percentage such as +5%%, found '%.80s'", text);
    *has_limit = true;
    *limit = percent / 100;
    return PACE_OK;
}

static pace_status ask_compare(pace_report **out, size_t *missed, const pace_question *question) {
    size_t with_rank = 0;
    pace_compare_options options = {
        .reading = {PACE_ASKED_OWN(context), PACE_ASKED(text, step_regex), PACE_ASKED_OWN(progress)}};
    PACE_TRY(read_view(&options.reading, question));
    PACE_TRY(pace_asked_whole(&with_rank, question, "with_rank"));
    PACE_TRY(read_limit(&options.has_limit, &options.limit, question));
    options.has_with_rank = pace_question_has(question, "with_rank");
    options.with_rank = (int64_t)with_rank;
    return pace_compare(out, missed, PACE_ASKED_INPUTS(question), &options);
}

static pace_status ask_history(pace_report **out, size_t *missed, const pace_question *question) {
    pace_history_options options = {PACE_ASKED(text, series), PACE_ASKED(text, value)};
    PACE_TRY(pace_asked_above_0(question, "last"));
    PACE_TRY(pace_asked_above_0(question, "window"));
    PACE_TRY(pace_asked_above_0(question, "top"));
    PACE_TRY(pace_asked_whole(&options.last, question, "last"));
    PACE_TRY(pace_asked_whole(&options.window, question, "window"));
    PACE_TRY(pace_asked_whole(&options.rows_shown, question, "top"));
    PACE_TRY(read_limit(&options.has_limit, &options.limit, question));
    return pace_history(out, missed, PACE_ASKED_INPUTS(question), &options);
}

static pace_status ask_convert(pace_report **out, const pace_question *question) {
    pace_convert_options options = {PACE_ASKED_OWN(context), PACE_ASKED(text, output), PACE_ASKED(words, set),
                                    PACE_ASKED(text, step_regex), PACE_ASKED_OWN(progress)};
    PACE_TRY(pace_asked_steps(&options.steps, question));
    return pace_convert(out, PACE_ASKED_INPUTS(question), &options);
}

static pace_status ask_slice(pace_report **out, const pace_question *question) {
    pace_slice_options options = {PACE_ASKED_OWN(context),      PACE_ASKED(text, output),    PACE_ASKED(text, ranks),
                                  PACE_ASKED(text, step_regex), PACE_ASKED(flag, anonymize), PACE_ASKED_OWN(progress)};
    PACE_TRY(pace_asked_steps(&options.steps, question));
    return pace_slice_traces(out, PACE_ASKED_INPUTS(question), &options);
}

static pace_status check_fit_fields(const pace_question *question) {
    static const pace_asked_kind kinds[] = {{"kernel", "rows about kernels"},
                                            {"exchange", "rows about exchanges"},
                                            {"step", "rows about steps"},
                                            {"scaling", "rows about steps of workers"},
                                            {"job", "rows about jobs"},
                                            {"overhead", "rows about host overheads"},
                                            {"profiler", "rows about a profiler"}};
    const pace_row_kind *kind;
    PACE_TRY(pace_asked_row_kind(&kind, question, question->inputs.items[0], false));
    return pace_asked_check_fields(question, kind->name, kinds, PACE_COUNT(kinds));
}

static pace_status ask_fit(pace_report **out, const pace_question *question) {
    PACE_TRY(check_fit_fields(question));
    double probes = pace_question_number(question, "probes");
    pace_rows_options options = {PACE_ASKED_OWN(context),
                                 PACE_ASKED(text, kind),
                                 PACE_ASKED_AS(device, text, on),
                                 PACE_ASKED_AS(fit_path, text, output),
                                 PACE_ASKED(text, split),
                                 .seed = (uint64_t)pace_question_number(question, "seed"),
                                 PACE_ASKED(text, collective),
                                 .probes = probes <= 1024 ? (int)probes : -1,
                                 .job = pace_asked_of_jobs(question),
                                 PACE_ASKED_OWN(progress)};
    return pace_fit(out, PACE_ASKED_INPUTS(question), &options);
}

static const char *only_input(const pace_question *question) {
    return question->inputs.count ? question->inputs.items[0] : NULL;
}

/* A search takes less than a start of processes: process 0 answers, and the others leave it to that. */
static pace_status ask_plan(pace_report **out, const pace_question *question) {
    *out = NULL;
    if (question->processes && question->processes->rank > 0) return PACE_OK;
    pace_plan_options options = {
        PACE_ASKED_OWN(context),     PACE_ASKED(words, on),      PACE_ASKED(words, set),
        PACE_ASKED(text, tokens),    PACE_ASKED(text, within),   PACE_ASKED(words, price),
        PACE_ASKED(text, budget),    PACE_ASKED(text, from),     PACE_ASKED_AS(fits, words, fit),
        PACE_ASKED(flag, together),  PACE_ASKED(text, failures), PACE_ASKED(text, critical_batch),
        PACE_ASKED(text, jitter),    PACE_ASKED(number, top),    PACE_ASKED_OWN(stop),
        PACE_ASKED_OWN(stop_context)};
    bool hosts;
    PACE_TRY(pace_asked_above_0(question, "top"));
    PACE_TRY(pace_partition_is_of_hosts(&hosts, question->context->catalog, &options.on));
    if (hosts && !only_input(question)) return pace_fail(PACE_E_USAGE, "expected one model, found none");
    if (hosts) return pace_partition_report(out, only_input(question), &options, false);
    return pace_plan(out, only_input(question), &options);
}

static pace_status ask_tune(pace_report **out, const pace_question *question) {
    static const char *const fields[] = {"on", "fit", "collective", "bytes", "nodes", "library", "dialect"};
    pace_tune_options options = {PACE_ASKED_OWN(context),      .table = only_input(question),
                                 PACE_ASKED(text, on),         PACE_ASKED_AS(fit_path, text, fit),
                                 PACE_ASKED(text, collective), PACE_ASKED(text, bytes),
                                 PACE_ASKED(text, nodes),      PACE_ASKED(text, library),
                                 PACE_ASKED(text, dialect)};
    for (size_t i = 0; options.table && i < PACE_COUNT(fields); i++)
        if (pace_question_has(question, fields[i]))
            return pace_fail(PACE_E_USAGE, "%s: has no effect on a table of choices that were measured", fields[i]);
    return pace_tune(out, &options);
}

static pace_status ask_machines(pace_report **out, const pace_question *question) {
    return pace_machines(out, question->context, only_input(question));
}

static pace_status ask_models(pace_report **out, const pace_question *question) {
    pace_words set = pace_question_words(question, "set");
    return pace_models(out, question->context, only_input(question), &set);
}

static pace_status ask_validate(pace_report **out, size_t *missed, const pace_question *question) {
    static const char *const lives[] = {"model",    "batch", "runs",  "steps", "threads", "ranks", "runner",
                                        "approach", "link",  "quick", "on",    "fit",     NULL};
    pace_validate_options options = {
        PACE_ASKED_OWN(context),      PACE_ASKED_AS(cases_path, text, cases),   PACE_ASKED_AS(data_path, text, data),
        .glob = only_input(question), PACE_ASKED_AS(ledger_path, text, ledger), .ask = pace_ask,
        PACE_ASKED_OWN(progress)};
    PACE_TRY(pace_asked_only_with(question, "live", lives));
    if (!options.data_path) return pace_fail(PACE_E_USAGE, "data: expected the folder the cases' tables lie in");
    return pace_validate(out, missed, &options);
}

/* --- every verb --------------------------------------------------------------------------------------------------- */

/* Of the verbs whose number of inputs hangs on nothing else. */
static const struct {
    const char *verb;
    size_t least, most;
    const char *expected;
    pace_status (*ask)(pace_report **out, const pace_question *question);
    pace_status (*judge)(pace_report **out, size_t *missed, const pace_question *question); /* where it may say no */
} verbs[] = {
    {"analyze", 1, SIZE_MAX, "at least one trace", ask_analyze, NULL},
    {"compare", 1, 2, "two traces", NULL, ask_compare},
    {"convert", 1, SIZE_MAX, "a trace or a model", ask_convert, NULL},
    {"slice", 1, SIZE_MAX, "at least one trace", ask_slice, NULL},
    {"history", 1, SIZE_MAX, "files of stored results", NULL, ask_history},
    {"fit", 1, SIZE_MAX, "at least one table", ask_fit, NULL},
    {"plan", 0, 1, "one model", ask_plan, NULL},
    {"tune", 0, 1, "at most one table", ask_tune, NULL},
    {"machines", 0, 1, "one name", ask_machines, NULL},
    {"models", 0, 1, "one name", ask_models, NULL},
    {"predict", 0, SIZE_MAX, "", pace_ask_predict, NULL},
    {"fleet", 0, SIZE_MAX, "", pace_ask_fleet, NULL},
    {"validate", 0, 1, "at most one pattern", NULL, ask_validate},
};

static pace_status ask_engine(pace_report **out, size_t *missed, const pace_question *question) {
    const char *verb = question->verb->name;
    size_t inputs = question->inputs.count;
    for (size_t i = 0; i < PACE_COUNT(verbs); i++) {
        if (strcmp(verbs[i].verb, verb) != 0) continue;
        if (inputs == 0 && verbs[i].least > 0)
            return pace_fail(PACE_E_USAGE, "expected %s, found none", verbs[i].expected);
        if (inputs < verbs[i].least || inputs > verbs[i].most)
            return pace_fail(PACE_E_USAGE, "expected %s, found %zu", verbs[i].expected, inputs);
        return verbs[i].judge ? verbs[i].judge(out, missed, question) : verbs[i].ask(out, question);
    }
    return pace_fail(PACE_E_USAGE, "%s is answered by pace_%s(), which measures", verb, verb);
}

/* What inputs may hold is a question's own: it is set while the question is answered. */
static pace_status read_max_size(uint64_t *out, const pace_question *question) {
    const char *text = pace_question_text(question, "max_size");
    double bytes = 0;
    if (text && !(pace_parse_figure(&bytes, text, PACE_IN_BYTES) && bytes >= 1 && bytes <= 1e18))
        return pace_fail(PACE_E_USAGE, "max_size: expected a size such as 4GiB, found '%.80s'", text);
    *out = (uint64_t)bytes;
    return PACE_OK;
}

static pace_status ask_within(pace_report **out, size_t *missed, const pace_question *question) {
    uint64_t before = pace_input_limit(), most = 0;
    PACE_TRY(read_max_size(&most, question));
    pace_input_set_limit(most);
    pace_status status = ask_engine(out, missed, question);
    pace_input_set_limit(before);
    return status;
}

pace_status pace_ask(pace_answer **out, pace_context *context, const pace_question *question) {
    PACE_GIVEN(out);
    PACE_GIVEN(context);
    PACE_GIVEN(question);
    pace_question asked = *question;
    pace_report *report = NULL;
    size_t missed = 0;
    asked.context = context;
    PACE_TRY(pace_store_check(question));
    PACE_TRY(pace_explain_input(ask_within(&report, &missed, &asked), &asked));
    *out = NULL;
    if (!report) return PACE_OK; /* another process has it */
    pace_status checked = pace_report_idle_figures(report, &asked, ask_within);
    if (checked != PACE_OK) {
        pace_report_free(report);
        return checked;
    }
    pace_report_set_command(report, (const char *const *)question->command.items, question->command.count);
    pace_answer *answer;
    PACE_TRY(pace_answer_of_report(&answer, report, missed == 0));
    pace_status status = pace_store_answer(question, answer);
    return PACE_GIVE(out, answer, status, pace_answer_free(answer));
}
