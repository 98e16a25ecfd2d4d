#include "fleet/worst_jobs.h"

#include <math.h>
#include <string.h>

/* Compares all fields, so that jobs with equal losses and ids are ordered too. */
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

void pace_worst_text(char out[PACE_WORST_TEXT], const char *text) {
    static const char rest[] = "...";
    size_t length = strlen(text);
    memset(out, 0, PACE_WORST_TEXT);
    if (length < PACE_WORST_TEXT) {
        memcpy(out, text, length);
        return;
    }
    length = PACE_WORST_TEXT - sizeof rest;
    while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80) length--; /* within a character of UTF-8 */
    memcpy(out, text, length);
    memcpy(out + length, rest, sizeof rest);
}

static pace_status unpack_name(char out[PACE_WORST_TEXT], pace_unpack *from) {
    const char *text;
    size_t length;
    PACE_TRY(pace_unpack_text(&text, &length, from));
    if (length >= PACE_WORST_TEXT || memchr(text, 0, length))
        return pace_fail(PACE_E_INPUT, "packed jobs: expected a name of less than %d bytes", PACE_WORST_TEXT);
    memset(out, 0, PACE_WORST_TEXT);
    memcpy(out, text, length);
    return PACE_OK;
}

pace_status pace_worst_jobs_pack(pace_bytes *bytes, const pace_worst_jobs *list) {
    PACE_TRY(pace_pack_u64(bytes, list->count));
    PACE_ITEMS (const pace_worst_job, job, list) {
        const double reals[] = {job->lost_hours,  job->hours,       job->share,      job->cnodes,
                                job->share_error, job->saved_hours, job->move_spread};
        for (size_t k = 0; k < PACE_COUNT(reals); k++) PACE_TRY(pace_pack_real(bytes, reals[k]));
        PACE_TRY(pace_pack_u64(bytes, job->architecture));
        PACE_TRY(pace_pack_u64(bytes, job->target));
        PACE_TRY(pace_pack_text(bytes, job->id));
        PACE_TRY(pace_pack_text(bytes, job->user));
    }
    return PACE_OK;
}

pace_status pace_worst_jobs_merge_packed(pace_worst_jobs *into, pace_unpack *from) {
    uint64_t count;
    PACE_TRY(pace_unpack_u64(&count, from));
    if (count > PACE_WORST_MOST) return pace_fail(PACE_E_INPUT, "packed jobs: expected at most %d", PACE_WORST_MOST);
    for (uint64_t i = 0; i < count; i++) {
        pace_worst_job job = {0};
        double *reals[] = {&job.lost_hours,  &job.hours,       &job.share,      &job.cnodes,
                           &job.share_error, &job.saved_hours, &job.move_spread};
        for (size_t k = 0; k < PACE_COUNT(reals); k++) {
            PACE_TRY(pace_unpack_real(reals[k], from));
            if (!isfinite(*reals[k])) return pace_fail(PACE_E_INPUT, "packed jobs: expected finite numbers");
        }
        PACE_TRY(pace_unpack_u64(&job.architecture, from));
        PACE_TRY(pace_unpack_u64(&job.target, from));
        if (job.architecture >= PACE_JOB_ARCHITECTURES || job.target >= PACE_JOB_ARCHITECTURES)
            return pace_fail(PACE_E_INPUT, "packed jobs: expected an architecture");
        PACE_TRY(unpack_name(job.id, from));
        PACE_TRY(unpack_name(job.user, from));
        pace_worst_jobs_add(into, &job);
    }
    return PACE_OK;
}
