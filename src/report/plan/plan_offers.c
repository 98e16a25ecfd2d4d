#include "report/plan/plan_parts.h"

#include "base/print.h"
#include "report/show.h"

#include <math.h>

/* What would be, beyond what is offered: "; dgx-h100*22 would be". */
static void say_enough(pace_node *root, const pace_plan_asked *a) {
    const bool enough = a->enough.devices > 0;
    const pace_plan_beside *one = enough ? &a->enough : &a->nearly;
    const char *within = a->options->within,
               *batch = a->batch_assumed ? ", with the global batch that was assumed" : "";
    char config[PACE_PLAN_SAYS];
    if (!(one->devices > 0)) {
        pace_node_sentence(root, true, "No part of what is offered is done within %s.", within);
        return;
    }
    pace_plan_say_config(config, &one->choice.candidate.config);
    const pace_shown days = pace_show_days(one->choice.days);
    double samples = one->choice.candidate.config.global_batch;
    char price[64] = "";
    if (!isnan(one->choice.price))
        pace_snprintf(price, sizeof price, " for %s", pace_show_real(one->choice.price).text);
    if (enough)
        pace_node_sentence(root, true,
                           "No part of what is offered is done within %s. The %s that would be: %s, %.0f "
                           "devices (%s), %s%s with steps of %.0f samples%s.",
                           within, *price ? "cheapest" : "fewest nodes", one->machine, one->devices, config, days.text,
                           price, samples, batch);
    else
        pace_node_sentence(
            root, true,
            "No part of what is offered is done within %s, nor are up to %d times the nodes: the fastest of these, %s, "
            "%.0f devices, takes %s with steps of %.0f samples%s.",
            within, PACE_PLAN_NODES_MOST, one->machine, one->devices, days.text, samples, batch);
}

/* "within 30d for at most 2M". */
static void say_terms(char out[96], const pace_plan_asked *a) {
    const pace_plan_options *o = a->options;
    pace_snprintf(out, 96, "%s%.24s%s%.24s", o->within ? " within " : "", o->within ? o->within : "",
                  o->budget ? " for at most " : "", o->budget ? o->budget : "");
}

/* "80.2 days (61.5 days to 105 days)", and with a price what they cost. */
static void say_days(char out[160], const pace_plan_choice *one) {
    double low = pace_estimate_low(one->time_s) / one->time_s.median,
           high = pace_estimate_high(one->time_s) / one->time_s.median;
    char price[96] = "";
    if (!isnan(one->price))
        pace_snprintf(price, sizeof price, ", %s (%s to %s)", pace_show_real(one->price).text,
                      pace_show_real(low * one->price).text, pace_show_real(high * one->price).text);
    pace_snprintf(out, 160, "%s (%s to %s)%s", pace_show_days(one->days).text, pace_show_days(low * one->days).text,
                  pace_show_days(high * one->days).text, price);
}

/* "812.4G". */
static void say_count(char out[32], double count) {
    static const struct {
        const char *letter;
        double factor;
    } suffixes[] = {{"T", 1e12}, {"G", 1e9}, {"M", 1e6}, {"", 1}};
    size_t i = 0;
    while (i + 1 < PACE_COUNT(suffixes) && count < suffixes[i].factor) i++;
    pace_snprintf(out, 32, "%.4g%s", count / suffixes[i].factor, suffixes[i].letter);
}

/* That something would be done in time, but not for the budget. */
static void say_too_dear(pace_node *root, const pace_plan_asked *a, const pace_plan_place *cheapest) {
    const pace_plan_choice *one = &cheapest->choices.items[0];
    char terms[96], tokens[32];
    say_terms(terms, a);
    say_count(tokens, a->tokens * a->budget / one->price);
    pace_node_sentence(
        root, true,
        "No part of what is offered is done%s. The cheapest%s%s, %s, %.0f devices, costs %s and takes %s; the "
        "budget pays for %s %s on it.",
        terms, a->options->within ? " that is done within " : "", a->options->within ? a->options->within : "",
        cheapest->machine.name, cheapest->space.devices, pace_show_real(one->price).text,
        pace_show_days(one->days).text, tokens, pace_plan_trained(cheapest));
}

void pace_plan_say_done(pace_report *report, pace_node *root, const pace_plan_asked *a) {
    const pace_plan_place *p = pace_plan_chosen(a), *sure = pace_plan_smallest(a, true);
    char terms[96], days[160];
    if (!pace_plan_is_done(a, p, false)) {
        bool in_time = !a->options->within || p->choices.items[0].days <= a->within_days;
        if (in_time) say_too_dear(root, a, pace_plan_best(a, true));
        else say_enough(root, a);
        pace_report_deny(report);
        return;
    }
    say_terms(terms, a);
    say_days(days, &p->choices.items[0]);
    pace_node_sentence(root, true, "The %s part that is done%s: %s, %.0f devices, %s.",
                       a->options->within ? "smallest" : "fastest", terms, p->machine.name, p->space.devices, days);
    if (a->options->within && sure && sure != p)
        pace_node_sentence(root, true, "Done by then at the upper end of its interval, too: %s, %.0f devices.",
                           sure->machine.name, sure->space.devices);
}

void pace_plan_say_cheapest(pace_node *root, const pace_plan_asked *a, const pace_plan_place *best) {
    const pace_plan_place *cheapest = pace_plan_best(a, true);
    char terms[96], config[PACE_PLAN_SAYS];
    bool done = pace_plan_is_done(a, best, false);
    if (isnan(a->tokens) || a->options->price.count == 0 || a->places.count < 2 || a->options->together) return;
    if (!done && (a->options->within || a->options->budget)) return;
    say_terms(terms, a);
    if (cheapest == best) {
        pace_node_sentence(root, true, "No other machine or part that is offered%s%s is cheaper.",
                           *terms ? " and done" : "", terms);
        return;
    }
    pace_plan_say_config(config, &cheapest->choices.items[0].candidate.config);
    pace_node_sentence(root, true, "The cheapest%s%s: %s (%s), %s in %s.", *terms ? " that is done" : "", terms,
                       cheapest->machine.name, config, pace_show_real(cheapest->choices.items[0].price).text,
                       pace_show_days(cheapest->choices.items[0].days).text);
}
