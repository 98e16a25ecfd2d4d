/* The closed form of a step: against the walk of its schedule, against the lowered step, against published memory. */
#include "model/adapters.h"
#include "model/lower.h"
#include "model/model_catalog.h"
#include "plan/step_time.h"
#include "ask/step_rows/step_fit.h"
#include "schedule/replay.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <string.h>

#include "cmocka_of_tests.h"

/* --- pipelines ---------------------------------------------------------------------------------------------------- */

enum {
    STAGES_MOST = 8,
    CHUNKS_MOST = 4,
    BATCHES_MOST = 32,
    SEGMENTS_MOST = 2 * STAGES_MOST * CHUNKS_MOST * BATCHES_MOST
};

/* One pass of a micro-batch over a chunk of a stage. */
typedef struct {
    bool backward;
    unsigned chunk, batch;
} slot;

/* Megatron's order (Narayanan et al. 2021, figure 4): 1F1B, or interleaved when a stage has several chunks. */
static slot forward_slot(unsigned k, unsigned stages, unsigned chunks) {
    unsigned round = stages * chunks;
    return (slot){false, k % round / stages, k / round * stages + k % stages};
}

static slot backward_slot(unsigned k, unsigned stages, unsigned chunks) {
    slot s = forward_slot(k, stages, chunks);
    s.backward = true;
    s.chunk = chunks - 1 - s.chunk;
    return s;
}

static unsigned order(slot *out, unsigned stage, unsigned stages, unsigned chunks, unsigned batches) {
    unsigned all = batches * chunks, warm = stages - stage - 1, count = 0, backward = 0;
    if (chunks > 1) warm = 2 * warm + (chunks - 1) * stages;
    if (warm > all) warm = all;
    for (unsigned k = 0; k < all; k++) {
        if (chunks > 1) out[count++] = forward_slot(k, stages, chunks);
        else out[count++] = (slot){false, 0, k};
        if (k >= warm)
            out[count++] = chunks > 1 ? backward_slot(backward++, stages, chunks) : (slot){true, 0, backward++};
    }
    while (backward < all)
        out[count++] = chunks > 1 ? backward_slot(backward++, stages, chunks) : (slot){true, 0, backward++};
    return count;
}

typedef struct {
    uint32_t at[2][STAGES_MOST][CHUNKS_MOST][BATCHES_MOST];
} places;

/* What a slot waits for: forward the stage before, or the last stage's chunk before; backward the other way. */
static uint32_t before(const places *p, slot s, unsigned stage, unsigned stages, unsigned chunks) {
    if (!s.backward) {
        if (stage > 0) return p->at[0][stage - 1][s.chunk][s.batch];
        return s.chunk > 0 ? p->at[0][stages - 1][s.chunk - 1][s.batch] : PACE_NO_SEGMENT;
    }
    if (stage + 1 < stages) return p->at[1][stage + 1][s.chunk][s.batch];
    return s.chunk + 1 < chunks ? p->at[1][0][s.chunk + 1][s.batch] : p->at[0][stage][s.chunk][s.batch];
}

static double walked(const int64_t *forward_ns, const int64_t *backward_ns, unsigned stages, unsigned chunks,
                     unsigned batches) {
    static places p;
    static slot slots[STAGES_MOST][2 * CHUNKS_MOST * BATCHES_MOST];
    static int64_t start_ns[SEGMENTS_MOST];
    unsigned counts[STAGES_MOST];
    uint32_t number = 0;
    pace_replay replay = {0};
    double factor[PACE_REPLAY_RESOURCES], end = 0;
    for (int i = 0; i < PACE_REPLAY_RESOURCES; i++) factor[i] = 1;
    for (unsigned s = 0; s < stages; s++) {
        counts[s] = order(slots[s], s, stages, chunks, batches);
        for (unsigned i = 0; i < counts[s]; i++)
            p.at[slots[s][i].backward][s][slots[s][i].chunk][slots[s][i].batch] = number++;
    }
    number = 0;
    for (unsigned s = 0; s < stages; s++) {
        assert_int_equal(PACE_PUSH(&replay.lane_first, number), PACE_OK);
        for (unsigned i = 0; i < counts[s]; i++, number++) {
            pace_segment segment = {.duration_ns = slots[s][i].backward ? backward_ns[s] : forward_ns[s]};
            uint32_t on = before(&p, slots[s][i], s, stages, chunks);
            if (on != PACE_NO_SEGMENT) assert_non_null(pace_segment_depend(&replay, &segment, on, 0, false));
            assert_int_equal(PACE_PUSH(&replay.segments, segment), PACE_OK);
        }
    }
    assert_int_equal(PACE_PUSH(&replay.lane_first, number), PACE_OK);
    assert_int_equal(pace_replay_run(&replay, factor, start_ns, NULL), PACE_OK);
    for (uint32_t i = 0; i < number; i++) {
        double at = (double)(start_ns[i] + replay.segments.items[i].duration_ns);
        if (at > end) end = at;
    }
    pace_replay_free(&replay);
    return end;
}

