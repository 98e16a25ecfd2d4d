#include "cost/host_costs.h"

#include <math.h>
#include <string.h>

const char *const pace_overhead_names[PACE_OVERHEAD_TYPES] = {"t1", "t2", "t3", "t4", "t5"};

const char *const pace_host_level_names[PACE_HOST_LEVELS] = {"own", "alike", "class", "typical", "nothing"};

pace_status pace_host_costs_init(pace_host_costs *costs) {
    *costs = (pace_host_costs){0};
    PACE_TRY(pace_names_init(&costs->names));
    pace_status status = pace_names_init(&costs->plain);
    if (status != PACE_OK) pace_names_free(&costs->names);
    return status;
}

void pace_host_costs_free(pace_host_costs *costs) {
    pace_names_free(&costs->names);
    pace_names_free(&costs->plain);
    PACE_VEC_FREE(&costs->alike);
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) PACE_VEC_FREE(&costs->types[type].by_name);
    PACE_VEC_FREE(&costs->optimizers);
    *costs = (pace_host_costs){0};
}

static pace_status copy_names(pace_names *out, const pace_names *from) {
    for (pace_name name = 0; name < pace_names_count(from); name++) {
        pace_name same;
        PACE_TRY(pace_names_add(&same, out, pace_names_text(from, name), pace_names_length(from, name)));
    }
    return PACE_OK;
}

static pace_status copy_figures(pace_host_costs *out, const pace_host_costs *from) {
    PACE_TRY(copy_names(&out->names, &from->names));
    PACE_TRY(copy_names(&out->plain, &from->plain));
    for (size_t i = 0; i < from->alike.count; i++) PACE_TRY(PACE_PUSH(&out->alike, from->alike.items[i]));
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        PACE_ITEMS (const pace_host_cost, figure, &from->types[type].by_name)
            PACE_TRY(PACE_PUSH(&out->types[type].by_name, *figure));
        out->types[type].log_sum = from->types[type].log_sum;
        out->types[type].log_count = from->types[type].log_count;
    }
    PACE_ITEMS (const pace_optimizer_line, line, &from->optimizers) PACE_TRY(PACE_PUSH(&out->optimizers, *line));
    return PACE_OK;
}

pace_status pace_host_costs_copy(pace_host_costs *out, const pace_host_costs *from) {
    pace_host_costs copy;
    PACE_TRY(pace_host_costs_init(&copy));
    pace_status status = copy_figures(&copy, from);
    return PACE_GIVE(out, copy, status, pace_host_costs_free(&copy));
}

/* Chan, Golub, LeVeque 1979. */
void pace_host_cost_pool(pace_host_cost *into, pace_host_cost more) {
    double count = into->count + more.count, gap = more.mean_ns - into->mean_ns;
    double squares = into->std_ns * into->std_ns * into->count + more.std_ns * more.std_ns * more.count +
                     gap * gap * into->count * more.count / count;
    into->mean_ns += gap * more.count / count;
    into->std_ns = sqrt(squares / count);
    into->count = count;
}

/* Names that were added to costs->names since. */
static pace_status understand_names(pace_host_costs *costs) {
    while (costs->alike.count < pace_names_count(&costs->names)) {
        char plain[PACE_HOST_NAME_LENGTH];
        pace_name number;
        const char *name = pace_names_text(&costs->names, (pace_name)costs->alike.count);
        PACE_TRY(pace_names_add(&number, &costs->plain, plain, pace_host_name_plain(plain, name)));
        size_t at = costs->alike.count;
        PACE_TRY(pace_grow(&costs->alike.items, &costs->alike.capacity, at + 1, sizeof *costs->alike.items));
        costs->alike.items[at].plain = number;
        costs->alike.items[at].kind = (uint8_t)pace_host_name_kind(name);
        costs->alike.count++;
    }
    return PACE_OK;
}

pace_status pace_host_costs_add(pace_host_costs *costs, pace_overhead_type type, const char *name,
                                pace_host_cost figure) {
    if (!(figure.count > 0)) return PACE_OK;
    if (!name || pace_host_name_is_typical(name)) {
        costs->types[type].log_sum += figure.count * log(figure.mean_ns + 1);
        costs->types[type].log_count += figure.count;
    }
    if (!name || !*name) return PACE_OK;
    pace_name number;
    PACE_TRY(pace_names_add(&number, &costs->names, name, strlen(name)));
    PACE_TRY(understand_names(costs));
    while (costs->types[type].by_name.count <= number)
        PACE_TRY(PACE_PUSH(&costs->types[type].by_name, ((pace_host_cost){0})));
    pace_host_cost_pool(&costs->types[type].by_name.items[number], figure);
    return PACE_OK;
}

static const pace_host_cost *own_figure(const pace_host_costs *costs, pace_overhead_type type, pace_name name) {
    if (name >= costs->types[type].by_name.count) return NULL;
    const pace_host_cost *figure = &costs->types[type].by_name.items[name];
    return figure->count > 0 ? figure : NULL;
}

static pace_status optimizer_of(pace_optimizer_line **out, pace_host_costs *costs, const char *name) {
    pace_name number;
    PACE_TRY(pace_names_add(&number, &costs->names, name, strlen(name)));
    while (costs->optimizers.count <= number) PACE_TRY(PACE_PUSH(&costs->optimizers, ((pace_optimizer_line){0})));
    *out = &costs->optimizers.items[number];
    return PACE_OK;
}

