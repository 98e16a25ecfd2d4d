/*
 * libnccl-tuner-paceline.so: NCCL loads it (NCCL_TUNER_PLUGIN) and asks before each collective which algorithm and
 * protocol to take. It answers from the table that NCCL_TUNER_CONFIG_FILE names; without a row that fits, and with a
 * table that cannot be read, NCCL's own choice stays.
 */
#include "tuner_table.h"

#include <stdlib.h>

typedef struct {
    tuner_table table;
    tuner_logger log;
    bool said; /* that a row cannot be had here: once for each communicator */
} tuner;

#define SAY(log, level, ...)                                                      \
    do {                                                                          \
        if (log) (log)(level, TUNER_LOG_TUNING, __FILE__, __LINE__, __VA_ARGS__); \
    } while (0)

static void read_table(tuner *t, size_t ranks, size_t nodes) {
    const char *path = getenv("NCCL_TUNER_CONFIG_FILE");
    char message[TUNER_MESSAGE];
    if (!path || !*path) {
        SAY(t->log, TUNER_LOG_WARN, "paceline tuner: NCCL_TUNER_CONFIG_FILE names no table: NCCL's own choices stay");
        return;
    }
    if (!tuner_table_read(&t->table, message, path)) {
        SAY(t->log, TUNER_LOG_WARN, "paceline tuner: %s: NCCL's own choices stay", message);
        return;
    }
    size_t all = t->table.count;
    tuner_table_keep(&t->table, nodes, ranks);
    SAY(t->log, TUNER_LOG_INFO, "paceline tuner: %zu of %zu rows of %s are for %zu ranks on %zu nodes", t->table.count,
        all, path, ranks, nodes);
}

static tuner_result open_tuner(void **context, size_t ranks, size_t nodes, tuner_logger log) {
    tuner *t = calloc(1, sizeof *t);
    if (!t) return TUNER_SYSTEM_ERROR;
    t->log = log;
    read_table(t, ranks, nodes);
    *context = t;
    return TUNER_SUCCESS;
}

/* The table of costs is one block of floats, row by row; the least cost above 0 or at it is taken. */
static bool take(float **costs, int algorithms, int protocols, const tuner_row *row) {
    float *table = (float *)(void *)costs;
    int algorithm = (int)row->algorithm, protocol = (int)row->protocol;
    if (algorithm >= algorithms || protocol >= protocols) return false;
    float *cost = &table[algorithm * protocols + protocol];
    if (!(*cost >= 0)) return false; /* TUNER_IGNORED */
    *cost = 0;
    return true;
}

static tuner_result choose(void *context, tuner_collective collective, size_t bytes, int piped, float **costs,
                           int algorithms, int protocols, int registered, int *channels) {
    tuner *t = context;
    if (!t) return TUNER_INTERNAL_ERROR;
    const tuner_row *row = tuner_table_find(&t->table, collective, bytes, piped, registered);
    if (!row) return TUNER_SUCCESS;
    if (take(costs, algorithms, protocols, row)) {
        if (row->channels > 0) *channels = row->channels;
    } else if (!t->said) {
        t->said = true;
        SAY(t->log, TUNER_LOG_WARN,
            "paceline tuner: NCCL cannot do here what line %d of the table says: its own choice stays for such lines",
            row->line);
    }
    return TUNER_SUCCESS;
}

static tuner_result choose_v3(void *context, tuner_collective collective, size_t bytes, int piped, float **costs,
                              int algorithms, int protocols, int *channels) {
    return choose(context, collective, bytes, piped, costs, algorithms, protocols, TUNER_ANY, channels);
}

static tuner_result init_v4(size_t ranks, size_t nodes, tuner_logger log, void **context) {
    return open_tuner(context, ranks, nodes, log);
}

static tuner_result init_v5(void **context, uint64_t communicator, size_t ranks, size_t nodes, tuner_logger log,
                            void *domains, void *constants) {
    (void)communicator, (void)domains, (void)constants;
    return open_tuner(context, ranks, nodes, log);
}

static tuner_result close_tuner(void *context) {
    tuner *t = context;
    if (t) tuner_table_free(&t->table);
    free(t);
    return TUNER_SUCCESS;
}

extern const tuner_v3 ncclTunerPlugin_v3;
extern const tuner_v4 ncclTunerPlugin_v4;
extern const tuner_v5 ncclTunerPlugin_v5;
#define SHOWN __attribute__((visibility("default")))
SHOWN const tuner_v3 ncclTunerPlugin_v3 = {"paceline", init_v4, choose_v3, close_tuner};
SHOWN const tuner_v4 ncclTunerPlugin_v4 = {"paceline", init_v4, choose, close_tuner};
SHOWN const tuner_v5 ncclTunerPlugin_v5 = {"paceline", init_v5, choose, close_tuner};
