/* Configurations that searches settle a second, on one core. Usage: bench_plan SEARCHES MODEL MACHINE [KEY=VALUE...].
 * Prints JSON: how many were tried, how many of them got no time (too large, or surely slower), the first search's and
 * all searches' processor time. */
#include "bench_clock.h"
#include "ask/context.h"
#include "ask/plan/plan_place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* One global batch after another, all multiples of the first, so that prices of layers are shared as in a search. */
int main(int count, char **words) {
    pace_context *context;
    pace_plan_asked asked = {.tokens = NAN, .critical_batch = NAN, .jitter = NAN};
    if (count < 4) return 2;
    check(pace_context_open(&context));
    const pace_plan_options options = {.context = context, .set = {(const char *const *)words + 4, (size_t)count - 4}};
    asked.options = &options;
    check(pace_device_catalog_load(&asked.devices, context->catalog));
    pace_plan_place *place = pace_alloc(1, sizeof *place);
    if (!place) return 5;
    check(pace_machine_asked(&place->machine, context->catalog, words[3]));
    check(pace_plan_place_open(place, &asked, words[2]));
    double begun = cpu_s(), first_s = 0, first = place->step.asked.config.global_batch;
    size_t tried = 0, pruned = 0, searches = strtoul(words[1], NULL, 10);
    for (size_t i = 1; i <= searches; i++) {
        place->step.asked.config.global_batch = first * (double)i;
        check(pace_plan_place_search(place, &asked));
        tried += place->found.tried;
        pruned += place->found.pruned + place->found.too_large + place->found.may_fit;
        pace_plan_found_free(&place->found);
        if (i == 1) first_s = cpu_s() - begun;
    }
    printf("{\"tried\": %zu, \"untimed\": %zu, \"first_s\": %.6f, \"all_s\": %.6f}\n", tried, pruned, first_s,
           cpu_s() - begun);
    pace_plan_place_close(place);
    pace_device_catalog_free(&asked.devices);
    pace_context_free(context);
    return 0;
}
