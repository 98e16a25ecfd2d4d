#include "insight/analysis.h"

#include "base/parallel.h"
#include "insight/analyze_options.h"
#include "insight/ranks/alignment.h"
#include "insight/ranks/clocks.h"
#include "insight/ranks/unsaid_groups.h"
#include "insight/steps/mean_step.h"
#include "machine/device_resolve.h"
#include "machine/device_slice.h"
#include "insight/trace_readings.h"
#include "base/print.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void free_rank(pace_rank *rank) {
    pace_rank_free(rank);
    pace_free(rank);
}

void pace_analysis_free(pace_analysis *analysis) {
    for (size_t i = 0; i < analysis->ranks.count; i++)
        if (analysis->ranks.items[i]->trace) free_rank(analysis->ranks.items[i]);
    for (size_t i = 0; i < analysis->traces.count; i++) free_rank(analysis->traces.items[i]);
    for (size_t i = 0; i < analysis->others.count; i++) free_rank(analysis->others.items[i]);
    PACE_VEC_FREE(&analysis->ranks, &analysis->traces, &analysis->others);
    pace_warnings_free(&analysis->warnings);
    pace_collectives_free(&analysis->collectives);
    pace_messages_free(&analysis->messages);
    PACE_VEC_FREE(&analysis->cycles);
    pace_kernel_classes_free(analysis->classes);
    pace_stage_words_free(analysis->words);
    pace_device_catalog_free(&analysis->devices);
}

/* The device itself, or with figures changed, which stand behind its name. */
static bool is_of(const pace_device *asked, const pace_device *named) {
    size_t length = strlen(named->name);
    return strncmp(asked->name, named->name, length) == 0 &&
           (asked->name[length] == '\0' || asked->name[length] == ' ');
}

/* What was named is a machine, and its device, or else a device. */
static pace_status find_asked(const pace_device **out, pace_analysis *analysis, const char *text, double memory_bytes) {
    pace_machine machine;
    if (pace_device_resolve(out, &analysis->devices, text, memory_bytes) == PACE_OK) return PACE_OK;
    if (pace_machine_asked(&machine, analysis->devices.documents, text) != PACE_OK)
        return pace_device_resolve(out, &analysis->devices, text, memory_bytes);
    PACE_TRY(pace_device_resolve(out, &analysis->devices, machine.device, memory_bytes));
    analysis->machine = machine;
    return PACE_OK;
}

/* A part of a GPU (MIG) is not taken for the whole one. */
static const pace_device *find_named(pace_analysis *analysis, const char *name, double memory_bytes) {
    const pace_device *part;
    size_t length;
    if (!pace_slice_in(&length, name)) return pace_device_find(&analysis->devices, name, memory_bytes);
    return pace_device_resolve(&part, &analysis->devices, name, 0) == PACE_OK ? part : NULL;
}

static pace_status find_device(const pace_device **out, pace_analysis *analysis, const pace_step *step,
                               uint32_t device_id, const pace_analyze_options *options) {
    const pace_traced_device *traced = pace_step_device(step, device_id);
    double memory_bytes = traced ? traced->memory_bytes : 0;
    const char *name = traced && traced->name ? pace_names_text(&step->names, traced->name) : NULL;
    const pace_device *named = name ? find_named(analysis, name, memory_bytes) : NULL, *asked = NULL;
    if (options->device) PACE_TRY(find_asked(&asked, analysis, options->device, memory_bytes));
    if (asked && named && options->device_field && !is_of(asked, named))
        return pace_fail(
            PACE_E_USAGE,
            "%s: the trace names its device, \"%.80s\" (%s), found %s: paceline predict TRACE --on %s tells "
            "what the step would be there",
            options->device_field, name, named->name, asked->name, asked->name);
    *out = asked ? asked : named;
    return PACE_OK;
}

/* Host operators against an accelerator's peaks would be nonsense. */
static void leave_host_without_device(pace_rank *rank) {
    if (rank->work.host_is_device) rank->device = NULL;
}

