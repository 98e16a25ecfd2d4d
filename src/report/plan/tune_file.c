#include "report/plan/plan_parts.h"

#include <inttypes.h>

/* collective, min, max, algorithm, protocol, channels, nodes, ranks. What example plug-ins know beyond, numPipeOps and
 * regBuff, is any where it does not stand. */
static void put_totals(pace_sink *sink, const pace_tuned_row *row) {
    pace_sink_format(sink, "%s,%" PRIu64 ",%" PRIu64 ",%s,%s,%d,%d,%d\n", pace_collective_rows[row->collective].name,
                     row->from_bytes, row->to_bytes, row->best.algorithm, row->best.protocol, row->best.channels,
                     row->nodes, row->ranks);
}

/* A rank's share of the bytes, rounded down as the reader does: all totals that a row holds, and no gap to the next. */
static void put_shares(pace_sink *sink, const pace_tuned_row *row) {
    uint64_t ranks = (uint64_t)row->ranks, from = (row->from_bytes + ranks - 1) / ranks, to = row->to_bytes / ranks;
    pace_sink_format(sink, "%s,[%" PRIu64 ",%" PRIu64 "],%s,%s,%d,%d,%d\n", pace_collective_rows[row->collective].name,
                     from, to, row->best.algorithm, row->best.protocol, row->best.channels, row->nodes,
                     row->ranks / row->nodes);
}

static void put_row(pace_sink *sink, const pace_tuned_row *row, bool of_rank) {
    if (!row->changes)
        pace_sink_format(sink, "# %s, %" PRIu64 " to %" PRIu64 " bytes, %d node%s, %d ranks: own choice, %s %s\n",
                         pace_collective_rows[row->collective].name, row->from_bytes, row->to_bytes, row->nodes,
                         row->nodes == 1 ? "" : "s", row->ranks, row->own.algorithm, row->own.protocol);
    else if (of_rank) put_shares(sink, row);
    else put_totals(sink, row);
}

void pace_tune_file_write(pace_sink *sink, const pace_tuned *tuned) {
    pace_sink_format(sink, "# %s%s%s, by paceline tune\n# %s\n", tuned->machine.name, tuned->library ? ", NCCL " : "",
                     tuned->library ? tuned->library : "", tuned->dialect->columns);
    for (size_t i = 0; i < tuned->rows.count; i++) put_row(sink, &tuned->rows.items[i], tuned->dialect->of_rank);
}
