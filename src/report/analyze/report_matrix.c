/* The headline and the matrices of the analyze report. */
#include "base/print.h"
#include "insight/ranks/alignment.h"
#include "insight/steps/passes.h"
#include "report/analyze/analyze_parts.h"
#include "report/show.h"

#include <stdio.h>
#include <stdlib.h>

void pace_put_matrix(pace_node *node, const char *key, const char *title, pace_audience audience,
                     const pace_matrix *matrix) {
    pace_node_matrix(node, key, title, audience, pace_stage_names, PACE_STAGES, pace_resource_names, PACE_RESOURCES,
                     &matrix->cell_ns[0][0]);
    pace_node_color_matrix(node, pace_resource_colors);
}

const char *pace_resource_words(pace_resource resource) {
    static const char *const words[PACE_RESOURCES] = {"compute-bound kernels",
                                                      "memory-bound kernels",
                                                      "copies",
                                                      "exchanges that nothing hides",
                                                      "waiting for the host",
                                                      "waiting for other ranks",
                                                      "waiting for input",
                                                      "idle time of unknown cause"};
    return words[resource];
}

static double share(int64_t part, int64_t whole) { return whole > 0 ? 100.0 * (double)part / (double)whole : 0; }

static int64_t column_sum(const pace_matrix *m, int resource) {
    int64_t sum = 0;
    for (int stage = 0; stage < PACE_STAGES; stage++) sum += m->cell_ns[stage][resource];
    return sum;
}

static const char *count_of(char text[64], const pace_analysis *analysis) {
    size_t ranks = analysis->traces.count, devices = analysis->ranks.count;
    if (devices == ranks) snprintf(text, 64, "%zu ranks", ranks);
    else if (ranks == 1) snprintf(text, 64, "%zu devices", devices);
    else snprintf(text, 64, "%zu devices of %zu ranks", devices, ranks);
    return text;
}

/* Whom the others wait for, if anybody. */
static void put_latest(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) {
    char late[PACE_RANK_NAME], more[48] = "";
    const pace_latest_rank *latest = &analysis->latest;
    if (latest->ranks > 1) snprintf(more, sizeof more, " and %zu more", latest->ranks - 1);
    double percent = 100.0 * (double)latest->by_ns / (double)rank->work.window.span_ns;
    bool all = latest->rank && !latest->by_work && latest->ranks == analysis->ranks.count;
    if (latest->by_chance || all)
        pace_node_sentence(
            root, true, "All ranks wait for each other by turns, half of them for %.0f %% of the time or longer%s%s.",
            percent, latest->by_chance ? ": which one changes from step to step, as by chance" : "",
            latest->hidden ? "; kernels beside the exchanges hide most of it" : "");
    else if (latest->rank && latest->by_work)
        pace_node_sentence(
            root, true, "The others wait for %s%s: its own work takes %.0f %% of the time more than the median rank's.",
            pace_rank_name(late, latest->rank), more, percent);
    else if (latest->rank && latest->hidden && percent > 100)
        pace_node_sentence(root, true,
                           "Exchanges begin late on %s%s: half of the others hold several at once open for it; kernels "
                           "beside them hide most of that.",
                           pace_rank_name(late, latest->rank), more);
    else if (latest->rank && percent > 100)
        pace_node_sentence(root, true, "The others wait for %s%s, half of them with several exchanges open at once.",
                           pace_rank_name(late, latest->rank), more);
    else if (latest->rank && latest->hidden)
        pace_node_sentence(
            root, true,
            "Exchanges begin late on %s%s, half of the others hold theirs open for %.0f %% of the time or "
            "longer; kernels beside them hide most of it.",
            pace_rank_name(late, latest->rank), more, percent);
    else if (latest->rank)
        pace_node_sentence(root, true, "The others wait for %s%s, half of them for %.0f %% of the time or longer.",
                           pace_rank_name(late, latest->rank), more, percent);
    else if (latest->shorter && !latest->by_work && 2 * latest->ranks <= analysis->ranks.count)
        pace_node_sentence(root, 10 * latest->by_ns >= latest->shorter->work.window.span_ns,
                           "The others wait for %s%s, half of them for %s or longer in all; its recording is shorter "
                           "than that of others by more than that.",
                           pace_rank_name(late, latest->shorter), more, pace_show_ns(latest->by_ns).text);
    else if (analysis->collectives.items.count && latest->groups > 1)
        pace_node_sentence(root, false,
                           "No rank makes the others wait for 1 %% of the time. %zu groups of ranks never meet: who is "
                           "late is told within each alone.",
                           latest->groups);
    else if (analysis->collectives.items.count)
        pace_node_sentence(
            root, false,
            "No rank makes the others wait for 1 %% of the time in collectives of their devices: all %sreach these "
            "together, as far as the clocks tell.",
            rank->step.world_size > (int64_t)analysis->ranks.count ? "that have a trace " : "");
}

