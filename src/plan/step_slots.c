#include "plan/step_slots.h"

#include "exchange/token_routes.h"
#include "model/emit.h"
#include "model/pipeline_turns.h"
#include "model/recompute.h"

#include <math.h>
#include <string.h>

/* --- exchanges ---------------------------------------------------------------------------------------------------- */

/* What a group exchanges: the tokens of experts may be routed. */
typedef struct {
    pace_collective collective;
    double bytes, size, stride;
    pace_token_routes routes;
} group_exchange;

static pace_status group_exchange_s(double *out_s, bool *across, const pace_exchange *exchange,
                                    const group_exchange *of) {
    pace_estimate time_s;
    if (!exchange) return pace_fail(PACE_E_USAGE, "%g ranks: expected a machine of several devices", of->size);
    pace_group_place place;
    PACE_TRY(pace_group_place_find(&place, &exchange->machine, 0, (int64_t)of->size, (int64_t)of->stride));
    *across = place.nodes > 1;
    pace_exchange_question question = {.collective = of->collective,
                                       .bytes = of->bytes,
                                       .ranks_per_node = place.ranks_per_node,
                                       .nodes = place.nodes,
                                       .algorithm = PACE_ANY,
                                       .protocol = PACE_ANY};
    PACE_TRY(pace_token_exchange_time(&time_s, exchange, &question, &place, &of->routes));
    *out_s = time_s.median;
    return PACE_OK;
}

pace_status pace_group_exchange_s(double *out_s, bool *across, const pace_exchange *exchange,
                                  pace_collective collective, double bytes, double size, double stride) {
    const group_exchange of = {collective, bytes, size, stride, {0, 0}};
    return group_exchange_s(out_s, across, exchange, &of);
}

static pace_slot_group slot_group(uint8_t kind) {
    return kind == PACE_GROUP_TENSOR    ? PACE_SLOT_TENSOR
           : kind == PACE_GROUP_CONTEXT ? PACE_SLOT_CONTEXT
                                        : PACE_SLOT_EXPERT;
}

static pace_status price_exchange(double *out_s, pace_slot *slot, pace_step_slots *slots, const pace_graph *graph,
                                  const pace_graph_exchange *exchange, const pace_step_place *place) {
    pace_slot_group group = slot_group(exchange->group_kind);
    pace_collective collective;
    double seconds = 0, bytes = exchange->bytes;
    if (!pace_collective_find(&collective, pace_names_text(&graph->names, exchange->collective)))
        return pace_fail(PACE_E_INTERNAL, "a lowered exchange has no known collective");
    if (pace_collective_rows[collective].of_parts) bytes *= (double)exchange->group_size;
    const group_exchange of = {collective,
                               bytes,
                               (double)exchange->group_size,
                               (double)exchange->group_stride,
                               {exchange->routed_nodes, exchange->routed_copies}};
    PACE_TRY(group_exchange_s(&seconds, &slots->across[group], place->exchange, &of));
    slot->exchange_s[group] += seconds;
    *out_s = seconds;
    return PACE_OK;
}

/* --- kernels ------------------------------------------------------------------------------------------------------ */

/* Attention in one kernel is left out: where several documents are packed into a sequence it skips what lies between
 * them. */
static double least_s(const pace_op *op, const pace_step_place *place) {
    return op->family == PACE_OP_ATTENTION ? 0 : pace_cost_least_flop_s(place->cost, place->device, op);
}

static pace_status price_kernel(double *out_s, pace_slot *slot, pace_step_slots *slots, const pace_op *op,
                                const pace_step_place *place) {
    pace_estimate price_s;
    PACE_TRY(pace_price_cached(&price_s, place->prices, place->cost, place->device, op, PACE_SUSTAINED));
    if (op->family == PACE_OP_GEMM) slot->matrix_s += price_s.median;
    else if (op->family == PACE_OP_ATTENTION) slot->attention_s += price_s.median;
    else slot->stream_s += price_s.median;
    slot->least_s += least_s(op, place);
    if (price_s.rung > slots->rung) slots->rung = price_s.rung;
    slots->kernels_s += price_s.median;
    if (price_s.rung == PACE_RUNG_LEARNED && pace_cost_beyond(place->cost, place->device, op, ""))
        slots->beyond_s += price_s.median;
    *out_s = price_s.median;
    return PACE_OK;
}

