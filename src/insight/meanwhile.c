#include "insight/meanwhile.h"

#include "base/interval.h"
#include "insight/culprit.h"

typedef struct {
    const pace_step *step;
    pace_intervals pieces; /* of the resource, on the rank's clock */
    bool *waits;           /* by lane: the resource's time passes on it */
    int64_t *within_ns;    /* by name, of one lane */
} search;

static void free_search(search *s) {
    PACE_VEC_FREE(&s->pieces);
    PACE_FREE(s->waits, s->within_ns);
}

static pace_status take_pieces(search *s, const pace_critical *critical, const pace_analysis *analysis,
                               pace_advice resource, uint32_t rank) {
    int64_t offset_ns = analysis->ranks.items[critical->home]->shift_ns - analysis->ranks.items[rank]->shift_ns;
    PACE_ITEMS (const pace_path_piece, piece, &critical->pieces) {
        if (piece->resource != resource || piece->rank != rank || piece->task == PACE_NO_TASK) continue;
        s->waits[pace_task_lane(s->step, piece->task)] = true;
        PACE_TRY(pace_intervals_add(&s->pieces, piece->start_ns + offset_ns, pace_piece_end(piece) + offset_ns));
    }
    return PACE_OK;
}

/* How much of an operator passes within the pieces; *next is the first piece that ends behind its begin. */
static int64_t common_ns(const search *s, size_t *next, uint32_t task) {
    int64_t from = s->step->start_ns[task], to = pace_step_end_ns(s->step, task), sum = 0;
    while (*next < s->pieces.count && s->pieces.items[*next].end_ns <= from) ++*next;
    for (size_t i = *next; i < s->pieces.count && s->pieces.items[i].start_ns < to; i++) {
        pace_interval piece = s->pieces.items[i];
        sum += (piece.end_ns < to ? piece.end_ns : to) - (piece.start_ns > from ? piece.start_ns : from);
    }
    return sum;
}

static void look_at(search *s, const pace_lane *lane, int64_t *most_ns, pace_name *name) {
    size_t next = 0;
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) {
        if (!pace_task_is_operator(s->step, task) || pace_outermost_operator(s->step, task) != task) continue;
        int64_t *sum = &s->within_ns[s->step->name[task]];
        *sum += common_ns(s, &next, task);
        if (*sum <= *most_ns) continue;
        *most_ns = *sum;
        *name = s->step->name[task];
    }
    for (uint32_t task = lane->first; task < lane->first + lane->count; task++) s->within_ns[s->step->name[task]] = 0;
}

pace_status pace_meanwhile_find(pace_meanwhile *out, const pace_critical *critical, const pace_analysis *analysis,
                                pace_advice resource, uint32_t rank) {
    const pace_step *step = &analysis->ranks.items[rank]->step;
    int64_t most_ns = 0;
    pace_name name = 0;
    search s = {.step = step,
                .waits = pace_alloc(step->lanes.count + 1, sizeof *s.waits),
                .within_ns = pace_alloc(pace_names_count(&step->names) + 1, sizeof *s.within_ns)};
    pace_status status = s.waits && s.within_ns ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK) status = take_pieces(&s, critical, analysis, resource, rank);
    for (size_t i = 0; status == PACE_OK && s.pieces.count && i < step->lanes.count; i++)
        if (!step->lanes.items[i].device && !s.waits[i]) look_at(&s, &step->lanes.items[i], &most_ns, &name);
    free_search(&s);
    if (status != PACE_OK) return status;
    *out = most_ns > 0 ? (pace_meanwhile){pace_names_text(&step->names, name),
                                          (double)most_ns / (double)critical->by_resource_ns[resource]}
                       : (pace_meanwhile){0};
    return PACE_OK;
}
