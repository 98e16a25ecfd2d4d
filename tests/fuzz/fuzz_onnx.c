/* Fuzz target of the ONNX reader: any bytes either fail with a message or give a model that can be lowered. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/lower.h"
#include "source/traces/onnx.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_explain(pace_status status) {
    if (status == PACE_OK || (status != PACE_E_INTERNAL && pace_message()[0])) return;
    fprintf(stderr, "fuzz_onnx: status %d: %s\n", (int)status, pace_message());
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_model model;
    pace_graph graph;
    pace_config config = pace_config_default();
    pace_status status = pace_onnx_parse(&model, "fuzz.onnx", data, size);
    must_explain(status);
    if (status != PACE_OK) return 0;
    pace_model_totals total = pace_model_total(&model, &config);
    if (!(total.parameters >= 0) || !(total.multiply_adds >= 0) || !(total.activation_bytes >= 0)) abort();
    if (model.layers.count < 1000) {
        status = pace_model_lower(&graph, &model, &config, 0);
        must_explain(status);
        if (status == PACE_E_INPUT) abort();
        if (status == PACE_OK) pace_graph_free(&graph);
    }
    pace_model_free(&model);
    return 0;
}
