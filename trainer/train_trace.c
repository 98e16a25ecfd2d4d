#include "train_trace.h"

#include "base/trace_event.h"
#include "base/whole_file.h"

#include <string.h>
#include <unistd.h>

/* ATen's and autograd's names, so that analyze knows what the operators do. */
static const struct {
    const char *forward, *backward;
} names[PACE_LAYER_KINDS] = {
    [PACE_LAYER_CONVOLUTION] = {"aten::convolution", "aten::convolution_backward"},
    [PACE_LAYER_LINEAR] = {"aten::addmm", "aten::mm"},
    [PACE_LAYER_BATCH_NORM] = {"aten::native_batch_norm", "aten::native_batch_norm_backward"},
    [PACE_LAYER_LAYER_NORM] = {"aten::native_layer_norm", "aten::native_layer_norm_backward"},
    [PACE_LAYER_LOCAL_NORM] = {"aten::local_response_norm", "aten::local_response_norm_backward"},
    [PACE_LAYER_ACTIVATION] = {"aten::relu", "aten::threshold_backward"},
    [PACE_LAYER_DROPOUT] = {"aten::native_dropout", "aten::native_dropout_backward"},
    [PACE_LAYER_MAX_POOL] = {"aten::max_pool2d_with_indices", "aten::max_pool2d_with_indices_backward"},
    [PACE_LAYER_AVERAGE_POOL] = {"aten::avg_pool2d", "aten::avg_pool2d_backward"},
    [PACE_LAYER_ADAPTIVE_POOL] = {"aten::_adaptive_avg_pool2d", "aten::_adaptive_avg_pool2d_backward"},
    [PACE_LAYER_FLATTEN] = {"aten::reshape", "aten::reshape"},
    [PACE_LAYER_ADD] = {"aten::add_", "aten::add_"},
    [PACE_LAYER_MULTIPLY] = {"aten::mul", "aten::mul"},
    [PACE_LAYER_CONCAT] = {"aten::cat", "aten::slice_copy"},
    [PACE_LAYER_EMBEDDING] = {"aten::embedding", "aten::embedding_dense_backward"},
    [PACE_LAYER_POSITIONS] = {"aten::add", "aten::sum"},
    [PACE_LAYER_EMBEDDING_BAG] = {"aten::embedding_bag", "aten::_embedding_bag_backward"},
    [PACE_LAYER_INTERACTION] = {"aten::bmm", "aten::bmm"},
    [PACE_LAYER_ATTENTION] = {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_attention_backward"},
    [PACE_LAYER_LOSS] = {"aten::cross_entropy_loss", "aten::_log_softmax_backward_data"},
};

typedef struct {
    const pace_train_trace *of;
    pace_jsonw json;
    int64_t offset_ns; /* to the wall clock */
    int64_t pid;
} writer;

static void open_event(writer *w, const pace_traced_event *e, const char *name, const char *category) {
    pace_trace_event_open(&w->json, name, category, w->pid, w->pid + e->lane, e->start_ns + w->offset_ns,
                          e->end_ns - e->start_ns);
}

static void put_plain(writer *w, const pace_traced_event *e, const char *name, const char *category) {
    open_event(w, e, name, category);
    pace_jsonw_object_end(&w->json);
}

static void put_step(writer *w, const pace_traced_event *e) {
    char name[48];
    pace_snprintf(name, sizeof name, "ProfilerStep#%u", e->layer);
    put_plain(w, e, name, "user_annotation");
}

static const char *part_name(const writer *w, const pace_traced_event *e) {
    static const char *const optimizers[] = {[PACE_SGD] = "Optimizer.step#SGD.step",
                                             [PACE_MOMENTUM] = "Optimizer.step#SGD.step",
                                             [PACE_ADAM] = "Optimizer.step#Adam.step",
                                             [PACE_ADAMW] = "Optimizer.step#AdamW.step"};
    static const char *const parts[PACE_STEP_PARTS] = {[PACE_PART_OF_INPUT] = "## load_batch ##",
                                                       [PACE_PART_OF_FORWARD] = "## forward ##",
                                                       [PACE_PART_OF_BACKWARD] = "## backward ##",
                                                       [PACE_PART_OF_WAIT] = "## backward: wait for gradients ##"};
    return e->layer == PACE_PART_OF_UPDATE ? optimizers[w->of->network->config.optimizer] : parts[e->layer];
}

/* The work of a part that has no layers is an operator too. */
static void put_part(writer *w, const pace_traced_event *e) {
    put_plain(w, e, part_name(w, e), "user_annotation");
    if (e->layer == PACE_PART_OF_UPDATE) put_plain(w, e, "aten::_foreach_add_", "cpu_op");
    if (e->layer == PACE_PART_OF_INPUT) put_plain(w, e, "aten::copy_", "cpu_op");
}

static void put_layer(writer *w, const pace_traced_event *e) {
    const pace_network *n = w->of->network;
    const pace_layer *layer = &n->model.layers.items[e->layer];
    const char *name = e->pass == PACE_PASS_FORWARD ? names[layer->kind].forward : names[layer->kind].backward;
    open_event(w, e, name ? name : "aten::layer", "cpu_op");
    pace_jsonw_key(&w->json, "args");
    pace_jsonw_compact(&w->json);
    pace_jsonw_object(&w->json);
    pace_jsonw_key_text(&w->json, "layer", n->names[e->layer]);
    pace_jsonw_object_end(&w->json);
    pace_jsonw_object_end(&w->json);
}

static void put_exchange(writer *w, const pace_traced_event *e) {
    const pace_traced_exchange *x = &w->of->record->exchanges.items[e->layer];
    char name[64]; /* what the approach does is an exchange; the trainer's own thread waits for it */
    pace_snprintf(name, sizeof name, "%s%s", e->lane ? "paceline:" : "", x->name);
    open_event(w, e, name, "cpu_op");
    if (*x->collective) {
        pace_jsonw_key(&w->json, "args");
        pace_jsonw_compact(&w->json);
        pace_jsonw_object(&w->json);
        pace_jsonw_key_text(&w->json, "Collective name", x->collective);
        pace_jsonw_key_int(&w->json, "In msg nelems", (int64_t)x->elements);
        pace_jsonw_key_int(&w->json, "Out msg nelems", (int64_t)x->elements);
        pace_jsonw_key_int(&w->json, "Group size", w->of->ranks);
        pace_jsonw_key_text(&w->json, "dtype", "Float");
        pace_jsonw_object_end(&w->json);
    }
    pace_jsonw_object_end(&w->json);
}

static void put_head(writer *w) {
    pace_jsonw_key_int(&w->json, "schemaVersion", 1);
    pace_jsonw_key(&w->json, "distributedInfo");
    pace_jsonw_compact(&w->json);
    pace_jsonw_object(&w->json);
    pace_jsonw_key_text(&w->json, "backend", "paceline");
    pace_jsonw_key_int(&w->json, "rank", w->of->rank);
    pace_jsonw_key_int(&w->json, "world_size", w->of->ranks);
    pace_jsonw_object_end(&w->json);
}

static void put_event(writer *w, const pace_traced_event *e) {
    if (e->what == PACE_TRACED_STEP) put_step(w, e);
    else if (e->what == PACE_TRACED_PART) put_part(w, e);
    else if (e->what == PACE_TRACED_LAYER) put_layer(w, e);
    else put_exchange(w, e);
}

static pace_status fill(pace_sink *sink, void *context) {
    writer w = {.of = context, .offset_ns = pace_clock_ns_of(CLOCK_REALTIME) - pace_clock_ns(), .pid = getpid()};
    pace_jsonw_init(&w.json, sink, 1);
    pace_jsonw_object(&w.json);
    put_head(&w);
    pace_jsonw_key(&w.json, "traceEvents");
    pace_jsonw_array(&w.json);
    pace_trace_event_name(&w.json, "process_name", w.pid, w.pid, "paceline train");
    for (size_t i = 0; i < w.of->record->events.count; i++) put_event(&w, &w.of->record->events.items[i]);
    pace_jsonw_array_end(&w.json);
    pace_jsonw_object_end(&w.json);
    pace_sink_text(sink, "\n");
    return PACE_OK;
}

/* "run.json" of rank 3 is "run.rank3.json". */
static void name_of(char *name, size_t size, const char *path, const pace_train_trace *t) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
    size_t stem = dot && (!slash || dot > slash + 1) ? (size_t)(dot - path) : strlen(path);
    if (t->ranks == 1) pace_snprintf(name, size, "%s", path);
    else pace_snprintf(name, size, "%.*s.rank%d%s", (int)stem, path, t->rank, path + stem);
}

pace_status pace_train_trace_write(const char *path, const pace_train_trace *trace) {
    char name[4096];
    name_of(name, sizeof name, path, trace);
    return pace_whole_file_write(name, fill, (void *)trace);
}
