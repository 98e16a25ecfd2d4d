#include "trained_network.h"

#include "base/random.h"
#include "base/shared_object.h"
#include "model/model_settings.h"

#include <math.h>
#include <string.h>

/* --- the engine --------------------------------------------------------------------------------------------------- */

static pace_status load_engine(const pace_layer_engine **out, const char *folder) {
    static const char file[] = "paceline-train-onednn.so";
    char path[2048], reason[256];
    pace_layer_engine_fn entry = NULL;
    if (!pace_shared_object_find(path, sizeof path, folder, file))
        return pace_fail(PACE_E_MISSING,
                         "layers are computed by oneDNN 2: build Paceline where there is the Debian package "
                         "libdnnl-dev%s",
                         pace_shared_object_elsewhere());
    *(void **)&entry = pace_shared_object_symbol(path, "pace_train_layer_engine", reason, sizeof reason);
    const pace_layer_engine *engine = entry ? entry() : NULL;
    if (!entry)
        return pace_fail(PACE_E_MISSING, "%.300s: %s (the Debian package libdnnl-dev brings oneDNN 2)", path, reason);
    if (engine->version != PACE_ENGINE_VERSION)
        return pace_fail(PACE_E_MISSING, "%.300s: it is of another version of Paceline", path);
    *out = engine;
    return PACE_OK;
}

pace_status pace_network_status(pace_engine_result result, const char *message) {
    static const pace_status statuses[] = {[PACE_ENGINE_REFUSED] = PACE_E_USAGE,
                                           [PACE_ENGINE_MEMORY] = PACE_E_MEMORY,
                                           [PACE_ENGINE_FAILED] = PACE_E_INTERNAL};
    return result == PACE_ENGINE_OK ? PACE_OK : pace_fail(statuses[result], "%s", message);
}

/* --- the model ---------------------------------------------------------------------------------------------------- */

/* Settings that this trainer follows; a model's own parameters go to the model. */
static pace_status check_settings(const pace_words *set) {
    static const char *const followed[] = {"optimizer", "sequence", NULL};
    for (size_t i = 0; i < set->count; i++) {
        char key[64];
        size_t length = strcspn(set->items[i], "=");
        bool known = strncmp(set->items[i], "framework=", 10) != 0;
        pace_snprintf(key, sizeof key, "%.*s", (int)(length < 63 ? length : 63), set->items[i]);
        if (pace_config_has(key)) known = false;
        for (size_t k = 0; followed[k]; k++) known = known || strcmp(key, followed[k]) == 0;
        if (!known)
            return pace_fail(
                PACE_E_USAGE,
                "set: %s has no effect on training here, which is eager, in fp32, on one rank for each part "
                "of the batch: expected optimizer, sequence or a parameter of the model",
                key);
    }
    return PACE_OK;
}

static pace_status build_model(pace_network *n, const pace_network_asked *asked) {
    pace_model_settings settings = {0};
    pace_catalog *catalog = NULL;
    n->config = pace_config_default();
    n->config.optimizer = PACE_MOMENTUM;
    n->config.micro_batch = (double)asked->batch;
    PACE_TRY(check_settings(&asked->set));
    pace_status status = pace_catalog_open(&catalog);
    if (status == PACE_OK) status = pace_model_settings_read(&settings, &n->config, catalog, &asked->set);
    if (status == PACE_OK && n->config.optimizer == PACE_LAMB)
        status =
            pace_fail(PACE_E_USAGE, "optimizer lamb: expected one that is trained here: sgd, momentum, adam, adamw");
    if (status == PACE_OK)
        status = pace_model_load(&n->model, catalog, asked->model, settings.items.items, settings.items.count);
    pace_catalog_free(catalog);
    pace_model_settings_free(&settings);
    return status;
}

static pace_status describe_network(pace_network *n, const pace_network_asked *asked) {
    size_t count = n->model.layers.count;
    n->names = pace_alloc(count, sizeof *n->names);
    if (!n->names) return PACE_E_MEMORY;
    for (size_t i = 0; i < count; i++) n->names[i] = pace_names_text(&n->model.names, n->model.layers.items[i].name);
    n->described = (pace_engine_network){.layers = n->model.layers.items,
                                         .names = n->names,
                                         .layer_count = count,
                                         .inputs = n->model.inputs.items,
                                         .rows = n->model.rows.items,
                                         .batch = asked->batch,
                                         .sequence = (size_t)pace_model_sequence(&n->model, &n->config),
                                         .seed = asked->seed,
                                         .shards = asked->shards,
                                         .shard = asked->shard};
    return PACE_OK;
}

/* --- parameters --------------------------------------------------------------------------------------------------- */

