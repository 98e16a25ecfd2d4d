/* What would help, tried on the replay: the remedies that save enough, best first, and how each is done. */
#include "report/analyze/analyze_parts.h"
#include "base/print.h"
#include "base/text.h"
#include "report/show.h"

#include <math.h>

typedef struct {
    pace_remedy of;
    const char *resource, *rung;
    char option[40], ask[400];
    int64_t rank;
    double saved_s, speedup;
} remedy_row;

PACE_TABLE_IF_ROWS(table_of_remedies, "remedies", "What would help, tried on the replay", PACE_FOR_ALL, 0,
                   {"id", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, of.row.id)},
                   {"remedy", "remedy", PACE_SHOW_TEXT, PACE_OF(remedy_row, of.says)},
                   {"resource", "acts on", PACE_SHOW_TEXT, PACE_OF(remedy_row, resource)},
                   {"step_ns", "step", PACE_SHOW_NS, PACE_NS_OF(remedy_row, of.step_s)},
                   {"walked_ns", NULL, PACE_SHOW_NS, PACE_NS_OF(remedy_row, of.walked_s)},
                   {"low_ns", "low", PACE_SHOW_NS, PACE_NS_OF(remedy_row, of.low_s)},
                   {"high_ns", "high", PACE_SHOW_NS, PACE_NS_OF(remedy_row, of.high_s)},
                   {"saved_share", "saved", PACE_SHOW_SHARE, PACE_OF(remedy_row, of.saved_share)},
                   {"at_most_saved_share", NULL, PACE_SHOW_REAL, PACE_OF(remedy_row, of.at_most_share)},
                   {"saved_ns", NULL, PACE_SHOW_NS, PACE_NS_OF(remedy_row, saved_s)},
                   {"speedup", NULL, PACE_SHOW_REAL, PACE_OF(remedy_row, speedup)},
                   {"samples", NULL, PACE_SHOW_REAL, PACE_OF(remedy_row, of.samples)},
                   {"busiest_stream_ns", NULL, PACE_SHOW_NS, PACE_NS_OF(remedy_row, of.busiest_s)},
                   {"what_if", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, option)},
                   {"value", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, of.value)},
                   {"ask", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, ask)},
                   {"how", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, of.how)},
                   {"rests_on", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, of.row.rests_on)},
                   {"rung", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, rung)},
                   {"name", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, of.culprit.name)},
                   {"within", NULL, PACE_SHOW_TEXT, PACE_OF(remedy_row, of.culprit.within)},
                   {"rank", NULL, PACE_SHOW_INT, PACE_OF(remedy_row, rank)});

/* The option of predict that asks the same. */
static void word(remedy_row *row, const pace_remedy *remedy, const char *steps) {
    size_t used = (size_t)pace_snprintf(row->option, sizeof row->option, "%s", remedy->row.what_if->option.name);
    for (size_t i = 0; i < used && i < sizeof row->option; i++)
        if (row->option[i] == '_') row->option[i] = '-';
    pace_snprintf(row->ask, sizeof row->ask, "--%s%s%s%s%s%s", row->option, remedy->value ? " '" : "",
                  remedy->value ? remedy->value : "", remedy->value ? "'" : "", steps ? " --steps " : "",
                  steps ? steps : "");
}

static remedy_row row_of(const pace_remedy *remedy, const pace_remedies *remedies, const pace_analysis *analysis) {
    remedy_row row = {.of = *remedy,
                      .resource = pace_advice_names[remedy->resource],
                      .rung = pace_rung_names[remedy->step_s.rung],
                      .rank = pace_rank_number(analysis->ranks.items[remedy->culprit.rank]),
                      .saved_s = remedy->saved_share * remedies->replayed_s,
                      .speedup = remedies->replayed_s / remedy->step_s.median};
    word(&row, remedy, remedies->steps);
    return row;
}

