/* The five kinds of questions of `fleet`: tables of jobs, records of a cluster, iterations of workers, pods and nodes,
 * jobs that are made up. */
#include "ask/fleet/usage_asked.h"
#include "fleet/population.h"
#include "report/ask_parts.h"
#include "source/jobs/job_reading.h"
#include "source/traces/nsys.h"

#include <math.h>

static pace_status ask_jobs(pace_report **out, const pace_question *question) {
    bool limited = pace_question_has(question, "most_rejected");
    pace_fleet_options options = {PACE_ASKED_OWN(context),
                                  .assume = pace_asked_of_jobs(question),
                                  PACE_ASKED(words, sweep),
                                  PACE_ASKED(words, price),
                                  PACE_ASKED(text, columns),
                                  PACE_ASKED_AS(table, text, database_table),
                                  PACE_ASKED_AS(rejects_path, text, rejects),
                                  .most_rejected = limited ? pace_question_number(question, "most_rejected")
                                                           : PACE_JOBS_MOST_REJECTED,
                                  PACE_ASKED(flag, repeats),
                                  PACE_ASKED(flag, exact),
                                  PACE_ASKED_OWN(processes),
                                  PACE_ASKED_OWN(progress)};
    if (!(options.most_rejected > 0 && options.most_rejected <= 1))
        return pace_fail(PACE_E_USAGE, "most_rejected: expected a share above 0, at most 1, found %g",
                         options.most_rejected);
    if (question->inputs.count == 0) return pace_fail(PACE_E_USAGE, "expected a table of jobs, found none");
    bool database = !options.table;
    for (size_t i = 0; i < question->inputs.count; i++) database |= pace_is_database(question->inputs.items[i]);
    if (!database)
        return pace_fail(PACE_E_USAGE, "database_table: has no effect on %s, which is no SQLite database",
                         question->inputs.items[0]);
    return pace_characterize(out, PACE_ASKED_INPUTS(question), &options);
}

/* Written row by row, when the answer is: so many jobs need no memory. */
typedef struct {
    pace_population population;
    uint64_t jobs, seed;
    pace_progress progress;
} made_up;

static pace_status write_jobs(void *context, pace_sink *sink) {
    made_up *made = context;
    return pace_population_write(sink, &made->population, made->seed, made->jobs, made->progress);
}

static pace_status make_up(pace_report **out, const pace_question *question) {
    pace_report *report;
    made_up *made = pace_alloc(1, sizeof *made);
    if (!made) return PACE_E_MEMORY;
    made->jobs = (uint64_t)pace_question_number(question, "synthesize");
    made->seed = (uint64_t)pace_question_number(question, "seed");
    made->progress = question->progress;
    pace_status status = pace_population_load(&made->population, question->context->catalog);
    if (status == PACE_OK) status = pace_report_new(&report, "fleet", "Jobs made up");
    if (status == PACE_OK) pace_report_set_stream(report, write_jobs, made, pace_free);
    return PACE_GIVE(out, report, status, pace_free(made));
}

static pace_status ask_capacity(pace_report **out, const pace_question *question) {
    const char *pods = pace_question_text(question, "pods"), *nodes = pace_question_text(question, "nodes");
    if (!pods || !nodes || question->inputs.count > 0)
        return pace_fail(PACE_E_USAGE, "%s: expected a table of pods and one of nodes, and no others",
                         pods ? "pods" : "nodes");
    return pace_cluster_capacity(out, question->context->catalog, pods, nodes);
}

static pace_status ask_iterations(pace_report **out, const pace_question *question) {
    if (question->inputs.count == 0) return pace_fail(PACE_E_USAGE, "expected tables of iterations, found none");
    return pace_stragglers(out, question->context->catalog, PACE_ASKED_INPUTS(question));
}

static pace_usage_options usage_options(const pace_question *question) {
    return (pace_usage_options){PACE_ASKED_OWN(context), PACE_ASKED(words, mapping), PACE_ASKED(words, price),
                                PACE_ASKED(text, zone), PACE_ASKED(text, dates)};
}

static pace_status ask_usage(pace_report **out, const pace_question *question) {
    pace_usage_options options = usage_options(question);
    if (question->inputs.count == 0) return pace_fail(PACE_E_USAGE, "expected records of a cluster, found none");
    return pace_cluster_usage(out, PACE_ASKED_INPUTS(question), &options);
}

/* Whether the files are records of a scheduler or counters, and no table of jobs with their features. */
static pace_status asks_usage(bool *out, const pace_question *question) {
    pace_usage_options options = usage_options(question);
    return pace_usage_are_records(out, PACE_ASKED_INPUTS(question), &options);
}

static pace_status check_fields(const pace_question *question, const char *asked) {
    static const pace_asked_kind kinds[] = {{"jobs", "a table of jobs"},
                                            {"usage", "records of a cluster"},
                                            {"iterations", "times of iterations"},
                                            {"pods", "pods and nodes"},
                                            {"synthesize", "jobs that are made up (" PACE_FIELD "synthesize)"}};
    return pace_asked_check_fields(question, asked, kinds, PACE_COUNT(kinds));
}

pace_status pace_ask_fleet(pace_report **out, const pace_question *question) {
    bool pods = pace_question_has(question, "pods") || pace_question_has(question, "nodes");
    bool made = pace_question_has(question, "synthesize"), iterations = pace_question_flag(question, "iterations");
    if (iterations + pods + made > 1)
        return pace_fail(PACE_E_USAGE, "expected one of " PACE_FIELD "iterations, " PACE_FIELD "pods with " PACE_FIELD
                                       "nodes, " PACE_FIELD "synthesize");
    bool usage = false;
    if (!made && !pods && !iterations) PACE_TRY(asks_usage(&usage, question));
    PACE_TRY(check_fields(question, made         ? "synthesize"
                                    : pods       ? "pods"
                                    : iterations ? "iterations"
                                    : usage      ? "usage"
                                                 : "jobs"));
    if (made) PACE_TRY(pace_asked_above_0(question, "synthesize"));
    double jobs = made ? pace_question_number(question, "synthesize") : 1;
    if (jobs != floor(jobs) || jobs > 1e12)
        return pace_fail(PACE_E_USAGE, "synthesize: expected a whole number of jobs up to 1e12, found %g", jobs);
    if (made && question->inputs.count) return pace_fail(PACE_E_USAGE, "synthesize: expected no files");
    if (made) return make_up(out, question);
    if (pods) return ask_capacity(out, question);
    if (usage) return ask_usage(out, question);
    return iterations ? ask_iterations(out, question) : ask_jobs(out, question);
}
