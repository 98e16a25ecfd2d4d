#include "ask/plan/plan_together.h"
#include "exchange/exchange.h"

#include <math.h>

enum { PARTS_MOST = 64 }; /* of a step: shares are whole numbers of them */

/* Of one place, by parts; 0 = not asked yet. */
typedef struct {
    pace_plan_place *place;
    double closed_s[PARTS_MOST + 1];
    int parts;
} sharer;

typedef struct {
    const pace_plan_asked *asked;
    PACE_VEC(sharer) items;
    double part; /* samples */
    int parts;   /* of a step */
} sharing;

static pace_status time_of(double *out_s, const sharing *s, sharer *one, int parts) {
    pace_plan_choice choice;
    *out_s = INFINITY;
    if (parts < 1 || parts > s->parts) return PACE_OK;
    if (!(one->closed_s[parts] > 0)) {
        PACE_TRY(pace_plan_place_share(&choice, s->asked, one->place, parts * s->part, false));
        one->closed_s[parts] = choice.time_s.median;
    }
    *out_s = one->closed_s[parts];
    return PACE_OK;
}

static pace_status slowest(double *out_s, size_t *which, const sharing *s) {
    *out_s = 0;
    for (size_t i = 0; i < s->items.count; i++) {
        double time_s;
        PACE_TRY(time_of(&time_s, s, &s->items.items[i], s->items.items[i].parts));
        if (time_s > *out_s) *out_s = time_s, *which = i;
    }
    return PACE_OK;
}

/* By weights, at least one part each, all parts given. */
static void deal(sharing *s, double (*weight)(const pace_plan_place *place)) {
    double sum = 0;
    int left = s->parts;
    for (size_t i = 0; i < s->items.count; i++) sum += weight(s->items.items[i].place);
    for (size_t i = 0; i < s->items.count; i++) {
        int rest = (int)(s->items.count - i - 1);
        int parts = (int)round(s->parts * weight(s->items.items[i].place) / sum);
        s->items.items[i].parts = rest == 0 ? left : parts < 1 ? 1 : parts > left - rest ? left - rest : parts;
        left -= s->items.items[i].parts;
    }
}

static double rate_of(const pace_plan_place *p) { return 1 / p->choices.items[0].time_s.median; }
static double devices_of(const pace_plan_place *p) { return p->space.devices; }

/* A part goes from the slowest to whoever is fastest with one more, as long as that shortens the step. */
static pace_status balance(sharing *s) {
    for (int moves = 0; moves < s->parts; moves++) {
        double now_s, least_s = INFINITY;
        size_t from = 0, to = 0;
        PACE_TRY(slowest(&now_s, &from, s));
        for (size_t i = 0; i < s->items.count; i++) {
            double with_s;
            if (i == from) continue;
            PACE_TRY(time_of(&with_s, s, &s->items.items[i], s->items.items[i].parts + 1));
            if (with_s < least_s) least_s = with_s, to = i;
        }
        double without_s;
        PACE_TRY(time_of(&without_s, s, &s->items.items[from], s->items.items[from].parts - 1));
        if (fmax(least_s, without_s) >= now_s) return PACE_OK;
        s->items.items[from].parts--;
        s->items.items[to].parts++;
    }
    return PACE_OK;
}

/* Every node of the machine with fewest holds as much of the gradients, and sums it with a node of each other machine,
 * at the pace of the slowest network. */
static pace_status exchange_gradients(double *out_s, const sharing *s) {
    double fewest = INFINITY;
    *out_s = 0;
    for (size_t i = 0; i < s->items.count; i++) fewest = fmin(fewest, s->items.items[i].place->machine.nodes);
    for (size_t i = 0; i < s->items.count; i++) {
        const pace_plan_place *p = s->items.items[i].place;
        pace_machine peers = p->machine;
        pace_exchange exchange;
        pace_estimate time_s;
        if (peers.nics < 1)
            return pace_fail(PACE_E_USAGE, "together: %s has no network: expected machines of nodes that are joined",
                             p->machine.name);
        peers.nodes = (int)s->items.count;
        pace_model_totals totals = pace_model_total(p->step.asked.model, &p->choices.items[0].candidate.config);
        const pace_exchange_question question = {.collective = PACE_ALLREDUCE,
                                                 .bytes = totals.gradient_bytes / fewest,
                                                 .algorithm = PACE_ANY,
                                                 .protocol = PACE_ANY};
        PACE_TRY(pace_exchange_open(&exchange, s->asked->options->context->catalog, &peers, PACE_LIBRARY_AUTO, NULL));
        PACE_TRY(pace_exchange_time(&time_s, &exchange, &question));
        *out_s = fmax(*out_s, time_s.median);
    }
    return PACE_OK;
}

static pace_status answer(pace_plan_together *out, const sharing *s) {
    double price = 0, slowest_s = 0;
    PACE_ITEMS (const sharer, one, &s->items) {
        pace_plan_share share = {.place = one->place, .samples = one->parts * s->part};
        PACE_TRY(pace_plan_place_share(&share.choice, s->asked, one->place, share.samples, true));
        PACE_TRY(PACE_PUSH(&out->shares, share));
        slowest_s = fmax(slowest_s, share.choice.time_s.median);
        price += 24 * one->place->space.devices * one->place->device_price;
    }
    const pace_plan_place *first = s->items.items[0].place;
    const pace_plan_choice *alone = &first->choices.items[0];
    out->step_s = slowest_s + out->exchange_s;
    out->days = alone->days * out->step_s / alone->time_s.median;
    out->price = out->days * price;
    return PACE_OK;
}

static pace_status share_out(pace_plan_together *out, sharing *s) {
    size_t which;
    PACE_TRY(exchange_gradients(&out->exchange_s, s));
    deal(s, devices_of);
    PACE_TRY(slowest(&out->even_s, &which, s));
    out->even_s += out->exchange_s;
    deal(s, rate_of);
    PACE_TRY(balance(s));
    return answer(out, s);
}

pace_status pace_plan_share_out(pace_plan_asked *a) {
    sharing s = {.asked = a};
    pace_status status = PACE_OK;
    for (size_t i = 0; status == PACE_OK && i < a->places.count; i++)
        if (a->places.items[i]->choices.count) status = PACE_PUSH(&s.items, (sharer){.place = a->places.items[i]});
    if (status == PACE_OK && s.items.count > 1) {
        double batch = s.items.items[0].place->step.asked.config.global_batch;
        for (int n = 1; n <= PARTS_MOST; n++)
            if (fmod(batch, n) == 0) s.parts = n;
        s.part = batch / s.parts;
        if (s.parts >= (int)s.items.count) status = share_out(&a->together, &s);
    }
    PACE_VEC_FREE(&s.items);
    return status;
}
