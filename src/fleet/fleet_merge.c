/* Fleets added to each other, in memory or as bytes: all they hold is counts, sums and sketches, taken in one order. */
#include "fleet/fleet.h"

#include <string.h>

typedef struct {
    PACE_VEC(uint64_t *) counts;
    PACE_VEC(pace_sum *) sums;
    PACE_VEC(pace_sketch *) sketches;
} fields;

static void free_fields(fields *f) { PACE_VEC_FREE(&f->counts, &f->sums, &f->sketches); }

static pace_status add_counts(fields *f, uint64_t *counts, size_t count) {
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&f->counts, &counts[i]));
    return PACE_OK;
}

static pace_status add_sums(fields *f, pace_sum *sums, size_t count) {
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&f->sums, &sums[i]));
    return PACE_OK;
}

static pace_status add_sketches(fields *f, pace_sketch *sketches, size_t count) {
    for (size_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&f->sketches, &sketches[i]));
    return PACE_OK;
}

static pace_status add_group(fields *f, pace_fleet_group *g) {
    PACE_TRY(add_counts(f, &g->jobs, 1));
    PACE_TRY(add_counts(f, &g->cnodes, 1));
    PACE_TRY(add_sums(f, &g->hours, 1));
    for (int l = 0; l < PACE_LEVELS; l++) {
        PACE_TRY(add_sums(f, g->share[l], PACE_JOB_COMPONENTS));
        PACE_TRY(add_sums(f, g->share_error[l], PACE_JOB_COMPONENTS));
        PACE_TRY(add_counts(f, g->bottleneck[l], PACE_JOB_COMPONENTS));
        PACE_TRY(add_sketches(f, g->shares[l], PACE_JOB_COMPONENTS));
    }
    PACE_TRY(add_sums(f, g->lost_hours, PACE_JOB_COMPONENTS));
    PACE_TRY(add_sums(f, g->lost_error, PACE_JOB_COMPONENTS));
    PACE_TRY(add_sums(f, g->bottleneck_hours, PACE_JOB_COMPONENTS));
    PACE_TRY(add_sums(f, g->mean_step_s, PACE_JOB_COMPONENTS));
    PACE_TRY(add_sketches(f, &g->cnode_counts, 1));
    return add_sketches(f, &g->weight_bytes, 1);
}

static pace_status add_projection(fields *f, pace_fleet_projection *p) {
    for (int l = 0; l < PACE_LEVELS; l++) PACE_TRY(add_counts(f, p->verdicts[l], PACE_PROJECTED_VERDICTS));
    PACE_TRY(add_sums(f, &p->single_speedup, 1));
    PACE_TRY(add_counts(f, &p->least_gains, 1));
    PACE_TRY(add_counts(f, &p->most_gains, 1));
    PACE_TRY(add_sums(f, &p->throughput_speedup, 1));
    PACE_TRY(add_sums(f, &p->single_error, 1));
    PACE_TRY(add_sums(f, &p->throughput_error, 1));
    PACE_TRY(add_sums(f, &p->after_error, 1));
    PACE_TRY(add_sums(f, p->share_before, PACE_JOB_COMPONENTS));
    PACE_TRY(add_sums(f, p->share_after, PACE_JOB_COMPONENTS));
    PACE_TRY(add_sums(f, &p->hours_before, 1));
    PACE_TRY(add_sums(f, &p->hours_after, 1));
    PACE_TRY(add_sketches(f, &p->single, 1));
    return add_sketches(f, &p->throughput, 1);
}

static pace_status add_answer(fields *f, pace_fleet_answer *a) {
    PACE_TRY(add_sums(f, a->speedup, PACE_FLEET_CLASSES));
    PACE_TRY(add_sums(f, a->speedup_error, PACE_FLEET_CLASSES));
    PACE_TRY(add_sums(f, &a->cnode_speedup, 1));
    PACE_TRY(add_sums(f, &a->cnode_error, 1));
    PACE_TRY(add_sums(f, a->hours, PACE_JOB_ARCHITECTURES));
    PACE_TRY(add_sums(f, a->hours_error, PACE_JOB_ARCHITECTURES));
    PACE_TRY(add_counts(f, a->tenth_jobs, PACE_SHARE_TENTHS));
    PACE_TRY(add_sums(f, a->tenth_error, PACE_SHARE_TENTHS));
    return add_sums(f, a->tenth_speedup, PACE_SHARE_TENTHS);
}

static pace_status add_conclusion(fields *f, pace_fleet_conclusion *c) {
    PACE_TRY(add_sums(f, c->weight_share, PACE_LEVELS));
    PACE_TRY(add_counts(f, c->weights_longest, PACE_LEVELS));
    PACE_TRY(add_counts(f, &c->ps_gains, 1));
    return add_sums(f, &c->ps_network_speedup, 1);
}

/* Every count, sum and sketch of a fleet, in an order that depends on the questions alone. */
static pace_status collect(fields *f, pace_fleet *fleet) {
    for (int c = 0; c < PACE_FLEET_CLASSES; c++) PACE_TRY(add_group(f, &fleet->groups[c]));
    for (int t = 0; t < PACE_FLEET_TARGETS; t++) PACE_TRY(add_projection(f, &fleet->projections[t]));
    for (size_t q = 0; q < fleet->questions->items.count; q++) PACE_TRY(add_answer(f, &fleet->answers[q]));
    for (size_t a = 0; a < fleet->questions->assumptions.count; a++)
        PACE_TRY(add_conclusion(f, &fleet->conclusions[a]));
    PACE_TRY(add_counts(f, &fleet->unusable, 1));
    return add_counts(f, &fleet->hours_assumed, 1);
}

