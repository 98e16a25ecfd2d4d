#include "insight/steps/first_use.h"

/* Of the step's time at least, and against the longest other of the name: as without_first_uses() of the host's
 * costs. */
enum { LEAST_PERCENT = 50, TIMES_AS_LONG = 10 };

/* What a piece of the host's time goes to: an operator or a call, also the one that work of the device waits for. */
static uint32_t host_task(const pace_step *step, const pace_path_piece *piece) {
    uint32_t task = piece->resource == PACE_ADVICE_HOST ? piece->task : PACE_NO_TASK;
    if (task != PACE_NO_TASK && piece->waiting) task = pace_task_cause(step, task);
    bool named = task != PACE_NO_TASK && (step->kind[task] == PACE_TASK_OP || step->kind[task] == PACE_TASK_CALL);
    return named ? task : PACE_NO_TASK;
}

static int64_t length_of(const pace_path_piece *piece) { return pace_piece_end(piece) - piece->start_ns; }

static const pace_path_piece *longest_of_host(const pace_critical *critical, const pace_analysis *analysis) {
    const pace_path_piece *longest = NULL;
    PACE_ITEMS (const pace_path_piece, own, &critical->pieces) {
        if (host_task(&analysis->ranks.items[own->rank]->step, own) == PACE_NO_TASK) continue;
        if (!longest || length_of(own) > length_of(longest)) longest = own;
    }
    return longest;
}

static int64_t longest_other(const pace_step *step, uint32_t task) {
    int64_t longest_ns = 0;
    for (uint32_t i = 0; i < step->count; i++)
        if (i != task && step->name[i] == step->name[task] && pace_task_ns(step, i) > longest_ns)
            longest_ns = pace_task_ns(step, i);
    return longest_ns;
}

bool pace_first_use_find(pace_first_use *out, const pace_critical *critical, const pace_analysis *analysis) {
    const pace_path_piece *piece = longest_of_host(critical, analysis);
    if (!piece || length_of(piece) * 100 < LEAST_PERCENT * (critical->to_ns - critical->from_ns)) return false;
    const pace_step *step = &analysis->ranks.items[piece->rank]->step;
    uint32_t task = host_task(step, piece);
    int64_t next_ns = longest_other(step, task);
    if (next_ns == 0 || length_of(piece) / TIMES_AS_LONG < next_ns) return false;
    *out = (pace_first_use){pace_step_name(step, task), length_of(piece), next_ns};
    return true;
}
