#include "forecast/variant_insert.h"

static uint32_t moved(const uint32_t *number, uint32_t launch) {
    return launch == PACE_NO_LAUNCH ? launch : number[launch];
}

/* New numbers of the launches there are. */
static void number_anew(uint32_t *number, size_t launches, const pace_insertion *items, size_t count) {
    size_t next = 0;
    for (size_t i = 0; i < launches; i++) {
        while (next < count && items[next].before <= i) next++;
        number[i] = (uint32_t)(i + next);
    }
}

static void move_waits(pace_launch *launch, const uint32_t *number) {
    for (int k = 0; k < 2; k++) launch->waits[k] = moved(number, launch->waits[k]);
}

static pace_status put_all(pace_variant *variant, const pace_insertion *items, size_t count, const uint32_t *number) {
    pace_graph *graph = &variant->graph;
    size_t launches = graph->launches.count;
    pace_variant_launch *of = pace_alloc(launches + count + 1, sizeof *of);
    if (!of) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++)
        if (PACE_PUSH(&graph->launches, (pace_launch){0}) != PACE_OK) {
            graph->launches.count = launches;
            pace_free(of);
            return PACE_E_MEMORY;
        }
    for (size_t i = launches; i-- > 0;) { /* from behind: none is overwritten before it has moved */
        pace_launch launch = graph->launches.items[i];
        move_waits(&launch, number);
        graph->launches.items[number[i]] = launch;
        of[number[i]] = variant->launches[i];
    }
    for (size_t i = 0; i < count; i++) {
        size_t at = items[i].before + i;
        graph->launches.items[at] = items[i].launch;
        move_waits(&graph->launches.items[at], number);
        of[at] = (pace_variant_launch){.part = items[i].part, .more = items[i].more, .slower = 1, .added = true};
    }
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph->nodes.items[i].waits_launch = moved(number, graph->nodes.items[i].waits_launch);
    pace_free(variant->launches);
    variant->launches = of;
    return PACE_OK;
}

pace_status pace_variant_insert(pace_variant *variant, const pace_insertion *items, size_t count) {
    size_t launches = variant->graph.launches.count;
    if (count == 0) return PACE_OK;
    uint32_t *number = pace_alloc(launches + 1, sizeof *number);
    if (!number) return PACE_E_MEMORY;
    number_anew(number, launches, items, count);
    pace_status status = put_all(variant, items, count, number);
    pace_free(number);
    return status;
}
