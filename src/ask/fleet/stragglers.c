#include "ask/fleet/stragglers.h"
#include "base/order.h"

#include <math.h>
#include <string.h>

/* 2, 4, ... 1024 workers, and as many as there were. */
static size_t choose_sizes(size_t *sizes, size_t workers) {
    size_t count = 0;
    bool placed = false;
    for (size_t size = 2; size <= 1024; size *= 2) {
        if (!placed && workers > 1 && workers < size) sizes[count++] = workers;
        placed = placed || workers <= size;
        sizes[count++] = size;
    }
    return count;
}

typedef struct {
    pace_iteration_rows *rows;
    pace_catalog *catalog;
} table;

static pace_status read_rows(void *out, pace_input *input) {
    const table *into = out;
    return pace_iteration_rows_read(into->rows, into->catalog, input);
}

static pace_status study(pace_straggler_job *j) {
    size_t sizes[PACE_STRAGGLER_SIZES];
    pace_iterations data = pace_iteration_rows_data(&j->rows);
    pace_status status = pace_variability_of(&j->found, &data);
    if (status == PACE_OK) status = pace_slow_groups_of(&j->groups, &data, &j->found);
    if (status == PACE_OK) status = pace_steady_delay_of(&j->steady, &data, &j->found);
    j->sizes = choose_sizes(sizes, data.workers);
    if (status == PACE_OK) status = pace_slowdown_of(j->slowdown, sizes, j->sizes, &data);
    return status == PACE_OK ? PACE_OK : pace_fail_in(status, j->name);
}

const char *pace_straggler_name(const pace_straggler_job *j, size_t worker) {
    return pace_names_text(&j->rows.names, j->rows.workers.items[worker]);
}

/* The mean of the logarithms of the paces of the first group's workers. */
static double fastest_pace(const pace_straggler_job *j) {
    const pace_slow_group *first = &j->groups.groups.items[0];
    double sum = 0;
    if (j->groups.groups.count < 2) return 0;
    for (size_t i = 0; i < first->count; i++) sum += log(j->found.workers[j->groups.order[i]].usual);
    return sum / (double)first->count;
}

double pace_straggler_pace(const pace_straggler_job *j, size_t worker) {
    return exp(log(j->found.workers[worker].usual) - fastest_pace(j));
}

static bool is_of_group(const pace_straggler_job *j, size_t worker, size_t group) {
    return pace_slow_group_of(&j->groups, worker) == group;
}

const char *pace_straggler_group_node(const pace_straggler_job *j, size_t group) {
    const pace_slow_group *of = &j->groups.groups.items[group];
    if (j->rows.nodes.count == 0 || of->count == 0) return NULL;
    pace_name node = j->rows.nodes.items[j->groups.order[of->first]];
    for (size_t w = 0; w < j->rows.workers.count; w++)
        if ((j->rows.nodes.items[w] == node) != is_of_group(j, w, group)) return NULL;
    return pace_names_text(&j->rows.names, node);
}

static pace_status node_named(pace_straggler_node **out, pace_stragglers_asked *asked, const char *name) {
    *out = PACE_FIND(asked->nodes.items, asked->nodes.count, name, name);
    if (*out) return PACE_OK;
    PACE_TRY(PACE_PUSH(&asked->nodes, (pace_straggler_node){.name = name}));
    *out = &asked->nodes.items[asked->nodes.count - 1];
    return PACE_OK;
}

/* A node of a job, seen at the first of its workers; `pace` is a sum of logarithms until all jobs are seen. */
static pace_status add_node(pace_stragglers_asked *asked, const pace_straggler_job *j, size_t first) {
    pace_name name = j->rows.nodes.items[first];
    pace_straggler_node *node;
    size_t workers = 0, slow = 0;
    double sum = 0;
    for (size_t w = 0; w < j->rows.workers.count; w++) {
        double pace = pace_straggler_pace(j, w);
        if (j->rows.nodes.items[w] != name || isnan(pace)) continue;
        if (w < first) return PACE_OK;
        workers++;
        slow += pace_slow_group_of(&j->groups, w) > 0;
        sum += log(pace);
    }
    if (workers == 0) return PACE_OK;
    PACE_TRY(node_named(&node, asked, pace_names_text(&j->rows.names, name)));
    node->jobs++;
    node->slow_jobs += 2 * slow >= workers;
    node->pace += sum / (double)workers;
    return PACE_OK;
}

PACE_ORDER(slow_first, pace_straggler_node, PACE_DOWN(slow_jobs) PACE_DOWN(pace) PACE_TEXT(name))

static pace_status find_nodes(pace_stragglers_asked *asked) {
    for (size_t i = 0; i < asked->count; i++)
        for (size_t w = 0; w < asked->jobs[i].rows.nodes.count; w++) PACE_TRY(add_node(asked, &asked->jobs[i], w));
    for (size_t n = 0; n < asked->nodes.count; n++)
        asked->nodes.items[n].pace = exp(asked->nodes.items[n].pace / (double)asked->nodes.items[n].jobs);
    PACE_SORT(&asked->nodes, slow_first);
    return PACE_OK;
}

/* That so many or more of `count` are, each with the chance `p`. */
static double at_least(size_t least, size_t count, double p) {
    double term = pow(1 - p, (double)count), below = 0;
    for (size_t k = 0; k < least; k++) {
        below += term;
        term *= (double)(count - k) / (double)(k + 1) * p / (1 - p);
    }
    return fmax(1 - below, 0);
}

double pace_straggler_nodes_chance(const pace_stragglers_asked *asked) {
    size_t jobs = 0, slow = 0;
    const pace_straggler_node *worst = asked->nodes.items;
    if (asked->nodes.count == 0) return 1;
    PACE_ITEMS (const pace_straggler_node, node, &asked->nodes) jobs += node->jobs, slow += node->slow_jobs;
    if (slow == jobs) return 1;
    double one = at_least(worst->slow_jobs, worst->jobs, (double)slow / (double)jobs);
    return 1 - pow(1 - one, (double)asked->nodes.count);
}

pace_status pace_stragglers_ask(pace_stragglers_asked *out, pace_catalog *catalog, const char *const *paths,
                                size_t count) {
    if (!(out->jobs = pace_alloc(count, sizeof *out->jobs))) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) {
        pace_straggler_job *job = &out->jobs[out->count++];
        const char *slash = strrchr(paths[i], '/');
        job->path = strcmp(paths[i], "-") == 0 ? "<stdin>" : paths[i];
        job->name = slash && slash[1] ? slash + 1 : job->path;
        PACE_TRY(pace_input_read_file(&(table){&job->rows, catalog}, paths[i], read_rows));
        PACE_TRY(study(job));
    }
    return find_nodes(out);
}

void pace_stragglers_asked_free(pace_stragglers_asked *asked) {
    for (size_t i = 0; i < asked->count; i++) {
        pace_iteration_rows_free(&asked->jobs[i].rows);
        pace_variability_free(&asked->jobs[i].found);
        pace_slow_groups_free(&asked->jobs[i].groups);
    }
    PACE_VEC_FREE(&asked->nodes);
    pace_free(asked->jobs);
}