/* Takes a step that was read; the bytes of a file of several ranks are shared out, and none has none. */
static pace_status take_read(pace_rank *rank, pace_reading *reading, size_t number, const char *path,
                             const pace_analyze_options *options) {
    rank->path = pace_copy_text(path, strlen(path));
    if (!rank->path) return PACE_E_MEMORY;
    rank->step = reading->steps.items[number];
    reading->steps.items[number] = (pace_step){0};
    rank->bytes = reading->notes.bytes / reading->steps.count;
    if (rank->bytes == 0) rank->bytes = 1;
    return options->check ? pace_step_check(&rank->step) : PACE_OK;
}

static pace_status warn_of_broken_step(pace_analysis *analysis, const pace_rank *rank) {
    for (size_t i = 0; i < rank->marks.items.count; i++)
        if (rank->marks.items.items[i].broken)
            return pace_warn(&analysis->warnings, PACE_WARN_FILE_CUT_OFF, rank->path,
                             "%s: %s is left out: the file breaks off in it", rank->path,
                             pace_names_text(&rank->step.names, rank->marks.items.items[i].label));
    return PACE_OK;
}

static pace_status load_rank(pace_analysis *analysis, pace_reading *reading, size_t number, const char *path,
                             const pace_analyze_options *options) {
    pace_rank *rank = pace_alloc(1, sizeof *rank);
    if (!rank) return PACE_E_MEMORY;
    pace_status status = take_read(rank, reading, number, path, options);
    if (status == PACE_OK) rank->device_id = pace_step_first_device(&rank->step);
    if (status == PACE_OK) status = find_device(&rank->device, analysis, &rank->step, rank->device_id, options);
    if (status == PACE_OK) status = pace_rank_understand(rank, analysis->classes, analysis->words, options->step_regex);
    if (status == PACE_OK) leave_host_without_device(rank);
    if (status == PACE_OK) status = warn_of_broken_step(analysis, rank);
    if (status == PACE_OK) status = PACE_PUSH(&analysis->traces, rank);
    if (status != PACE_OK) free_rank(rank);
    return status;
}

/* What holds of all files of a job is said once. */
static bool is_held(const pace_warnings *warnings, const char *text) {
    PACE_ITEMS (const pace_held_warning, one, warnings)
        if (strcmp(one->text, text) == 0) return true;
    return false;
}

static pace_status load_file(pace_analysis *analysis, pace_reading *reading, const char *path,
                             const pace_analyze_options *options) {
    if (reading->status != PACE_OK) return pace_fail(reading->status, "%s", reading->message);
    const char *warning = reading->notes.warning;
    if (warning[0] && !(reading->notes.code == PACE_WARN_TIMELINE_ASSUMED && is_held(&analysis->warnings, warning)))
        PACE_TRY(pace_warn(&analysis->warnings, reading->notes.code, path, "%s", warning));
    for (size_t i = 0; i < reading->steps.count; i++) PACE_TRY(load_rank(analysis, reading, i, path, options));
    return PACE_OK;
}

static int64_t begins_at(const pace_rank *trace) { return trace->step.base_ns + trace->step.begins_ns; }

/* A rank's files in the order in which they were recorded. */
static int by_rank(const void *left, const void *right) {
    const pace_rank *a = *(const pace_rank *const *)left, *b = *(const pace_rank *const *)right;
    if (a->step.rank != b->step.rank) return a->step.rank < b->step.rank ? -1 : 1;
    if (a->step.rank >= 0 && begins_at(a) != begins_at(b)) return begins_at(a) < begins_at(b) ? -1 : 1;
    return pace_natural_order(a->path, b->path);
}

static pace_status check_ranks(pace_analysis *analysis) {
    size_t count = analysis->traces.count;
    if (count) qsort(analysis->traces.items, count, sizeof *analysis->traces.items, by_rank);
    for (size_t i = 1; i < count; i++) {
        const pace_rank *a = analysis->traces.items[i - 1], *b = analysis->traces.items[i];
        if (a->step.rank >= 0 && a->step.rank == b->step.rank && !pace_are_cycles(a, b))
            PACE_TRY(pace_warn(&analysis->warnings, PACE_WARN_RANK_TWICE, b->path,
                               "%s and %s both say they are rank %" PRId64 "; both are kept", a->path, b->path,
                               a->step.rank));
    }
    return PACE_OK;
}