/* Who plans a step knows over how many ranks gradients are exchanged, and parameters gathered. */
static bool add_bucket(pace_step_slots *slots, double before_s, const pace_graph *graph, const pace_launch *launch) {
    if (!launch->exchange) return false;
    const pace_graph_exchange *exchange = &graph->exchanges.items[launch->exchange - 1];
    if (exchange->role == PACE_ROLE_GATHER) return true;
    if (exchange->role != PACE_ROLE_GRADIENT) return false;
    bool experts = exchange->group_kind == PACE_GROUP_EXPERT_DATA || exchange->group_kind == PACE_GROUP_EXPERT_SHARD;
    pace_slot_buckets *buckets = experts ? &slots->expert_buckets : &slots->buckets;
    pace_slot_buckets_add(buckets, exchange->bytes);
    buckets->before_s = before_s;
    return true;
}

/* An exchange that kernels issued behind it do not wait for. */
typedef struct {
    uint32_t launch;
    pace_slot_group group;
    double left_s;
} open_exchange;

static void hide_behind(pace_slot *slot, open_exchange *open, const pace_launch *launch, double seconds) {
    if (launch->waits[0] == open->launch || launch->waits[1] == open->launch)
        *open = (open_exchange){PACE_NO_LAUNCH, 0, 0};
    double hidden_s = fmin(open->left_s, seconds);
    slot->exchange_s[open->group] -= hidden_s;
    open->left_s -= hidden_s;
}

/* `launch_ns` (may be NULL) receives what each launch takes that is not for whoever plans the step. */
static pace_status price_graph(pace_slot *slot, double *launch_ns, pace_step_slots *slots, const pace_graph *graph,
                               const pace_step_place *place) {
    const double between_s = pace_between_kernels_s(place);
    open_exchange open = {PACE_NO_LAUNCH, 0, 0};
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        double seconds = 0;
        if (add_bucket(slots, slot->stream_s + slot->launches * between_s, graph, launch)) continue;
        slot->launches++;
        slot->calls += !launch->same_call && !launch->adapts;
        slot->adapter_calls += !launch->same_call && launch->adapts;
        if (launch->exchange) {
            const pace_graph_exchange *exchange = &graph->exchanges.items[launch->exchange - 1];
            PACE_TRY(price_exchange(&seconds, slot, slots, graph, exchange, place));
            open = (open_exchange){(uint32_t)i, slot_group(exchange->group_kind), seconds};
        } else if (launch->op != PACE_NO_OP) {
            PACE_TRY(price_kernel(&seconds, slot, slots, &graph->ops.items[launch->op], place));
            hide_behind(slot, &open, launch, seconds);
        }
        if (launch_ns) launch_ns[i] = seconds * 1e9;
    }
    return PACE_OK;
}

static double device_s(const pace_slot *slot) {
    double sum = slot->matrix_s + slot->attention_s + slot->stream_s + slot->gap_s;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) sum += slot->exchange_s[g];
    return sum;
}

/* Whose kernel begins when one of another stream has ended, as does the one that waits for it: without a gap. */
static double exchanges_of(const pace_graph *graph) {
    double count = 0;
    PACE_ITEMS (const pace_launch, launch, &graph->launches) count += launch->exchange > 0;
    return count;
}

static pace_status price_and_issue(pace_slot *slot, pace_step_slots *slots, const pace_graph *graph,
                                   const pace_step_place *place) {
    double both_s, *launch_ns = place->host ? pace_alloc(graph->launches.count + 1, sizeof *launch_ns) : NULL;
    if (place->host && !launch_ns) return PACE_E_MEMORY;
    pace_status status = price_graph(slot, launch_ns, slots, graph, place);
    if (status == PACE_OK && place->host) {
        slot->gap_s = fmax(0, slot->launches - 2 * exchanges_of(graph)) * pace_between_kernels_s(place);
        status = pace_step_host_and_device_s(&slot->host_s, &both_s, place->host, graph, launch_ns);
        if (status == PACE_OK) slot->turns_s = fmax(0, both_s - fmax(slot->host_s, device_s(slot)));
    }
    pace_free(launch_ns);
    return status;
}

