#include "schedule/simulation.h"

#include "base/order.h"
#include "exchange/machine_fabric.h"
#include "exchange/program_by_name.h"
#include "exchange/algorithms.h"

#include <math.h>
#include <stdlib.h>

/* --- more nodes than are simulated -------------------------------------------------------------------------------- */

/*
 * What an exchange takes on more nodes than are worth simulating, from what it takes on fewer: messages of the same
 * size over the same links, on 8 nodes, 16, 32 and so on. Some algorithms take a constant time more for every node, or
 * for every doubling of them (pace_exchange_growth); a line through the times of the smaller exchanges is continued.
 */

enum { GROWTH_POINTS = 8, GROWTH_FEWEST = 3 };

typedef struct {
    size_t count;
    double x[GROWTH_POINTS], y[GROWTH_POINTS]; /* ascending x */
} growth_points;

static void growth_add(growth_points *growth, double x, double y) {
    growth->x[growth->count] = x;
    growth->y[growth->count++] = y;
}

enum { POINTS_OF_LINE = 4 };

/* What time grows with: the nodes, or how often they double. */
static double growth_along(pace_exchange_growth growth, uint32_t nodes) {
    return growth == PACE_GROWS_WITH_LEVELS ? ceil(log2(nodes)) : nodes;
}

/* The line through the last four points at `x`: least squares. `spread` (may be NULL) receives the standard error of a
 * point there, in units of y; 0 where the points lie on the line or are fewer than three. */
static double growth_at(double *spread, const growth_points *growth, double x) {
    size_t first = growth->count > POINTS_OF_LINE ? growth->count - POINTS_OF_LINE : 0;
    double n = (double)(growth->count - first), mean_x = 0, mean_y = 0, xx = 0, xy = 0, rest = 0;
    for (size_t i = first; i < growth->count; i++) mean_x += growth->x[i] / n, mean_y += growth->y[i] / n;
    for (size_t i = first; i < growth->count; i++) {
        xx += (growth->x[i] - mean_x) * (growth->x[i] - mean_x);
        xy += (growth->x[i] - mean_x) * (growth->y[i] - mean_y);
    }
    double slope = xx > 0 ? xy / xx : 0;
    for (size_t i = first; i < growth->count; i++) {
        double off = growth->y[i] - mean_y - slope * (growth->x[i] - mean_x);
        rest += off * off;
    }
    if (spread) *spread = n > 2 ? sqrt(rest / (n - 2) * (1 + 1 / n + (x - mean_x) * (x - mean_x) / xx)) : 0;
    return mean_y + slope * (x - mean_x);
}

/* --- who is where ------------------------------------------------------------------------------------------------- */

static bool in_switch(const pace_simulation *s) {
    return s->question.algorithm >= 0 && pace_exchange_algorithms[s->question.algorithm].in_switch;
}

static pace_status divide(pace_simulation *s) {
    const pace_machine *m = s->machine;
    pace_simulation_question *q = &s->question;
    uint64_t devices = (uint64_t)m->devices * (uint64_t)m->nodes;
    if (!q->jobs) q->jobs = 1;
    if (!q->ranks) q->ranks = (uint32_t)devices;
    if (q->ranks > devices)
        return pace_fail(PACE_E_USAGE, "%s has %llu devices, fewer than %u ranks", m->name, (unsigned long long)devices,
                         q->ranks);
    if (q->ranks % q->jobs) return pace_fail(PACE_E_USAGE, "%u ranks do not divide into %u jobs", q->ranks, q->jobs);
    s->ranks_of_job = q->ranks / q->jobs;
    s->numbered_of_job = s->ranks_of_job + in_switch(s);
    uint32_t of_node = (uint32_t)m->devices, fit = of_node / s->ranks_of_job;
    if (s->ranks_of_job <= of_node && (uint64_t)fit * (uint64_t)m->nodes >= q->jobs)
        s->ranks_of_node = s->ranks_of_job, s->nodes_of_job = 1, s->jobs_of_node = fit;
    else if (s->ranks_of_job % of_node == 0) s->ranks_of_node = of_node, s->nodes_of_job = s->ranks_of_job / of_node;
    return PACE_OK;
}