static pace_status load_ranks(pace_analysis *analysis, pace_readings *readings, const pace_texts *paths,
                              const pace_analyze_options *options) {
    for (size_t i = 0; i < paths->count; i++) {
        pace_status status = load_file(analysis, &readings->items[i], paths->items[i], options);
        bool tolerable = status == PACE_E_INPUT || status == PACE_E_IO;
        if (status != PACE_OK && (!tolerable || paths->count == 1)) return status;
        if (status != PACE_OK)
            PACE_TRY(pace_warn(&analysis->warnings, PACE_WARN_RANK_LEFT_OUT, paths->items[i], "left out: %s",
                               pace_message()));
    }
    if (analysis->traces.count == 0 && paths->count && analysis->warnings.count == 0)
        return pace_fail(PACE_E_INPUT,
                         "%s: holds the settings of a pipeline's logs: expected the logs too, pp_rank_N.json",
                         paths->items[0]);
    if (analysis->traces.count == 0 && paths->count)
        return pace_fail(PACE_E_INPUT, "none of the %zu files is a readable trace; the last one: %s", paths->count,
                         analysis->warnings.items[analysis->warnings.count - 1].text);
    return PACE_OK;
}

typedef struct {
    const pace_analysis *analysis;
    pace_message_sides *sides;
} wanted_sides;

static pace_status find_sides(void *context, size_t worker, size_t rank) {
    const wanted_sides *wanted = context;
    (void)worker;
    return pace_message_sides_find(&wanted->sides[rank], wanted->analysis->ranks.items[rank]);
}

static pace_status match_messages(pace_analysis *analysis) {
    size_t count = analysis->ranks.count;
    pace_message_sides *sides = pace_alloc(count, sizeof *sides);
    if (!sides) return PACE_E_MEMORY;
    pace_status status = pace_for_each(count, find_sides, &(wanted_sides){analysis, sides});
    if (status == PACE_OK) status = pace_messages_match(&analysis->messages, analysis->ranks.items, sides, count);
    for (size_t r = 0; r < count; r++) PACE_VEC_FREE(&sides[r]);
    pace_free(sides);
    return status;
}

static pace_status tile_rank(void *context, size_t worker, size_t rank) {
    const pace_analysis *analysis = context;
    (void)worker;
    return pace_rank_tile(analysis->ranks.items[rank]);
}

pace_status pace_analysis_join(pace_analysis *analysis) {
    pace_rank *const *ranks = analysis->ranks.items;
    size_t count = analysis->ranks.count;
    bool moved;
    PACE_TRY(match_messages(analysis));
    PACE_TRY(pace_collectives_match(&analysis->collectives, ranks, count));
    PACE_TRY(pace_clocks_align(ranks, count, &analysis->collectives, &analysis->messages));
    PACE_TRY(pace_collectives_recheck(&analysis->collectives, ranks, count));
    PACE_TRY(pace_collectives_regroup(&analysis->collectives, &moved, ranks, count));
    if (moved) PACE_TRY(pace_clocks_align(ranks, count, &analysis->collectives, &analysis->messages));
    for (size_t t = 0; t < analysis->traces.count; t++)
        for (size_t r = 0; r < count; r++)
            if (ranks[r]->trace == analysis->traces.items[t]) analysis->traces.items[t]->shift_ns = ranks[r]->shift_ns;
    PACE_TRY(pace_messages_match_times(&analysis->messages, ranks));
    pace_collectives_split(&analysis->collectives, ranks, count);
    pace_messages_split(&analysis->messages, ranks);
    PACE_TRY(pace_for_each(count, tile_rank, analysis));
    PACE_TRY(pace_collectives_explain(&analysis->collectives, ranks, count));
    pace_messages_explain(&analysis->messages, ranks);
    return PACE_OK;
}

bool pace_analysis_knows_groups(const pace_analysis *analysis) {
    const pace_messages *messages = &analysis->messages;
    bool may_wait = messages->may_wait_ns > messages->unsaid_ns / 2;
    return analysis->ranks.count < 2 || !(analysis->collectives.groups_unknown || may_wait);
}