/* What the remedy acts on, and the operator and module, or line, behind most of that. */
static void put_behind(pace_node *root, const pace_remedy *remedy) {
    const pace_culprit *c = &remedy->culprit;
    char what[PACE_SHOWN_NAME], where[PACE_SHOWN_NAME];
    bool within = c->within && c->within != c->name;
    if (c->name)
        pace_node_note(root, "Acts on %s time, the largest part of which is %s'%s'%s%s%s.",
                       pace_advice_names[remedy->resource], c->before ? "before " : "", pace_show_name(what, c->name),
                       within ? " in '" : "", within ? pace_show_name(where, c->within) : "", within ? "'" : "");
}

static void put_how(pace_node *root, size_t number, const pace_remedy *remedy) {
    pace_node_note(root, "%zu. %s: %s. Rests on: %s.%s", number, remedy->says, remedy->how, remedy->row.rests_on,
                   remedy->samples > 1 ? " The saving is of the time for each sample." : "");
    if (remedy->step_s.median > remedy->walked_s)
        pace_node_note(root,
                       "Walked with one figure for each operator the step would take %s; the recorded step without all "
                       "that the remedy acts on would be %.1f %% shorter, and no more than that is said to be saved.",
                       pace_show_ns(pace_ns(remedy->walked_s)).text, 100 * remedy->at_most_share);
    put_behind(root, remedy);
}

static void put_figures(pace_node *root, const pace_remedies *remedies) {
    pace_node *node = pace_node_object(root, "remedies_tried", NULL, PACE_FOR_JSON);
    pace_node_text(node, "outcome", pace_remedies_outcome_names[remedies->outcome]);
    pace_node_int(node, "tried", (int64_t)remedies->tried);
    pace_node_int(node, "refused", (int64_t)remedies->refused);
    pace_node_int(node, "measured_ns", pace_ns(remedies->measured_s));
    pace_node_int(node, "replayed_ns", pace_ns(remedies->replayed_s));
    pace_node_real(node, "threshold_share", remedies->threshold);
    pace_node_text(node, "steps", remedies->steps);
    pace_node_text(node, "why", remedies->why);
}

/* A step behind it would be another one. */
static void put_first_use(pace_node *root, const pace_first_use *use) {
    char *name = pace_show_clean(use->name);
    pace_node_sentence(
        root, true,
        "Next: record later steps, torch.profiler.schedule(wait=1, warmup=1, active=3): one '%s' takes %s "
        "of this one, the next longest of the name %s. The first use of a library, a kernel or a buffer "
        "is like that, and steps that are repeated do not have it.",
        name ? name : use->name, pace_show_ns(use->took_ns).text, pace_show_ns(use->next_ns).text);
    pace_free(name);
}

/* The function, module or operator in which one stretch of the host's holds up the device, or that launches nothing
 * itself: no remedy knows what it does. NULL = the time is spread over launches, or nothing was recorded. */
static const char *stretch_of(const pace_lead *lead) {
    const pace_culprit *c = &lead->culprit;
    if (lead->resource != PACE_ADVICE_HOST || !lead->matters) return NULL;
    if (pace_lead_own_work(lead)) return pace_lead_own_work(lead);
    if (c->longest_share < 0.5) return NULL;
    if (!c->before) return c->name;
    return c->within_share >= 0.5 ? c->within : NULL;
}

/* Operators and calls of the framework and the driver, which nobody rewrites. */
static bool is_frameworks(const char *name) {
    static const char *const own[] = {"aten::", "c10d::", "autograd::", "torch::", "record_param_comms", "nccl:"};
    for (size_t i = 0; i < PACE_COUNT(own); i++)
        if (pace_starts(name, own[i])) return true;
    const char *call = name + (pace_starts(name, "cuda") ? 4 : pace_starts(name, "hip") ? 3 : 0);
    return call > name && *call >= 'A' && *call <= 'Z'; /* no file of the user's: cuda_tools.py */
}

/* They are quick, unless something else is behind them. */
static void put_itself(pace_node *root, const char *stretch) {
    char *name = pace_show_clean(stretch);
    if (is_frameworks(stretch))
        pace_node_sentence(
            root, true,
            "Next: find out why '%s' takes the host so long in one stretch: a first use (then record "
            "later steps), memory taken from the system, tensors on the CPU, or another thread or process "
            "on its core.",
            name ? name : stretch);
    else
        pace_node_sentence(root, true,
                           "Next: spend less time in '%s' itself, or do it on another thread, beside the step.",
                           name ? name : stretch);
    pace_free(name);
}