/* Layers that are lowered by themselves. */
static pace_status price_layers(pace_slot *out, pace_step_slots *slots, const pace_model *model,
                                const pace_config *config, uint32_t first, uint32_t last, pace_part_pass pass,
                                const pace_step_place *place) {
    pace_graph graph;
    pace_slot slot = {0};
    PACE_TRY(pace_model_lower_part(&graph, model, config, first, last, pass));
    pace_status status = price_and_issue(&slot, slots, &graph, place);
    pace_graph_free(&graph);
    if (status == PACE_OK) *out = slot;
    return status;
}

static void add_slot(pace_slot *into, const pace_slot *slot, double times) {
    into->matrix_s += times * slot->matrix_s;
    into->attention_s += times * slot->attention_s;
    into->stream_s += times * slot->stream_s;
    into->least_s += times * slot->least_s;
    into->gap_s += times * slot->gap_s;
    into->host_s += times * slot->host_s;
    into->launches += times * slot->launches;
    into->calls += times * slot->calls;
    into->adapter_calls += times * slot->adapter_calls;
    for (int g = 0; g < PACE_SLOT_GROUPS; g++) into->exchange_s[g] += times * slot->exchange_s[g];
}

/* Whether one operator issues passes whose parts are not fused. */
static bool parts_passes(const pace_config *config) {
    return config->execution == PACE_COMPILED && config->zero_stage >= 3;
}

/* Compiled, the last work of a part is fused with the first of the layers that follow it, and one operator issues both:
 * what the two take together is more or less than what each takes alone. With ZeRO 3 those are gathered in between, and
 * the operator is all that they share. */
static pace_status price_seam(pace_slot *slot, pace_step_slots *slots, const pace_model *model,
                              const pace_config *config, const pace_model_part *part, pace_part_pass pass,
                              const pace_step_place *place) {
    const pace_layer *layers = model->layers.items;
    uint32_t next = part->last + 1, end = next;
    pace_slot alone, joined;
    if (!place->host || config->execution == PACE_EAGER || next >= model->layers.count) return PACE_OK;
    if (config->zero_stage >= 3) {
        const double *host_s = slots->rest_host_s;
        double once_s = 2 * host_s[PACE_REST_WITHIN] - host_s[PACE_REST_TWICE]; /* for both of two gathers */
        slot->host_s = fmax(0, slot->host_s - once_s);
        return PACE_OK;
    }
    while (end + 1 < model->layers.count && layers[end + 1].segment == layers[next].segment) end++;
    PACE_TRY(price_layers(&joined, slots, model, config, part->first, end, pass, place));
    PACE_TRY(price_layers(&alone, slots, model, config, next, end, pass, place));
    add_slot(&joined, &alone, -1);
    joined.turns_s = slot->turns_s;
    *slot = joined;
    return PACE_OK;
}

static pace_status price_pieces(pace_slot *slot, pace_step_slots *slots, const pace_model *model,
                                const pace_config *config, const pace_model_part *part, pace_part_pass pass,
                                const pace_step_place *place) {
    PACE_TRY(price_layers(slot, slots, model, config, part->first, part->last, pass, place));
    if (config->graphs == PACE_GRAPHS_PASSES) { /* all parts of a pass share one (stage_passes.c) */
        slot->host_s = fmax(0, slot->host_s - slots->rest_host_s[PACE_REST_GRAPH]);
        slot->calls = fmax(0, slot->calls - 1);
    }
    return price_seam(slot, slots, model, config, part, pass, place);
}

