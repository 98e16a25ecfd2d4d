/* What the analyze report leads with: what saves most, and what stands behind it. */
#include "report/analyze/analyze_parts.h"
#include "base/print.h"
#include "insight/lead.h"
#include "report/show.h"

#include <stdlib.h>
#include <string.h>

/* What each resource's time is, for the reader who meets the word first here. */
static const char *const meaning[PACE_ADVICES] = {
    [PACE_ADVICE_COMPUTE] = "kernels limited by arithmetic",
    [PACE_ADVICE_MEMORY] = "kernels limited by memory bandwidth",
    [PACE_ADVICE_COPY] = "copies of memory between or within host and device",
    [PACE_ADVICE_NETWORK] = "communication that no compute hides",
    [PACE_ADVICE_HOST] = "the CPU that launches the work",
    [PACE_ADVICE_INPUT] = "fetching samples",
    [PACE_ADVICE_BALANCE] = "waiting for late ranks",
    [PACE_ADVICE_GAP] = "no recorded cause",
};

static const char *label_of(const pace_rank *rank, size_t mark) {
    return pace_names_text(&rank->step.names, rank->marks.items.items[mark].label);
}

static const char *takes(size_t count) { return count == 1 ? "takes" : "take"; }

/* A few steps cost more than any resource in all others. */
static void put_long_steps(pace_node *root, const pace_lead *lead, const pace_rank *rank) {
    const pace_long_steps *s = &lead->series;
    char spent[96] = "";
    if (lead->spent_in != s->worst)
        pace_snprintf(spent, sizeof spent, ", which the host spends in %.40s, behind its last launch",
                      label_of(rank, lead->spent_in));
    pace_node_sentence(root, true,
                       "What would help most: steps as long as the usual ones. %zu of %zu %s %s longer on average; "
                       "without that the run would be %.1f %% shorter.",
                       s->longer, s->steps, takes(s->longer), pace_show_ns(s->excess_ns / (int64_t)s->longer).text,
                       100.0 * (double)s->excess_ns / (double)s->run_ns);
    pace_node_sentence(root, true, "%.40s is the longest; most of its additional time is %s (%s)%s.",
                       label_of(rank, s->worst), pace_advice_names[lead->resource], meaning[lead->resource], spent);
}

/* Steps that take longer now and then, where something else leads. */
static void mention_long_steps(pace_node *root, const pace_lead *lead, const pace_rank *rank) {
    const pace_long_steps *s = &lead->series;
    if (lead->of_long_steps || s->longer == 0 || s->excess_ns * 20 < s->run_ns) return;
    pace_node_sentence(
        root, true,
        "%zu of %zu steps %s longer than usual; without that the run would be %.1f %% shorter. The longest, "
        "%.40s, has more of %s.",
        s->longer, s->steps, takes(s->longer), 100.0 * (double)s->excess_ns / (double)s->run_ns,
        label_of(rank, s->worst), pace_resource_words(s->resource));
}

void pace_put_step_shift(pace_node *root, const char *side, const pace_step_shift *s, const pace_rank *rank) {
    if (!s->found) return;
    bool same = s->kernels_after < 1.02 * s->kernels_before && s->kernels_before < 1.02 * s->kernels_after;
    bool work = s->resource == PACE_COMPUTE_BOUND || s->resource == PACE_MEMORY_BOUND;
    pace_node_sentence(root, true, "%sFrom %.40s on a step takes %s, before %s (x%.2f): %s %s %s a step%s.", side,
                       label_of(rank, s->mark), pace_show_ns(s->after_ns).text, pace_show_ns(s->before_ns).text,
                       (double)s->after_ns / (double)s->before_ns, pace_resource_words(s->resource),
                       s->resource_ns > 0 ? "take more," : "take less,", pace_show_ns(llabs(s->resource_ns)).text,
                       work && same ? " for as many kernels, as when clocks are throttled" : "");
}

static void put_unlike(pace_node *root, const pace_lead *lead) {
    char name[PACE_SHOWN_NAME];
    if (lead->unlike.found)
        pace_node_sentence(root, true,
                           "Micro-batches are of unlike length: a tenth of '%s' takes %s or more, a tenth %s or less.",
                           pace_show_name(name, lead->unlike.name), pace_show_ns(lead->unlike.long_ns).text,
                           pace_show_ns(lead->unlike.short_ns).text);
}