static pace_status add_device(pace_analysis *analysis, const pace_rank *trace, uint32_t id,
                              const pace_analyze_options *options) {
    const pace_device *device;
    pace_rank *rank;
    PACE_TRY(find_device(&device, analysis, &trace->step, id, options));
    PACE_TRY(pace_rank_of_device(&rank, trace, id, analysis->classes, device));
    pace_status status = PACE_PUSH(&analysis->ranks, rank);
    if (status != PACE_OK) free_rank(rank);
    return status;
}

static pace_status add_devices(pace_analysis *analysis, pace_rank *trace, const pace_analyze_options *options) {
    enum { MOST = 256 }; /* no machine has as many; each costs a pass over the trace */
    pace_device_ids ids;
    PACE_TRY(pace_rank_device_ids(&ids, &trace->step));
    bool apart = ids.count > 1 && ids.count <= MOST;
    pace_status status = apart ? PACE_OK : PACE_PUSH(&analysis->ranks, trace);
    for (size_t i = 0; apart && status == PACE_OK && i < ids.count; i++)
        status = add_device(analysis, trace, ids.items[i], options);
    if (status == PACE_OK && ids.count > MOST)
        status =
            pace_warn(&analysis->warnings, PACE_WARN_EVENTS_LEFT_OUT, trace->path,
                      "%s: %zu devices are more than %d: they are taken as one", trace->path, ids.count, (int)MOST);
    PACE_VEC_FREE(&ids);
    return status;
}

static pace_status choose_steps(pace_rank *rank, const pace_analyze_options *options) {
    return pace_step_choice_apply(&rank->marks, &options->steps, &rank->step.names, rank->path);
}

static bool any_device_works(const pace_analysis *analysis) {
    for (size_t i = 0; i < analysis->traces.count; i++)
        if (!analysis->traces.items[i]->work.host_is_device) return true;
    return false;
}

static void drop_ranks_of(pace_analysis *analysis, const pace_rank *trace) {
    size_t kept = 0;
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        pace_rank *rank = analysis->ranks.items[i];
        if (pace_rank_trace(rank) != trace) analysis->ranks.items[kept++] = rank;
        else if (rank != trace) free_rank(rank);
    }
    analysis->ranks.count = kept;
}

static bool has_chosen_steps(const pace_rank *trace, const pace_analyze_options *options) {
    size_t first, count;
    return pace_step_choice_find(&first, &count, &options->steps, &trace->marks, &trace->step.names, trace->path) ==
           PACE_OK;
}

/* Of several ranks those without the chosen steps; where none has them, choose_steps() says so. */
static pace_status leave_out_without_steps(pace_analysis *analysis, const pace_analyze_options *options) {
    size_t with = 0;
    if (!options->steps.numbers && options->steps.skip == 0) return PACE_OK;
    for (size_t i = 0; i < analysis->traces.count; i++)
        with += !analysis->traces.items[i]->left_out && has_chosen_steps(analysis->traces.items[i], options);
    for (size_t i = 0; with && i < analysis->traces.count; i++) {
        pace_rank *trace = analysis->traces.items[i];
        char name[PACE_RANK_NAME];
        if (trace->left_out || has_chosen_steps(trace, options)) continue;
        trace->left_out = true;
        drop_ranks_of(analysis, trace);
        PACE_TRY(pace_warn(&analysis->warnings, PACE_WARN_RANK_LEFT_OUT, trace->path,
                           "%s (%s) is left out: it recorded none of the chosen steps", pace_rank_name(name, trace),
                           trace->path));
    }
    return PACE_OK;
}