/* Backward in two turns visits layers with weights twice, and compiled fuses less. */
static pace_status price_backward(pace_slot *slot, pace_step_slots *slots, const pace_model *model,
                                  const pace_config *config, const pace_model_part *part,
                                  const pace_step_place *place) {
    pace_slot weights;
    bool splits = config->pp > 1 && pace_schedule_splits(config->schedule);
    if (!place->host || !splits) return price_pieces(slot, slots, model, config, part, PACE_PART_BACKWARD, place);
    PACE_TRY(price_pieces(slot, slots, model, config, part, PACE_PART_INPUTS, place));
    PACE_TRY(price_pieces(&weights, slots, model, config, part, PACE_PART_WEIGHTS, place));
    add_slot(slot, &weights, 1);
    slot->weights_host_s = weights.host_s;
    slot->weights_s = device_s(&weights);
    return PACE_OK;
}

/* Each product is a module, and so is each weight of an expert; one beside which an adapter stands is three (adapters
 * of other products are layers of their own). */
static void count_modules(pace_slot *slot, const pace_layer *layer, const pace_config *config) {
    if (layer->rule->kind == PACE_LAYER_LINEAR) slot->modules++;
    if (!layer->rule->expert_elements) return;
    double experts = layer->option[PACE_OPTION_EXPERTS] / config->ep;
    double weights = layer->option[PACE_OPTION_GATED] > 0 ? 3 : 2;
    bool adapts = config->lora > 0 && config->lora_layers == PACE_LORA_ALL;
    slot->dispatches++;
    slot->experts += experts;
    slot->expert_modules += experts * weights * (adapts ? 3 : 1);
}

static pace_status price_pass(pace_slot *slot, pace_step_slots *slots, const pace_model *model,
                              const pace_config *config, const pace_model_part *part, pace_part_pass pass,
                              const pace_step_place *place) {
    if (pass != PACE_PART_FORWARD && config->mode != PACE_TRAINING) return PACE_OK;
    if (pass == PACE_PART_RECOMPUTE && config->recompute == PACE_RECOMPUTE_NONE) return PACE_OK;
    if (pass == PACE_PART_BACKWARD) PACE_TRY(price_backward(slot, slots, model, config, part, place));
    else PACE_TRY(price_pieces(slot, slots, model, config, part, pass, place));
    bool in_graph =
        config->graphs >= PACE_GRAPHS_BLOCKS || (config->graphs && config->recompute != PACE_RECOMPUTE_FULL);
    if (pass == PACE_PART_RECOMPUTE && in_graph) slot->host_s = slot->turns_s = slot->calls = 0; /* of backward's */
    unsigned products = 0;
    for (uint32_t i = part->first; i <= part->last && slot->launches > 0; i++)
        if (pass != PACE_PART_RECOMPUTE || pace_layer_again(model, i, config, &products) == PACE_AGAIN_ALL)
            count_modules(slot, &model->layers.items[i], config);
    return PACE_OK;
}

static pace_status price_part(pace_step_slots *slots, pace_slot_part *out, const pace_model *model,
                              const pace_config *config, const pace_step_place *place) {
    for (int pass = 0; pass < PACE_PART_PASSES; pass++)
        PACE_TRY(price_pass(&out->pass[pass], slots, model, config, &out->part, (pace_part_pass)pass, place));
    return PACE_OK;
}

/* Share of kernels' time that would be left if each were as short as the shortest. */
static double least_share(const double *launch_ns, size_t count) {
    double least = INFINITY, sum = 0, kernels = 0;
    for (size_t i = 0; i < count; i++) {
        if (!(launch_ns[i] > 0)) continue;
        least = fmin(least, launch_ns[i]);
        sum += launch_ns[i];
        kernels++;
    }
    return kernels > 0 ? least * kernels / sum : 0;
}

