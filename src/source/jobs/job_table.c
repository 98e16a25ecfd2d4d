#include "source/jobs/job_table.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const pace_job_architecture_names[PACE_JOB_ARCHITECTURES] = {
    "1w1g", "1wng", "ps_worker", "allreduce_local", "allreduce_cluster", "pearl"};

const char *const pace_job_column_names[PACE_JOB_COLUMNS] = {
    "cnodes",
    "batch_size",
    "flop",
    "memory_access_bytes",
    "input_bytes",
    "weight_traffic_bytes",
    "dense_weight_bytes",
    "embedding_weight_bytes",
    "step_s",
    "gpu_hours",
    "start",
    "compute_efficiency",
    "memory_efficiency",
    "pcie_efficiency",
    "network_efficiency",
};

enum { FEWEST = 64 };

static pace_status resize(void *column, size_t capacity, size_t size) {
    void *block;
    memcpy(&block, column, sizeof block);
    block = pace_resize(block, capacity, size);
    if (!block) return PACE_E_MEMORY;
    memcpy(column, &block, sizeof block);
    return PACE_OK;
}

/* A column that grew before one that could not is merely longer than `capacity` says. */
static pace_status grow(pace_jobs *jobs) {
    size_t capacity = jobs->capacity ? 2 * jobs->capacity : FEWEST;
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) {
        PACE_TRY(resize(&jobs->values[i], capacity, sizeof(double)));
        for (size_t row = jobs->capacity; row < capacity; row++) jobs->values[i][row] = NAN;
    }
    PACE_TRY(resize(&jobs->architectures, capacity, sizeof *jobs->architectures));
    PACE_TRY(resize(&jobs->ids, capacity, sizeof *jobs->ids));
    PACE_TRY(resize(&jobs->users, capacity, sizeof *jobs->users));
    PACE_TRY(resize(&jobs->lines, capacity, sizeof *jobs->lines));
    jobs->capacity = capacity;
    return PACE_OK;
}

pace_status pace_jobs_reserve(pace_jobs *jobs, size_t more) {
    while (jobs->capacity - jobs->count < more) PACE_TRY(grow(jobs));
    return PACE_OK;
}

static pace_status add_text(size_t *out, pace_jobs *jobs, pace_job_text text) {
    *out = SIZE_MAX;
    if (!text.data) return PACE_OK;
    size_t start = jobs->text.count, need = start + text.length + 1;
    if (need > jobs->text.capacity) PACE_TRY(pace_grow(&jobs->text.items, &jobs->text.capacity, need, 1));
    memcpy(jobs->text.items + start, text.data, text.length);
    jobs->text.items[need - 1] = '\0';
    jobs->text.count = need;
    *out = start;
    return PACE_OK;
}

pace_status pace_jobs_add(pace_jobs *jobs, pace_job_text id, pace_job_text user, pace_job_architecture architecture,
                          const double *values, uint64_t line) {
    size_t row = jobs->count;
    if (row == jobs->capacity) PACE_TRY(grow(jobs));
    PACE_TRY(add_text(&jobs->ids[row], jobs, id));
    PACE_TRY(add_text(&jobs->users[row], jobs, user));
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) {
        jobs->values[i][row] = values[i];
        jobs->holds[i] |= !isnan(values[i]);
    }
    jobs->architectures[row] = (uint8_t)architecture;
    jobs->lines[row] = line;
    jobs->count++;
    return PACE_OK;
}

void pace_jobs_drop(pace_jobs *jobs, const bool *dropped) {
    size_t kept = 0;
    for (size_t row = 0; row < jobs->count; row++) {
        if (dropped[row]) continue;
        for (int i = 0; i < PACE_JOB_COLUMNS; i++) jobs->values[i][kept] = jobs->values[i][row];
        jobs->architectures[kept] = jobs->architectures[row];
        jobs->ids[kept] = jobs->ids[row];
        jobs->users[kept] = jobs->users[row];
        jobs->lines[kept] = jobs->lines[row];
        kept++;
    }
    jobs->count = kept;
}

void pace_jobs_clear(pace_jobs *jobs) { jobs->count = jobs->text.count = 0; }

void pace_jobs_free(pace_jobs *jobs) {
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) pace_free(jobs->values[i]);
    PACE_FREE(jobs->architectures, jobs->ids, jobs->users, jobs->lines);
    PACE_VEC_FREE(&jobs->text);
    *jobs = (pace_jobs){0};
}

static const char *text_at(const pace_jobs *jobs, size_t offset) {
    return offset == SIZE_MAX ? "" : jobs->text.items + offset;
}

const char *pace_jobs_id(const pace_jobs *jobs, size_t job) { return text_at(jobs, jobs->ids[job]); }
const char *pace_jobs_user(const pace_jobs *jobs, size_t job) { return text_at(jobs, jobs->users[job]); }

void pace_job_values_clear(double *values) {
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) values[i] = NAN;
}

static bool find(int *out, const char *const *names, int count, const char *text, size_t length) {
    for (int i = 0; i < count; i++)
        if (pace_same_letters(text, length, names[i])) {
            *out = i;
            return true;
        }
    return false;
}

bool pace_job_architecture_find(pace_job_architecture *out, const char *name, size_t length) {
    static const char *const others[] = {"ps", "parameter_server"};
    int found;
    if (!find(&found, pace_job_architecture_names, PACE_JOB_ARCHITECTURES, name, length)) {
        if (!find(&found, others, PACE_COUNT(others), name, length)) return false;
        found = PACE_JOB_PS_WORKER;
    }
    *out = (pace_job_architecture)found;
    return true;
}

bool pace_job_column_find(pace_job_column *out, const char *name, size_t length) {
    int found;
    if (!find(&found, pace_job_column_names, PACE_JOB_COLUMNS, name, length)) return false;
    *out = (pace_job_column)found;
    return true;
}

const char *pace_job_role_name(int role) {
    static const char *const words[] = {"job", "architecture", "user"};
    return role < PACE_JOB_COLUMNS ? pace_job_column_names[role] : words[role - PACE_JOB_COLUMNS];
}

int pace_job_role_named(const char *name) {
    size_t length = strlen(name);
    pace_job_column column;
    if (pace_job_column_find(&column, name, length)) return (int)column;
    for (int role = PACE_JOB_ID; role < PACE_JOB_ROLES; role++) {
        char word[32];
        if (length >= sizeof word) continue;
        snprintf(word, sizeof word, "%.*s", (int)length, name);
        if (pace_word_edits(word, pace_job_role_name(role)) == 0) return role;
    }
    return PACE_JOB_NO_ROLE;
}
