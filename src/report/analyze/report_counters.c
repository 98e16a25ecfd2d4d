/* Hardware counters that the profiler recorded with kernels. */
#include "report/analyze/analyze_parts.h"
#include "insight/tables/counters.h"

typedef struct {
    const char *name, *op;
    pace_counted_kernel of;
} kernel_row;

PACE_TABLE_IF_ROWS(kernel_table, "kernel_counters", "Arithmetic that kernels executed, by hardware counters",
                   PACE_FOR_ALL, 10, {"name", "kernel", PACE_SHOW_TEXT, PACE_OF(kernel_row, name)},
                   {"operator", "operator", PACE_SHOW_TEXT, PACE_OF(kernel_row, op)},
                   {"times", "times", PACE_SHOW_INT, PACE_OF(kernel_row, of.ranges)},
                   {"half_flop", "fp16 flop", PACE_SHOW_REAL, PACE_OF(kernel_row, of.flop[PACE_COUNTED_HALF])},
                   {"single_flop", "fp32 flop", PACE_SHOW_REAL, PACE_OF(kernel_row, of.flop[PACE_COUNTED_SINGLE])},
                   {"double_flop", "fp64 flop", PACE_SHOW_REAL, PACE_OF(kernel_row, of.flop[PACE_COUNTED_DOUBLE])});

typedef struct {
    const char *name, *counter, *how;
    pace_counter_row of;
} counter_row;

PACE_TABLE_IF_ROWS(counter_table, "counters", "Hardware counters by kernel", PACE_FOR_ALL, 10,
                   {"name", "kernel", PACE_SHOW_TEXT, PACE_OF(counter_row, name)},
                   {"counter", "counter", PACE_SHOW_TEXT, PACE_OF(counter_row, counter)},
                   {"times", "times", PACE_SHOW_INT, PACE_OF(counter_row, of.ranges)},
                   {"value", "value", PACE_SHOW_REAL, PACE_OF(counter_row, of.value)},
                   {"is", "is", PACE_SHOW_WORD, PACE_OF(counter_row, how)},
                   {"least", NULL, PACE_SHOW_REAL, PACE_OF(counter_row, of.least)},
                   {"most", NULL, PACE_SHOW_REAL, PACE_OF(counter_row, of.most)});

static void put_kernels(pace_node *root, const pace_names *names, const pace_counters *counters) {
    pace_node *table = pace_open_table(root, &kernel_table, 0);
    if (!counters->counts_flop) return;
    PACE_ITEMS (const pace_counted_kernel, kernel, &counters->kernels) {
        const char *op = kernel->op ? pace_names_text(names, kernel->op) : NULL;
        pace_table_put(table, &(kernel_row){pace_names_text(names, kernel->range), op, *kernel});
    }
    pace_node_note(
        root,
        "Executed by scalar instructions, a fused multiply-add as two; the tensor cores' work is not in these "
        "counters. A range of counters has no time of the device.%s",
        counters->launches_match ? " The k-th range is the k-th launch; no operator stands where several "
                                   "launched the kernel."
                                 : " Launches and ranges differ in number: operators are unknown.");
}

static void put_rows(pace_node *root, const pace_names *names, const pace_counters *counters) {
    pace_node *table = pace_open_table(root, &counter_table, 0);
    PACE_ITEMS (const pace_counter_row, row, &counters->rows) {
        pace_table_put(table, &(counter_row){pace_names_text(names, row->range), pace_names_text(names, row->counter),
                                             row->sum ? "sum" : "mean", *row});
    }
    if (counters->rows.count)
        pace_node_note(root, "'value': over all times, added up where the counter's name ends in .sum.");
}

pace_status pace_put_counters(pace_node *root, const pace_rank *rank) {
    pace_counters counters;
    PACE_TRY(pace_counters_sum(&counters, rank));
    put_kernels(root, &rank->step.names, &counters);
    put_rows(root, &rank->step.names, &counters);
    pace_counters_free(&counters);
    return PACE_OK;
}