/* Who is late, and why. */
static void put_late(pace_node *root, const pace_lead *lead, const pace_analysis *analysis) {
    char name[PACE_SHOWN_NAME], rank[PACE_RANK_NAME], kernel[PACE_SHOWN_NAME + 160] = "";
    const pace_late_reason *late = &lead->late;
    if (lead->balance_ns * 10 >= lead->step_ns && !lead->of_long_steps)
        pace_node_sentence(root, true, "If no rank waited for another%s, the step would be %.1f %% shorter.",
                           analysis->latest.by_work ? " (pipeline bubbles)" : "",
                           100.0 * (double)lead->balance_ns / (double)lead->step_ns);
    if (analysis->latest.rank && analysis->latest.ranks * 2 > analysis->ranks.count && !analysis->latest.by_work) {
        pace_node_sentence(root, true, "%zu of %zu ranks are late about as much: which one changes from step to step.",
                           analysis->latest.ranks, analysis->ranks.count);
        return;
    }
    if (!late->known || late->excess_ns * 20 < lead->step_ns) return;
    if (late->kernel)
        pace_snprintf(kernel, sizeof kernel,
                      "; most of all '%s' takes %s a step in %.0f calls, on the others %s in %.0f",
                      pace_show_name(name, late->kernel), pace_show_ns(late->kernel_ns).text, late->kernel_calls,
                      pace_show_ns(late->others_kernel_ns).text, late->others_calls);
    pace_node_sentence(root, true, "What %s has more of than the median rank is %s in the %s stage, %s a step%s.",
                       pace_rank_name(rank, analysis->latest.rank), pace_resource_words(late->resource),
                       pace_stage_names[late->stage], pace_show_ns(late->excess_ns).text, kernel);
}

/* Where the host is the device it launches nothing. */
static const char *meaning_of(const pace_rank *rank, pace_advice resource) {
    if (resource == PACE_ADVICE_HOST && rank->work.host_is_device)
        return "calling operators, Python, and what passes between operators";
    return meaning[resource];
}

static void put_saving(pace_node *root, const pace_lead *lead, const pace_rank *rank, const char *whole) {
    double saved = 100.0 * (double)lead->saved_ns / (double)lead->step_ns;
    if (lead->matters)
        pace_node_sentence(root, true,
                           "What would help most: %s (%s). If it took no time, the %s would be %.1f %% shorter.",
                           pace_advice_names[lead->resource], meaning_of(rank, lead->resource), whole, saved);
    else
        pace_node_sentence(root, true, "No single resource would save 10 %% of the %s. The most, %.1f %%, is %s (%s).",
                           whole, saved, pace_advice_names[lead->resource], meaning_of(rank, lead->resource));
    if (!lead->matters && lead->unexplained_ns * 10 >= lead->step_ns)
        pace_node_sentence(root, true, "For %.0f %% of the %s the trace does not say what the device waited for.",
                           100.0 * (double)lead->unexplained_ns / (double)lead->step_ns, whole);
}

/* Nothing is advised then. */
static void put_unknown(pace_node *root, const pace_lead *lead, const char *whole, const char *path) {
    char gap[256];
    bool waits = lead->evidence.lacks == PACE_EVIDENCE_UNEXPLAINED;
    pace_report *report = pace_node_report(root);
    pace_evidence_say(gap, sizeof gap, &lead->evidence, lead->step_ns, whole);
    bool host = lead->evidence.lacks == PACE_EVIDENCE_NO_KERNELS;
    pace_node_sentence(root, true, "What would help most is unknown: %s.%s", gap,
                       host ? " The shares are of operators on the host." : "");
    if (!report) return;
    pace_report_warn(report, waits ? PACE_WARN_WAITS_UNEXPLAINED : PACE_WARN_KERNELS_MISSING, path, "%s", gap);
    pace_report_warned_in_lead(report);
}

