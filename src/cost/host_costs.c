#include "cost/host_costs.h"

#include <math.h>
#include <string.h>

const char *const pace_overhead_names[PACE_OVERHEAD_TYPES] = {"t1", "t2", "t3", "t4", "t5"};

pace_status pace_host_costs_init(pace_host_costs *costs) {
    *costs = (pace_host_costs){0};
    return pace_names_init(&costs->names);
}

void pace_host_costs_free(pace_host_costs *costs) {
    pace_names_free(&costs->names);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) PACE_VEC_FREE(&costs->types[type].by_name);
    PACE_VEC_FREE(&costs->lists);
    PACE_VEC_FREE(&costs->calls);
    *costs = (pace_host_costs){0};
}

/* Mean and variance of two samples together (Chan, Golub, LeVeque 1979). */
static void pool(pace_host_cost *into, pace_host_cost more) {
    double count = into->count + more.count, gap = more.mean_ns - into->mean_ns;
    double squares = into->std_ns * into->std_ns * into->count + more.std_ns * more.std_ns * more.count +
                     gap * gap * into->count * more.count / count;
    into->mean_ns += gap * more.count / count;
    into->std_ns = sqrt(squares / count);
    into->count = count;
}

pace_status pace_host_costs_add(pace_host_costs *costs, pace_overhead_type type, const char *name,
                                pace_host_cost figure) {
    if (!(figure.count > 0)) return PACE_OK;
    costs->types[type].log_sum += figure.count * log(figure.mean_ns + 1);
    costs->types[type].log_count += figure.count;
    if (!name || !*name) return PACE_OK;
    pace_name number;
    PACE_TRY(pace_names_add(&number, &costs->names, name, strlen(name)));
    while (costs->types[type].by_name.count <= number)
        PACE_TRY(PACE_PUSH(&costs->types[type].by_name, ((pace_host_cost){0})));
    pool(&costs->types[type].by_name.items[number], figure);
    return PACE_OK;
}

pace_status pace_host_costs_lengthen(pace_host_costs *costs, pace_overhead_type type, const char *name, double ns) {
    bool known;
    pace_name number;
    pace_host_cost figure = pace_host_costs_get(costs, type, name, &known);
    if (!known) return pace_host_costs_add(costs, type, name, (pace_host_cost){.mean_ns = ns, .count = 1});
    PACE_TRY(pace_names_add(&number, &costs->names, name, strlen(name)));
    costs->types[type].by_name.items[number].mean_ns += ns / figure.count;
    return PACE_OK;
}

pace_status pace_host_costs_add_calls(pace_host_costs *costs, const char *op, const pace_name *calls, uint32_t count) {
    pace_name number;
    PACE_TRY(pace_names_add(&number, &costs->names, op, strlen(op)));
    while (costs->lists.count <= number) PACE_TRY(PACE_PUSH(&costs->lists, ((pace_call_list){0})));
    if (count <= costs->lists.items[number].count) return PACE_OK;
    pace_call_list list = {(uint32_t)costs->calls.count, count};
    for (uint32_t i = 0; i < count; i++) PACE_TRY(PACE_PUSH(&costs->calls, calls[i]));
    costs->lists.items[number] = list;
    return PACE_OK;
}

pace_host_cost pace_host_costs_get(const pace_host_costs *costs, pace_overhead_type type, const char *name,
                                   bool *known) {
    size_t count = costs->types[type].by_name.count;
    const pace_host_cost *figures = costs->types[type].by_name.items;
    pace_name number;
    *known = name && pace_names_find(&number, &costs->names, name, strlen(name)) && number < count &&
             figures[number].count > 0;
    if (*known) return figures[number];
    double samples = costs->types[type].log_count;
    if (!(samples > 0)) return (pace_host_cost){0};
    return (pace_host_cost){.mean_ns = exp(costs->types[type].log_sum / samples) - 1, .count = samples};
}

pace_call_list pace_host_costs_calls(const pace_host_costs *costs, const char *op) {
    pace_name number;
    bool known = pace_names_find(&number, &costs->names, op, strlen(op)) && number < costs->lists.count;
    return known ? costs->lists.items[number] : (pace_call_list){0};
}
