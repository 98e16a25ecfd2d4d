#include "ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- the question ------------------------------------------------------------------------------------------------- */

static pace_status whole(unsigned *out, const pace_question *question, const char *field, double most) {
    double value = pace_question_number(question, field);
    if (value < 0 || value > most || value != floor(value))
        return pace_fail(PACE_E_USAGE, "%s: expected a whole number up to %.0f, found %g", field, most, value);
    *out = (unsigned)value;
    return PACE_OK;
}

/* How many of the processes that were started share this host: as Open MPI, MPICH and Slurm say. */
static int ranks_here(int all) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "SLURM_NTASKS_PER_NODE"};
    for (size_t i = 0; i < PACE_COUNT(names); i++) {
        const char *text = getenv(names[i]);
        int count = text ? (int)strtol(text, NULL, 10) : 0;
        if (count > 0 && count <= all) return count;
    }
    return all;
}

static pace_status check_ranks(const pace_train_ranks *r, const pace_question *question) {
    static const char *const shared[] = {"overlap", "asynchronous", "servers", "port", "fusion", "timeout"};
    double asked = pace_question_number(question, "ranks");
    if (pace_question_has(question, "ranks") && asked != r->count)
        return pace_fail(PACE_E_USAGE, "ranks: %g were asked for, but %d process%s started", asked, r->count,
                         r->count == 1 ? " was" : "es were");
    for (size_t i = 0; i < PACE_COUNT(shared) && !r->approach; i++)
        if (pace_question_has(question, shared[i]))
            return pace_fail(PACE_E_USAGE,
                             "%s: has no effect on one rank that exchanges nothing (" PACE_FIELD "approach)",
                             shared[i]);
    return r->approach ? pace_exchange_check(r->approach, question) : PACE_OK;
}

static pace_status read_overlap(bool *out, const char *word) {
    size_t number = 0; /* on, off */
    if (word) PACE_TRY(pace_option_word_find(&number, "train", "overlap", word));
    *out = number == 0;
    return PACE_OK;
}

pace_status pace_train_ranks_read(pace_train_ranks *out, const pace_question *question) {
    const pace_processes *processes = pace_question_processes(question);
    pace_train_ranks r = {.processes = processes, .count = processes ? processes->count : 1};
    r.rank = processes ? processes->rank : 0;
    r.near = ranks_here(r.count);
    r.approach = pace_question_text(question, "approach");
    if (!r.approach && r.count > 1) r.approach = "mpi-opt";
    PACE_TRY(check_ranks(&r, question));
    PACE_TRY(read_overlap(&r.overlap, pace_question_text(question, "overlap")));
    r.asynchronous = pace_question_has(question, "asynchronous");
    PACE_TRY(whole(&r.servers, question, "servers", 4096));
    PACE_TRY(whole(&r.port, question, "port", 65535));
    r.fusion_bytes = pace_question_number(question, "fusion");
    r.timeout_s = pace_question_number(question, "timeout");
    *out = r;
    if (!processes) return PACE_OK;
    pace_patient_open(&out->patient, processes, r.timeout_s);
    out->processes = &out->patient.is;
    return PACE_OK;
}

/* --- the exchange ------------------------------------------------------------------------------------------------- */

/* Rows of tables go to all ranks together, whose steps must be in step. */
static pace_status check_sparse(const pace_train_ranks *ranks, const pace_network *network) {
    for (size_t i = 0; i < network->tensor_count && ranks->asynchronous; i++)
        if (network->tensors[i].sparse)
            return pace_fail(PACE_E_USAGE, "asynchronous: %s has rows of a table, which all ranks exchange together",
                             network->tensor_names[i]);
    return PACE_OK;
}

static pace_train_tensor *list_dense(size_t *count, const pace_network *network) {
    pace_train_tensor *list = pace_alloc(network->tensor_count + 1, sizeof *list);
    *count = 0;
    for (size_t i = 0; list && i < network->tensor_count; i++) {
        const pace_engine_tensor *t = &network->tensors[i];
        if (t->sparse) continue; /* trainer/table_rows.h */
        list[(*count)++] = (pace_train_tensor){network->tensor_names[i], t->elements, t->gradient, t->weights};
    }
    return list;
}

pace_status pace_train_ranks_begin(pace_exchange *out, const pace_train_ranks *ranks, const pace_network *network,
                                   const pace_train_update *update, pace_step_record *record) {
    if (!ranks->approach) return PACE_OK;
    size_t count;
    PACE_TRY(check_sparse(ranks, network));
    out->tensors = list_dense(&count, network);
    if (!out->tensors) return PACE_E_MEMORY;
    pace_exchanger_setup setup = {.size = sizeof setup,
                                  .rank = ranks->rank,
                                  .ranks = ranks->count,
                                  .tensors = out->tensors,
                                  .tensor_count = count,
                                  .update = *update,
                                  .overlap = ranks->overlap,
                                  .asynchronous = ranks->asynchronous,
                                  .servers = ranks->servers,
                                  .port = ranks->port,
                                  .fusion_bytes = ranks->fusion_bytes,
                                  .timeout_s = ranks->timeout_s,
                                  .record = pace_record_exchange,
                                  .record_context = record};
    return pace_exchange_begin(out, ranks->approach, &setup, NULL);
}