static void take_fault(pace_fleet *into, uint64_t line, const char *fault) {
    if (line >= into->first_line) return;
    into->first_line = line;
    memcpy(into->first_fault, fault, sizeof into->first_fault);
}

static pace_status merge_fields(const fields *into, const fields *other) {
    if (into->counts.count != other->counts.count || into->sums.count != other->sums.count)
        return pace_fail(PACE_E_INTERNAL, "fleets that were asked different questions do not add up");
    for (size_t i = 0; i < into->counts.count; i++) *into->counts.items[i] += *other->counts.items[i];
    for (size_t i = 0; i < into->sums.count; i++) pace_sum_merge(into->sums.items[i], other->sums.items[i]);
    for (size_t i = 0; i < into->sketches.count; i++)
        PACE_TRY(pace_sketch_merge(into->sketches.items[i], other->sketches.items[i]));
    return PACE_OK;
}

pace_status pace_fleet_merge(pace_fleet *into, pace_fleet *other) {
    fields a = {0}, b = {0};
    pace_status status = collect(&a, into);
    if (status == PACE_OK) status = collect(&b, other);
    if (status == PACE_OK) status = merge_fields(&a, &b);
    free_fields(&a);
    free_fields(&b);
    if (status != PACE_OK) return status;
    for (int k = 0; k < PACE_JOB_COMPONENTS; k++)
        for (size_t i = 0; i < other->worst[k].count; i++)
            pace_worst_jobs_add(&into->worst[k], &other->worst[k].items[i]);
    take_fault(into, other->first_line, other->first_fault);
    return PACE_OK;
}

/* --- as bytes ----------------------------------------------------------------------------------------------------- */

static pace_status pack_fields(pace_bytes *bytes, const fields *f) {
    PACE_TRY(pace_pack_u64(bytes, f->counts.count));
    PACE_TRY(pace_pack_u64(bytes, f->sums.count));
    for (size_t i = 0; i < f->counts.count; i++) PACE_TRY(pace_pack_u64(bytes, *f->counts.items[i]));
    for (size_t i = 0; i < f->sums.count; i++) PACE_TRY(pace_sum_pack(bytes, f->sums.items[i]));
    for (size_t i = 0; i < f->sketches.count; i++) PACE_TRY(pace_sketch_pack(bytes, f->sketches.items[i]));
    return PACE_OK;
}

static pace_status pack_fault(pace_bytes *bytes, const pace_fleet *fleet) {
    PACE_TRY(pace_pack_u64(bytes, fleet->first_line));
    for (size_t i = 0; i < sizeof fleet->first_fault; i++)
        PACE_TRY(PACE_PUSH(bytes, (unsigned char)fleet->first_fault[i]));
    return PACE_OK;
}

pace_status pace_fleet_pack(pace_bytes *bytes, pace_fleet *fleet) {
    fields f = {0};
    pace_status status = collect(&f, fleet);
    if (status == PACE_OK) status = pack_fields(bytes, &f);
    free_fields(&f);
    for (int k = 0; k < PACE_JOB_COMPONENTS && status == PACE_OK; k++)
        status = pace_worst_jobs_pack(bytes, &fleet->worst[k]);
    return status == PACE_OK ? pack_fault(bytes, fleet) : status;
}

static pace_status merge_packed_fields(const fields *into, pace_unpack *from) {
    uint64_t counts, sums, count;
    pace_sum sum;
    PACE_TRY(pace_unpack_u64(&counts, from));
    PACE_TRY(pace_unpack_u64(&sums, from));
    if (counts != into->counts.count || sums != into->sums.count)
        return pace_fail(PACE_E_INPUT, "packed fleet: expected one that was asked the same questions");
    for (size_t i = 0; i < counts; i++) {
        PACE_TRY(pace_unpack_u64(&count, from));
        *into->counts.items[i] += count;
    }
    for (size_t i = 0; i < sums; i++) {
        PACE_TRY(pace_sum_unpack(&sum, from));
        pace_sum_merge(into->sums.items[i], &sum);
    }
    for (size_t i = 0; i < into->sketches.count; i++) {
        pace_sketch sketch;
        PACE_TRY(pace_sketch_unpack(&sketch, from));
        pace_status status = pace_sketch_merge(into->sketches.items[i], &sketch);
        pace_sketch_free(&sketch);
        if (status != PACE_OK) return status;
    }
    return PACE_OK;
}

static pace_status merge_packed_fault(pace_fleet *into, pace_unpack *from) {
    char fault[sizeof into->first_fault];
    uint64_t line;
    PACE_TRY(pace_unpack_u64(&line, from));
    if (from->left < sizeof fault) return pace_fail(PACE_E_INPUT, "packed fleet: it ends too early");
    memcpy(fault, from->at, sizeof fault);
    fault[sizeof fault - 1] = '\0';
    from->at += sizeof fault;
    from->left -= sizeof fault;
    take_fault(into, line, fault);
    return PACE_OK;
}

pace_status pace_fleet_merge_packed(pace_fleet *into, pace_unpack *from) {
    fields f = {0};
    pace_status status = collect(&f, into);
    if (status == PACE_OK) status = merge_packed_fields(&f, from);
    free_fields(&f);
    for (int k = 0; k < PACE_JOB_COMPONENTS && status == PACE_OK; k++)
        status = pace_worst_jobs_merge_packed(&into->worst[k], from);
    return status == PACE_OK ? merge_packed_fault(into, from) : status;
}
