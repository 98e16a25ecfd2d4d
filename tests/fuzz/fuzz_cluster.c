/* Fuzz target of tables of iterations, nodes and pods: the first byte says which. What is read can be asked. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "ask/rows/cluster_rows.h"
#include "ask/rows/iteration_rows.h"
#include "catalog_of_tests.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask_iterations(pace_input *input) {
    pace_iteration_rows rows;
    pace_variability found;
    pace_slowdown slowdown;
    size_t workers = 16;
    if (pace_iteration_rows_read(&rows, test_catalog(), input) != PACE_OK) return;
    pace_iterations table = pace_iteration_rows_data(&rows);
    if (rows.times.count != table.workers * table.iterations) abort();
    if (pace_variability_of(&found, &table) == PACE_OK) {
        for (size_t i = 0; i < found.spells.count; i++)
            if (found.spells.items[i].last >= table.iterations || !(found.spells.items[i].lost >= 0)) abort();
        if (pace_slowdown_of(&slowdown, &workers, 1, &table) != PACE_OK || !(slowdown.expected > 0)) abort();
        pace_variability_free(&found);
    }
    pace_iteration_rows_free(&rows);
}

static void ask_pods(pace_input *input) {
    static const char nodes[] = "cpu_milli,memory_mib,gpu,model\n64000,262144,8,G2\n32000,65536,1,T4\n";
    pace_cluster cluster = {0};
    pace_capacity capacity;
    pace_input *other;
    if (pace_input_open_memory(&other, "nodes", nodes, sizeof nodes - 1) != PACE_OK) return;
    if (pace_cluster_read_nodes(&cluster, test_catalog(), other) == PACE_OK &&
        pace_cluster_read_pods(&cluster, test_catalog(), input) == PACE_OK &&
        pace_capacity_of(&capacity, &cluster, 3) == PACE_OK) {
        if (!(capacity.mean_used >= 0 && capacity.mean_used <= 9)) abort();
        pace_capacity_free(&capacity);
    }
    pace_input_free(other);
    pace_cluster_free(&cluster);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_input *input;
    pace_cluster cluster = {0};
    if (size == 0 || pace_input_open_memory(&input, "fuzz", data + 1, size - 1) != PACE_OK) return 0;
    if (data[0] == 'i') ask_iterations(input);
    else if (data[0] == 'p') ask_pods(input);
    else if (pace_cluster_read_nodes(&cluster, test_catalog(), input) == PACE_OK && cluster.nodes.count == 0) abort();
    pace_cluster_free(&cluster);
    pace_input_free(input);
    return 0;
}