/* The operator, kernel or call, and the module or function. */
static void put_culprit(pace_node *root, const pace_lead *lead, const pace_rank *rank) {
    const pace_culprit *c = &lead->culprit;
    char of[64] = "";
    if (lead->of_long_steps) pace_snprintf(of, sizeof of, " of %.40s", label_of(rank, lead->series.worst));
    char name[PACE_SHOWN_NAME], around[PACE_SHOWN_NAME], within[PACE_SHOWN_NAME], inmost[PACE_SHOWN_NAME];
    const char *resource = pace_advice_names[lead->resource];
    bool itself = c->name && c->within && !c->before && strcmp(c->name, c->within) == 0;
    if (c->within && c->within_share >= 0.5 && !itself)
        pace_node_sentence(root, true, "%.0f %% of the %s time on the critical path%s is in '%s'%s%s%s.",
                           100 * c->within_share, resource, of, pace_show_name(within, c->within),
                           c->inmost ? ", most of it in '" : "", c->inmost ? pace_show_name(inmost, c->inmost) : "",
                           c->inmost ? "'" : "");
    if (!c->name || (c->before && c->within && c->within_share >= c->share)) return; /* it tells what passed before */
    pace_show_name(name, c->name);
    pace_show_name(around, c->around);
    pace_node_sentence(root, true,
                       "The largest part of the %s time on the critical path%s is %s'%s'%s%s%s: %.0f %% of it.",
                       resource, of, c->before ? "before " : "", name, c->around ? " of '" : "", around,
                       c->around ? "'" : "", 100 * c->share);
}

/* Many short operators may follow one another, none of which launches anything. */
static void put_dry_stretch(pace_node *root, const pace_lead *lead) {
    const pace_culprit *c = &lead->culprit;
    char name[PACE_SHOWN_NAME];
    if (c->dry_share <= 0.25 || c->longest_share > 0.25 || pace_lead_own_work(lead)) return;
    pace_node_sentence(root, true,
                       "For %s in one stretch, %.0f %% of the host time, it launches nothing; then comes '%s'.",
                       pace_show_ns(c->dry_ns).text, 100 * c->dry_share, pace_show_name(name, c->dry_before));
}

/* What another thread does while input is waited for. */
static void put_meanwhile(pace_node *root, const pace_meanwhile *meanwhile) {
    char name[PACE_SHOWN_NAME];
    if (meanwhile->share < 0.5) return;
    pace_node_sentence(root, true, "For %.0f %% of that time another thread is in '%s'.", 100 * meanwhile->share,
                       pace_show_name(name, meanwhile->name));
}

static void put_reason(pace_node *root, const pace_lead *lead) {
    char name[PACE_SHOWN_NAME];
    pace_shown mean = pace_show_ns(lead->mean_ns), host = pace_show_ns(lead->host_mean_ns);
    const char *plural = lead->times == 1 ? "" : "s";
    if (lead->reason == PACE_HOST_WAITS)
        pace_node_sentence(root, true,
                           "%zu time%s the host waits for the device and then the device for the host; the longest gap "
                           "follows '%s'.",
                           lead->times, plural, pace_show_name(name, lead->waits_in));
    if (lead->reason == PACE_HOST_LAUNCHES_BLOCK)
        pace_node_sentence(root, true,
                           "Launches return only when their kernels have ended: %zu kernels of %s on average.",
                           lead->times, mean.text);
    if (lead->reason == PACE_HOST_CALLS)
        pace_node_sentence(root, true, "The step calls %zu operators; the host takes %s for each on average.",
                           lead->times, host.text);
    if (lead->reason == PACE_HOST_LAUNCHES || lead->reason == PACE_HOST_COPIES_BITS)
        pace_node_sentence(root, true, "The device runs %zu %s of %s on average; the host takes %s for each.",
                           lead->times, lead->reason == PACE_HOST_LAUNCHES ? "kernels" : "copies", mean.text,
                           host.text);
}

