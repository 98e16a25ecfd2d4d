#include "training.h"

static pace_status run_layer(pace_training *t, uint32_t layer, pace_engine_pass pass) {
    char message[PACE_ENGINE_MESSAGE] = "";
    const pace_network *n = &t->network;
    if (!n->engine->works(n->net, layer, pass)) return PACE_OK;
    int64_t start = pace_record_now_ns(t->record);
    pace_engine_result result = n->engine->run(n->net, layer, pass, message);
    pace_record_layer(t->record, layer, pass, start, pace_record_now_ns(t->record));
    return pace_network_status(result, message);
}

static pace_status forward(pace_training *t) {
    for (uint32_t i = 0; i < t->network.model.layers.count; i++) PACE_TRY(run_layer(t, i, PACE_PASS_FORWARD));
    return PACE_OK;
}

typedef struct {
    size_t all, dense; /* those that the approach exchanges */
} tensors_left;

static tensors_left count_tensors(const pace_network *n) {
    tensors_left left = {.all = n->tensor_count};
    for (size_t i = 0; i < n->tensor_count; i++) left.dense += !n->tensors[i].sparse;
    return left;
}

/* The tensors of a layer are ready when both of its passes are done, the last first. `left`: tensors not ready yet. */
static pace_status hand_over(pace_training *t, uint32_t layer, tensors_left *left) {
    for (; left->all && t->network.tensors[left->all - 1].layer == layer; left->all--)
        if (!t->network.tensors[left->all - 1].sparse) PACE_TRY(pace_exchange_ready(&t->exchange, --left->dense));
    return PACE_OK;
}

static pace_status backward(pace_training *t) {
    tensors_left left = count_tensors(&t->network);
    for (size_t i = t->network.model.layers.count; i--;) {
        PACE_TRY(run_layer(t, (uint32_t)i, PACE_PASS_DATA));
        PACE_TRY(run_layer(t, (uint32_t)i, PACE_PASS_WEIGHTS));
        PACE_TRY(hand_over(t, (uint32_t)i, &left));
    }
    return PACE_OK;
}

static void update(pace_training *t) {
    pace_updater_next(&t->updater);
    for (size_t i = 0; i < t->network.tensor_count; i++) {
        bool sparse = t->network.tensors[i].sparse;
        if (sparse && t->shards.layer_count) pace_shard_rows_update(&t->shards, &t->network, i, t->updater.rule.rate);
        else if (sparse && t->rows.layer_count) pace_table_rows_update(&t->rows, &t->network, i, t->updater.rule.rate);
        else if (sparse || !pace_exchange_updates(&t->exchange)) pace_updater_tensor(&t->updater, &t->network, i);
    }
}

/* Notes the part of the step that ended, and where the next begins. */
static void end_part(pace_training *t, pace_step_part part, int64_t *at) {
    int64_t now = pace_record_now_ns(t->record);
    if (part != PACE_PART_OF_WAIT || t->exchange.kind) pace_record_part(t->record, part, *at, now);
    *at = now;
}

pace_status pace_training_step(pace_training *t, double *loss, double *right) {
    int64_t start = pace_record_now_ns(t->record), at = start;
    if (t->number) pace_samples_next(&t->samples, &t->network);
    end_part(t, PACE_PART_OF_INPUT, &at);
    if (t->shards.layer_count) PACE_TRY(pace_shard_rows_fetch(&t->shards, &t->network, t->record));
    end_part(t, PACE_PART_OF_WAIT, &at);
    PACE_TRY(forward(t));
    end_part(t, PACE_PART_OF_FORWARD, &at);
    PACE_TRY(backward(t));
    end_part(t, PACE_PART_OF_BACKWARD, &at);
    PACE_TRY(pace_exchange_finish(&t->exchange));
    if (t->shards.layer_count) PACE_TRY(pace_shard_rows_return(&t->shards, &t->network, t->record));
    PACE_TRY(pace_table_rows_gather(&t->rows, &t->network, t->record));
    end_part(t, PACE_PART_OF_WAIT, &at);
    update(t);
    end_part(t, PACE_PART_OF_UPDATE, &at);
    pace_record_step(t->record, t->number++, start, at);
    t->network.engine->loss(t->network.net, loss, right);
    return PACE_OK;
}