/* One of the cycles of each process is analysed; the others are shown beside it. */
static pace_status choose_cycles(pace_analysis *analysis) {
    pace_cycles *cycles = &analysis->cycles;
    const pace_cycle *chosen = NULL;
    PACE_TRY(pace_cycles_find(cycles, analysis->traces.items, analysis->traces.count));
    PACE_ITEMS (pace_cycle, cycle, cycles) {
        if (cycle->chosen && !chosen) chosen = cycle;
        if (cycle->chosen) continue;
        cycle->trace->left_out = true;
        drop_ranks_of(analysis, cycle->trace);
    }
    if (!chosen) return PACE_OK;
    return pace_warn(
        &analysis->warnings, PACE_WARN_CYCLES, chosen->trace->path,
        "%zu files are cycles of one process: the figures are of cycle %zu (%s), whose typical step is the "
        "median of all (--steps chooses another)",
        chosen->of, chosen->number + 1, chosen->trace->path);
}

static pace_status set_others_aside(pace_analysis *analysis) {
    size_t kept = 0, count = analysis->traces.count;
    PACE_TRY(pace_grow(&analysis->others.items, &analysis->others.capacity, count, sizeof *analysis->others.items));
    for (size_t i = 0; i < count; i++) {
        pace_rank *trace = analysis->traces.items[i];
        if (trace->left_out) analysis->others.items[analysis->others.count++] = trace;
        else analysis->traces.items[kept++] = trace;
    }
    analysis->traces.count = kept;
    return PACE_OK;
}

/* What is analysed: each device that worked, in the chosen steps. */
static pace_status make_ranks(pace_analysis *analysis, const pace_analyze_options *options) {
    if (options->device && options->device_field && !any_device_works(analysis))
        return pace_fail(PACE_E_USAGE, "%s: has no effect: %s records no device work", options->device_field,
                         analysis->traces.items[0]->path);
    for (size_t i = 0; i < analysis->traces.count; i++) {
        pace_rank *trace = analysis->traces.items[i];
        trace->left_out = trace->work.host_is_device && any_device_works(analysis);
        if (trace->left_out)
            PACE_TRY(pace_warn(&analysis->warnings, PACE_WARN_RANK_LEFT_OUT, trace->path,
                               "%s is left out: it records no device work, while other ranks do (is it cut off?)",
                               trace->path));
        else PACE_TRY(add_devices(analysis, trace, options));
    }
    for (size_t i = 0; i < analysis->traces.count; i++) pace_marks_choose(&analysis->traces.items[i]->marks);
    for (size_t i = 0; i < analysis->ranks.count; i++) pace_marks_choose(&analysis->ranks.items[i]->marks);
    PACE_TRY(leave_out_without_steps(analysis, options));
    PACE_TRY(choose_cycles(analysis));
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        pace_rank *rank = analysis->ranks.items[i];
        if (rank->trace) PACE_TRY(choose_steps(rank, options));
    }
    PACE_TRY(set_others_aside(analysis));
    for (size_t i = 0; i < analysis->traces.count; i++) PACE_TRY(choose_steps(analysis->traces.items[i], options));
    return PACE_OK;
}

bool pace_analysis_has_devices(const pace_analysis *analysis) {
    for (size_t i = 0; i < analysis->ranks.count; i++)
        if (analysis->ranks.items[i]->trace) return true;
    return false;
}

/* What all its steps took together, or its span where there are none. */
static int64_t time_taken_ns(const pace_rank *device) {
    int64_t steps_ns = 0;
    for (size_t i = 0; i < device->marks.items.count; i++)
        steps_ns += device->marks.items.items[i].to_ns - device->marks.items.items[i].from_ns;
    return steps_ns > 0 ? steps_ns : device->work.window.span_ns;
}

pace_status pace_analysis_rank(const pace_rank **out, const pace_analysis *analysis, const char *field,
                               int64_t number) {
    char known[128] = "";
    const pace_rank *best = NULL;
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        const pace_rank *rank = analysis->ranks.items[i];
        if (rank->step.rank >= 0) pace_list(known, sizeof known, ", ", "%" PRId64, rank->step.rank);
        if (rank->step.rank == number && (!best || time_taken_ns(rank) > time_taken_ns(best))) best = rank;
    }
    if (!best)
        return pace_fail(PACE_E_USAGE, "%s: expected one that the traces name (%s), found %" PRId64, field,
                         *known ? known : "none is named", number);
    *out = best;
    return PACE_OK;
}