/* Whose figures these are, where there was a choice, and who waits for whom. */
static void put_which(pace_node *root, const pace_analysis *analysis, const pace_rank *rank) {
    char name[PACE_RANK_NAME], count[64];
    if (analysis->ranks.count < 2) return;
    put_latest(root, analysis, rank);
    pace_node_sentence(root, false, "%s; the figures below are for %s%s.", count_of(count, analysis),
                       analysis->latest.rank ? "" : "the slowest, ", pace_rank_name(name, rank));
}

/* The clock that was moved most, if by more than a millisecond and by more than the traces' wall clocks say. */
static void put_clocks(pace_node *root, const pace_analysis *analysis) {
    const pace_rank *first = analysis->ranks.items[0], *most = first;
    char name[PACE_RANK_NAME];
    for (size_t r = 1; r < analysis->ranks.count; r++)
        if (llabs(pace_clock_moved_ns(first, analysis->ranks.items[r])) > llabs(pace_clock_moved_ns(first, most)))
            most = analysis->ranks.items[r];
    int64_t moved_ns = pace_clock_moved_ns(first, most);
    if (llabs(moved_ns) > 1000000)
        pace_node_note(root, "The ranks' clocks differ: that of %s was moved by %s, so that collectives end together.",
                       pace_rank_name(name, most), pace_show_ns(moved_ns).text);
}

static void put_steps_found(pace_node *root, const pace_rank *rank, const char *regex) {
    const pace_marks *marks = &rank->marks;
    pace_node *found = pace_node_object(root, "step_marks", NULL, PACE_FOR_JSON);
    static const char *const origins[] = {"none", "annotated", "periodic"};
    pace_node_text(found, "origin", origins[marks->origin]);
    pace_node_real(found, "certainty", marks->certainty);
    const char *basis = marks->basis ? pace_names_text(&rank->step.names, marks->basis) : NULL;
    pace_node_text(found, "basis", basis);
    if (marks->origin == PACE_MARKS_PERIODIC)
        pace_node_note(
            root,
            "No step annotations: steps were inferred from the repetition of '%s'; %.0f %% of its gaps fit one period.",
            basis, 100 * marks->certainty);
    if (marks->origin == PACE_MARKS_ANNOTATED && marks->basis)
        pace_node_note(root, "Steps: the annotations such as '%s', for they recur; --step-regex names others.", basis);
    if (marks->origin == PACE_MARKS_NONE && regex)
        pace_node_note(root, "No annotation matches '%s': the figures are for the whole trace.", regex);
    else if (marks->origin == PACE_MARKS_NONE)
        pace_node_note(
            root,
            "No steps were found: the figures are for the whole trace. Name the annotation of a step with --step-regex.");
}

const char *pace_typical_label(const pace_rank *rank, const pace_typical_step *typical) {
    return typical->mark == SIZE_MAX ? "whole trace"
                                     : pace_names_text(&rank->step.names, rank->marks.items.items[typical->mark].label);
}

/* The shares of the whole, without those that round to nothing. */
static void put_shares(pace_node *root, const pace_matrix *step, bool of_host) {
    const struct {
        const char *name;
        int64_t time_ns;
    } parts[] = {
        {"compute-bound", column_sum(step, PACE_COMPUTE_BOUND)},
        {"memory-bound", column_sum(step, PACE_MEMORY_BOUND)},
        {"copies", column_sum(step, PACE_COPY)},
        {"exposed communication", column_sum(step, PACE_EXPOSED_COMMUNICATION)},
        {"waiting for other ranks", column_sum(step, PACE_IDLE_RANK)},
        {of_host ? "calls, Python and waiting" : "idle",
         column_sum(step, PACE_IDLE_HOST) + column_sum(step, PACE_IDLE_INPUT) + column_sum(step, PACE_IDLE_OTHER)},
    };
    int64_t total = pace_matrix_total(step);
    char text[256] = "";
    for (size_t i = 0; i < PACE_COUNT(parts); i++) {
        double percent = share(parts[i].time_ns, total);
        if (percent < 0.05) continue;
        pace_list(text, sizeof text, ", ", "%.1f %% %s", percent, parts[i].name);
    }
    if (*text) pace_node_sentence(root, true, "Where %s goes: %s.", of_host ? "the host's time" : "it", text);
}