pace_status pace_host_costs_add_optimizer(pace_host_costs *costs, const char *name, double parameters, double ns) {
    pace_optimizer_line *line;
    PACE_TRY(optimizer_of(&line, costs, name));
    pace_optimizer_line_add(line, parameters, ns);
    return PACE_OK;
}

pace_status pace_host_costs_pool(pace_host_costs *costs, const pace_host_costs *from) {
    for (int type = 0; type < PACE_OVERHEAD_TYPES; type++) {
        double log_sum = costs->types[type].log_sum + from->types[type].log_sum;
        double log_count = costs->types[type].log_count + from->types[type].log_count;
        for (pace_name name = 0; name < from->types[type].by_name.count; name++)
            PACE_TRY(pace_host_costs_add(costs, (pace_overhead_type)type, pace_names_text(&from->names, name),
                                         from->types[type].by_name.items[name]));
        costs->types[type].log_sum = log_sum; /* of the samples, not of their means */
        costs->types[type].log_count = log_count;
    }
    for (pace_name name = 0; name < from->optimizers.count; name++) {
        pace_optimizer_line *line;
        if (!(from->optimizers.items[name].n > 0)) continue;
        PACE_TRY(optimizer_of(&line, costs, pace_names_text(&from->names, name)));
        pace_optimizer_line_pool(line, &from->optimizers.items[name]);
    }
    return PACE_OK;
}

/* --- what is asked for, or the closest ----------------------------------------------------------------------- */

/* All figures of names that are plainly the same, as one. */
static pace_host_cost alike_figure(const pace_host_costs *costs, pace_overhead_type type, const char *name) {
    char plain[PACE_HOST_NAME_LENGTH];
    pace_name same;
    pace_host_cost sum = {0};
    if (!pace_names_find(&same, &costs->plain, plain, pace_host_name_plain(plain, name))) return sum;
    for (pace_name i = 0; i < costs->types[type].by_name.count; i++) {
        const pace_host_cost *figure = own_figure(costs, type, i);
        if (figure && costs->alike.items[i].plain == same) pace_host_cost_pool(&sum, *figure);
    }
    return sum;
}

/* The geometric mean over names: each stands for itself, however often it was seen. */
static pace_host_cost class_figure(const pace_host_costs *costs, pace_overhead_type type, pace_host_kind kind,
                                   bool launching) {
    double logs = 0, squares = 0, names = 0, samples = 0;
    for (pace_name i = 0; i < costs->types[type].by_name.count; i++) {
        const pace_host_cost *figure = own_figure(costs, type, i);
        if (!figure || costs->alike.items[i].kind != kind) continue;
        if (type == PACE_T5 && launching != (own_figure(costs, PACE_T2, i) != NULL)) continue;
        double ln = log(figure->mean_ns + 1);
        logs += ln;
        squares += ln * ln;
        samples += figure->count;
        names++;
    }
    if (!(names > 0)) return (pace_host_cost){0};
    double mean = exp(logs / names) - 1, variance = squares / names - (logs / names) * (logs / names);
    return (pace_host_cost){.mean_ns = mean, .std_ns = mean * sqrt(fmax(variance, 0)), .count = samples};
}

pace_host_cost pace_host_costs_get(const pace_host_costs *costs, pace_overhead_type type, const char *name,
                                   bool launching, pace_host_level *level) {
    pace_host_level ignored;
    pace_name number;
    pace_host_cost figure = {0};
    if (!level) level = &ignored;
    bool any = costs->types[type].by_name.count > 0;
    if (any && name && *name) {
        const pace_host_cost *own = NULL;
        if (pace_names_find(&number, &costs->names, name, strlen(name))) own = own_figure(costs, type, number);
        *level = PACE_HOST_OWN;
        if (own) return *own;
        *level = PACE_HOST_ALIKE;
        if ((figure = alike_figure(costs, type, name)).count > 0) return figure;
        *level = PACE_HOST_CLASS;
        if ((figure = class_figure(costs, type, pace_host_name_kind(name), launching)).count > 0) return figure;
    }
    double samples = costs->types[type].log_count;
    *level = samples > 0 ? PACE_HOST_TYPICAL : PACE_HOST_NOTHING;
    if (!(samples > 0)) return figure;
    return (pace_host_cost){.mean_ns = exp(costs->types[type].log_sum / samples) - 1, .count = samples};
}

double pace_host_costs_optimizer_ns(const pace_host_costs *costs, const char *name, double parameters) {
    pace_name number;
    pace_optimizer_line all = {0};
    bool known = pace_names_find(&number, &costs->names, name, strlen(name));
    double ns = known && number < costs->optimizers.count
                    ? pace_optimizer_line_at(&costs->optimizers.items[number], parameters)
                    : 0;
    if (ns > 0 || (known && own_figure(costs, PACE_T2, number))) return ns;
    for (size_t i = 0; i < costs->optimizers.count; i++) pace_optimizer_line_pool(&all, &costs->optimizers.items[i]);
    return pace_optimizer_line_at(&all, parameters);
}
