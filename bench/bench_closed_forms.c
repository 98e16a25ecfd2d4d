/* Closed forms of exchanges evaluated a second: one algorithm, NCCL's choice for a group made ready, whole questions.
 * Usage: bench_closed_forms. The budget is 10 M/s of closed forms on one core that nothing else uses. */
#include "bench_clock.h"
#include "exchange/exchange.h"
#include "catalog_of_tests.h"

#include <stdio.h>

enum { RUNS = 10000000 };

static void print(const char *what, double begun_s, int runs, double sum_s) {
    double rate = runs / (cpu_s() - begun_s) / 1e6;
    printf("%-44s %8.1f M/s, %5.2f of the budget (sum %g s)\n", what, rate, rate / 10, sum_s);
}

static double bytes_of(int run) { return 8.0 * (1 << (run % 27)); }

static void one_algorithm(const pace_exchange *e, const char *name) {
    char what[128];
    int row = pace_exchange_algorithm_find(name);
    pace_exchange_terms terms;
    double sum = 0, begun = cpu_s();
    pace_exchange_terms_of(&terms, &e->machine, PACE_ALLREDUCE, 8, e->machine.devices, e->machine.nodes);
    for (int i = 0; i < RUNS; i++) {
        terms.bytes = bytes_of(i);
        sum += pace_exchange_algorithms[row].time_s(&terms);
    }
    snprintf(what, sizeof what, "%s on %s", name, e->machine.name);
    print(what, begun, RUNS, sum);
}

int main(void) {
    pace_machine machine;
    pace_exchange textbook, nccl;
    pace_nccl_curves curves;
    double sum = 0;
    int a, p;
    check(pace_machine_parse(&machine, test_catalog(), "dgx-h100*16"));
    check(pace_exchange_open(&textbook, test_catalog(), &machine, PACE_LIBRARY_TEXTBOOK, NULL));
    check(pace_exchange_open(&nccl, test_catalog(), &machine, PACE_LIBRARY_NCCL, NULL));
    one_algorithm(&textbook, "ring");
    one_algorithm(&textbook, "rails");
    one_algorithm(&textbook, "rabenseifner");
    pace_nccl_prepare(&curves, &nccl.nccl, &machine, PACE_ALLREDUCE, 8, 16, 4.5e11, 4e11);
    double begun = cpu_s();
    for (int i = 0; i < RUNS; i++) sum += pace_nccl_choose(&a, &p, &nccl.nccl, &curves, bytes_of(i), -1, -1);
    print("NCCL's choice of 15, group made ready", begun, RUNS, sum);
    begun = cpu_s();
    for (int i = 0; i < RUNS / 10; i++) {
        pace_exchange_question q = {PACE_ALLREDUCE, bytes_of(i), 0, 0, PACE_ANY, PACE_ANY, 0};
        pace_estimate s;
        check(pace_exchange_time(&s, &nccl, &q));
        sum += s.median;
    }
    print("NCCL's choice, whole question", begun, RUNS / 10, sum);
    return 0;
}
