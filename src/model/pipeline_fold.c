#include "model/pipeline_fold.h"

/* Enough to fill, to settle, and to see two blocks alike: an interleaved order takes micro-batches in rounds of one a
 * stage, and needs two of them to fill, however many chunks there are. */
static const struct {
    uint32_t settles, of_a_stage, of_a_round;
    bool queues;
} enough[PACE_FOLD_TRIES] = {{7, 1, 4, false}, {8, 1, 4, true}, {12, 6, 12, false}, {24, 12, 24, false}};

enum { WORTHWHILE = 3 };

uint32_t pace_pipeline_round(const pace_pipeline *p) { return p->chunks > 1 ? p->stages : 1; }

pace_pipeline_fold pace_pipeline_fold_of(const pace_pipeline *p, unsigned attempt, uint32_t queued) {
    pace_pipeline_fold fold = {.less = *p, .round = pace_pipeline_round(p)};
    uint32_t each = p->chunks > 1 ? enough[attempt].of_a_round : enough[attempt].of_a_stage;
    uint32_t least = enough[attempt].settles + each * p->stages;
    if (enough[attempt].queues)
        least += 2 * queued * fold.round; /* a host fills the queue, then stops before the others do */
    if (enough[attempt].queues && queued == 0) return fold;
    if (p->forward_only || p->schedule == PACE_SCHEDULE_GPIPE || p->micro_batches / WORTHWHILE < least) return fold;
    fold.times = (p->micro_batches - least) / fold.round;
    fold.less.micro_batches = p->micro_batches - fold.times * fold.round;
    return fold;
}

/* Whether b is a, so many micro-batches later. */
static bool is_later(const pace_turn *a, const pace_turn *b, uint32_t micro_batches) {
    return a->pass == b->pass && a->chunk == b->chunk && a->micro_batch + micro_batches == b->micro_batch;
}

/* The longest run of turns that repeat a block of so many. The first micro-batch adds no gradients, the last exchanges
 * them. */
static void find_steady(pace_turn_block *out, const pace_turns *turns, uint32_t block, const pace_pipeline_fold *fold) {
    uint32_t run = 0;
    *out = (pace_turn_block){.count = block};
    for (uint32_t i = 0; i + block < turns->count; i++) {
        const pace_turn *here = &turns->items[i], *next = &turns->items[i + block];
        bool usual = here->micro_batch > 0 && next->micro_batch + 1 < fold->less.micro_batches;
        run = usual && is_later(here, next, fold->round) ? run + 1 : 0;
        if (run + block <= out->steady_count || run == 0) continue;
        out->steady_count = run + block;
        out->steady_first = i + 1 - run;
    }
    uint32_t blocks = out->steady_count / block;
    out->first = out->steady_first + (blocks > 2 ? (blocks - 2) / 2 * block : 0);
}

/* The whole order is the folded one with so many blocks put in behind the block. */
static bool is_folded(const pace_turns *whole, const pace_turns *less, const pace_turn_block *block,
                      const pace_pipeline_fold *fold) {
    uint32_t end = block->first + block->count, more = fold->times * block->count;
    if (whole->count != less->count + more) return false;
    for (uint32_t i = 0; i < whole->count; i++) {
        uint32_t into = i < end ? i : i < end + more ? block->first + (i - end) % block->count : i - more;
        uint32_t later = i < end ? 0 : i < end + more ? 1 + (i - end) / block->count : fold->times;
        if (!is_later(&less->items[into], &whole->items[i], later * fold->round)) return false;
    }
    return true;
}

pace_status pace_pipeline_fold_block(pace_turn_block *out, bool *found, const pace_pipeline *pipeline,
                                     const pace_pipeline_fold *fold, uint32_t stage) {
    pace_turns whole = {0}, less = {0};
    PACE_TRY(pace_pipeline_order(&whole, pipeline, stage));
    pace_status status = pace_pipeline_order(&less, &fold->less, stage);
    *found = false;
    if (status == PACE_OK && fold->times > 0 && whole.count > less.count) {
        uint32_t block = (uint32_t)(whole.count - less.count) / fold->times;
        find_steady(out, &less, block, fold);
        *found = out->steady_count >= 2 * block && is_folded(&whole, &less, out, fold);
    }
    PACE_VEC_FREE(&whole, &less);
    return status;
}