/* Box and Muller's normal numbers. */
static double normal(uint64_t *stream) {
    double u = 1 - pace_random_uniform(stream), v = pace_random_uniform(stream);
    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* The rows that are here of a table whose rows are drawn one after another. */
static void draw_rows(float *plain, const pace_network *n, const pace_engine_tensor *t, uint64_t stream) {
    size_t shards = n->described.shards > 1 && t->sparse ? n->described.shards : 1, width = t->dims[1];
    size_t rows = shards > 1 ? t->fan_in : t->dims[0];
    for (size_t r = 0; r < rows; r++)
        for (size_t c = 0; c < width; c++) {
            float value = (float)(0.02 * normal(&stream));
            if (r % shards == n->described.shard % shards) plain[r / shards * width + c] = value;
        }
}

/* PyTorch's: uniform up to the root of 1 / fan-in for weights; tables normal, as GPT-2's; scales 1, shifts 0. */
static pace_status fill_tensor(pace_network *n, size_t i, uint64_t seed) {
    const pace_engine_tensor *t = &n->tensors[i];
    char message[PACE_ENGINE_MESSAGE] = "";
    size_t count = 1;
    uint64_t stream = pace_random_stream(seed, i);
    for (int d = 0; d < t->rank; d++) count *= t->dims[d];
    if (t->role == PACE_ROLE_BIAS) return PACE_OK; /* zeros */
    float *plain = pace_alloc(count, sizeof *plain);
    if (!plain) return PACE_E_MEMORY;
    double most = sqrt(1 / (double)t->fan_in);
    if (t->role == PACE_ROLE_TABLE) draw_rows(plain, n, t, stream);
    for (size_t e = 0; e < count && t->role != PACE_ROLE_TABLE; e++)
        plain[e] = t->role == PACE_ROLE_SCALE ? 1 : (float)(most * (2 * pace_random_uniform(&stream) - 1));
    pace_engine_result result = n->engine->set_tensor(n->net, i, false, plain, message);
    pace_free(plain);
    return pace_network_status(result, message);
}

static void name_tensor(pace_network *n, size_t i) {
    static const char *const roles[] = {"weight", "bias", "scale", "table"};
    const pace_engine_tensor *t = &n->tensors[i];
    pace_snprintf(n->tensor_names[i], sizeof n->tensor_names[i], "%.80s.%s", n->names[t->layer], roles[t->role]);
}

static pace_status fill_parameters(pace_network *n, uint64_t seed) {
    n->tensor_count = n->engine->tensor_count(n->net);
    n->tensors = pace_alloc(n->tensor_count + 1, sizeof *n->tensors);
    n->tensor_names = pace_alloc(n->tensor_count + 1, sizeof *n->tensor_names);
    if (!n->tensors || !n->tensor_names) return PACE_E_MEMORY;
    for (size_t i = 0; i < n->tensor_count; i++) {
        n->engine->tensor(n->net, i, &n->tensors[i]);
        name_tensor(n, i);
        PACE_TRY(fill_tensor(n, i, seed));
    }
    return PACE_OK;
}

/* --- the whole ---------------------------------------------------------------------------------------------------- */

/* States of the optimizer, of which each is as large as the parameters. */
static double states_of(const pace_config *config) {
    return config->optimizer == PACE_MOMENTUM                                  ? 1
           : config->optimizer == PACE_ADAM || config->optimizer == PACE_ADAMW ? 2
                                                                               : 0;
}

/* Parameters, their gradients and states, which no batch makes smaller. Rows of tables have neither gradient nor
 * state. */
static double fixed_bytes(const pace_network *n, bool states_alone) {
    double bytes = 0, states = states_of(&n->config);
    for (size_t i = 0; i < n->engine->tensor_count(n->net); i++) {
        pace_engine_tensor t;
        n->engine->tensor(n->net, i, &t);
        bytes += sizeof(float) * (double)t.elements * ((t.sparse ? 0 : states) + (states_alone ? 0 : t.sparse ? 1 : 2));
    }
    return bytes;
}

static pace_status plan_memory(pace_network *n, const pace_network_asked *asked) {
    for (size_t i = 0; i < n->model.layers.count; i++) n->parameters += n->model.layers.items[i].parameters;
    n->memory_bytes = n->engine->memory_bytes(n->net) + fixed_bytes(n, true);
    if (asked->most_bytes <= 0 || n->memory_bytes <= asked->most_bytes) return PACE_OK;
    return pace_fail(
        PACE_E_NO_FIT,
        "%s: a batch of %zu takes %.2f GB of memory on each rank, and %.2f GB are there for it: expected %s",
        asked->model, asked->batch, n->memory_bytes / 1e9, asked->most_bytes / 1e9,
        fixed_bytes(n, false) > asked->most_bytes
            ? "a smaller model (its parameters, gradients and optimizer's states alone take more)"
            : "a smaller batch");
}

pace_status pace_network_plan(pace_network *out, const pace_network_asked *asked) {
    pace_network *n = out;
    *n = (pace_network){0};
    pace_status status = build_model(n, asked);
    if (status == PACE_OK) status = describe_network(n, asked);
    if (status != PACE_OK) pace_network_close(n);
    return status;
}

static pace_status open_all(pace_network *n, const pace_network_asked *asked) {
    char message[PACE_ENGINE_MESSAGE] = "";
    PACE_TRY(build_model(n, asked));
    PACE_TRY(load_engine(&n->engine, asked->folder));
    PACE_TRY(describe_network(n, asked));
    pace_status status = pace_network_status(n->engine->open(&n->net, &n->described, message), message);
    if (status != PACE_OK) return pace_fail_in(status, asked->model);
    PACE_TRY(plan_memory(n, asked));
    PACE_TRY(pace_network_status(n->engine->allocate(n->net, message), message));
    return fill_parameters(n, asked->seed);
}

pace_status pace_network_open(pace_network *out, const pace_network_asked *asked) {
    pace_network *n = out;
    *n = (pace_network){0};
    pace_status status = open_all(n, asked);
    if (status != PACE_OK) pace_network_close(n);
    return status;
}

void pace_network_close(pace_network *n) {
    if (n->net) n->engine->close(n->net);
    pace_free(n->tensors);
    pace_free(n->tensor_names);
    pace_free(n->names);
    pace_model_free(&n->model);
    *n = (pace_network){0};
}