/* Jobs of whole nodes get nodes in turn; smaller ones devices in a row, within a node where all can be. */
static uint32_t place_of(const pace_simulation *s, uint32_t job, uint32_t rank) {
    uint32_t jobs = s->question.jobs, of_node = (uint32_t)s->machine->devices;
    if (s->nodes_of_job > 0 && s->ranks_of_node == of_node)
        return (rank / of_node * jobs + job) * of_node + rank % of_node;
    if (s->jobs_of_node) return job / s->jobs_of_node * of_node + job % s->jobs_of_node * s->ranks_of_job + rank;
    return job * s->ranks_of_job + rank;
}

/* A rank's number in the program of all jobs. */
static uint32_t number_of(const pace_simulation *s, uint32_t rank) {
    return rank / s->ranks_of_job * s->numbered_of_job + rank % s->ranks_of_job;
}

static pace_status place(pace_simulation *s) {
    uint32_t devices = (uint32_t)s->machine->devices, jobs = s->question.jobs, each = s->numbered_of_job;
    uint32_t *of = pace_alloc((size_t)jobs * each, sizeof *of);
    if (!of) return PACE_E_MEMORY;
    for (uint32_t job = 0; job < jobs; job++)
        for (uint32_t rank = 0; rank < each; rank++)
            of[job * each + rank] = rank < s->ranks_of_job
                                        ? place_of(s, job, rank)
                                        : devices * (uint32_t)s->machine->nodes + place_of(s, job, 0) / devices;
    pace_status status = pace_fabric_put(&s->fabric, of, jobs * each);
    pace_free(of);
    return status;
}

/* What is known of ranks, by their numbers in the program: switches are as fast as they are. */
static pace_status number_ranks(pace_simulation *s) {
    uint32_t ranks = s->question.ranks, count = s->question.jobs * s->numbered_of_job;
    size_t others = s->question.background_count;
    if (s->question.slowness) {
        if (!PACE_MAKE(s->slowness, count)) return PACE_E_MEMORY;
        for (uint32_t i = 0; i < count; i++) s->slowness[i] = 1;
        for (uint32_t rank = 0; rank < ranks; rank++) s->slowness[number_of(s, rank)] = s->question.slowness[rank];
    }
    if (others) {
        if (!PACE_MAKE(s->background, others)) return PACE_E_MEMORY;
    }
    for (size_t i = 0; i < others; i++) {
        s->background[i] = s->question.background[i];
        if (s->background[i].from >= ranks || s->background[i].to >= ranks)
            return pace_fail(PACE_E_INPUT, "traffic of others from rank %u to %u: there are %u ranks",
                             s->background[i].from, s->background[i].to, ranks);
        s->background[i].from = number_of(s, s->background[i].from);
        s->background[i].to = number_of(s, s->background[i].to);
    }
    return PACE_OK;
}

/* --- which algorithm ---------------------------------------------------------------------------------------------- */

static pace_exchange_terms terms_of(const pace_simulation *s, double bytes) {
    pace_exchange_terms terms;
    pace_exchange_terms_of(&terms, s->machine, s->question.collective, bytes, (int)s->ranks_of_node,
                           (int)s->nodes_of_job);
    terms.by_nodes = s->by_nodes;
    return terms;
}

static pace_status no_algorithm(const pace_simulation *s) {
    int row = s->question.algorithm;
    return pace_fail(PACE_E_USAGE, "%s cannot do %s by %u ranks of %s%s",
                     row < 0 ? "no algorithm" : pace_exchange_algorithms[row].name,
                     pace_collective_rows[s->question.collective].name, s->ranks_of_job, s->machine->name,
                     s->nodes_of_job ? "" : ", which do not divide into its nodes");
}

/* Ranks that do not divide into nodes can what one node can, or nodes of one rank. */
static bool can_scattered(const pace_simulation *s) {
    int row = s->question.algorithm, ranks = (int)s->ranks_of_job;
    const pace_exchange_terms near = {.collective = s->question.collective,
                                      .ranks = ranks,
                                      .ranks_per_node = ranks,
                                      .nodes = 1};
    const pace_exchange_terms far = {.collective = s->question.collective,
                                     .ranks = ranks,
                                     .ranks_per_node = 1,
                                     .nodes = ranks};
    return pace_exchange_algorithm_applies(row, &near) || pace_exchange_algorithm_applies(row, &far);
}