static int take_any(void *context, int rank, const void *bytes, size_t length) {
    (void)rank, (void)length;
    *(bool *)context |= *(const bool *)bytes;
    return 0;
}

pace_status pace_train_ranks_any(bool *out, const pace_train_ranks *ranks, bool mine) {
    const pace_processes *p = ranks->processes;
    bool any = false;
    int failed = -1;
    const void **to_each = pace_alloc((size_t)p->count, sizeof *to_each);
    size_t *lengths = pace_alloc((size_t)p->count, sizeof *lengths);
    for (int i = 0; i < p->count && to_each && lengths; i++) to_each[i] = &mine, lengths[i] = sizeof mine;
    bool room = to_each && lengths;
    if (room) failed = p->exchange(p, to_each, lengths, take_any, &any);
    pace_free(to_each);
    pace_free(lengths);
    *out = any;
    if (!room) return PACE_E_MEMORY;
    return failed ? pace_patient_failed(p, "ranks told each other nothing") : PACE_OK;
}

/* --- what they found ---------------------------------------------------------------------------------------------- */

typedef struct {
    double *sums;
    size_t count;
} sum_of;

static int add(void *context, int rank, const void *bytes, size_t length) {
    const sum_of *all = context;
    if (length != all->count * sizeof *all->sums) return 1;
    for (size_t i = 0; i < all->count; i++) {
        double value;
        memcpy(&value, (const char *)bytes + i * sizeof value, sizeof value);
        all->sums[i] = (rank ? all->sums[i] : 0) + value;
    }
    return 0;
}

pace_status pace_train_ranks_mean(const pace_train_ranks *ranks, double *values, size_t count) {
    if (!ranks->processes) return PACE_OK;
    sum_of all = {pace_alloc(count + 1, sizeof *all.sums), count};
    if (!all.sums) return PACE_E_MEMORY;
    int failed = ranks->processes->gather(ranks->processes, values, count * sizeof *values, add, &all);
    for (size_t i = 0; i < count && ranks->rank == 0; i++) values[i] = all.sums[i] / ranks->count;
    pace_free(all.sums);
    return failed ? pace_patient_failed(ranks->processes, "ranks took different numbers of steps") : PACE_OK;
}

/* --- how long their steps are ------------------------------------------------------------------------------------- */

typedef struct {
    pace_step_record *record;
    size_t done;
    double share; /* of each rank in a mean; 0: the slowest is taken */
} steps_of;

static double *row_of(const pace_step_record *record, int row) { return row ? record->parts[row - 1] : record->whole; }

static double value_at(const void *bytes, size_t at) {
    double value;
    memcpy(&value, (const char *)bytes + at * sizeof value, sizeof value);
    return value;
}

static int take_steps(void *context, int rank, const void *bytes, size_t length) {
    const steps_of *all = context;
    if (length != all->done * (PACE_STEP_PARTS + 1) * sizeof(double)) return 1;
    for (size_t i = 0; i < all->done; i++) {
        bool slower = rank == 0 || value_at(bytes, i) > all->record->whole[i];
        for (int row = 0; row <= PACE_STEP_PARTS; row++) {
            double *to = row_of(all->record, row), value = value_at(bytes, (size_t)row * all->done + i);
            if (all->share > 0) to[i] = (rank ? to[i] : 0) + all->share * value;
            else if (slower) to[i] = value;
        }
    }
    return 0;
}

pace_status pace_train_ranks_steps(const pace_train_ranks *ranks, pace_step_record *record, size_t done) {
    if (!ranks->processes) return PACE_OK;
    double *own = pace_alloc(done * (PACE_STEP_PARTS + 1) + 1, sizeof *own);
    steps_of all = {record, done, ranks->asynchronous ? 1.0 / ranks->count : 0};
    if (!own) return PACE_E_MEMORY;
    for (int row = 0; row <= PACE_STEP_PARTS && done; row++)
        memcpy(own + (size_t)row * done, row_of(record, row), done * sizeof *own);
    size_t bytes = done * (PACE_STEP_PARTS + 1) * sizeof *own;
    int failed = ranks->processes->gather(ranks->processes, own, bytes, take_steps, &all);
    pace_free(own);
    return failed ? pace_patient_failed(ranks->processes, "ranks took different numbers of steps") : PACE_OK;
}