static pace_status price_rest(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                              pace_model_rest rest, const pace_gradient_tensors *tensors,
                              const pace_step_place *place) {
    pace_graph graph;
    pace_slot slot = {0};
    double gradients_s = 0;
    PACE_TRY(pace_model_lower_rest(&graph, model, config, rest, tensors));
    size_t count = graph.launches.count;
    double *launch_ns = pace_alloc(count + 1, sizeof *launch_ns);
    bool far = rest == PACE_REST_MESSAGE; /* it takes what step_plan.c says */
    pace_status status = launch_ns ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK && !far) status = price_graph(&slot, launch_ns, slots, &graph, place);
    bool captured = place->host->execution == PACE_CUDA_GRAPH && rest != PACE_REST_INPUT;
    if (status == PACE_OK && !captured)
        status = pace_step_host_s(&slots->rest_host_s[rest], &gradients_s, place->host, &graph, 0);
    if (status == PACE_OK && !captured && rest == PACE_REST_UPDATE)
        status = pace_slot_update_visits(&slots->update, slots->rest_host_s[rest], &graph, (double)tensors->count,
                                         place->host);
    if (launch_ns) slots->rest_least[rest] = least_share(launch_ns, count);
    if (rest == PACE_REST_INPUT) slots->input_copies = slot.launches;
    if (rest == PACE_REST_INPUT && count > 0 && slot.stream_s > 0)
        slots->targets = launch_ns[count - 1] / 1e9 / slot.stream_s;
    if (status == PACE_OK && rest == PACE_REST_UPDATE)
        status = pace_slot_update_least(&slots->update, slot.launches, config, place);
    pace_free(launch_ns);
    if (rest == PACE_REST_EXCHANGE) slots->before_host_s = gradients_s;
    pace_graph_free(&graph);
    double gaps = rest == PACE_REST_INPUT ? 0 : slot.launches; /* of each copy of input the host waits for the end */
    slots->rest_s[rest] = slot.stream_s + gaps * pace_between_kernels_s(place);
    return status;
}

/* Buckets as backward fills them (model/buckets.h): of each that goes, when, and what is then left to exchange. */
typedef struct {
    pace_hull_point *points;
    size_t count;
    pace_gradient_bucket bucket[2]; /* of all, of experts */
    double all_bytes, gone_bytes, limit_bytes;
} bucket_points;

static void send_bucket(bucket_points *to, pace_gradient_bucket *bucket, double done_s) {
    to->points[to->count] = (pace_hull_point){done_s, 1 - to->gone_bytes / to->all_bytes, (double)to->count};
    to->count++;
    to->gone_bytes += bucket->bytes;
    *bucket = (pace_gradient_bucket){.number = bucket->number + 1};
}

static void take_tensor(bucket_points *to, const pace_gradient_tensor *tensor, double element_bytes, double done_s) {
    pace_gradient_bucket *bucket = &to->bucket[tensor->expert];
    bucket->bytes += tensor->elements * element_bytes;
    if (pace_bucket_is_full(bucket, to->limit_bytes)) send_bucket(to, bucket, done_s);
}

/* Backward goes on by what a launch takes on the device or, if that is more, on the host. Behind a graph of all of it
 * gradients come one after the other. */
static pace_status find_points(bucket_points *to, double host_s, const pace_graph *graph,
                               const pace_gradient_tensors *tensors, const pace_config *config,
                               const pace_step_place *place) {
    const pace_lowering lowering = {.config = config};
    double done_s = 0, fill_s, element_bytes = pace_config_parameter_bytes(config);
    size_t next = 0;
    bool behind = config->graphs == PACE_GRAPHS_PASSES;
    to->limit_bytes = config->bucket_bytes;
    for (size_t i = 0; i < tensors->count; i++) to->all_bytes += tensors->items[i].elements * element_bytes;
    for (size_t i = 0; i <= graph->launches.count; i++) {
        for (; next < tensors->count && tensors->items[next].launches <= i; next++) {
            PACE_TRY(pace_slot_fill_s(&fill_s, tensors->items[next].elements, &lowering, place));
            done_s += fmax(fill_s, host_s);
            take_tensor(to, &tensors->items[next], element_bytes, behind ? (double)next + 1 : done_s);
        }
        if (i == graph->launches.count) break;
        const pace_launch *launch = &graph->launches.items[i];
        pace_estimate price_s = {0};
        if (launch->op != PACE_NO_OP)
            PACE_TRY(pace_price_cached(&price_s, place->prices, place->cost, place->device,
                                       &graph->ops.items[launch->op], PACE_SUSTAINED));
        done_s += fmax(price_s.median, host_s);
    }
    if (behind) done_s = (double)next;
    for (int kind = 0; kind < 2; kind++)
        if (to->bucket[kind].bytes > 0) send_bucket(to, &to->bucket[kind], done_s);
    for (size_t i = 0; i < to->count; i++) {
        to->points[i].buckets_left = 1 - to->points[i].buckets_left / (double)to->count;
        if (done_s > 0) to->points[i].done /= done_s;
    }
    return PACE_OK;
}

