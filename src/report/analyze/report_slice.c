/* The report of `paceline slice`: which files were written, of which steps, and how much smaller they are. */
#include "ask/slice_asked.h"
#include "report/engines.h"
#include "report/table.h"

#include <inttypes.h>

typedef struct {
    pace_slice_done of;
    const char *first, *last;
} file_row;

PACE_TABLE(files, "files", "Files written", PACE_FOR_ALL, 20,
           {"path", "file", PACE_SHOW_TEXT, PACE_OF(file_row, of.output)},
           {"of", "cut from", PACE_SHOW_TEXT, PACE_OF(file_row, of.path)},
           {"rank", "rank", PACE_SHOW_INT, PACE_WHOLE_OF(file_row, of.rank)},
           {"steps", "steps", PACE_SHOW_INT, PACE_KNOWN_OF(file_row, of.steps)},
           {"first_step", "first", PACE_SHOW_TEXT, PACE_OF(file_row, first)},
           {"last_step", "last", PACE_SHOW_TEXT, PACE_OF(file_row, last)},
           {"trace_events", "events", PACE_SHOW_INT, PACE_OF(file_row, of.counts.events)},
           {"events", "kept", PACE_SHOW_INT, PACE_OF(file_row, of.counts.kept_events)},
           {"trace_bytes", "bytes", PACE_SHOW_BYTES, PACE_OF(file_row, of.counts.bytes)},
           {"bytes", "kept", PACE_SHOW_BYTES, PACE_OF(file_row, of.counts.kept_bytes)});

static file_row row_of(const pace_slice_done *done) {
    return (file_row){.of = *done,
                      .first = done->steps ? done->first_step : NULL,
                      .last = done->steps ? done->last_step : NULL};
}

static void put_answer(pace_node *root, const pace_slices *slices) {
    uint64_t events = 0, kept = 0;
    size_t count = slices->files.count;
    for (size_t i = 0; i < count; i++) {
        events += slices->files.items[i].counts.events;
        kept += slices->files.items[i].counts.kept_events;
    }
    pace_node_sentence(root, true, "Kept %" PRIu64 " of %" PRIu64 " events (%.1f %%) in %s%s.", kept, events,
                       events ? 100 * (double)kept / (double)events : 0, slices->files.items[0].output,
                       count > 1 ? " and one file for every further rank" : "");
}

typedef struct {
    const pace_slices *slices;
    bool anonymized;
} sliced;

static void warn_of_damage(pace_report *report, const pace_slice_done *done) {
    const pace_slice_counts *counts = &done->counts;
    if (counts->warning[0]) pace_report_warn(report, PACE_WARN_FILE_CUT_OFF, done->path, "%s", counts->warning);
    if (*done->broken_step)
        pace_report_warn(report, PACE_WARN_FILE_CUT_OFF, done->path, "%s: %s is left out: the file breaks off in it",
                         done->path, done->broken_step);
    if (counts->strays)
        pace_report_warn(report, PACE_WARN_EVENTS_LEFT_OUT, done->path,
                         "%s: %" PRIu64 " elements of the list of events are no events and were left out", done->path,
                         counts->strays);
    if (counts->mended || counts->broken)
        pace_report_warn(report, PACE_WARN_TRACE_MENDED, done->path,
                         "%s: events and members that are no JSON: %" PRIu64 " mended, %" PRIu64 " left out, first %s",
                         done->path, counts->mended, counts->broken, counts->first);
}

static pace_status describe(pace_report *report, void *context) {
    const sliced *s = context;
    const pace_slices *slices = s->slices;
    pace_node *root = pace_report_root(report);
    PACE_ITEMS (const pace_slice_done, done, &slices->files) {
        pace_report_add_input(report, done->path, done->counts.bytes);
        warn_of_damage(report, done);
    }
    put_answer(root, slices);
    pace_report_warn_all(report, &slices->warnings);
    if (slices->absent)
        pace_report_warn(report, PACE_WARN_RANKS_MISSING, NULL,
                         "nothing was written of these ranks that were asked for: %s", slices->absent);
    pace_node *table = pace_open_table(root, &files, 0);
    for (size_t i = 0; i < slices->files.count; i++)
        pace_table_put(table, &(file_row[]){row_of(&slices->files.items[i])});
    if (slices->other_ranks) pace_node_note(root, "Inputs of other ranks: %zu.", slices->other_ranks);
    if (slices->without_steps) pace_node_note(root, "Inputs that have none of the steps: %zu.", slices->without_steps);
    if (s->anonymized)
        pace_node_note(root,
                       "Names of users, files, modules and machines are hashes now. A hash is no cipher: anyone who "
                       "guesses a name can confirm it.");
    return PACE_OK;
}

pace_status pace_slice_traces(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_slice_options *options) {
    pace_slices slices;
    PACE_TRY(pace_slices_write(&slices, paths, path_count, options));
    sliced s = {&slices, options->anonymize};
    pace_status status = pace_report_build(out, "slice", "A trace made small", describe, &s);
    pace_slices_free(&slices);
    return status;
}
