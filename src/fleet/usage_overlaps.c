/* Runs of one job that overlap in time: attempts follow one another, so that their GPU-hours may count twice. */
#include "base/order.h"
#include "fleet/usage.h"

#include <math.h>

typedef struct {
    pace_name job, part, gpu;
    double start_s, end_s, gpus;
} lasting;

PACE_ORDER(by_job, lasting, PACE_UP(job) PACE_UP(part) PACE_UP(gpu) PACE_UP(start_s) PACE_UP(end_s) PACE_UP(gpus))

typedef PACE_VEC(lasting) lastings;

static pace_status list(lastings *out, const pace_usage *usage) {
    PACE_ITEMS (const pace_usage_run, run, &usage->runs) {
        double end_s = run->start_s + run->elapsed_s;
        if (run->job && run->gpus > 0 && end_s > run->start_s)
            PACE_TRY(
                PACE_PUSH(out, ((lasting){run->job, run->part, run->by[PACE_BY_GPU], run->start_s, end_s, run->gpus})));
    }
    PACE_SORT(out, by_job);
    return PACE_OK;
}

/* The end of one run and the start of the next are told by different programs. */
static const double least_s = 60;

pace_status pace_usage_find_overlaps(pace_usage *usage) {
    lastings all = {0};
    pace_status status = list(&all, usage);
    size_t longest = 0; /* of those before: the one that ends last */
    for (size_t i = 1; status == PACE_OK && i < all.count; i++) {
        const lasting *one = &all.items[i], *before = &all.items[longest];
        bool same = one->job == before->job && one->part == before->part && one->gpu == before->gpu;
        double both_s = same ? fmin(one->end_s, before->end_s) - one->start_s : 0;
        usage->overlapping += both_s >= least_s;
        if (both_s >= least_s) usage->overlap_gpu_hours += both_s / 3600 * fmin(one->gpus, before->gpus);
        if (!same || one->end_s > before->end_s) longest = i;
    }
    PACE_VEC_FREE(&all);
    return status;
}