static pace_status find_hull(pace_step_slots *slots, const pace_graph *backward, const pace_gradient_tensors *tensors,
                             const pace_config *config, const pace_step_place *place) {
    double host_s = 0, launches = 0;
    for (unsigned i = 0; i < slots->count; i++) {
        const pace_slot *back = &slots->parts[i].pass[PACE_PART_BACKWARD];
        host_s += slots->parts[i].part.turns * back->host_s;
        launches += slots->parts[i].part.turns * back->launches;
    }
    bucket_points sent = {.points = pace_alloc(tensors->count + 2, sizeof *sent.points)};
    pace_status status = sent.points ? PACE_OK : PACE_E_MEMORY;
    if (status == PACE_OK)
        status = find_points(&sent, launches > 0 ? host_s / launches : 0, backward, tensors, config, place);
    if (status == PACE_OK) pace_gradient_hull_make(&slots->hull, sent.points, sent.count);
    pace_free(sent.points);
    return status;
}

/* What a rest is more than is counted elsewhere. */
static void take_off(pace_step_slots *slots, pace_model_rest rest, double device_s, double host_s) {
    slots->rest_s[rest] = fmax(0, slots->rest_s[rest] - device_s);
    slots->rest_host_s[rest] = fmax(0, slots->rest_host_s[rest] - host_s);
}

/* What is of parameters alone is as it is in slots of other batches. Learned prices are asked for again, so that it is
 * known how many of them a fit has no rows like. */
static bool take_rests(pace_step_slots *slots, const pace_step_slots *like) {
    if (!like || like->rung == PACE_RUNG_LEARNED) return false;
    const int input = PACE_REST_INPUT;
    const double s = slots->rest_s[input], host_s = slots->rest_host_s[input], least = slots->rest_least[input];
    memcpy(slots->rest_s, like->rest_s, sizeof slots->rest_s);
    memcpy(slots->rest_host_s, like->rest_host_s, sizeof slots->rest_host_s);
    memcpy(slots->rest_least, like->rest_least, sizeof slots->rest_least);
    slots->update = like->update;
    slots->rest_s[input] = s, slots->rest_host_s[input] = host_s, slots->rest_least[input] = least;
    if (like->rung > slots->rung) slots->rung = like->rung;
    return true;
}

/* Others are priced by themselves, or nobody needs them. */
static bool is_asked(const pace_config *config, pace_model_rest rest) {
    if (rest == PACE_REST_MOVE) return config->offload == PACE_OFFLOAD_ACTIVATIONS;
    return rest != PACE_REST_EXCHANGE && rest != PACE_REST_INPUT && rest != PACE_REST_GRAPH;
}

/* Of those that hang on no sharing, and when gradients come. */
static pace_status price_rests(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                               const pace_step_place *place, const pace_step_slots *like) {
    pace_graph backward;
    pace_gradient_tensors tensors;
    if (!place->host) return PACE_OK;
    if (!pace_config_trains(config)) return price_rest(slots, model, config, PACE_REST_INPUT, NULL, place);
    PACE_TRY(pace_model_lower_gradients(&backward, &tensors, model, config));
    pace_status status = price_rest(slots, model, config, PACE_REST_INPUT, &tensors, place);
    bool taken = status == PACE_OK && take_rests(slots, like);
    for (int rest = 0; !taken && status == PACE_OK && rest < PACE_MODEL_RESTS; rest++)
        if (is_asked(config, (pace_model_rest)rest))
            status = price_rest(slots, model, config, (pace_model_rest)rest, &tensors, place);
    if (status == PACE_OK) status = find_hull(slots, &backward, &tensors, config, place);
    pace_graph_free(&backward);
    PACE_VEC_FREE(&tensors);
    if (taken) return status;
    take_off(slots, PACE_REST_ACCUMULATE, slots->rest_s[PACE_REST_PLAIN], slots->rest_host_s[PACE_REST_PLAIN]);
    for (int rest = 0; pace_config_issues_passes(config) && rest < PACE_MODEL_RESTS; rest++)
        if (rest == PACE_REST_GATHER || rest == PACE_REST_MOVE)
            take_off(slots, (pace_model_rest)rest, 0, slots->rest_host_s[PACE_REST_PLAIN]);
    take_off(slots, PACE_REST_TWICE, slots->rest_s[PACE_REST_WITHIN], slots->rest_host_s[PACE_REST_WITHIN]);
    return status;
}

