#include "ask/fleet/capacity_asked.h"
#include "ask/rows/cluster_rows.h"

enum { INSTANTS = 24 }; /* at which the use is told, over the time of the trace */

typedef pace_status (*read_fn)(pace_cluster *cluster, pace_catalog *catalog, pace_input *input);

static pace_status read_file(pace_capacity_asked *out, int file, const char *path, pace_catalog *catalog,
                             read_fn read) {
    pace_input *input;
    PACE_TRY(pace_input_open(&input, path));
    pace_status status = read(&out->cluster, catalog, input);
    out->paths[file] = path;
    out->bytes[file] = pace_input_stored_bytes(input);
    pace_input_free(input);
    return status;
}

pace_status pace_capacity_ask(pace_capacity_asked *out, pace_catalog *catalog, const char *pods_path,
                              const char *nodes_path) {
    *out = (pace_capacity_asked){0};
    PACE_TRY(read_file(out, 0, nodes_path, catalog, pace_cluster_read_nodes));
    PACE_TRY(read_file(out, 1, pods_path, catalog, pace_cluster_read_pods));
    return pace_capacity_of(&out->found, &out->cluster, INSTANTS);
}

void pace_capacity_asked_free(pace_capacity_asked *asked) {
    pace_capacity_free(&asked->found);
    pace_cluster_free(&asked->cluster);
}
