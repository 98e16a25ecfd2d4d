/* What a collective's row says against what its programs send. */
#include "exchange/algorithms.h"
#include "exchange/program_by_name.h"

#include <math.h>

#include "cmocka_of_tests.h"

enum { RANKS = 8 };

/* The most that one rank sends, over the bytes that are counted. */
static double sent_share(const char *collective, const char *algorithm) {
    const double bytes = 1 << 20;
    pace_program program;
    double largest = 0;
    assert_int_equal(pace_program_build(&program, collective, algorithm,
                                        &(pace_program_question){.ranks = RANKS, .bytes = bytes}),
                     PACE_OK);
    for (size_t c = 0; c < program.classes.count; c++) {
        const pace_rank_class *class = &program.classes.items[c];
        double sent = 0;
        for (uint32_t l = class->first_lane; l < class->first_lane + class->lane_count; l++)
            for (uint32_t i = 0; i < program.lanes.items[l].count; i++) {
                const pace_operation *o = &program.operations.items[program.lanes.items[l].first + i];
                if (o->kind == PACE_OPERATION_SEND) sent += o->amount;
            }
        if (sent > largest) largest = sent;
    }
    pace_program_free(&program);
    return largest / bytes;
}

TEST(test_rows_say_what_programs_send) {
    for (int c = 0; c < PACE_COLLECTIVES; c++) {
        const pace_collective_row *row = &pace_collective_rows[c];
        if (row->rooted) continue; /* a root's tree sends several times */
        const char *algorithm = row->sends ? (row->passes ? "pairwise" : "message") : "ring";
        double share = sent_share(row->name, algorithm);
        if (fabs(share - pace_bus_factor((pace_collective)c, RANKS)) > 1e-9)
            fail_msg("%s by %s sends %g of its bytes, its row says %g", row->name, algorithm, share,
                     pace_bus_factor((pace_collective)c, RANKS));
    }
}

TEST(test_names_are_found) {
    static const struct {
        const char *text;
        pace_collective collective;
    } cases[] = {
        {"ncclAllReduce", PACE_ALLREDUCE}, {"all_reduce", PACE_ALLREDUCE},
        {"osu_reduce", PACE_REDUCE},       {"reduce_scatter", PACE_REDUCESCATTER},
        {"MPI_Bcast", PACE_BROADCAST},     {"all_to_all", PACE_ALLTOALL},
        {"send", PACE_SENDRECV},           {"alltoallv", PACE_ALLTOALL},
    };
    pace_collective found;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(pace_collective_find(&found, cases[i].text));
        assert_int_equal(found, cases[i].collective);
    }
    assert_false(pace_collective_find(&found, "barrier"));
    for (int c = 0; c < PACE_COLLECTIVES; c++) {
        assert_true(pace_collective_find(&found, pace_collective_rows[c].name));
        assert_int_equal(found, c);
        for (int k = 0; k < c; k++)
            assert_int_not_equal(pace_collective_rows[k].likeness, pace_collective_rows[c].likeness);
    }
}

int main(void) { return run_tests_of_file(NULL, NULL); }