/* 1F1B in closed form (Narayanan et al. 2021, sections 2.2.1 and 2.2.2): the slowest stage's work, and what fills and
 * drains, divided among the chunks. */
static double closed_form(const double *stage_s, unsigned stages, double micro_batches, double chunks) {
    double most_s = 0, all_s = 0;
    for (unsigned i = 0; i < stages; i++) {
        all_s += stage_s[i];
        if (stage_s[i] > most_s) most_s = stage_s[i];
    }
    return micro_batches * most_s + (all_s - most_s) / chunks;
}

/* Alike stages: the closed form is the schedule to the nanosecond. */
TEST(test_even_pipeline) {
    for (unsigned stages = 1; stages <= 8; stages *= 2)
        for (unsigned batches = stages; batches <= 4 * stages; batches += stages)
            for (unsigned chunks = 1; chunks <= (stages > 1 ? 4 : 1); chunks++) {
                int64_t forward[STAGES_MOST], backward[STAGES_MOST];
                double each[STAGES_MOST];
                for (unsigned s = 0; s < stages; s++) {
                    forward[s] = 1000;
                    backward[s] = 2100;
                    each[s] = 3100.0 * chunks;
                }
                double closed = closed_form(each, stages, batches, chunks);
                assert_true(closed == walked(forward, backward, stages, chunks, batches));
            }
}

/* Other stages: exact when the last is slowest, else never less than the schedule, and more by at most what fills. */
TEST(test_uneven_pipeline) {
    uint64_t seed = 7;
    double widest = 0;
    for (int round = 0; round < 400; round++) {
        unsigned stages = 2 + (unsigned)round % 7, batches = stages + (unsigned)round % 20, slowest = 0;
        int64_t forward[STAGES_MOST], backward[STAGES_MOST];
        double each[STAGES_MOST], sum = 0;
        for (unsigned s = 0; s < stages; s++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            forward[s] = 1000 + (int64_t)(seed >> 40) % 600;
            backward[s] = 2 * forward[s];
            each[s] = (double)(forward[s] + backward[s]);
            sum += each[s];
            if (each[s] > each[slowest]) slowest = s;
        }
        double closed = closed_form(each, stages, batches, 1), exact = walked(forward, backward, stages, 1, batches);
        if (slowest == stages - 1) assert_true(closed == exact);
        assert_true(closed >= exact && closed - exact <= sum);
        if (closed / exact - 1 > widest) widest = closed / exact - 1;
    }
    assert_true(widest < 0.15);
}

/* --- the lowered step --------------------------------------------------------------------------------------------- */

typedef struct {
    pace_device_catalog devices;
    pace_step_pricer pricer;
    pace_step_place place;
} bench;

static void open_bench(bench *b) {
    *b = (bench){0};
    assert_int_equal(pace_device_catalog_load(&b->devices, test_catalog()), PACE_OK);
    assert_int_equal(pace_step_pricer_open(&b->pricer, test_catalog()), PACE_OK);
    b->place = (pace_step_place){.cost = b->pricer.cost,
                                 .device = pace_device_find(&b->devices, "a100-80-sxm", 0),
                                 .prices = &b->pricer.prices};
}

static void close_bench(bench *b) {
    pace_step_pricer_close(&b->pricer);
    pace_device_catalog_free(&b->devices);
}

/* Kernels of the passes. */
static double kernels_s(const bench *b, const pace_graph *graph) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_launch *launch = &graph->launches.items[i];
        pace_stage stage = (pace_stage)graph->nodes.items[launch->node].stage;
        pace_estimate s;
        if (launch->op == PACE_NO_OP || (stage != PACE_STAGE_FORWARD && stage != PACE_STAGE_BACKWARD)) continue;
        const pace_op *op = &graph->ops.items[launch->op];
        assert_int_equal(pace_cost_op_under(&s, b->pricer.cost, b->place.device, op, PACE_SUSTAINED), PACE_OK);
        sum += s.median;
    }
    return sum;
}