static pace_status warn_of_steps(pace_analysis *analysis) {
    pace_step_alignment alignment;
    size_t at;
    char name[PACE_RANK_NAME];
    PACE_TRY(pace_steps_compare(&alignment, &at, analysis->ranks.items, analysis->ranks.count));
    if (alignment == PACE_STEPS_ALIGN) return PACE_OK;
    const pace_rank *first = analysis->ranks.items[0], *rank = analysis->ranks.items[at];
    const char *who = pace_rank_name(name, rank);
    if (alignment == PACE_STEPS_PARTLY)
        return pace_warn(&analysis->warnings, PACE_WARN_STEPS_UNMATCHED, rank->path,
                         "%s recorded other steps than %s: communication is matched within steps that both have", who,
                         first->path);
    return pace_warn(&analysis->warnings, PACE_WARN_STEPS_UNMATCHED, rank->path,
                     "%s recorded none of the steps of %s (%.40s, …): their communication cannot be matched", who,
                     first->path, pace_names_text(&first->step.names, first->marks.items.items[0].label));
}

/* A job's other ranks hide what is waiting and what is exchange. */
static pace_status warn_of_ranks(pace_analysis *analysis) {
    size_t count = analysis->traces.count + analysis->others.count;
    int64_t most = 0;
    for (size_t i = 0; i < analysis->traces.count; i++)
        if (analysis->traces.items[i]->step.world_size > most) most = analysis->traces.items[i]->step.world_size;
    PACE_ITEMS (const pace_cycle, cycle, &analysis->cycles) count -= !cycle->chosen;
    analysis->ranks_missing = most > (int64_t)count;
    if (!analysis->ranks_missing) return PACE_OK;
    return pace_warn(&analysis->warnings, PACE_WARN_RANKS_MISSING, NULL,
                     "the job has %" PRId64 " ranks and %zu trace%s: what ranks without a trace did is not known", most,
                     count, count == 1 ? " was given" : "s were given");
}

static pace_status find_latest(pace_analysis *analysis) {
    return pace_latest_rank_find(&analysis->latest, analysis->ranks.items, analysis->ranks.count,
                                 &analysis->collectives, analysis->messages.items.count > 0);
}

static pace_status understand(pace_analysis *analysis, const pace_analyze_options *options) {
    PACE_TRY(check_ranks(analysis));
    PACE_TRY(pace_runs_check(analysis->traces.items, analysis->traces.count));
    PACE_TRY(make_ranks(analysis, options));
    PACE_TRY(warn_of_steps(analysis));
    PACE_TRY(warn_of_ranks(analysis));
    PACE_TRY(pace_analysis_join(analysis));
    PACE_TRY(find_latest(analysis));
    analysis->reported = analysis->latest.rank;
    analysis->asked = options->has_rank;
    analysis->cut = options->steps.numbers || options->steps.skip;
    if (!options->has_rank) return PACE_OK;
    return pace_analysis_rank(&analysis->reported, analysis, options->rank_field ? options->rank_field : "rank",
                              options->rank);
}

pace_status pace_analysis_load(pace_analysis *out, pace_catalog *catalog, const char *const *inputs, size_t count,
                               const pace_analyze_options *options) {
    pace_analysis analysis = {0};
    pace_texts paths = {0};
    pace_readings readings = {0};
    pace_status status = pace_device_catalog_load(&analysis.devices, catalog);
    if (status == PACE_OK) status = pace_kernel_classes_load(&analysis.classes, catalog);
    if (status == PACE_OK) status = pace_stage_words_load(&analysis.words, catalog);
    if (status == PACE_OK) status = pace_paths_find(&paths, &analysis.warnings, inputs, count);
    status = pace_readings_read(&readings, &paths, status, options);
    analysis.elsewhere = readings.elsewhere;
    if (status == PACE_OK && !analysis.elsewhere) status = load_ranks(&analysis, &readings, &paths, options);
    if (status == PACE_OK && !analysis.elsewhere) status = understand(&analysis, options);
    pace_readings_free(&readings);
    pace_texts_free(&paths);
    return PACE_GIVE(out, analysis, status, pace_analysis_free(&analysis));
}