/* Of gradients, by the stage of ZeRO. */
static pace_status price_gradients(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                   const pace_step_place *place, const pace_step_slots *like) {
    pace_graph backward;
    pace_gradient_tensors tensors;
    if (!place->host || !pace_config_trains(config)) return PACE_OK;
    if (take_rests(slots, like)) {
        slots->buckets = like->buckets, slots->expert_buckets = like->expert_buckets;
        slots->before_host_s = like->before_host_s;
        return PACE_OK;
    }
    PACE_TRY(pace_model_lower_gradients(&backward, &tensors, model, config));
    pace_status status = price_rest(slots, model, config, PACE_REST_EXCHANGE, &tensors, place);
    pace_graph_free(&backward);
    PACE_VEC_FREE(&tensors);
    bool adds = pace_config_micro_batches(config) > 1 && config->zero_stage < 3; /* counted for each but the first */
    double more_host_s = slots->rest_host_s[PACE_REST_PLAIN], more_s = 0;
    if (adds) more_host_s += slots->rest_host_s[PACE_REST_ACCUMULATE], more_s = slots->rest_s[PACE_REST_ACCUMULATE];
    slots->before_host_s = fmax(0, slots->before_host_s - more_host_s);
    double all_s = slots->rest_s[PACE_REST_EXCHANGE];
    take_off(slots, PACE_REST_EXCHANGE, slots->rest_s[PACE_REST_PLAIN] + more_s, more_host_s);
    if (all_s > 0) slots->buckets.before_s *= slots->rest_s[PACE_REST_EXCHANGE] / all_s;
    return status;
}