/* A step of one micro-batch is its parts, each as often as the model repeats it. */
TEST(test_parts_are_the_step) {
    static const char *const names[] = {"gpt", "llama2-7b", "qwen3-30b-a3b", "deepseek-v2", "switchxl4", "bert_large"};
    bench b;
    open_bench(&b);
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        for (int recompute = 0; recompute <= PACE_RECOMPUTE_FULL; recompute++) {
            pace_model model;
            pace_graph graph;
            pace_step_slots slots;
            pace_config config = pace_config_default();
            config.precision = PACE_RUN_BF16;
            config.recompute = recompute;
            config.attention = PACE_ATTENTION_MATH;
            config.parts_loss = recompute == PACE_RECOMPUTE_FULL;
            assert_int_equal(pace_model_load(&model, test_catalog(), names[n], NULL, 0), PACE_OK);
            assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_OK);
            assert_int_equal(pace_step_slots_size(&slots, &model, &config), PACE_OK);
            assert_int_equal(pace_step_slots_price(&slots, &model, &config, &b.place, NULL), PACE_OK);
            double sum = 0;
            for (unsigned i = 0; i < slots.count; i++)
                for (int pass = 0; pass < PACE_PART_PASSES; pass++)
                    sum += slots.parts[i].part.turns *
                           (slots.parts[i].pass[pass].matrix_s + slots.parts[i].pass[pass].attention_s +
                            slots.parts[i].pass[pass].stream_s);
            /* the gradients that all turns of the decoder add to the encoder's output are of no one part */
            double gap = strcmp(names[n], "switchxl4") == 0 ? 1e-3 : 1e-9;
            assert_true(fabs(sum / kernels_s(&b, &graph) - 1) < gap);
            pace_graph_free(&graph);
            pace_model_free(&model);
        }
    close_bench(&b);
}

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Korthikanti et al. 2022, figures 1 and 7: GiB of activations on the first stage without recomputation, and with
 * sequence parallelism and selective recomputation. */
TEST(test_published_activations) {
    static const struct {
        double hidden, layers, heads, pp, vpp, batch, micro, none, selective;
    } runs[] = {{6144, 48, 64, 1, 1, 4, 4, 59.25, 9.5625},
                {12288, 96, 96, 8, 3, 64, 1, 66.84375, 12.3515625},
                {20480, 105, 128, 35, 3, 280, 1, 114.0234375, 23.076171875},
                {25600, 128, 160, 64, 1, 512, 1, 131.25, 26.5625}};
    static const pace_framework framework = {.gradient_bytes = 2, .state_bytes = 12, .update_bytes = 40};
    bench b;
    pace_machine machine;
    pace_exchange exchange;
    open_bench(&b);
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), "hgx-a100-80*64"), PACE_OK);
    assert_int_equal(pace_exchange_open(&exchange, test_catalog(), &machine, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    b.place.exchange = &exchange;
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++)
        for (int selective = 0; selective < 2; selective++) {
            pace_model_setting settings[] = {{.key = "hidden", .value = runs[i].hidden},
                                             {.key = "layers", .value = runs[i].layers},
                                             {.key = "heads", .value = runs[i].heads},
                                             {.key = "seq", .value = 2048},
                                             {.key = "vocab", .value = 51200}};
            pace_model model;
            pace_step_slots slots;
            pace_step_plan plan;
            pace_config config = pace_config_default();
            config.precision = PACE_RUN_FP16;
            config.optimizer = PACE_ADAM;
            config.attention = PACE_ATTENTION_MATH;
            config.tp = 8;
            config.pp = runs[i].pp;
            config.vpp = runs[i].vpp;
            config.micro_batch = runs[i].micro;
            config.global_batch = runs[i].batch;
            config.sequence_parallel = selective;
            config.recompute = selective ? PACE_RECOMPUTE_SELECTIVE : PACE_RECOMPUTE_NONE;
            assert_int_equal(pace_model_load(&model, test_catalog(), "gpt", settings, 5), PACE_OK);
            assert_int_equal(pace_step_slots_size(&slots, &model, &config), PACE_OK);
            assert_int_equal(pace_step_slots_price(&slots, &model, &config, &b.place, NULL), PACE_OK);
            assert_int_equal(pace_step_plan_make(&plan, &slots, &framework, &config, &b.place, 1), PACE_OK);
            double layer = 0, published = (selective ? runs[i].selective : runs[i].none) * 0x1p30;
            for (unsigned k = 0; k < slots.count; k++)
                if (slots.parts[k].part.place == PACE_PART_LAYER) layer = slots.parts[k].kept_bytes;
            double held =
                layer * runs[i].layers * (1 + (runs[i].vpp > 1 ? (runs[i].pp - 1) / (runs[i].pp * runs[i].vpp) : 0));
            assert_true(fabs(held / published - 1) < 1e-3);
            assert_true(plan.memory.activation_bytes >= held); /* the ends, and what one layer's backward forms anew */
            assert_true(plan.memory.activation_bytes < 1.35 * held);
            pace_model_free(&model);
        }
    close_bench(&b);
}

