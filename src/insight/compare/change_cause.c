#include "insight/compare/change_cause.h"

static void find_cell(pace_change_cause *cause, const pace_matrix *a, const pace_matrix *b) {
    for (int s = 0; s < PACE_STAGES; s++)
        for (int r = 0; r < PACE_RESOURCES; r++) {
            int64_t change = b->cell_ns[s][r] - a->cell_ns[s][r];
            bool same_way = cause->step_ns >= 0 ? change > cause->cell_ns : change < cause->cell_ns;
            if (!same_way) continue;
            cause->cell_ns = change;
            cause->stage = (pace_stage)s;
            cause->resource = (pace_resource)r;
        }
}

/* Pairs stand with the largest change first. */
static const pace_operator_pair *first_that_way(const pace_operator_pairs *pairs, int64_t way) {
    PACE_ITEMS (const pace_operator_pair, pair, pairs) {
        double change = pair->b_ns - pair->a_ns;
        if (*pair->name && (way >= 0 ? change > 0 : change < 0)) return pair;
    }
    return NULL;
}

/* Of what only the side has that lacks `gone`, what changed most the other way: eager operators give way to compiled
 * ones. */
static const pace_operator_pair *instead_of(const pace_operator_pairs *pairs, const pace_operator_pair *gone) {
    if (!gone || (gone->a && gone->b)) return NULL;
    PACE_ITEMS (const pace_operator_pair, pair, pairs) {
        bool replaces = gone->a ? !pair->a : !pair->b;
        if (replaces && *pair->name) return pair;
    }
    return NULL;
}

static const pace_host_gap *first_gap_that_way(const pace_host_gaps *gaps, int64_t way, pace_resource resource) {
    for (size_t i = 0; i < gaps->count; i++) {
        if (resource != (gaps->items[i].input ? PACE_IDLE_INPUT : PACE_IDLE_HOST)) continue;
        double change = gaps->items[i].b_ns - gaps->items[i].a_ns;
        if (way >= 0 ? change > 0 : change < 0) return &gaps->items[i];
    }
    return NULL;
}

static double launches_of(const pace_step_side *side) {
    const pace_work *work = &side->rank->work;
    size_t count = 0;
    for (size_t i = 0; i < work->items.count; i++)
        count += pace_intervals_hold(pace_compared_steps(side), work->items.items[i].start_ns);
    return pace_per_step(side, (int64_t)count);
}

/* Of ranks of one run waiting is what the other does longer. */
static pace_matrix own_time(const pace_matrix *matrix) {
    pace_matrix own = *matrix;
    for (int s = 0; s < PACE_STAGES; s++) own.cell_ns[s][PACE_IDLE_RANK] = 0;
    return own;
}

/* Where the ranks of one side are missing, what it waits for them counts as exchange: so does the other's. */
static pace_matrix without_waits(const pace_matrix *matrix) {
    pace_matrix sum = *matrix;
    for (int s = 0; s < PACE_STAGES; s++) {
        sum.cell_ns[s][PACE_EXPOSED_COMMUNICATION] += sum.cell_ns[s][PACE_IDLE_RANK];
        sum.cell_ns[s][PACE_IDLE_RANK] = 0;
    }
    return sum;
}

/* What fills the cell, by name. */
static pace_status name_work(pace_change_cause *cause, const pace_step_change *change) {
    pace_operator_cell cell = {cause->stage, cause->resource};
    if (cause->resource <= PACE_COPY) {
        PACE_TRY(pace_operator_pairs_of(&cause->operators, change, PACE_BY_OPERATOR, &cell));
        cause->op = first_that_way(&cause->operators, cause->cell_ns);
        cause->op_instead = instead_of(&cause->operators, cause->op);
    }
    if (cause->resource <= PACE_EXPOSED_COMMUNICATION || cause->resource == PACE_IDLE_RANK) {
        PACE_TRY(pace_operator_pairs_of(&cause->kernels, change, PACE_BY_KERNEL, &cell));
        cause->kernel = first_that_way(&cause->kernels, cause->cell_ns);
        cause->kernel_instead = instead_of(&cause->kernels, cause->kernel);
    }
    return PACE_OK;
}

pace_status pace_change_cause_find(pace_change_cause *out, const pace_step_change *change, const pace_host_gaps *gaps,
                                   bool same_ranks) {
    pace_matrix a = change->a.typical.matrix, b = change->b.typical.matrix;
    if (!same_ranks) a = without_waits(&a), b = without_waits(&b);
    if (change->own) a = own_time(&a), b = own_time(&b);
    pace_change_cause cause = {.step_ns = pace_compared_ns(&change->b) - pace_compared_ns(&change->a),
                               .a_launches = launches_of(&change->a),
                               .b_launches = launches_of(&change->b)};
    find_cell(&cause, &a, &b);
    cause.host = first_gap_that_way(gaps, cause.cell_ns, cause.resource);
    pace_status status = name_work(&cause, change);
    return PACE_GIVE(out, cause, status, pace_change_cause_free(&cause));
}

void pace_change_cause_free(pace_change_cause *cause) {
    pace_operator_pairs_free(&cause->operators);
    pace_operator_pairs_free(&cause->kernels);
}
