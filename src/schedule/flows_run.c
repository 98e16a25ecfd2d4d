#include "schedule/flows.h"

#include "schedule/flows_log.h"
#include "schedule/flows_routes.h"

#include <math.h>
#include <string.h>

static pace_status check_wires(const pace_flows_question *q) {
    for (size_t i = 0; i < q->wire_count; i++) {
        const pace_wire *w = &q->wires[i];
        if (!(w->latency_ns >= 0 && w->overhead_ns >= 0 && w->gap_ns >= 0 && w->ns_per_byte >= 0))
            return pace_fail(PACE_E_INPUT, "wire %zu: latency, overhead, gap and time a byte must not be negative", i);
    }
    for (size_t i = 0; i < q->program->operations.count; i++) {
        const pace_operation *o = &q->program->operations.items[i];
        if ((o->kind == PACE_OPERATION_SEND || o->kind == PACE_OPERATION_RECEIVE) && o->wire >= q->wire_count)
            return pace_fail(PACE_E_INPUT, "operation %zu takes wire %u, but there are %zu", i, o->wire, q->wire_count);
    }
    return PACE_OK;
}

static pace_status check_ranks(const pace_flows_question *q) {
    for (uint32_t rank = 0; rank < q->program->rank_count; rank++) {
        if (q->slowness && !(q->slowness[rank] > 0 && !isinf(q->slowness[rank])))
            return pace_fail(PACE_E_INPUT, "rank %u: expected a slowness above 0, found %g", rank, q->slowness[rank]);
        if (q->start_ns && !(q->start_ns[rank] >= 0 && !isinf(q->start_ns[rank])))
            return pace_fail(PACE_E_INPUT, "rank %u: expected a start of at least 0 ns, found %g", rank,
                             q->start_ns[rank]);
    }
    for (size_t i = 0; i < q->background_count; i++) {
        const pace_background *b = &q->background[i];
        uint32_t ranks = q->program->rank_count;
        if (!q->fabric) return pace_fail(PACE_E_INPUT, "background traffic needs links: expected a fabric");
        if (b->from >= ranks || b->to >= ranks || b->from == b->to || !(b->bytes_per_s > 0))
            return pace_fail(PACE_E_INPUT,
                             "background traffic of %g bytes/s from rank %u to %u: expected more than 0 between two of "
                             "the %u ranks",
                             b->bytes_per_s, b->from, b->to, ranks);
    }
    return PACE_OK;
}

/* Slowness and start as one number per rank. */
static pace_status kinds_of_ranks(uint64_t **out, const pace_flows_question *q) {
    uint64_t *kinds = pace_alloc(q->program->rank_count, sizeof *kinds);
    if (!kinds) return PACE_E_MEMORY;
    for (uint32_t rank = 0; rank < q->program->rank_count; rank++) {
        double values[2] = {q->slowness ? q->slowness[rank] : 1, q->start_ns ? q->start_ns[rank] : 0};
        uint64_t bits[2];
        memcpy(bits, values, sizeof bits);
        kinds[rank] = bits[0] * 0x9e3779b97f4a7c15u ^ (bits[1] + (bits[1] >> 7)) * 0xbf58476d1ce4e5b9u;
    }
    *out = kinds;
    return PACE_OK;
}

static pace_status fold_ranks(pace_fold *out, const pace_flows_question *q, size_t peers) {
    if (q->unfolded || q->background_count > 0) return pace_fold_none(out, q->program->rank_count);
    uint64_t *kinds;
    PACE_TRY(kinds_of_ranks(&kinds, q));
    pace_status status = q->fabric ? pace_flow_route_kinds(kinds, q->program, q->fabric, peers) : PACE_OK;
    if (status == PACE_OK) status = pace_fold_ranks(out, q->program, kinds);
    pace_free(kinds);
    return status;
}

static double unit_end_ns(const pace_flow_state *s, uint32_t unit) {
    double end = 0;
    for (uint32_t l = s->unit_lane[unit]; l < s->unit_lane[unit + 1]; l++)
        if (s->lanes[l].now_ns > end) end = s->lanes[l].now_ns;
    return end;
}