/* A decoder of 3.4 billion parameters with AdamW, eager. */
typedef struct {
    pace_step_memory memory;
    double parameters;
} weighed;

static weighed weigh(const bench *b, const char *framework, pace_config config) {
    pace_model_setting settings[] = {{.key = "hidden", .value = 2560}, {.key = "layers", .value = 32},
                                     {.key = "heads", .value = 32},    {.key = "ffn", .value = 10240},
                                     {.key = "vocab", .value = 10000}, {.key = "seq", .value = config.sequence}};
    pace_frameworks frameworks;
    pace_model model;
    pace_step_slots slots;
    pace_step_plan plan;
    assert_int_equal(pace_frameworks_load(&frameworks, test_catalog()), PACE_OK);
    const pace_framework *of = pace_frameworks_find(&frameworks, framework);
    assert_non_null(of);
    config.optimizer = PACE_ADAMW;
    config.attention = PACE_ATTENTION_MATH;
    pace_framework_defaults(&config, of);
    assert_int_equal(pace_model_load(&model, test_catalog(), "llama", settings, 6), PACE_OK);
    double parameters = pace_model_total(&model, &config).parameters;
    assert_int_equal(pace_model_take_adapters(&model, &config), PACE_OK);
    assert_int_equal(pace_step_slots_size(&slots, &model, &config), PACE_OK);
    assert_int_equal(pace_step_slots_price(&slots, &model, &config, &b->place, NULL), PACE_OK);
    assert_int_equal(pace_step_plan_make(&plan, &slots, of, &config, &b->place, 1), PACE_OK);
    double trained = pace_model_total(&model, &config).trained;
    pace_model_free(&model);
    return (weighed){plan.memory, config.lora > 0 ? trained : parameters};
}

static double gib(weighed one) { return one.memory.all_bytes / 0x1p30; }

/* A report on Stanford's CS336 (assignment 2): of this model with a batch of 1 and an AdamW of one tensor after the
 * other the peak is 51.40 GiB at 128 words, in single precision and under autocast alike, though forward alone holds
 * 19.13 GiB under autocast and 12.85 without. By lists of tensors it takes about as many bytes as the parameters more
 * (torch.optim's reference, foreach). */
TEST(test_fullest_moment) {
    bench b;
    open_bench(&b);
    pace_config config = pace_config_default();
    config.update = PACE_UPDATE_LOOP;
    config.sequence = 128;
    weighed single = weigh(&b, "pytorch", config);
    assert_true(fabs(gib(single) / 51.40 - 1) < 0.02);
    config.precision = PACE_RUN_AMP_BF16;
    weighed half = weigh(&b, "pytorch", config);
    assert_true(fabs(gib(half) / gib(single) - 1) < 1e-3);
    config.keep_gradients = 1; /* so that the fullest moment is before backward */
    half = weigh(&b, "pytorch", config);
    config.precision = PACE_RUN_FP32;
    assert_true(fabs((gib(half) - gib(weigh(&b, "pytorch", config))) / (19.13 - 12.85) - 1) < 0.1);
    config.keep_gradients = 0;
    config.update = PACE_UPDATE_FOREACH;
    weighed lists = weigh(&b, "pytorch", config);
    assert_true(fabs((lists.memory.all_bytes - single.memory.all_bytes) / (4 * single.parameters) - 1) < 0.01);
    close_bench(&b);
}

