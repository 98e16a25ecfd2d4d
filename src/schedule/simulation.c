#include "schedule/simulation.h"

#include "exchange/machine_fabric.h"
#include "exchange/program_build.h"

#include <math.h>
#include <string.h>

/* --- who is where ------------------------------------------------------------------------------------------------- */

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
    uint32_t of_node = (uint32_t)m->devices;
    if (s->ranks_of_job <= of_node) s->ranks_of_node = s->ranks_of_job, s->nodes_of_job = 1;
    else if (s->ranks_of_job % of_node == 0) s->ranks_of_node = of_node, s->nodes_of_job = s->ranks_of_job / of_node;
    return PACE_OK;
}

/* Jobs of whole nodes get nodes in turn; smaller ones devices in a row. */
static void place_jobs(uint32_t *place, const pace_simulation *s) {
    uint32_t jobs = s->question.jobs, of_node = (uint32_t)s->machine->devices;
    bool whole = s->nodes_of_job > 0 && s->ranks_of_node == of_node;
    for (uint32_t rank = 0; rank < s->question.ranks; rank++) {
        uint32_t job = rank / s->ranks_of_job, of_job = rank % s->ranks_of_job;
        place[rank] = whole ? (of_job / of_node * jobs + job) * of_node + of_job % of_node : rank;
    }
}

static bool in_switch(const pace_simulation *s) {
    return s->question.algorithm >= 0 && pace_exchange_algorithms[s->question.algorithm].in_switch;
}

static pace_status place(pace_simulation *s) {
    uint32_t ranks = s->question.ranks + in_switch(s), *of = pace_alloc((size_t)ranks, sizeof *of);
    if (!of) return PACE_E_MEMORY;
    place_jobs(of, s);
    if (in_switch(s)) of[ranks - 1] = (uint32_t)s->machine->devices;
    pace_status status = pace_fabric_put(&s->fabric, of, ranks);
    pace_free(of);
    return status;
}

/* --- which algorithm ---------------------------------------------------------------------------------------------- */

static pace_exchange_terms terms_of(const pace_simulation *s, double bytes) {
    pace_exchange_terms terms;
    pace_exchange_terms_of(&terms, s->machine, s->question.collective, bytes, (int)s->ranks_of_node,
                           (int)s->nodes_of_job);
    return terms;
}

static pace_status no_algorithm(const pace_simulation *s) {
    int row = s->question.algorithm;
    return pace_fail(PACE_E_USAGE, "%s cannot do %s by %u ranks of %s",
                     row < 0 ? "no algorithm" : pace_exchange_algorithms[row].name,
                     pace_collective_names[s->question.collective], s->ranks_of_job, s->machine->name);
}

/* The one asked for; else that of the least closed form, of those that need nothing of the switch and whose closed form
 * is their program's time where no messages meet. */
static pace_status choose(int *out, const pace_simulation *s, double bytes) {
    pace_exchange_terms terms = terms_of(s, bytes);
    int row = s->question.algorithm;
    double best = INFINITY;
    if (row >= 0) {
        *out = row;
        const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
        if (s->nodes_of_job) return pace_exchange_algorithm_applies(row, &terms) ? PACE_OK : no_algorithm(s);
        return a->collectives >> s->question.collective & 1 ? PACE_OK : no_algorithm(s);
    }
    if (!s->nodes_of_job)
        return pace_fail(PACE_E_USAGE, "%u ranks do not divide into nodes of %d: expected an algorithm",
                         s->ranks_of_job, s->machine->devices);
    for (int i = 0; i < (int)pace_exchange_algorithm_count; i++) {
        const pace_exchange_algorithm *a = &pace_exchange_algorithms[i];
        if (a->in_switch || !a->program || !a->exact || !pace_exchange_algorithm_applies(i, &terms)) continue;
        double s_of_it = a->time_s(&terms);
        if (s_of_it < best) best = s_of_it, *out = i;
    }
    return isinf(best) ? no_algorithm(s) : PACE_OK;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

pace_status pace_simulation_open(pace_simulation *out, const pace_machine *machine,
                                 const pace_simulation_question *question) {
    pace_simulation s = {.machine = machine, .question = *question};
    PACE_TRY(divide(&s));
    if (in_switch(&s) && s.question.jobs > 1)
        return pace_fail(PACE_E_USAGE, "multicast: expected one job, found %u", s.question.jobs);
    PACE_TRY(pace_fabric_of_machine(&s.fabric, machine, in_switch(&s)));
    pace_status status = place(&s);
    if (status == PACE_OK && s.question.network_share != 0)
        status = pace_fabric_load_network(&s.fabric, s.question.network_share);
    if (status == PACE_OK) *out = s;
    else pace_fabric_free(&s.fabric);
    return status;
}

void pace_simulation_close(pace_simulation *simulation) { pace_fabric_free(&simulation->fabric); }

static pace_status build(pace_program *out, const pace_simulation *s, int row, double bytes) {
    const pace_exchange_algorithm *a = &pace_exchange_algorithms[row];
    pace_exchange_terms terms = terms_of(s, bytes);
    pace_program_question sizes = {.ranks = s->ranks_of_job, .bytes = bytes, .group = s->ranks_of_node};
    if (s->nodes_of_job) sizes.machine = s->machine;
    if (a->segments && s->nodes_of_job) sizes.segments = (uint32_t)fmin(a->segments(&terms), UINT16_MAX);
    PACE_TRY(pace_program_build(out, pace_collective_names[s->question.collective], a->name, &sizes));
    pace_status status = pace_program_repeat(out, s->question.jobs);
    if (status != PACE_OK) pace_program_free(out);
    return status;
}

pace_status pace_simulation_run(pace_simulation_answer *out, const pace_simulation *s, double bytes) {
    static const pace_wire wires[2] = {{0}}; /* links and latencies are the fabric's */
    pace_simulation_answer answer = {.closed_s = NAN, .algorithm = PACE_ANY};
    pace_program program;
    PACE_TRY(choose(&answer.algorithm, s, bytes));
    PACE_TRY(build(&program, s, answer.algorithm, bytes));
    const pace_flows_question q = {.program = &program,
                                   .wires = wires,
                                   .wire_count = 2,
                                   .slowness = s->question.slowness,
                                   .fabric = &s->fabric,
                                   .background = s->question.background,
                                   .background_count = s->question.background_count,
                                   .unfolded = s->question.unfolded};
    pace_status status = pace_flows_run(&answer.flows, &q, NULL);
    pace_program_free(&program);
    if (status != PACE_OK) return status;
    answer.time_s = answer.flows.end_ns * 1e-9 + s->machine->launch_s;
    if (s->nodes_of_job) {
        pace_exchange_terms terms = terms_of(s, bytes);
        answer.closed_s = pace_exchange_algorithms[answer.algorithm].time_s(&terms) + s->machine->launch_s;
    }
    if (answer.flows.busiest_share > 0) pace_fabric_describe(answer.bottleneck, &s->fabric, answer.flows.busiest_link);
    *out = answer;
    return PACE_OK;
}