static void report(pace_flows_result *out, const pace_flow_state *s, double *rank_end_ns) {
    *out = (pace_flows_result){.simulated_ranks = s->fold.count, .messages = s->sent, .bytes = s->sent_bytes};
    out->simulated_messages = s->simulated;
    for (uint32_t u = 0; u < s->fold.count; u++) {
        double end = unit_end_ns(s, u);
        if (end > out->end_ns || u == 0) {
            out->end_ns = end;
            out->last_rank = s->fold.first[u];
        }
    }
    out->busiest_link = s->busiest_link;
    out->busiest_bytes = s->busiest_bytes;
    if (s->busiest_bytes > 0 && out->end_ns > 0)
        out->busiest_share = s->busiest_bytes / (s->busiest_rate * out->end_ns * 1e-9);
    for (uint32_t rank = 0; rank_end_ns && rank < s->program->rank_count; rank++)
        rank_end_ns[rank] = unit_end_ns(s, s->fold.colour_of[rank]);
}

/* `alike` false: nothing was run, see pace_flow_share(). */
static pace_status run_folded(pace_flows_result *out, bool *alike, const pace_flows_question *q, const pace_fold *fold,
                              double *rank_end_ns) {
    pace_flow_state state;
    *alike = true;
    pace_status status = pace_flow_state_init(&state, q, fold);
    if (status == PACE_OK) status = pace_flow_log_begin(&state);
    if (status == PACE_OK) status = q->fabric ? pace_flow_share(alike, &state, q->fabric) : pace_flow_walk(&state);
    if (status == PACE_OK && *alike) report(out, &state, rank_end_ns);
    pace_flow_state_free(&state);
    return status;
}

static pace_status run_as(pace_flows_result *out, bool *alike, bool *folded, const pace_flows_question *q, size_t peers,
                          double *rank_end_ns) {
    pace_fold fold;
    PACE_TRY(peers ? fold_ranks(&fold, q, peers) : pace_fold_none(&fold, q->program->rank_count));
    *folded = fold.count < q->program->rank_count;
    pace_status status = run_folded(out, alike, q, &fold, rank_end_ns);
    pace_fold_free(&fold);
    return status;
}

/* So many peers tell ranks apart that stand unlike in the fabric; where they do not, all are asked. */
enum { TELLING_PEERS = 64 };

/* What a folded run finds wrong is said of every rank by an unfolded one, which has the last word. */
static pace_status run(pace_flows_result *out, const pace_flows_question *q, double *rank_end_ns) {
    bool alike = true, folded = false;
    pace_status status = run_as(out, &alike, &folded, q, TELLING_PEERS, rank_end_ns);
    if (folded && !alike && q->program->peers.count > TELLING_PEERS)
        status = run_as(out, &alike, &folded, q, SIZE_MAX, rank_end_ns);
    if (!folded || (status != PACE_E_INPUT && alike)) return status;
    return run_as(out, &alike, &folded, q, 0, rank_end_ns);
}

static bool has_several_lanes(const pace_program *program) {
    for (size_t i = 0; i < program->classes.count; i++)
        if (program->classes.items[i].lane_count > 1) return true;
    return false;
}

static double fastest_ns_per_byte(const pace_flows_question *q) {
    double least = 0;
    for (size_t i = 0; i < q->wire_count; i++)
        if (q->wires[i].ns_per_byte > 0 && (least == 0 || q->wires[i].ns_per_byte < least))
            least = q->wires[i].ns_per_byte;
    return least;
}

/* Lanes of one rank share its port: a switch with ports as fast as the fastest wire, which is all there is to share. */
pace_status pace_flows_run(pace_flows_result *out, const pace_flows_question *question, double *rank_end_ns) {
    PACE_TRY(check_wires(question));
    PACE_TRY(check_ranks(question));
    if (question->fabric && question->fabric->rank_count != question->program->rank_count)
        return pace_fail(PACE_E_INPUT, "a program of %u ranks on a fabric of %u", question->program->rank_count,
                         question->fabric->rank_count);
    double ns_per_byte = fastest_ns_per_byte(question);
    if (question->fabric || ns_per_byte == 0 || !has_several_lanes(question->program))
        return run(out, question, rank_end_ns);
    pace_fabric ports;
    pace_flows_question shared = *question;
    PACE_TRY(pace_fabric_switch(&ports, question->program->rank_count, 1e9 / ns_per_byte, question->slowness));
    shared.fabric = &ports;
    pace_status status = run(out, &shared, rank_end_ns);
    pace_fabric_free(&ports);
    return status;
}