/* DistributedDataParallel's reference, gradient_as_bucket_view: unless gradients are views of buckets, the peak is
 * higher by their bytes. PEFT's, autocast_adapter_dtype: adapters beside weights in half precision are in single, and
 * so are their gradients and states: 16 bytes each in the place of 8. */
TEST(test_buckets_and_adapters) {
    bench b;
    pace_machine machine;
    pace_exchange exchange;
    open_bench(&b);
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), "hgx-a100-80"), PACE_OK);
    assert_int_equal(pace_exchange_open(&exchange, test_catalog(), &machine, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    pace_config config = pace_config_default();
    config.sequence = 128;
    weighed alone = weigh(&b, "pytorch", config);
    b.place.exchange = &exchange;
    config.dp = config.global_batch = 8;
    weighed shared = weigh(&b, "pytorch", config);
    assert_true(fabs((shared.memory.all_bytes - alone.memory.all_bytes) / (4 * alone.parameters) - 1) < 0.01);
    config.dp = config.global_batch = 1;
    config.precision = PACE_RUN_BF16;
    config.recompute = PACE_RECOMPUTE_FULL;
    config.lora = 64;
    config.lora_layers = PACE_LORA_ALL;
    weighed plain = weigh(&b, "pytorch", config), peft = weigh(&b, "transformers", config);
    double weights = peft.memory.weight_bytes - plain.memory.weight_bytes;
    double states = peft.memory.optimizer_bytes - plain.memory.optimizer_bytes;
    assert_true(fabs(weights / (2 * peft.parameters) - 1) < 1e-6 && fabs(states / (4 * peft.parameters) - 1) < 1e-6);
    assert_true(peft.memory.fixed_bytes - plain.memory.fixed_bytes > 7.99 * peft.parameters);
    close_bench(&b);
}

/* --- composition -------------------------------------------------------------------------------------------------- */

/* The parts add up; sharding optimizer states saves memory; caches give the same prices. */
TEST(test_composition) {
    bench b;
    pace_machine machine;
    pace_exchange exchange;
    pace_model model;
    pace_frameworks frameworks;
    open_bench(&b);
    assert_int_equal(pace_machine_parse(&machine, test_catalog(), "hgx-a100-80*16"), PACE_OK);
    assert_int_equal(pace_exchange_open(&exchange, test_catalog(), &machine, PACE_LIBRARY_AUTO, NULL), PACE_OK);
    assert_int_equal(pace_model_load(&model, test_catalog(), "gpt3_6.7b", NULL, 0), PACE_OK);
    assert_int_equal(pace_frameworks_load(&frameworks, test_catalog()), PACE_OK);
    b.place.exchange = &exchange;
    pace_step_factors none = pace_step_factors_none();
    double memory[4];
    for (int zero = 0; zero < 4; zero++) {
        pace_config config = pace_config_default();
        const pace_step_slots *slots, *again;
        pace_step_plan plan;
        config.precision = PACE_RUN_BF16;
        config.optimizer = PACE_ADAM;
        config.tp = 2;
        config.pp = 4;
        config.dp = 16;
        config.global_batch = 128;
        config.zero_stage = zero;
        assert_int_equal(pace_step_slots_get(&slots, b.pricer.slots, &model, &config, &b.place), PACE_OK);
        assert_int_equal(pace_step_plan_make(&plan, slots, &frameworks.items[1], &config, &b.place, 1), PACE_OK);
        pace_step_time t = pace_step_compose(&plan, &none);
        double sum = t.compute_s + t.host_s + t.tensor_s + t.context_s + t.expert_s + t.pipeline_s + t.data_s +
                     t.bubble_s + t.update_s + t.other_s;
        assert_true(fabs(sum / t.total_s - 1) < 1e-12);
        assert_true(t.bubble_s > 0 && t.tensor_s > 0 && t.data_s > 0 && t.compute_s > 0 && t.context_s == 0);
        memory[zero] = plan.memory.all_bytes;
        if (zero > 0) assert_true(memory[zero] < memory[zero - 1]);
        assert_int_equal(pace_step_slots_get(&again, b.pricer.slots, &model, &config, &b.place), PACE_OK);
        assert_ptr_equal(slots, again);
    }
    pace_model_free(&model);
    close_bench(&b);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