static pace_status take_step(pace_analysis *analysis, pace_step *step, const char *name, const pace_device *device) {
    pace_rank *rank = pace_alloc(1, sizeof *rank);
    if (!rank) {
        pace_step_free(step);
        return PACE_E_MEMORY;
    }
    rank->step = *step;
    rank->path = pace_copy_text(name, strlen(name));
    pace_status status = rank->path ? PACE_OK : PACE_E_MEMORY;
    rank->device = device;
    if (status == PACE_OK) status = PACE_PUSH(&analysis->traces, rank);
    if (status == PACE_OK) return PACE_PUSH(&analysis->ranks, rank);
    free_rank(rank);
    return status;
}

static pace_status understand_made(void *context, size_t worker, size_t i) {
    const pace_analysis *analysis = context;
    pace_rank *rank = analysis->ranks.items[i];
    (void)worker;
    PACE_TRY(pace_rank_understand(rank, analysis->classes, analysis->words, NULL));
    leave_host_without_device(rank);
    return PACE_OK;
}

/* In its last step: those before may not have settled. */
static int64_t waits_ns(const pace_rank *rank) {
    size_t steps = rank->marks.items.count;
    pace_matrix matrix = pace_mean_step_of(rank, steps ? steps - 1 : 0).matrix;
    return pace_matrix_columns(&matrix, PACE_IDLE_RANK, PACE_IDLE_RANK);
}

void pace_analysis_report_busiest(pace_analysis *analysis) {
    int64_t least_ns = INT64_MAX;
    for (size_t i = 0; analysis->messages.items.count > 0 && i < analysis->ranks.count; i++) {
        int64_t ns = waits_ns(analysis->ranks.items[i]);
        if (ns < least_ns) analysis->reported = analysis->ranks.items[i];
        if (ns < least_ns) least_ns = ns;
    }
}

pace_status pace_analysis_of_each(pace_analysis *out, pace_catalog *catalog, pace_step *steps, size_t count,
                                  const char *const *names, const pace_device *device) {
    pace_analysis analysis = {.made = true};
    size_t taken = 0;
    pace_status status = pace_device_catalog_load(&analysis.devices, catalog);
    if (status == PACE_OK) status = pace_kernel_classes_load(&analysis.classes, catalog);
    if (status == PACE_OK) status = pace_stage_words_load(&analysis.words, catalog);
    for (; status == PACE_OK && taken < count; taken++)
        status = take_step(&analysis, &steps[taken], names[taken], device);
    for (; taken < count; taken++) pace_step_free(&steps[taken]);
    if (status == PACE_OK) status = pace_for_each(count, understand_made, &analysis);
    return PACE_GIVE(out, analysis, status, pace_analysis_free(&analysis));
}

pace_status pace_analysis_join_made(pace_analysis *analysis) {
    PACE_TRY(pace_analysis_join(analysis));
    pace_analysis_report_busiest(analysis);
    return PACE_OK;
}

pace_status pace_analysis_of_steps(pace_analysis *out, pace_catalog *catalog, pace_step *steps, size_t count,
                                   const char *const *names, const pace_device *device) {
    pace_analysis analysis;
    PACE_TRY(pace_analysis_of_each(&analysis, catalog, steps, count, names, device));
    pace_status status = pace_analysis_join_made(&analysis);
    return PACE_GIVE(out, analysis, status, pace_analysis_free(&analysis));
}

const pace_rank *pace_analysis_slowest(const pace_analysis *analysis) {
    if (analysis->reported) return analysis->reported;
    const pace_rank *slowest = NULL, *device = NULL;
    for (size_t i = 0; i < analysis->traces.count; i++) {
        const pace_rank *trace = analysis->traces.items[i];
        if (!slowest || trace->work.window.span_ns > slowest->work.window.span_ns) slowest = trace;
    }
    for (size_t i = 0; i < analysis->ranks.count; i++) {
        const pace_rank *rank = analysis->ranks.items[i];
        if (rank->trace == slowest && (!device || time_taken_ns(rank) > time_taken_ns(device))) device = rank;
    }
    return device ? device : slowest;
}
