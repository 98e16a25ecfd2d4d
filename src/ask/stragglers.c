#include "ask/stragglers.h"

#include <string.h>

/* 2, 4, ... 1024 workers, and as many as there were. */
static size_t choose_sizes(size_t *sizes, size_t workers) {
    size_t count = 0;
    bool placed = false;
    for (size_t size = 2; size <= 1024; size *= 2) {
        if (!placed && workers > 1 && workers < size) sizes[count++] = workers;
        placed = placed || workers <= size;
        sizes[count++] = size;
    }
    return count;
}

typedef struct {
    pace_iteration_rows *rows;
    pace_catalog *catalog;
} table;

static pace_status read_rows(void *out, pace_input *input) {
    const table *into = out;
    return pace_iteration_rows_read(into->rows, into->catalog, input);
}

static pace_status study(pace_straggler_job *j) {
    size_t sizes[PACE_STRAGGLER_SIZES];
    pace_iterations data = pace_iteration_rows_data(&j->rows);
    pace_status status = pace_variability_of(&j->found, &data);
    j->sizes = choose_sizes(sizes, data.workers);
    if (status == PACE_OK) status = pace_slowdown_of(j->slowdown, sizes, j->sizes, &data);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, j->name);
}

const char *pace_straggler_name(const pace_straggler_job *j, size_t worker) {
    return pace_names_text(&j->rows.names, j->rows.workers.items[worker]);
}

double pace_straggler_time(const pace_straggler_job *j) { return j->found.step * (double)j->rows.labels.count; }

size_t pace_steadily_slow(const pace_straggler_job *j, double *lost) {
    size_t slowest = 0;
    *lost = 0;
    for (size_t w = 0; w < j->rows.workers.count; w++) {
        double own = j->found.workers[w].lost;
        for (size_t i = 0; i < j->found.spells.count; i++)
            if (j->found.spells.items[i].worker == w) own -= j->found.spells.items[i].lost;
        if (own > *lost) *lost = own, slowest = w;
    }
    return slowest;
}

pace_status pace_stragglers_ask(pace_stragglers_asked *out, pace_catalog *catalog, const char *const *paths,
                                size_t count) {
    if (!(out->jobs = pace_alloc(count, sizeof *out->jobs))) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        pace_straggler_job *job = &out->jobs[out->count++];
        const char *slash = strrchr(paths[i], '/');
        job->path = strcmp(paths[i], "-") == 0 ? "<stdin>" : paths[i];
        job->name = slash && slash[1] ? slash + 1 : job->path;
        PACE_TRY(pace_input_read_file(&(table){&job->rows, catalog}, paths[i], read_rows));
        PACE_TRY(study(job));
    }
    return PACE_OK;
}

void pace_stragglers_asked_free(pace_stragglers_asked *asked) {
    for (size_t i = 0; i < asked->count; i++) {
        pace_iteration_rows_free(&asked->jobs[i].rows);
        pace_variability_free(&asked->jobs[i].found);
    }
    pace_free(asked->jobs);
}
