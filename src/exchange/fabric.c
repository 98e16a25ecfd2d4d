#include "exchange/fabric.h"

#include <stdio.h>
#include <string.h>

pace_status pace_fabric_make(pace_fabric *out, uint32_t ranks, uint64_t links, uint32_t classes) {
    pace_fabric fabric = {.rank_count = ranks,
                          .place_count = ranks,
                          .link_count = (uint32_t)links,
                          .class_count = classes};
    if (!ranks) return pace_fail(PACE_E_INPUT, "a fabric needs at least one rank");
    if (links >= UINT32_MAX / 2) return pace_fail(PACE_E_INPUT, "too many links");
    if (!PACE_MAKE(fabric.bytes_per_s, links) || !PACE_MAKE(fabric.link_class, links)) {
        pace_fabric_free(&fabric);
        return PACE_E_MEMORY;
    }
    *out = fabric;
    return PACE_OK;
}

void pace_fabric_free(pace_fabric *fabric) {
    PACE_FREE(fabric->bytes_per_s, fabric->link_class, fabric->place);
    if (fabric->free_plan) fabric->free_plan(fabric->plan);
    *fabric = (pace_fabric){0};
}

pace_status pace_fabric_put(pace_fabric *fabric, const uint32_t *place, uint32_t ranks) {
    for (uint32_t r = 0; r < ranks; r++)
        if (place[r] >= fabric->place_count)
            return pace_fail(PACE_E_INPUT, "rank %u is at place %u, but there are %u", r, place[r],
                             fabric->place_count);
    uint32_t *copy = pace_alloc(ranks, sizeof *copy);
    if (!copy) return PACE_E_MEMORY;
    memcpy(copy, place, ranks * sizeof *copy);
    pace_free(fabric->place);
    fabric->place = copy;
    fabric->rank_count = ranks;
    return PACE_OK;
}

void pace_fabric_describe(char out[PACE_FABRIC_NAME], const pace_fabric *fabric, uint32_t link) {
    if (fabric->describe) fabric->describe(out, fabric, link);
    else snprintf(out, PACE_FABRIC_NAME, "link %u", link);
}

static void set_link(pace_fabric *fabric, uint32_t link, uint32_t class, double bytes_per_s) {
    fabric->bytes_per_s[link] = bytes_per_s;
    fabric->link_class[link] = class;
}

static pace_status cross(pace_route *out, uint32_t link) { return PACE_PUSH(out, ((pace_hop){link, 1})); }

static pace_status switch_route(pace_route *out, const pace_fabric *fabric, uint32_t from, uint32_t to) {
    PACE_TRY(cross(out, from));
    return cross(out, fabric->place_count + to);
}

enum { SPEEDS = 32 };

/* Ports of one speed are of one class, as far as the speeds are few. */
static uint32_t class_of_speed(double speeds[SPEEDS], uint32_t *count, double speed) {
    uint32_t i = 0;
    while (i < *count && speeds[i] != speed) i++;
    if (i == *count && *count < SPEEDS) speeds[(*count)++] = speed;
    return i < SPEEDS ? i : SPEEDS - 1;
}

pace_status pace_fabric_switch(pace_fabric *out, uint32_t ranks, double bytes_per_s, const double *slowness) {
    double speeds[SPEEDS];
    uint32_t count = 0;
    if (!(bytes_per_s > 0))
        return pace_fail(PACE_E_INPUT, "port of the switch: expected a bandwidth above 0, found %g bytes/s",
                         bytes_per_s);
    PACE_TRY(pace_fabric_make(out, ranks, 2 * (uint64_t)ranks, 2 * SPEEDS));
    out->route = switch_route;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        double rate = slowness ? bytes_per_s / slowness[rank] : bytes_per_s;
        uint32_t class = class_of_speed(speeds, &count, rate);
        set_link(out, rank, 2 * class, rate);
        set_link(out, ranks + rank, 2 * class + 1, rate);
    }
    return PACE_OK;
}