/* Whether the host is held up before an operator where nothing was recorded, in one stretch. */
static bool is_unrecorded(const pace_lead *lead) {
    const pace_culprit *c = &lead->culprit;
    return lead->resource == PACE_ADVICE_HOST && lead->matters && c->longest_share >= 0.5 && c->before && c->name;
}

/* Whether it launches nothing for half of its time, and calls many operators meanwhile. */
static bool runs_dry(const pace_lead *lead) {
    const pace_culprit *c = &lead->culprit;
    return lead->resource == PACE_ADVICE_HOST && lead->matters && c->dry_share >= 0.5 && c->longest_share <= 0.25;
}

static void put_unrecorded(pace_node *root, const pace_lead *lead) {
    bool nothing = is_unrecorded(lead);
    const char *before = nothing ? lead->culprit.name : lead->culprit.dry_before;
    char *name = pace_show_clean(before);
    pace_node_sentence(root, true,
                       "Next: find out what the host does before '%s', %s: record Python's "
                       "frames, torch.profiler.profile(with_stack=True), or name its parts with "
                       "torch.profiler.record_function('...').%s",
                       name ? name : before, nothing ? "for nothing is recorded there" : "where it launches nothing",
                       nothing ? ""
                               : " If it prepares the batch, let worker processes do it: DataLoader(num_workers=4).");
    pace_free(name);
}

/* What the cause calls for that no replay tried; false = nothing. Work of the host's own comes first: a replay without
 * the waits around it takes it not to need their results. */
static bool put_untried(pace_node *root, const pace_remedies *remedies, const pace_lead *lead,
                        const pace_remedy *first) {
    const char *stretch = stretch_of(lead);
    bool own = stretch && stretch == pace_lead_own_work(lead);
    bool little = own || !first || first->saved_share * (double)lead->step_ns < 0.5 * (double)lead->saved_ns;
    if (!little) stretch = NULL;
    const pace_remedy_hint *hint = &remedies->hint;
    if (hint->id && !hint->last) pace_node_sentence(root, true, "Next: %s", hint->says);
    else if (stretch) put_itself(root, stretch);
    else if ((little && is_unrecorded(lead)) || runs_dry(lead)) put_unrecorded(root, lead);
    else if (hint->id) pace_node_sentence(root, true, "Next: %s", hint->says);
    else return false;
    return true;
}

/* Why no remedy is named: one sentence of those that lead. */
static void put_nothing(pace_node *root, const pace_remedies *remedies) {
    size_t counted = remedies->tried - remedies->refused;
    switch (remedies->outcome) {
    case PACE_REMEDIES_TRIED:
        if (counted == 1)
            pace_node_sentence(root, true,
                               "The one remedy that was tried on the replay saves less than %.0f %% of the step.",
                               100 * remedies->threshold);
        else if (counted)
            pace_node_sentence(root, true,
                               "Of %zu remedies that were tried on the replay none saves %.0f %% of the step.", counted,
                               100 * remedies->threshold);
        else pace_node_sentence(root, true, "The catalogue has no remedy that applies to this step.");
        break;
    case PACE_REMEDIES_TOO_LARGE:
        pace_node_sentence(root, true,
                           "No remedy was tried: one step of the trace is too large to walk again for each. Ask for "
                           "them with 'paceline predict'.");
        break;
    case PACE_REMEDIES_REPLAY_OFF:
        if (remedies->why) {
            pace_node_sentence(root, true,
                               "No remedy was tried: %s, which a repeated step does not make; without them it takes %s "
                               "instead of %s.",
                               remedies->why, pace_show_ns(pace_ns(remedies->replayed_s)).text,
                               pace_show_ns(pace_ns(remedies->measured_s)).text);
            pace_node_sentence(root, true,
                               "%s steps behind warm-up ones, torch.profiler.schedule(wait=1, warmup=1, active=3).",
                               pace_remedies_want_later_steps(remedies) ? "Next: record" : "Record");
        } else
            pace_node_sentence(
                root, true,
                "No remedy was tried: replayed from one figure for each operator, the step takes %s instead "
                "of %s.",
                pace_show_ns(pace_ns(remedies->replayed_s)).text, pace_show_ns(pace_ns(remedies->measured_s)).text);
        break;
    case PACE_REMEDIES_NO_REPLAY:
        pace_node_sentence(root, true, "No remedy was tried: the steps cannot be replayed (%s).", remedies->why);
        break;
    default: break; /* the lead says that what would help is unknown */
    }
}

