/*
 * Who a pipeline's messages are from and to. Rows name no peer: it is the next or the last model chunk, and where a
 * stage holds several, the chunk of a message is that of the pass it stands beside: the k-th of a kind belongs to the
 * k-th pass of its direction, or to the k-th that has a neighbour, if there are as many as those. Profilers also note
 * messages that were never launched: receives behind the last pass, sends before the end of the first, and those of the
 * model's two ends, of which the first receive may be lacking (StragglerAnalysis, analyzer/dependency_model.py).
 */
#include "source/pipelines/pipeline_rows.h"

#include "base/order.h"

enum { CLOCKS_DIFFER_NS = 500000 };

static int by_place(const pace_pipeline_worker *worker, int64_t stage, int64_t replica, int64_t tensor) {
    const int64_t is[] = {worker->stage, worker->replica, worker->tensor}, asked[] = {stage, replica, tensor};
    for (int i = 0; i < 3; i++)
        if (is[i] != asked[i]) return is[i] < asked[i] ? -1 : 1;
    return 0;
}

/* The rank of a place in the job; PACE_PIPELINE_UNKNOWN when it has no rows. */
static int64_t rank_at(const pace_pipeline_rows *rows, int64_t stage, int64_t replica, int64_t tensor) {
    if (rows->alone) return stage;
    size_t low = 0;
    PACE_SEARCH(low, rows->workers.count, i, by_place(&rows->workers.items[i], stage, replica, tensor) < 0);
    bool found = low < rows->workers.count && by_place(&rows->workers.items[low], stage, replica, tensor) == 0;
    return found ? rows->workers.items[low].rank : PACE_PIPELINE_UNKNOWN;
}

/* The chunk of the whole model that a message of this chunk goes to or comes from. */
static int64_t peer_chunk(int64_t chunk, const pace_pipeline_kind *kind) {
    bool up = (kind->work == PACE_PIPELINE_SEND) != kind->backward;
    return up ? chunk + 1 : chunk - 1;
}

static bool is_chunk(const pace_pipeline_rows *all, int64_t chunk) {
    return chunk >= 0 && chunk < all->stages * all->chunks;
}

static int64_t rank_of_chunk(const pace_pipeline_rows *all, const pace_pipeline_row *row, int64_t chunk) {
    if (!is_chunk(all, chunk)) return PACE_PIPELINE_NOBODY;
    return rank_at(all, chunk % all->stages, row->replica, row->tensor);
}

typedef struct {
    const pace_pipeline_rows *all;
    const pace_pipeline_row *rows;
    size_t count;
    pace_pipeline_kind kind; /* of the messages at hand */
} worker_step;

static pace_pipeline_kind kind_at(const worker_step *w, size_t i) { return w->all->kinds.items[w->rows[i].kind]; }

static bool is_pass(const worker_step *w, size_t i) {
    pace_pipeline_kind kind = kind_at(w, i);
    return kind.work == PACE_PIPELINE_COMPUTE &&
           kind.stage == (w->kind.backward ? PACE_STAGE_BACKWARD : PACE_STAGE_FORWARD);
}

static bool is_of_kind(const worker_step *w, size_t i) {
    pace_pipeline_kind kind = kind_at(w, i);
    return kind.work == w->kind.work && kind.backward == w->kind.backward;
}

/* The chunk of the model on the other side of the messages of a pass. */
static int64_t peer_of_pass(const worker_step *w, size_t i) {
    return peer_chunk(w->rows[i].chunk * w->all->stages + w->rows[i].stage, &w->kind);
}

typedef struct {
    size_t count, with_neighbour;
    int64_t last_start_ns, first_end_ns;
} passes;

static passes find_passes(const worker_step *w) {
    passes found = {0, 0, INT64_MIN / 2, INT64_MAX / 2};
    for (size_t i = 0; i < w->count; i++) {
        if (!is_pass(w, i)) continue;
        int64_t start_ns = w->rows[i].start_ns, end_ns = start_ns + w->rows[i].duration_ns;
        found.count++;
        found.with_neighbour += is_chunk(w->all, peer_of_pass(w, i));
        if (start_ns > found.last_start_ns) found.last_start_ns = start_ns;
        if (end_ns < found.first_end_ns) found.first_end_ns = end_ns;
    }
    return found;
}

/* Of a message that was noted while no pass could need or have made it. */
static bool is_idle(const worker_step *w, const passes *found, size_t i) {
    const pace_pipeline_row *row = &w->rows[i];
    return w->kind.work == PACE_PIPELINE_RECEIVE
               ? row->start_ns > found->last_start_ns + CLOCKS_DIFFER_NS
               : row->start_ns + row->duration_ns < found->first_end_ns - CLOCKS_DIFFER_NS;
}

/* Messages and passes are walked side by side. `skipped` passes at the begin have none. */
static void match(int64_t *out, const worker_step *w, const passes *found, size_t skipped, bool with_neighbour) {
    size_t at = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (!is_of_kind(w, i) || is_idle(w, found, i)) continue;
        for (; at < w->count; at++) {
            if (!is_pass(w, at) || (with_neighbour && !is_chunk(w->all, peer_of_pass(w, at)))) continue;
            if (skipped == 0) break;
            skipped--;
        }
        if (at == w->count) return;
        out[i] = rank_of_chunk(w->all, &w->rows[i], peer_of_pass(w, at++));
    }
}

static void match_messages(int64_t *out, const worker_step *w) {
    passes found = find_passes(w);
    size_t noted = 0;
    for (size_t i = 0; i < w->count; i++) {
        if (!is_of_kind(w, i)) continue;
        bool idle = is_idle(w, &found, i);
        if (idle) out[i] = PACE_PIPELINE_NOBODY;
        noted += !idle;
    }
    bool first_lacks = w->kind.work == PACE_PIPELINE_RECEIVE && noted + 1 == found.count;
    if (noted == found.count || first_lacks) match(out, w, &found, first_lacks, false);
    else if (noted == found.with_neighbour) match(out, w, &found, 0, true);
}

void pace_pipeline_peers_find(int64_t *out, const pace_pipeline_rows *all, const pace_pipeline_row *rows,
                              size_t count) {
    worker_step w = {.all = all, .rows = rows, .count = count};
    for (size_t i = 0; i < count; i++) out[i] = PACE_PIPELINE_UNKNOWN;
    for (unsigned k = 0; all->chunks > 1 && k < 4; k++) {
        w.kind.work = k & 1 ? PACE_PIPELINE_RECEIVE : PACE_PIPELINE_SEND;
        w.kind.backward = k & 2;
        match_messages(out, &w);
    }
    for (size_t i = 0; all->chunks == 1 && i < count; i++) {
        pace_pipeline_kind kind = kind_at(&w, i);
        if (kind.work == PACE_PIPELINE_SEND || kind.work == PACE_PIPELINE_RECEIVE)
            out[i] = rank_of_chunk(all, &rows[i], peer_chunk(rows[i].stage, &kind));
    }
}
