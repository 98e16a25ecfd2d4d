#include "insight/lead.h"

#include "insight/culprit.h"
#include "insight/ranks/exchange_totals.h"
#include "insight/idle_causes.h"

const char *const pace_host_reason_names[] = {"busy",  "waits_for_device", "launches", "small_copies",
                                              "calls", "launches_block"};

/* A saving is worth leading with from a tenth of the step on. */
static bool is_worth(int64_t saved_ns, int64_t step_ns) { return saved_ns * 10 >= step_ns; }

/* Where the path goes on on the rank that was late, what that rank did stands on it: waiting is its shadow. */
static bool may_lead(const pace_critical *critical, int resource) {
    return resource != PACE_ADVICE_BALANCE || critical->scope != PACE_PATH_OF_ALL_RANKS ||
           critical->by_resource_ns[PACE_ADVICE_BALANCE] > 0;
}

static pace_advice saves_most(const pace_critical *critical) {
    int best = 0;
    for (int r = 1; r < PACE_ADVICE_GAP; r++) {
        if (!may_lead(critical, r)) continue;
        int64_t less = critical->without_ns[best] - critical->without_ns[r];
        if (less > 0 || (less == 0 && critical->by_resource_ns[r] > critical->by_resource_ns[best])) best = r;
    }
    return (pace_advice)best;
}

/* --- why the host ------------------------------------------------------------------------------------------------ */

typedef struct {
    size_t kernels, copies, inside; /* inside = kernels whose launch returns when they have ended */
    int64_t kernel_ns, copy_ns;
} device_work;

/* A launch returns some microseconds after it was called, or, where it waits for its kernel, as soon after its end. */
static bool ends_inside_its_launch(const pace_step *step, const pace_work_item *item) {
    enum { RETURNS_NS = 20000 };
    uint32_t call = pace_task_cause(step, item->task);
    if (call == PACE_NO_TASK || step->kind[call] != PACE_TASK_CALL) return false;
    int64_t after_ns = pace_step_end_ns(step, call) - item->end_ns;
    return item->start_ns >= step->start_ns[call] && after_ns >= 0 && after_ns < RETURNS_NS;
}

/* Adds what begins in [from, to) so many times. */
static void add_work(device_work *sum, const pace_rank *rank, int64_t from_ns, int64_t to_ns, uint32_t times) {
    PACE_ITEMS (const pace_work_item, item, &rank->work.items) {
        if (item->start_ns < from_ns || item->start_ns >= to_ns) continue;
        if (item->class == PACE_WORK_COPY) {
            sum->copies += times;
            sum->copy_ns += times * (item->end_ns - item->start_ns);
        } else {
            sum->kernels += times;
            sum->inside += times * ends_inside_its_launch(&rank->step, item);
            sum->kernel_ns += times * (item->end_ns - item->start_ns);
        }
    }
}

enum { FEW = 16 };

/* Launch by launch the host takes longer than the device. */
static void judge_launches(pace_lead *lead, const pace_rank *rank, const pace_critical *critical) {
    const pace_step_fold *fold = &rank->fold;
    device_work sum = {0};
    add_work(&sum, rank, critical->from_ns, critical->to_ns, 1);
    if (fold->times && critical->mark != SIZE_MAX)
        add_work(&sum, rank, fold->from_ns[critical->mark], fold->from_ns[critical->mark] + fold->period_ns,
                 fold->times);
    size_t all = sum.kernels + sum.copies;
    if (all < FEW) return;
    bool copies = sum.copies > sum.kernels;
    lead->times = copies ? sum.copies : sum.kernels;
    lead->mean_ns = copies ? sum.copy_ns / (int64_t)sum.copies : sum.kernel_ns / (int64_t)sum.kernels;
    lead->host_mean_ns = critical->by_resource_ns[PACE_ADVICE_HOST] / (int64_t)lead->times;
    if (lead->host_mean_ns > lead->mean_ns) lead->reason = copies ? PACE_HOST_COPIES_BITS : PACE_HOST_LAUNCHES;
    if (10 * sum.inside >= 9 * all) lead->reason = PACE_HOST_LAUNCHES_BLOCK;
}

static bool stands_out(const pace_culprit *culprit) { /* one stretch does */
    return culprit->longest_share > 0.25 || culprit->dry_share > 0.25;
}

const char *pace_lead_own_work(const pace_lead *of_host) {
    const pace_culprit *c = &of_host->culprit;
    return c->no_launches && c->within_share >= 0.5 ? c->within : NULL;
}

bool pace_lead_spreads(const pace_lead *of_host) {
    return of_host->reason != PACE_HOST_WAITS && !stands_out(&of_host->culprit) && !pace_lead_own_work(of_host);
}