static double tied_elements(const pace_model *model, const pace_config *config) {
    double sum = 0;
    PACE_ITEMS (const pace_layer, layer, &model->layers) {
        bool tied = layer->kind == PACE_LAYER_LINEAR && layer->option[PACE_OPTION_TIED] > 0;
        if (tied) sum += layer->shape.channels * pace_layer_input(model, layer, 0)->shape.channels / config->tp;
    }
    return sum;
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

/* What backward needs: as configured, and if something runs again, without that. */
typedef struct {
    pace_model_kept own, whole;
} kept_both;

static pace_status find_kept(kept_both *out, const pace_model *model, const pace_config *config) {
    pace_config whole = *config;
    kept_both kept = {0};
    whole.recompute = PACE_RECOMPUTE_NONE;
    *out = kept;
    if (config->mode != PACE_TRAINING) return PACE_OK;
    PACE_TRY(pace_model_kept_find(&kept.own, model, config));
    if (config->recompute == PACE_RECOMPUTE_NONE) return PACE_GIVE(out, kept, PACE_OK, pace_model_kept_free(&kept.own));
    pace_status status = pace_model_kept_find(&kept.whole, model, &whole);
    return PACE_GIVE(out, kept, status, pace_model_kept_free(&kept.own));
}

static void free_kept(kept_both *kept) {
    pace_model_kept_free(&kept->own);
    pace_model_kept_free(&kept->whole);
}

static pace_status size_part(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                             const pace_model_part *part, const kept_both *kept) {
    if (slots->count == PACE_SLOT_PARTS)
        return pace_fail(PACE_E_LIMIT, "expected a model of at most %d kinds of layers", PACE_SLOT_PARTS);
    pace_slot_part *out = &slots->parts[slots->count++];
    *out = (pace_slot_part){.part = *part};
    slots->trained_parameters += part->turns * (part->trained_parameters + part->trained_expert_parameters);
    if (config->mode != PACE_TRAINING) return PACE_OK;
    out->kept_bytes = config->micro_batch * pace_model_kept_of(&kept->own, part->first, part->last);
    out->scores = config->micro_batch * pace_model_scores(model, config, part->first, part->last);
    out->whole_bytes = out->kept_bytes;
    if (config->recompute != PACE_RECOMPUTE_NONE)
        out->whole_bytes = config->micro_batch * pace_model_kept_of(&kept->whole, part->first, part->last);
    return PACE_OK;
}

/* What the optimizer keeps, as a share of what Adam does. */
static double states_of(const pace_config *config) {
    pace_config adam = *config;
    adam.optimizer = PACE_ADAM;
    return pace_optimizer_states(config) / pace_optimizer_states(&adam);
}

pace_status pace_step_slots_size(pace_step_slots *out, const pace_model *model, const pace_config *config) {
    pace_model_parts parts;
    pace_step_slots slots = {0};
    kept_both kept;
    PACE_TRY(pace_config_check(config));
    PACE_TRY(pace_model_check_parallel(model, config));
    PACE_TRY(pace_model_parts_find(&parts, model, config));
    pace_status status = find_kept(&kept, model, config);
    slots.layers = parts.layers;
    if (parts.order.count <= PACE_SLOT_TURNS) slots.turns = (unsigned)parts.order.count;
    for (unsigned i = 0; i < slots.turns; i++) slots.turn[i] = (unsigned char)parts.order.items[i];
    slots.boundary_bytes =
        config->micro_batch * parts.boundary_bytes / (config->sequence_parallel > 0 ? config->tp : 1);
    slots.tied_parameters = tied_elements(model, config);
    slots.states = states_of(config);
    slots.reads_loss = pace_model_reads_loss(model, config);
    for (size_t i = 0; status == PACE_OK && i < parts.parts.count; i++)
        status = size_part(&slots, model, config, &parts.parts.items[i], &kept);
    free_kept(&kept);
    pace_model_parts_free(&parts);
    if (status == PACE_OK) *out = slots;
    return status;
}

pace_status pace_step_slots_price_parts(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                        const pace_step_place *place) {
    if (slots->has_parts) return PACE_OK;
    pace_step_slots priced = *slots;
    if (place->host && config->graphs == PACE_GRAPHS_PASSES)
        PACE_TRY(price_rest(&priced, model, config, PACE_REST_GRAPH, NULL, place));
    for (int rest = PACE_REST_WITHIN; parts_passes(config) && place->host && rest <= PACE_REST_TWICE; rest++)
        PACE_TRY(price_rest(&priced, model, config, (pace_model_rest)rest, NULL, place));
    for (unsigned i = 0; i < priced.count; i++) PACE_TRY(price_part(&priced, &priced.parts[i], model, config, place));
    priced.has_parts = true;
    *slots = priced;
    return PACE_OK;
}

pace_status pace_step_slots_price_rests(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                        const pace_step_place *place, const pace_step_slots *like) {
    if (slots->has_rests) return PACE_OK;
    PACE_TRY(pace_step_slots_price_parts(slots, model, config, place));
    pace_step_slots priced = *slots;
    PACE_TRY(price_rests(&priced, model, config, place, like));
    priced.has_rests = true;
    *slots = priced;
    return PACE_OK;
}

pace_status pace_step_slots_price(pace_step_slots *slots, const pace_model *model, const pace_config *config,
                                  const pace_step_place *place, const pace_step_slots *like) {
    PACE_TRY(pace_step_slots_price_rests(slots, model, config, place, NULL));
    pace_step_slots priced = *slots;
    PACE_TRY(price_gradients(&priced, model, config, place, like));
    priced.priced = true;
    *slots = priced;
    return PACE_OK;
}
