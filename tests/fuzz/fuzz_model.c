/*
 * Fuzz target of model descriptions: any bytes, read as YAML, either fail with a message or give a model whose counts
 * are sane and whose step, small enough, keeps the invariants of a graph. A hub's configuration
 * is read as a model of the catalogue with finite sizes.
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "model/hub_config.h"
#include "model/lower.h"
#include "model/model_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A line may ask for a thousand layers, and a file for ten models of them: so many layers are built and lowered for an
 * input, over its variants and the ways to run each. */
enum { MOST_LAYERS = 400, WAYS = 6 };

static void must_explain(pace_status status) {
    if (status == PACE_OK || (status != PACE_E_INTERNAL && pace_message()[0])) return;
    fprintf(stderr, "fuzz_model: status %d: %s\n", (int)status, pace_message());
    abort();
}

static void check_lowered(const pace_model *model, int mode, int execution) {
    pace_config config = pace_config_default();
    pace_graph graph;
    config.mode = mode;
    config.execution = execution;
    config.attention = mode;
    if (model->sequence > 0) config.sequence = 3;
    pace_status status = pace_model_lower(&graph, model, &config, 0);
    must_explain(status);
    if (status == PACE_E_INPUT) abort(); /* its own graph has a fault */
    if (status == PACE_OK) pace_graph_free(&graph);
}

/* In the ways that `left` allows, beginning with another one for each variant. */
static void check_model(const pace_model *model, size_t variant, double *left) {
    pace_config config = pace_config_default();
    pace_model_totals total = pace_model_total(model, &config);
    if (!(total.parameters >= 0) || !(total.multiply_adds >= 0) || !(total.activation_bytes >= 0)) abort();
    double size = (double)model->layers.count + total.tensors;
    *left -= (double)model->layers.count;
    for (size_t i = 0; i < WAYS && size <= *left; i++) {
        size_t way = (variant + i) % WAYS;
        check_lowered(model, (int)(way % 2), (int)(way / 2));
        *left -= size;
    }
}

/* The catalogue is opened once, and stays. */
static void check_hub_config(const pace_yaml *yaml) {
    static pace_catalog *catalog;
    pace_hub_config config = {0};
    if (!pace_hub_config_is(yaml)) return;
    if (!catalog && pace_catalog_open(&catalog) != PACE_OK) abort();
    pace_status status = pace_hub_config_read(&config, catalog, yaml);
    must_explain(status);
    if (status == PACE_OK && !config.model) abort();
    for (size_t i = 0; i < config.settings.count; i++)
        if (!isfinite(config.settings.items[i].value)) abort();
    pace_hub_config_free(&config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    pace_yaml *yaml = NULL;
    pace_status status = pace_yaml_parse(&yaml, "fuzz.yaml", data, size);
    must_explain(status);
    if (status != PACE_OK) return 0;
    check_hub_config(yaml);
    const char *name;
    double left = MOST_LAYERS;
    for (size_t i = 0; i < 8 && left > 0 && (name = pace_model_variant(yaml, i)); i++) {
        pace_model model;
        status = pace_model_build(&model, yaml, name, NULL, 0);
        must_explain(status);
        if (status != PACE_OK) continue;
        check_model(&model, i, &left);
        pace_model_free(&model);
    }
    pace_yaml_free(yaml);
    return 0;
}