static void judge_calls(pace_lead *lead, const pace_rank *rank, const pace_critical *critical) {
    for (uint32_t task = 0; task < rank->step.count; task++)
        lead->times += pace_task_is_operator(&rank->step, task) && rank->step.start_ns[task] >= critical->from_ns &&
                       rank->step.start_ns[task] < critical->to_ns;
    if (lead->times < FEW) return;
    lead->reason = PACE_HOST_CALLS;
    lead->host_mean_ns = critical->by_resource_ns[PACE_ADVICE_HOST] / (int64_t)lead->times;
}

static void judge_host(pace_lead *lead, const pace_rank *rank, const pace_critical *critical) {
    if (stands_out(&lead->culprit)) return;
    if (rank->work.host_is_device) {
        judge_calls(lead, rank, critical);
        return;
    }
    pace_idle_sums idle = pace_idle_causes(rank, critical->from_ns, critical->to_ns);
    if (idle.time_ns[PACE_IDLE_BY_SYNCHRONISATION] > idle.time_ns[PACE_IDLE_BY_HOST]) {
        lead->reason = PACE_HOST_WAITS;
        lead->times = idle.gaps[PACE_IDLE_BY_SYNCHRONISATION];
        uint32_t in = pace_outermost_operator(&rank->step, idle.synchroniser);
        lead->waits_in = pace_step_name(&rank->step, in == PACE_NO_TASK ? idle.synchroniser : in);
    } else {
        judge_launches(lead, rank, critical);
    }
}

/* Where a rank's kernels' metadata and the catalogue's links say that most exposed communication is waiting for ranks
 * without a trace, these are what costs, and faster links would not help. */
static pace_status judge_network(pace_lead *lead, const pace_critical *critical, const pace_analysis *analysis,
                                 const pace_rank *rank) {
    pace_exchange_totals totals;
    pace_interval path = {critical->from_ns, critical->to_ns};
    if (!analysis->devices.documents || pace_rank_is_predicted(rank)) return PACE_OK;
    PACE_TRY(pace_exchange_totals_find(&totals, rank, analysis->ranks.count, pace_asked_machine(analysis),
                                       analysis->devices.documents, &(pace_intervals){&path, 1, 1}));
    int64_t exposed_ns = totals.exposed_ns + totals.unknown_ns;
    if (exposed_ns > 0 && totals.elsewhere_ns > exposed_ns / 2) {
        lead->resource = PACE_ADVICE_BALANCE;
        lead->at_least = true;
        lead->saved_ns = (int64_t)((double)lead->saved_ns * (double)totals.elsewhere_ns / (double)exposed_ns);
        lead->matters = is_worth(lead->saved_ns, lead->step_ns);
    }
    pace_exchange_totals_free(&totals);
    return PACE_OK;
}

pace_status pace_lead_of(pace_lead *out, const pace_critical *critical, const pace_analysis *analysis,
                         const pace_rank *rank, pace_advice resource) {
    int64_t step_ns = critical->to_ns - critical->from_ns, saved_ns = step_ns - critical->without_ns[resource];
    pace_lead lead = {.resource = resource,
                      .step_ns = step_ns,
                      .saved_ns = saved_ns,
                      .unexplained_ns = critical->by_resource_ns[PACE_ADVICE_GAP],
                      .matters = is_worth(saved_ns, step_ns)};
    PACE_TRY(pace_culprit_find(&lead.culprit, critical, analysis, resource));
    if (resource == PACE_ADVICE_HOST) judge_host(&lead, rank, critical);
    if (resource == PACE_ADVICE_INPUT)
        PACE_TRY(pace_meanwhile_find(&lead.meanwhile, critical, analysis, resource, lead.culprit.rank));
    *out = lead;
    return PACE_OK;
}

/* --- steps that take longer than usual ---------------------------------------------------------------------------- */

/* What the path of a long step has more of than that of the typical one. */
static pace_advice grows_most(const pace_critical *longer, const pace_critical *usual) {
    int best = 0;
    for (int r = 1; r < PACE_ADVICES; r++)
        if (longer->by_resource_ns[r] - usual->by_resource_ns[r] >
            longer->by_resource_ns[best] - usual->by_resource_ns[best])
            best = r;
    return (pace_advice)best;
}

/* The step whose annotation, or the gap behind it, holds most of a resource's time in one stretch. */
static size_t mark_of_longest(const pace_critical *critical, const pace_marks *marks, pace_advice resource) {
    const pace_path_piece *longest = NULL;
    PACE_ITEMS (const pace_path_piece, piece, &critical->pieces) {
        if (piece->resource != resource) continue;
        if (!longest || pace_piece_end(piece) - piece->start_ns > pace_piece_end(longest) - longest->start_ns)
            longest = piece;
    }
    ptrdiff_t mark = longest ? pace_marks_at(marks, longest->start_ns) : -1;
    return mark < 0 ? critical->mark : (size_t)mark;
}