void pace_put_tail(pace_node *root, const char *side, const pace_rank *rank, const pace_typical_step *typical) {
    if (typical->steps != 1 || typical->mark == SIZE_MAX || rank->work.host_is_device) return;
    const pace_mark *mark = &rank->marks.items.items[typical->mark];
    int64_t lasts_ns = mark->end_ns - mark->start_ns, tail_ns = mark->end_ns - typical->to_ns;
    if (rank->marks.origin == PACE_MARKS_ANNOTATED && tail_ns * 20 > lasts_ns)
        pace_node_sentence(root, true,
                           "%ss annotation lasts %s: %s of that are behind the step's last compute kernel and count in "
                           "the next step.",
                           side, pace_show_ns(lasts_ns).text, pace_show_ns(tail_ns).text);
}

void pace_put_headline(pace_node *root, const pace_analysis *analysis, const pace_rank *rank,
                       const pace_typical_step *typical, const pace_analyze_options *options) {
    const pace_window *w = &rank->work.window;
    if (rank->work.items.count == 0) {
        pace_node_sentence(root, true, "The trace contains no work: neither device work nor operators.");
        put_steps_found(root, rank, options->step_regex);
        return;
    }
    pace_shown time = pace_show_ns(pace_matrix_total(&typical->matrix));
    if (typical->steps == 0) pace_node_sentence(root, true, "The trace spans %s.", time.text);
    else if (typical->steps == 1) pace_node_sentence(root, true, "The step takes %s.", time.text);
    else
        pace_node_sentence(root, true, "A step takes %s (%smedian of %zu).", time.text,
                           typical->steps % 2 ? "" : "upper ", typical->steps);
    if (typical->steps == 0 && rank->marks.items.count > 0)
        pace_node_sentence(root, true, "No step%s has work: the figures are of the whole trace.",
                           options->steps.numbers || options->steps.skip ? " that was chosen" : "");
    put_shares(root, &typical->matrix, rank->work.host_is_device);
    pace_put_tail(root, "It", rank, typical);
    put_which(root, analysis, rank);
    if (analysis->ranks.count > 1) put_clocks(root, analysis);
    if (rank->work.host_is_device)
        pace_node_note(
            root,
            "This trace has no device work: the host is treated as the device. Operators that compute or move data count as kernels, by self time; calling operators, and what passes between them, is the host's own.");
    if (analysis->ranks.count == 1 && w->communication_ns > 0)
        pace_node_note(
            root,
            "With one rank, waiting for others cannot be told from transfer: all uncovered communication counts as exposed.");
    if (!pace_step_trains(&rank->step))
        pace_node_note(root, "No backward pass and no update were recognised: the trace is taken for inference.");
    put_steps_found(root, rank, options->step_regex);
}

static void put_json_step_matrices(pace_node *root, const pace_rank *rank) {
    pace_node *list = pace_node_list(root, "step_matrices");
    PACE_ITEMS (const pace_mark, mark, &rank->marks.items) {
        pace_matrix own = pace_matrix_of(&rank->tiles, mark->from_ns, mark->to_ns);
        pace_node *item = pace_node_item(list);
        pace_node_text(item, "label", pace_names_text(&rank->step.names, mark->label));
        pace_node_int(item, "device_ns", mark->to_ns - mark->from_ns);
        pace_put_matrix(item, "matrix", NULL, PACE_FOR_JSON, &own);
    }
}

pace_status pace_put_json_matrices(pace_node *item, const pace_rank *rank) {
    pace_typical_step typical;
    PACE_TRY(pace_typical_step_of(&typical, rank));
    pace_matrix whole = pace_matrix_of(&rank->tiles, rank->work.window.first_ns, rank->work.window.last_ns);
    pace_put_matrix(item, "matrix", NULL, PACE_FOR_JSON, &typical.matrix);
    pace_put_matrix(item, "window_matrix", NULL, PACE_FOR_JSON, &whole);
    put_json_step_matrices(item, rank);
    return PACE_OK;
}

void pace_put_step_matrix(pace_node *root, const pace_rank *rank, const pace_typical_step *typical) {
    const pace_window *w = &rank->work.window;
    pace_matrix whole = pace_matrix_of(&rank->tiles, w->first_ns, w->last_ns);
    char title[160];
    snprintf(title, sizeof title, "Stage by resource, %s", pace_typical_label(rank, typical));
    int64_t total = pace_matrix_total(&typical->matrix), other = 0;
    pace_put_matrix(root, "matrix", title, total > 0 ? PACE_FOR_ALL : PACE_FOR_JSON, &typical->matrix);
    pace_put_matrix(root, "window_matrix", NULL, PACE_FOR_JSON, &whole);
    put_json_step_matrices(root, rank);
    for (int r = 0; r < PACE_RESOURCES; r++) other += typical->matrix.cell_ns[PACE_STAGE_OTHER][r];
    pace_node_real(root, "unattributed_share", total > 0 ? (double)other / (double)total : 0);
    if (other * 20 > total)
        pace_node_note(root, "%.1f %% of the time could not be attributed to a stage and counts as 'other'.",
                       share(other, total));
}