static void put_beside(pace_node *root, const pace_remedies *remedies) {
    if (remedies->beside.id)
        pace_node_sentence(root, true, "To save %s time, %.0f %% of the step: %s",
                           pace_advice_names[remedies->beside.resource], 100 * remedies->beside_share,
                           remedies->beside.says);
}

static void put_first(pace_node *root, const pace_remedy *first, const char *why, const char *of) {
    pace_node_sentence(root, true, "%s: %s. The step would take %s (%s to %s)%s, %.0f %% less%s%s.", why, first->says,
                       pace_show_ns(pace_ns(first->step_s.median)).text, pace_show_ns(pace_ns(first->low_s)).text,
                       pace_show_ns(pace_ns(first->high_s)).text, first->samples > 1 ? " with the larger batch" : "",
                       100 * first->saved_share, first->samples > 1 ? " for each sample" : "", of);
}

/* What the saving is a share of, where that is not the reported step: all ranks are replayed, and the slowest one's
 * step counts; of steps that differ much the mean is replayed. */
static void name_replayed(char *out, size_t size, const pace_remedies *remedies, const pace_lead *lead, size_t ranks) {
    double off = lead->step_ns > 0 ? remedies->replayed_s * 1e9 / (double)lead->step_ns - 1 : 0;
    const char *of = ranks > 1 ? "the slowest rank" : fabs(off) > 0.05 ? "the mean step" : NULL;
    if (of)
        pace_snprintf(out, size, " than the %s of %s as replayed", pace_show_ns(pace_ns(remedies->replayed_s)).text,
                      of);
}

void pace_put_next(pace_node *root, const pace_remedies *remedies, const pace_lead *lead,
                   const pace_analysis *analysis) {
    bool on_lead;
    const pace_remedy *first = pace_remedies_first(&on_lead, remedies, lead);
    char of[80] = "", why[120] = "Next";
    if (lead->first_use.name) put_first_use(root, &lead->first_use);
    else if (!first) put_nothing(root, remedies);
    bool later = lead->first_use.name || pace_remedies_want_later_steps(remedies);
    bool untried = !later && put_untried(root, remedies, lead, first);
    if (!first) put_beside(root, remedies);
    if (!first || lead->first_use.name) return;
    if (untried) pace_snprintf(why, sizeof why, "Then");
    else if (lead->of_long_steps) pace_snprintf(why, sizeof why, "Next, for the usual steps");
    else if (!on_lead)
        pace_snprintf(why, sizeof why, "No remedy of the catalogue saves %s time here. Next, to save other time",
                      pace_advice_names[lead->resource]);
    name_replayed(of, sizeof of, remedies, lead, analysis->ranks.count);
    put_first(root, first, why, of);
    put_beside(root, remedies);
}

void pace_put_remedies(pace_node *root, const pace_remedies *remedies, const pace_analysis *analysis) {
    pace_node *table = pace_open_table(root, &table_of_remedies, 0);
    for (size_t i = 0; i < remedies->items.count; i++)
        pace_table_put(table, &(remedy_row[]){row_of(&remedies->items.items[i], remedies, analysis)});
    for (size_t i = 0; i < remedies->items.count; i++) put_how(root, i + 1, &remedies->items.items[i]);
    if (remedies->items.count)
        pace_node_note(root,
                       "Each remedy alone, against %s as the replay has it%s%s; low–high is a 90 %% interval. "
                       "'paceline predict' with --%s asks for the first again.",
                       pace_show_ns(pace_ns(remedies->replayed_s)).text, remedies->steps ? ", of steps " : "",
                       remedies->steps ? remedies->steps : "",
                       row_of(&remedies->items.items[0], remedies, analysis).option);
    put_figures(root, remedies);
}