static pace_status lead_with_long_steps(pace_lead *lead, const pace_critical *critical, const pace_analysis *analysis,
                                        const pace_rank *rank) {
    pace_critical worst;
    PACE_TRY(pace_critical_find_step(&worst, analysis, rank, lead->series.worst));
    pace_advice resource = grows_most(&worst, critical);
    bool of_host = resource == PACE_ADVICE_HOST || resource == PACE_ADVICE_INPUT;
    lead->spent_in = of_host ? mark_of_longest(&worst, &rank->marks, resource) : lead->series.worst;
    pace_status status = pace_culprit_find(&lead->culprit, &worst, analysis, resource);
    pace_critical_free(&worst);
    lead->resource = resource;
    lead->of_long_steps = lead->matters = true;
    lead->reason = PACE_HOST_IS_BUSY;
    lead->meanwhile = (pace_meanwhile){0};
    lead->saved_ns = lead->series.excess_ns;
    lead->step_ns = lead->series.run_ns;
    return status;
}

/* Whether what exceeds usual steps is a tenth of the run, and more than half of what the lead would save of the rest: a
 * step may become as long as the usual ones, but no resource will take no time. */
static bool long_steps_cost_most(const pace_lead *lead) {
    const pace_long_steps *s = &lead->series;
    double usual_ns = (double)(s->run_ns - s->excess_ns) * (double)lead->saved_ns / (double)lead->step_ns;
    return s->longer > 0 && is_worth(s->excess_ns, s->run_ns) && 2 * (double)s->excess_ns > usual_ns;
}

static pace_status judge_series(pace_lead *lead, const pace_critical *critical, const pace_analysis *analysis,
                                const pace_rank *rank) {
    pace_spread spread;
    PACE_TRY(pace_spread_measure(&spread, rank));
    pace_status status = pace_step_shift_find(&lead->shift, rank, &spread);
    if (!lead->shift.found) lead->series = pace_long_steps_of(rank, &spread);
    pace_spread_free(&spread);
    if (status == PACE_OK && critical->mark != SIZE_MAX && long_steps_cost_most(lead))
        status = lead_with_long_steps(lead, critical, analysis, rank);
    return status;
}

/* Where every kernel has its launch, work that waited for its launch alone was queued. */
static void judge_waits(pace_evidence *evidence, const pace_critical *critical, const pace_rank *rank) {
    int64_t step_ns = critical->to_ns - critical->from_ns;
    if (evidence->lacks != PACE_EVIDENCE_WHOLE || pace_rank_is_predicted(rank)) return;
    if (critical->by_resource_ns[PACE_ADVICE_GAP] <= step_ns / 2) return;
    evidence->lacks = PACE_EVIDENCE_UNEXPLAINED;
    if (rank->step.linked_kernels == rank->step.kind_count[PACE_TASK_KERNEL])
        evidence->queued_ns = pace_idle_causes(rank, critical->from_ns, critical->to_ns).time_ns[PACE_IDLE_BY_LAUNCH];
}

/* Where the trace does not say which ranks exchange, what takes long may be a late rank or the exchange. */
static void judge_groups(pace_lead *lead, const pace_analysis *analysis) {
    bool between = lead->resource == PACE_ADVICE_NETWORK || lead->resource == PACE_ADVICE_BALANCE;
    if (between && lead->matters && lead->evidence.lacks == PACE_EVIDENCE_WHOLE &&
        !pace_analysis_knows_groups(analysis))
        lead->evidence.lacks = PACE_EVIDENCE_GROUPS;
}

static pace_status find_unlike(pace_unlike_passes *out, const pace_analysis *analysis, const pace_rank *rank) {
    size_t own = 0;
    while (own < analysis->ranks.count && analysis->ranks.items[own] != rank) own++;
    return pace_unlike_passes_find(out, analysis->ranks.items, analysis->ranks.count, own);
}

pace_status pace_lead_find(pace_lead *out, const pace_critical *critical, const pace_analysis *analysis,
                           const pace_rank *rank) {
    pace_lead lead = {.resource = PACE_ADVICES, .step_ns = critical->to_ns - critical->from_ns};
    PACE_TRY(pace_evidence_find(&lead.evidence, analysis->classes, rank, critical->from_ns, critical->to_ns));
    judge_waits(&lead.evidence, critical, rank);
    if (critical->pieces.count) {
        pace_evidence evidence = lead.evidence;
        PACE_TRY(pace_lead_of(&lead, critical, analysis, rank, saves_most(critical)));
        lead.evidence = evidence;
        judge_groups(&lead, analysis);
        if (lead.resource == PACE_ADVICE_NETWORK) PACE_TRY(judge_network(&lead, critical, analysis, rank));
        if (critical->scope == PACE_PATH_OF_ALL_RANKS)
            lead.balance_ns = lead.step_ns - critical->without_ns[PACE_ADVICE_BALANCE];
        if (lead.resource == PACE_ADVICE_HOST) pace_first_use_find(&lead.first_use, critical, analysis);
        PACE_TRY(judge_series(&lead, critical, analysis, rank));
        PACE_TRY(pace_late_reason_find(&lead.late, analysis));
        PACE_TRY(find_unlike(&lead.unlike, analysis, rank));
    }
    *out = lead;
    return PACE_OK;
}
