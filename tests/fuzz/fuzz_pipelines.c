/*
 * Fuzz target of timelines of whole jobs: any bytes, read as a table, as events, as a stage's log and as the settings
 * beside logs, either fail with a message or give finished steps that keep their invariants.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "fuzz/scratch_folder.h"
#include "source/pipelines/pipeline_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef pace_status reader(pace_step_list *, const char *, pace_read_notes *, pace_progress);

static char path[96];

static void remove_file(void) { unlink(path); }

static void put(const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(data, 1, size, file) != size || fclose(file) != 0) abort();
}

static void try_reader(reader *read) {
    pace_step_list steps;
    pace_read_notes notes;
    if (read(&steps, path, &notes, (pace_progress){0}) != PACE_OK) {
        if (!pace_message()[0]) abort();
        return;
    }
    for (size_t i = 0; i < steps.count; i++)
        if (pace_step_check(&steps.items[i]) != PACE_OK) abort();
    pace_step_list_free(&steps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static reader *const readers[] = {pace_pipeline_table_read, pace_pipeline_events_read, pace_pipeline_log_read,
                                      pace_pipeline_log_settings_read};
    if (!*path) {
        snprintf(path, sizeof path, "%s/pp_rank_1.json", make_scratch_folder());
        atexit(remove_file);
    }
    put(data, size);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++) try_reader(readers[i]);
    return 0;
}
