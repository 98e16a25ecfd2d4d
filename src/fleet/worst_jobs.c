#include "fleet/worst_jobs.h"

#include <math.h>
#include <string.h>

/* The whole job decides, so that equal losses and ids have an order too. */
static bool comes_before(const pace_worst_job *a, const pace_worst_job *b) {
    if (a->lost_hours != b->lost_hours) return a->lost_hours > b->lost_hours;
    int by_id = strcmp(a->id, b->id);
    if (by_id != 0) return by_id < 0;
    return memcmp(a, b, sizeof *a) < 0;
}

void pace_worst_jobs_add(pace_worst_jobs *list, const pace_worst_job *job) {
    size_t place = list->count;
    while (place > 0 && comes_before(job, &list->items[place - 1])) place--;
    if (place == PACE_WORST_MOST) return;
    if (list->count < PACE_WORST_MOST) list->count++;
    memmove(&list->items[place + 1], &list->items[place], (list->count - 1 - place) * sizeof *job);
    list->items[place] = *job;
}

static pace_status pack_text(pace_bytes *bytes, const char text[PACE_WORST_TEXT]) {
    for (size_t i = 0; i < PACE_WORST_TEXT; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        for (size_t k = 0; k < sizeof word; k++) word |= (uint64_t)(unsigned char)text[i + k] << (8 * k);
        PACE_TRY(pace_pack_u64(bytes, word));
    }
    return PACE_OK;
}

static pace_status unpack_text(char text[PACE_WORST_TEXT], pace_unpack *from) {
    for (size_t i = 0; i < PACE_WORST_TEXT; i += sizeof(uint64_t)) {
        uint64_t word;
        PACE_TRY(pace_unpack_u64(&word, from));
        for (size_t k = 0; k < sizeof word; k++) text[i + k] = (char)(word >> (8 * k));
    }
    if (text[PACE_WORST_TEXT - 1] == '\0') return PACE_OK;
    return pace_fail(PACE_E_INPUT, "packed jobs: expected a text that ends");
}

pace_status pace_worst_jobs_pack(pace_bytes *bytes, const pace_worst_jobs *list) {
    PACE_TRY(pace_pack_u64(bytes, list->count));
    for (size_t i = 0; i < list->count; i++) {
        const pace_worst_job *job = &list->items[i];
        const double reals[] = {job->lost_hours, job->hours, job->share, job->cnodes, job->saved_hours};
        for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) PACE_TRY(pace_pack_real(bytes, reals[k]));
        PACE_TRY(pace_pack_u64(bytes, job->architecture));
        PACE_TRY(pace_pack_u64(bytes, job->target));
        PACE_TRY(pack_text(bytes, job->id));
        PACE_TRY(pack_text(bytes, job->user));
    }
    return PACE_OK;
}

pace_status pace_worst_jobs_merge_packed(pace_worst_jobs *into, pace_unpack *from) {
    uint64_t count;
    PACE_TRY(pace_unpack_u64(&count, from));
    if (count > PACE_WORST_MOST) return pace_fail(PACE_E_INPUT, "packed jobs: expected at most %d", PACE_WORST_MOST);
    for (uint64_t i = 0; i < count; i++) {
        pace_worst_job job = {0};
        double *reals[] = {&job.lost_hours, &job.hours, &job.share, &job.cnodes, &job.saved_hours};
        for (size_t k = 0; k < sizeof reals / sizeof *reals; k++) {
            PACE_TRY(pace_unpack_real(reals[k], from));
            if (!isfinite(*reals[k])) return pace_fail(PACE_E_INPUT, "packed jobs: expected finite numbers");
        }
        PACE_TRY(pace_unpack_u64(&job.architecture, from));
        PACE_TRY(pace_unpack_u64(&job.target, from));
        if (job.architecture >= PACE_JOB_ARCHITECTURES || job.target >= PACE_JOB_ARCHITECTURES)
            return pace_fail(PACE_E_INPUT, "packed jobs: expected an architecture");
        PACE_TRY(unpack_text(job.id, from));
        PACE_TRY(unpack_text(job.user, from));
        pace_worst_jobs_add(into, &job);
    }
    return PACE_OK;
}