/* Whether the algorithm that was asked for can do it, or one may be chosen. */
static pace_status check_algorithm(const pace_simulation *s, double bytes) {
    pace_exchange_terms terms = terms_of(s, bytes);
    bool whole = s->nodes_of_job > 0;
    int row = s->question.algorithm;
    if (row >= 0)
        return (whole ? pace_exchange_algorithm_applies(row, &terms) : can_scattered(s)) ? PACE_OK : no_algorithm(s);
    if (whole) return PACE_OK;
    return pace_fail(PACE_E_USAGE,
                     "%u ranks do not divide into nodes of %d: expected " PACE_FIELD "algorithm ring, or another",
                     s->ranks_of_job, s->machine->devices);
}

typedef struct {
    int row;
    double closed_s;
} candidate;

PACE_ORDER(by_closed_form, candidate, PACE_UP(closed_s) PACE_UP(row))

enum { MOST_ROWS = 32, MOST_RANKS_TRIED = 2048, LESS_THAN_CLOSED = 3 };

/* The algorithms that need nothing of the switch, the least closed form first. */
static size_t list_candidates(candidate out[MOST_ROWS], const pace_simulation *s, double bytes) {
    pace_exchange_terms terms = terms_of(s, bytes);
    size_t count = 0;
    for (int i = 0; i < (int)pace_exchange_algorithm_count && count < MOST_ROWS; i++) {
        const pace_exchange_algorithm *a = &pace_exchange_algorithms[i];
        if (!a->in_switch && a->program && pace_exchange_algorithm_applies(i, &terms))
            out[count++] = (candidate){i, a->time_s(&terms)};
    }
    qsort(out, count, sizeof *out, by_closed_form);
    return count;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

pace_status pace_simulation_open(pace_simulation *out, const pace_machine *machine,
                                 const pace_simulation_question *question) {
    pace_simulation s = {.machine = machine, .question = *question};
    PACE_TRY(divide(&s));
    PACE_TRY(pace_fabric_of_machine(&s.fabric, machine, in_switch(&s)));
    pace_status status = place(&s);
    if (status == PACE_OK) status = number_ranks(&s);
    if (status == PACE_OK && s.slowness) status = pace_fabric_slow_ranks(&s.fabric, s.slowness);
    if (status == PACE_OK && s.question.network_share != 0)
        status = pace_fabric_load_network(&s.fabric, s.question.network_share);
    return PACE_GIVE(out, s, status, pace_simulation_close(&s));
}

void pace_simulation_close(pace_simulation *simulation) {
    pace_fabric_free(&simulation->fabric);
    PACE_FREE(simulation->slowness, simulation->background);
}

/* Pieces of the vector; 0 = the algorithm has none. */
static uint32_t segments_of(const pace_simulation *s, int row, double bytes) {
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    pace_exchange_terms terms = terms_of(s, bytes);
    if (s->segments || !a->segments || !s->nodes_of_job) return s->segments;
    return (uint32_t)fmin(a->segments(&terms), UINT16_MAX);
}

static pace_status build(pace_program *out, const pace_simulation *s, int row, double bytes) {
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    pace_program_question sizes = {.ranks = s->ranks_of_job,
                                   .bytes = bytes,
                                   .group = s->ranks_of_node,
                                   .by_nodes = s->by_nodes,
                                   .segments = segments_of(s, row, bytes)};
    if (s->nodes_of_job) sizes.machine = s->machine;
    PACE_TRY(pace_program_build(out, pace_collective_rows[s->question.collective].name, a->name, &sizes));
    pace_status status = pace_program_repeat(out, s->question.jobs);
    if (status != PACE_OK) pace_program_free(out);
    return status;
}

static double closed_form(const pace_simulation *s, int row, double bytes) {
    pace_exchange_terms terms = terms_of(s, bytes);
    return pace_exchange_algorithms[row].time_s(&terms) + s->machine->launch_s;
}

static pace_status run_whole(pace_simulation_answer *out, const pace_simulation *s, int row, double bytes,
                             pace_flow_log *log) {
    static const pace_wire wires[2] = {{0}}; /* links and latencies are the fabric's */
    pace_simulation_answer answer = {.closed_s = NAN, .algorithm = row};
    pace_program program;
    PACE_TRY(build(&program, s, row, bytes));
    const pace_flows_question q = {.program = &program,
                                   .wires = wires,
                                   .wire_count = 2,
                                   .fabric = &s->fabric,
                                   .background = s->background,
                                   .background_count = s->question.background_count,
                                   .unfolded = s->question.unfolded,
                                   .log = log};
    pace_status status = pace_flows_run(&answer.flows, &q, NULL);
    pace_program_free(&program);
    if (status != PACE_OK) return status;
    answer.time_s = answer.flows.end_ns * 1e-9 + s->machine->launch_s;
    if (s->nodes_of_job) answer.closed_s = closed_form(s, row, bytes);
    if (answer.flows.busiest_share > 0) pace_fabric_describe(answer.bottleneck, &s->fabric, answer.flows.busiest_link);
    *out = answer;
    return PACE_OK;
}

/* --- many ranks that are not alike -------------------------------------------------------------------------------- */

enum {
    MOST_WHOLE_RANKS = 4096,
    LARGE_NODE = 16,
    GROWTH_MESSAGES = 1 << 20,
    MOST_WHOLE_PIECES = 320,
    PIECES_APART = 64
};

/* Whether fewer nodes tell what all take: ranks as fast as each other, links alike at any distance. Rings of an even
 * number of nodes fold. */
static bool is_grown(const pace_simulation *s, int row) {
    const pace_simulation_question *q = &s->question;
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    return a->growth && s->ranks_of_job > MOST_WHOLE_RANKS && !q->unfolded && q->jobs == 1 && !q->slowness &&
           !q->background_count && s->machine->network.kind == PACE_NETWORK_SWITCH &&
           s->ranks_of_node == (uint32_t)s->machine->devices &&
           (a->growth != PACE_GROWS_WITH_ODD_NODES || s->nodes_of_job % 2);
}

/* Lines through the ends of smaller exchanges, their messages and what their busiest link carries. */
typedef struct {
    growth_points end_ns, messages, bytes;
    uint64_t simulated;
} growth_lines;

static void add_point(growth_lines *lines, const pace_flows_result *flows, double along, double count, double unit) {
    growth_add(&lines->end_ns, along, flows->end_ns);
    growth_add(&lines->messages, count, (double)flows->messages / unit);
    growth_add(&lines->bytes, count, flows->busiest_bytes);
    lines->simulated += flows->simulated_messages;
}

static void continue_lines(pace_simulation_answer *a, const growth_lines *lines, double along, double count,
                           double unit) {
    pace_flows_result *flows = &a->flows;
    double spread_ns, last_rate = flows->busiest_bytes / flows->end_ns;
    flows->end_ns = growth_at(&spread_ns, &lines->end_ns, along);
    flows->messages = (uint64_t)llround(growth_at(NULL, &lines->messages, count) * unit);
    flows->busiest_bytes = growth_at(NULL, &lines->bytes, count);
    if (last_rate > 0) flows->busiest_share *= flows->busiest_bytes / flows->end_ns / last_rate;
    flows->simulated_messages = lines->simulated;
    a->growth_spread = hypot(a->growth_spread, spread_ns / flows->end_ns);
}

/* Every piece after the first few takes as long again. */
static pace_status run_pieces(pace_simulation_answer *out, pace_simulation *s, int row, double bytes, uint32_t pieces,
                              pace_flow_log *log) {
    growth_lines lines = {0};
    pace_simulation_answer a;
    s->segments = pieces;
    if (pieces <= MOST_WHOLE_PIECES) return run_whole(out, s, row, bytes, log);
    for (int i = GROWTH_FEWEST; i-- > 0;) {
        s->segments = MOST_WHOLE_PIECES - (uint32_t)i * PIECES_APART;
        PACE_TRY(run_whole(&a, s, row, bytes * s->segments / pieces, i ? NULL : log));
        add_point(&lines, &a.flows, s->segments, s->segments, 1);
    }
    continue_lines(&a, &lines, pieces, pieces, 1);
    *out = a;
    return PACE_OK;
}

/* The first nodes, with messages as large as all have. */
static pace_status run_smaller(pace_simulation_answer *out, const pace_simulation *s, int row, double bytes,
                               uint32_t nodes, pace_flow_log *log) {
    pace_machine machine = *s->machine;
    pace_simulation_question question = s->question;
    pace_simulation smaller;
    machine.nodes = (int)nodes;
    question.ranks = nodes * s->ranks_of_node;
    if (!pace_exchange_algorithms[row].segments) bytes *= nodes / (double)s->nodes_of_job;
    PACE_TRY(pace_simulation_open(&smaller, &machine, &question));
    smaller.by_nodes = s->by_nodes;
    pace_status status = run_pieces(out, &smaller, row, bytes, segments_of(s, row, bytes), log);
    pace_simulation_close(&smaller);
    return status;
}

/* Twice as many nodes each time, while that is soon done. What all take continues the lines. */
static pace_status run_grown(pace_simulation_answer *out, const pace_simulation *s, int row, double bytes,
                             pace_flow_log *log) {
    const pace_exchange_algorithm *algorithm = &pace_exchange_algorithms[row];
    growth_lines lines = {0};
    pace_simulation_answer a;
    uint32_t all = s->nodes_of_job, odd = all % 2, count = 0;
    uint32_t nodes = s->ranks_of_node > LARGE_NODE ? 4 : 8;
    nodes += s->ranks_of_job & (s->ranks_of_job - 1) ? 2 - odd : 0; /* powers of two have other partners */
    for (; count < GROWTH_FEWEST ||
           (count < GROWTH_POINTS && lines.simulated < GROWTH_MESSAGES && nodes * s->ranks_of_node <= MOST_WHOLE_RANKS);
         nodes += nodes + odd) {
        PACE_TRY(run_smaller(&a, s, row, bytes, nodes, count++ ? NULL : log));
        add_point(&lines, &a.flows, growth_along(algorithm->growth, nodes), nodes, algorithm->segments ? 1 : nodes);
        a.grown_from = nodes;
    }
    continue_lines(&a, &lines, growth_along(algorithm->growth, all), all, algorithm->segments ? 1 : all);
    a.time_s = a.flows.end_ns * 1e-9 + s->machine->launch_s;
    a.closed_s = closed_form(s, row, bytes);
    *out = a;
    return PACE_OK;
}

static pace_status run_by(pace_simulation_answer *out, const pace_simulation *s, int row, double bytes,
                          pace_flow_log *log) {
    return is_grown(s, row) ? run_grown(out, s, row, bytes, log) : run_whole(out, s, row, bytes, log);
}

/* The algorithm that takes least when it is simulated: those whose closed forms are least come first, and those of
 * which it is much more than the best has taken are not tried. Of very many ranks the least closed form decides. */
static pace_status run_best(pace_simulation_answer *out, const pace_simulation *s, double bytes, pace_flow_log *log) {
    candidate rows[MOST_ROWS];
    size_t count = list_candidates(rows, s, bytes);
    pace_simulation_answer best = {.time_s = INFINITY}, tried;
    if (!count) return no_algorithm(s);
    if (s->question.ranks > MOST_RANKS_TRIED) count = 1;
    for (size_t i = 0; i < count && rows[i].closed_s < LESS_THAN_CLOSED * best.time_s; i++) {
        PACE_TRY(run_by(&tried, s, rows[i].row, bytes, NULL));
        if (tried.time_s < best.time_s) best = tried;
    }
    *out = best;
    return log ? run_by(out, s, best.algorithm, bytes, log) : PACE_OK;
}

pace_status pace_simulation_run(pace_simulation_answer *out, const pace_simulation *s, double bytes,
                                pace_flow_log *log) {
    PACE_TRY(check_algorithm(s, bytes));
    if (s->question.algorithm >= 0) return run_by(out, s, s->question.algorithm, bytes, log);
    return run_best(out, s, bytes, log);
}