static void put_rank(pace_node *root, const pace_lead *lead, const pace_analysis *analysis) {
    char name[PACE_RANK_NAME];
    if (analysis->ranks.count < 2 || lead->culprit.rank_share <= 0) return;
    pace_node_sentence(root, true, "%.0f %% of the %s time on the critical path is on %s.",
                       100 * lead->culprit.rank_share, pace_advice_names[lead->resource],
                       pace_rank_name(name, analysis->ranks.items[lead->culprit.rank]));
}

static void put_figures(pace_node *root, const pace_lead *lead, const pace_analysis *analysis,
                        const pace_remedies *remedies) {
    const pace_culprit *c = &lead->culprit;
    pace_node *node = pace_node_object(root, "lead", NULL, PACE_FOR_JSON);
    pace_node_text(node, "resource", pace_advice_names[lead->resource]);
    pace_node_int(node, "saved_ns", lead->saved_ns);
    pace_node_real(node, "saved_share", (double)lead->saved_ns / (double)lead->step_ns);
    pace_node_bool(node, "matters", lead->matters);
    pace_node_text(node, "evidence", pace_evidence_names[lead->evidence.lacks]);
    pace_node_text(node, "name", c->name);
    pace_node_text(node, "around", c->around);
    pace_node_bool(node, "before", c->before);
    pace_node_real(node, "share", c->share);
    pace_node_text(node, "within", c->within);
    pace_node_real(node, "within_share", c->within_share);
    pace_node_int(node, "rank", pace_rank_number(analysis->ranks.items[c->rank]));
    pace_node_text(node, "host_reason",
                   lead->resource == PACE_ADVICE_HOST ? pace_host_reason_names[lead->reason] : NULL);
    pace_node_text(node, "waits_in", lead->waits_in);
    pace_node_text(node, "meanwhile", lead->meanwhile.name);
    pace_node_real(node, "meanwhile_share", lead->meanwhile.share);
    pace_node_bool(node, "of_long_steps", lead->of_long_steps);
    pace_node_int(node, "long_steps", (int64_t)lead->series.longer);
    pace_node_int(node, "long_steps_excess_ns", lead->series.excess_ns);
    pace_node_real(node, "shift_ratio",
                   lead->shift.found ? (double)lead->shift.after_ns / (double)lead->shift.before_ns : (double)NAN);
    pace_node_int(node, "balance_saved_ns", lead->balance_ns);
    pace_node_text(node, "late_resource", lead->late.known ? pace_resource_names[lead->late.resource] : NULL);
    pace_node_int(node, "late_excess_ns", lead->late.excess_ns);
    pace_node_text(node, "late_kernel", lead->late.kernel);
    bool on_lead;
    const pace_remedy *first = remedies && !lead->first_use.name ? pace_remedies_first(&on_lead, remedies, lead) : NULL;
    pace_node_text(node, "hint", remedies ? remedies->hint.id : NULL);
    pace_node_text(node, "hint_beside", remedies ? remedies->beside.id : NULL);
    pace_node_text(node, "next", first ? first->row.id : NULL);
}

pace_status pace_put_lead(pace_node *root, const pace_critical *critical, const pace_analysis *analysis,
                          const pace_rank *rank, const pace_remedies *remedies) {
    pace_lead lead;
    PACE_TRY(pace_lead_find(&lead, critical, analysis, rank));
    if (lead.resource == PACE_ADVICES) return PACE_OK;
    const char *whole = critical->mark == SIZE_MAX ? "trace" : "step";
    put_figures(root, &lead, analysis, remedies);
    if (lead.evidence.lacks != PACE_EVIDENCE_WHOLE) {
        put_unknown(root, &lead, whole, rank->path);
        return PACE_OK;
    }
    if (lead.of_long_steps) put_long_steps(root, &lead, rank);
    else put_saving(root, &lead, rank, whole);
    put_reason(root, &lead);
    put_culprit(root, &lead, rank);
    put_dry_stretch(root, &lead);
    put_meanwhile(root, &lead.meanwhile);
    put_rank(root, &lead, analysis);
    mention_long_steps(root, &lead, rank);
    pace_put_step_shift(root, "", &lead.shift, rank);
    put_late(root, &lead, analysis);
    put_unlike(root, &lead);
    if (remedies) pace_put_next(root, remedies, &lead, analysis);
    return PACE_OK;
}
