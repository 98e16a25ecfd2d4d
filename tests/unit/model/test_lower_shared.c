/* Lowered models whose work ranks share: what they exchange, and that nothing is lost or done twice. */
#include "lowered_of_tests.h"
#include "model/pipeline_order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double exchanged(const pace_graph *graph, const char *group, size_t *count) {
    double sum = 0;
    *count = 0;
    for (size_t i = 0; i < graph->exchanges.count; i++) {
        if (strcmp(pace_names_text(&graph->names, graph->exchanges.items[i].group), group) != 0) continue;
        sum += graph->exchanges.items[i].bytes;
        ++*count;
    }
    return sum;
}

/* Data parallel: every gradient once. Tensor parallel: two exchanges forward and two backward a layer, each of a
 * micro-batch's activations (Shoeybi et al. 2019, section 3). */
TEST(test_exchanges) {
    double h = 1024, l = 6, s = 128, b = 2;
    size_t count;
    pace_model_setting settings[] = {{.key = "hidden", .value = h},
                                     {.key = "layers", .value = l},
                                     {.key = "heads", .value = 16},
                                     {.key = "seq", .value = s}};
    pace_model model = load("gpt", settings, 4);
    pace_config config = pace_config_default();
    config.micro_batch = b;
    pace_graph alone = lower(&model, &config);
    config.dp = 8;
    config.global_batch = 2 * 8 * b; /* two micro-batches: one exchange of each gradient */
    pace_graph graph = lower(&model, &config);
    double gradients = pace_model_total(&model, &config).gradient_bytes;
    assert_true(fabs(exchanged(&graph, "dp", &count) / gradients - 1) < 1e-12);
    assert_true((double)count <= gradients / config.bucket_bytes + 2 && count > 2);
    pace_graph_free(&graph);
    config.dp = 1;
    config.global_batch = 0;
    config.tp = 4;
    graph = lower(&model, &config);
    /* four a layer (Shoeybi et al. 2019, section 3), the split table's output, the gradient of the split output layer's
     * input, and three numbers a token for the loss */
    assert_true(exchanged(&graph, "tp", &count) == (4 * l + 2) * b * s * h * 4 + 3 * b * s * 4);
    assert_int_equal(count, 4 * (size_t)l + 3);
    double layers = 72 * b * s * l * h * h, fused = 7 * b * l * s * s * h; /* attention's share, causal */
    double head = 6 * b * s * h * 50257;
    assert_true(fabs(products(&alone) / (layers + fused + head) - 1) < 1e-12);
    assert_true(fabs(products(&graph) / ((layers + fused + head) / 4) - 1) < 1e-12);
    pace_graph_free(&graph);
    pace_graph_free(&alone);
    pace_model_free(&model);
}

/* Samples that are packed into a sequence attend to themselves alone: n of s/n tokens have n (s/n)^2 = s^2/n scores,
 * and all else is as before. Products form all scores, so they are refused, as is a sample that fills the sequence. */
TEST(test_packed_samples) {
    double h = 1024, l = 6, s = 128, b = 2;
    pace_model_setting settings[] = {{.key = "hidden", .value = h},
                                     {.key = "layers", .value = l},
                                     {.key = "heads", .value = 16},
                                     {.key = "seq", .value = s}};
    pace_model model = load("gpt", settings, 4);
    pace_config config = pace_config_default();
    config.micro_batch = b;
    double others = 72 * b * s * l * h * h + 6 * b * s * h * 50257, fused = 7 * b * l * s * s * h; /* causal */
    for (double samples = 2; samples <= 8; samples *= 2) {
        config.sample_tokens = s / samples;
        pace_graph graph = lower(&model, &config);
        assert_true(fabs(products(&graph) / (others + fused / samples) - 1) < 1e-12);
        pace_graph_free(&graph);
    }
    assert_int_equal(pace_model_check_parallel(&model, &config), PACE_OK);
    config.attention = PACE_ATTENTION_MATH;
    assert_int_equal(pace_model_check_parallel(&model, &config), PACE_E_USAGE);
    config.attention = PACE_ATTENTION_FUSED;
    config.sample_tokens = s;
    assert_int_equal(pace_model_check_parallel(&model, &config), PACE_E_USAGE);
    pace_model_free(&model);
}

/* Exchanges of tensor-parallel ranks behind which a kernel begins that does not wait for them. */
static size_t covered(const pace_graph *graph) {
    size_t count = 0;
    for (size_t i = 0; i + 1 < graph->launches.count; i++) {
        const pace_launch *at = &graph->launches.items[i], *next = at + 1;
        if (!at->exchange || graph->exchanges.items[at->exchange - 1].group_kind != PACE_GROUP_TENSOR) continue;
        count += next->op != PACE_NO_OP && next->waits[0] != i && next->waits[1] != i;
    }
    return count;
}

/* A layer's two column-parallel products, and the output layer, sum the gradient of their input beside the product of
 * the weight's; of split words they scatter so, and what they gather is in the open (Megatron Core's layers.py). */
TEST(test_sums_beside_weights) {
    pace_model_setting settings[] = {{.key = "hidden", .value = 256},
                                     {.key = "layers", .value = 3},
                                     {.key = "heads", .value = 4}};
    pace_model model = load("gpt", settings, 3);
    pace_config config = pace_config_default();
    config.tp = 4;
    size_t count;
    pace_graph open = lower(&model, &config);
    assert_int_equal(covered(&open), 0);
    for (config.sequence_parallel = 0; config.sequence_parallel <= 1; config.sequence_parallel++) {
        config.sums_beside = true;
        pace_graph graph = lower(&model, &config);
        assert_int_equal(covered(&graph), 2 * 3 + 1);
        size_t before = 0;
        double bytes = exchanged(&open, "tp", &before);
        assert_true(fabs(exchanged(&graph, "tp", &count) / bytes - 1) < 1e-12);
        assert_int_equal(count - before, config.sequence_parallel * (2 * 3 + 1));
        pace_graph_free(&graph);
    }
    pace_graph_free(&open);
    pace_model_free(&model);
}

/* Megatron's cross entropy reads and writes scores in single precision: cast, maximum, less it, exponentials, sum, and
 * divided; backward times the loss's gradient, and cast: 52 bytes a score (cross_entropy.py of Megatron Core). */
TEST(test_loss_in_parts) {
    pace_model model = load("gpt2", NULL, 0);
    pace_config config = pace_config_default();
    config.execution = PACE_COMPILED;
    config.precision = PACE_RUN_BF16;
    config.parts_loss = true;
    pace_graph graph = lower(&model, &config);
    double scores = 1024.0 * 50257, bytes = 0;
    for (size_t i = 0; i < graph.launches.count; i++) {
        uint32_t number = graph.launches.items[i].op;
        const pace_op *op = number == PACE_NO_OP ? NULL : &graph.ops.items[number];
        bool of_scores = op && (op->size[0] * (op->size[1] == 50257 ? 50257 : 1) == scores);
        if (of_scores) bytes += op->read_bytes + op->write_bytes;
    }
    assert_true(fabs(bytes / scores / 52 - 1) < 1e-3);
    pace_graph_free(&graph);
    pace_model_free(&model);
}

/* Ranks of a sequence compute as much together as one alone, with windows and with parts; of a layer that slides
 * w tokens over s a score less for each w^2 / 2, of two products forward and five backward. */
TEST(test_windows) {
    const double s = 4096, windows[] = {0, 512, 1000, 3000};
    for (size_t i = 0; i < 4; i++)
        for (int slides = 0; slides < 2; slides++) {
            pace_model_setting settings[] = {{.key = "layers", .value = 2},
                                             {.key = "vocab", .value = 1000},
                                             {.key = "global_every", .value = 3},
                                             {.key = "sliding", .value = slides ? windows[i] : 0},
                                             {.key = "chunk", .value = slides ? 0 : windows[i]}};
            pace_model model = load("mixtral-8x7b", settings, 5);
            pace_config config = pace_config_default();
            config.precision = PACE_RUN_BF16;
            config.sequence = s;
            double found[3] = {0}, w = windows[i] > 0 ? windows[i] : s, last = fmod(s, w);
            for (int cp = 1; cp <= 2; cp++) {
                config.cp = cp;
                pace_graph graph = lower(&model, &config);
                for (size_t k = 0; k < graph.launches.count; k++) {
                    uint32_t op = graph.launches.items[k].op;
                    if (op != PACE_NO_OP && graph.ops.items[op].family == PACE_OP_ATTENTION)
                        found[cp] += cp * graph.ops.items[op].flop;
                }
                pace_graph_free(&graph);
            }
            double scores = slides ? s * w - w * w / 2 : (floor(s / w) * w * w + last * last) / 2;
            assert_true(fabs(found[1] / (2 * 7 * 2 * scores * 32 * 128) - 1) < 1e-12);
            assert_true(fabs(found[2] / found[1] - 1) < 1e-12);
            pace_model_free(&model);
        }
}

static double transferred(const pace_graph *graph, const char *kind) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        uint32_t op = graph->launches.items[i].op;
        if (op != PACE_NO_OP && strcmp(graph->ops.items[op].kind, kind) == 0) sum += graph->ops.items[op].size[0];
    }
    return sum;
}

/* ZeRO-Offload moves 2 bytes of each half gradient to the host and 2 of each half parameter back (Ren et al. 2021,
 * section 4.1), of those that a rank updates, and the device updates nothing. */
TEST(test_offload) {
    pace_model_setting settings[] = {{.key = "hidden", .value = 256},
                                     {.key = "layers", .value = 3},
                                     {.key = "heads", .value = 4},
                                     {.key = "seq", .value = 64}};
    pace_model model = load("gpt", settings, 4);
    for (double dp = 1; dp <= 4; dp *= 4) {
        pace_config config = pace_config_default();
        config.precision = PACE_RUN_BF16;
        config.optimizer = PACE_ADAM;
        config.offload = PACE_OFFLOAD_OPTIMIZER;
        config.input = PACE_INPUT_SYNTHETIC;
        config.dp = dp;
        config.global_batch = 3 * dp; /* micro-batches add on the device */
        config.zero_stage = dp > 1 ? 1 : 0;
        config.host_update_ns = 2;
        pace_graph graph = lower(&model, &config);
        double parameters = pace_model_total(&model, &config).gradient_bytes / 2 / dp;
        assert_true(fabs(transferred(&graph, "d2h_pinned") / (2 * parameters) - 1) < 1e-12);
        assert_true(fabs(transferred(&graph, "h2d_pinned") / (2 * parameters) - 1) < 1e-12);
        int64_t spent_ns = 0;
        for (size_t i = 0; i < graph.nodes.count; i++)
            if (graph.nodes.items[i].spends_ns > 0) spent_ns += graph.nodes.items[i].spends_ns;
        assert_true(fabs((double)spent_ns - 2 * parameters) <= 1);
        pace_graph_free(&graph);
    }
    pace_model_free(&model);
}

/* Context parallelism splits tokens, not work: each rank has all keys, and gathers those of the others. */
TEST(test_context_and_experts) {
    size_t count;
    pace_model_setting settings[] = {{.key = "hidden", .value = 1024},
                                     {.key = "layers", .value = 2},
                                     {.key = "heads", .value = 16},
                                     {.key = "seq", .value = 512}};
    pace_model model = load("gpt", settings, 4);
    pace_config config = pace_config_default();
    pace_graph whole = lower(&model, &config);
    config.cp = 4;
    pace_graph graph = lower(&model, &config);
    assert_true(fabs(products(&graph) / (products(&whole) / 4) - 1) < 1e-12);
    /* a layer: keys and values forward and backward, and the gradients of all of them */
    assert_true(exchanged(&graph, "cp", &count) == 2 * (2 + 4) * 512 / 4 * 2 * 1024 * 4.0);
    assert_int_equal(count, 6);
    pace_graph_free(&graph);
    pace_graph_free(&whole);
    pace_model_free(&model);
    pace_model_setting experts[] = {{.key = "layers", .value = 2},
                                    {.key = "experts", .value = 16},
                                    {.key = "topk", .value = 2},
                                    {.key = "seq", .value = 64}};
    model = load("qwen3-30b-a3b", experts, 4);
    config = pace_config_default();
    whole = lower(&model, &config);
    config.ep = config.dp = 8;
    graph = lower(&model, &config);
    assert_true(fabs(products(&graph) / products(&whole) - 1) < 1e-12);
    double sent = exchanged(&graph, "ep", &count), balanced = products(&graph);
    assert_true(sent == 2 * 4 * (64 * 2 * 2048 * 4.0)); /* there and back, twice */
    assert_int_equal(count, 8);
    config.imbalance = 50; /* the fullest rank's experts have half as many tokens again; routers and attention do not */
    pace_graph fullest = lower(&model, &config);
    assert_true(fabs(exchanged(&fullest, "ep", &count) / (1.5 * sent) - 1) < 1e-12);
    config.imbalance = 100;
    pace_graph twice = lower(&model, &config);
    assert_true(fabs((products(&twice) - balanced) / (products(&fullest) - balanced) - 2) < 1e-9);
    assert_true(products(&twice) < 2 * balanced);
    pace_graph_free(&fullest);
    pace_graph_free(&twice);
    pace_graph_free(&graph);
    pace_graph_free(&whole);
    pace_model_free(&model);
}

/* Bytes of the collectives of one kind: of gathers a rank's part. */
static double collected(const pace_graph *graph, const char *collective) {
    double sum = 0;
    for (size_t i = 0; i < graph->launches.count; i++) {
        const pace_graph_exchange *exchange = pace_graph_exchange_of(graph, (uint32_t)i);
        if (exchange && strcmp(pace_names_text(&graph->names, exchange->collective), collective) == 0)
            sum += exchange->bytes;
    }
    return sum;
}

/* Rajbhandari et al. 2020, section 7: stages 1 and 2 move what an all-reduce moves (scatter and gather the parameters
 * once), stage 3 gathers them twice; and each rank updates its part. */
TEST(test_zero) {
    pace_model_setting settings[] = {{.key = "layers", .value = 3}, {.key = "seq", .value = 64}};
    pace_model model = load("llama2-7b", settings, 2);
    pace_config config = pace_config_default();
    double parameters = pace_model_total(&model, &config).parameters * 4, ranks = 4, micro_batches = 3;
    config.dp = ranks;
    config.global_batch = ranks * micro_batches;
    for (config.zero_stage = 1; config.zero_stage <= 3; config.zero_stage++) {
        pace_graph graph = lower(&model, &config);
        double times = config.zero_stage < 3 ? 1 : micro_batches, passes = config.zero_stage < 3 ? 1 : 2;
        assert_true(fabs(collected(&graph, "reducescatter") / (times * parameters) - 1) < 1e-12);
        assert_true(fabs(collected(&graph, "allgather") * ranks / (passes * times * parameters) - 1) < 1e-12);
        assert_true(collected(&graph, "allreduce") == 0);
        double updated = 0;
        for (size_t i = 0; i < graph.launches.count; i++) {
            const pace_launch *launch = &graph.launches.items[i];
            if (stage_of(&graph, launch) == PACE_STAGE_UPDATE && updated == 0)
                updated = graph.ops.items[launch->op].size[0];
        }
        assert_true(fabs(updated * 4 * ranks / parameters - 1) < 1e-12);
        pace_graph_free(&graph);
    }
    pace_model_free(&model);
}

/* Zhao et al. 2023, section 3.2.2: in hybrid sharding each of F ranks keeps 1/F of the states, gathers and scatters
 * stay in its group, and the W/F copies all-reduce the part of a gradient that each has. Over all ranks it is plain
 * sharding. */
TEST(test_hybrid) {
    pace_model_setting settings[] = {{.key = "layers", .value = 3}, {.key = "seq", .value = 64}};
    pace_model model = load("llama2-7b", settings, 2);
    pace_config config = pace_config_default();
    double parameters = pace_model_total(&model, &config).parameters * 4;
    config.dp = 8;
    config.zero_group = 4;
    for (config.zero_stage = 1; config.zero_stage <= 3; config.zero_stage++) {
        pace_graph graph = lower(&model, &config);
        double passes = config.zero_stage < 3 ? 1 : 2;
        assert_true(fabs(collected(&graph, "reducescatter") / parameters - 1) < 1e-12);
        assert_true(fabs(collected(&graph, "allgather") * 4 / (passes * parameters) - 1) < 1e-12);
        assert_true(fabs(collected(&graph, "allreduce") * 4 / parameters - 1) < 1e-12);
        for (size_t i = 0; i < graph.exchanges.count; i++) {
            const pace_graph_exchange *one = &graph.exchanges.items[i];
            bool sums = strcmp(pace_names_text(&graph.names, one->collective), "allreduce") == 0;
            assert_int_equal(one->group_size, sums ? 2 : 4);
            assert_int_equal(one->group_stride, sums ? 4 : 1);
        }
        pace_graph_free(&graph);
    }
    config.zero_stage = 3;
    config.zero_group = 8;
    pace_graph whole = lower(&model, &config);
    config.zero_group = 0;
    pace_graph plain = lower(&model, &config);
    assert_int_equal(whole.launches.count, plain.launches.count);
    assert_true(collected(&whole, "allgather") == collected(&plain, "allgather"));
    assert_true(collected(&whole, "allreduce") == 0);
    pace_graph_free(&whole);
    pace_graph_free(&plain);
    pace_model_free(&model);
}

/* VeOmni pull request 867, settings 1 and 2: two copies on 16 ranks, of 8 ranks each, of which 4 or 8 share the
 * experts: (copies, shards of an expert, ranks with other experts) = (2, 2, 4) and (2, 1, 8). */
TEST(test_hybrid_experts) {
    pace_model_setting settings[] = {{.key = "layers", .value = 2},
                                     {.key = "experts", .value = 16},
                                     {.key = "topk", .value = 2},
                                     {.key = "seq", .value = 64}};
    pace_model model = load("qwen3-30b-a3b", settings, 4);
    pace_config config = pace_config_default();
    double all = pace_model_total(&model, &config).parameters, experts = 2 * 16 * 3 * 2048 * 768.0,
           dense = all - experts;
    config.dp = 16;
    config.zero_group = 8;
    config.zero_stage = 3;
    for (config.ep = 4; config.ep <= 8; config.ep *= 2) {
        double shards = 8 / config.ep, own = experts / config.ep; /* of a rank before it is divided */
        pace_graph graph = lower(&model, &config);
        assert_true(pace_config_group_size(&config, PACE_GROUP_EXPERT_SHARD) == shards);
        double scattered = 4 * (dense + (shards > 1 ? own : 0)), summed = 4 * (dense / 8 + own / shards);
        assert_true(fabs(collected(&graph, "reducescatter") / scattered - 1) < 1e-12);
        assert_true(fabs(collected(&graph, "allreduce") / summed - 1) < 1e-12);
        double gathered = 2 * 4 * (dense / 8 + (shards > 1 ? own / shards : 0)); /* a rank's part, before each pass */
        assert_true(fabs(collected(&graph, "allgather") / gathered - 1) < 1e-12);
        for (size_t i = 0; i < graph.exchanges.count; i++) {
            const pace_graph_exchange *one = &graph.exchanges.items[i];
            if (one->group_kind == PACE_GROUP_REPLICA) assert_true(one->group_size == 2 && one->group_stride == 8);
            if (one->group_kind == PACE_GROUP_EXPERT_SHARD) assert_true(one->group_stride == (int64_t)config.ep);
        }
        pace_graph_free(&graph);
    }
    config.ep = 16; /* more than a copy has */
    assert_true(pace_config_check(&config) != PACE_OK);
    pace_model_free(&model);
}

/* The stages of a pipeline together are the step: all products once, nothing lost, and each message has its
 * receiver. */
static void check_stages(const pace_model *model, const pace_config *config) {
    pace_config alone = pace_config_unshared(config);
    pace_graph whole = lower(model, &alone);
    double sum = 0, sent = 0, received = 0;
    for (uint32_t stage = 0; stage < config->pp; stage++) {
        pace_graph graph = lower_stage(model, config, stage);
        assert_int_equal(graph.rank, stage * config->tp * config->dp);
        check_graph(&graph, model);
        sum += products(&graph);
        sent += collected(&graph, "send");
        received += collected(&graph, "recv");
        pace_graph_free(&graph);
    }
    assert_true(fabs(sum / products(&whole) - 1) < 1e-12);
    double turning = pace_schedule_is_v(config->schedule); /* the last stage hands to itself */
    double borders = config->pp * config->vpp - 1 - turning, one = 64 * 1024 * 4,
           passes = config->mode == PACE_TRAINING ? 2 : 1;
    assert_true(sent == borders * passes * one * pace_config_micro_batches(config) && sent == received);
    pace_graph_free(&whole);
}

TEST(test_stages) {
    pace_model_setting settings[] = {{.key = "hidden", .value = 1024},
                                     {.key = "layers", .value = 8},
                                     {.key = "heads", .value = 16},
                                     {.key = "seq", .value = 64}};
    pace_model model = load("gpt", settings, 4);
    for (int schedule = 0; schedule < PACE_SCHEDULES; schedule++)
        for (int execution = PACE_EAGER; execution <= PACE_CUDA_GRAPH; execution++)
            for (int vpp = pace_schedule_is_v(schedule) ? 2 : 1; vpp <= (schedule == PACE_SCHEDULE_GPIPE ? 1 : 2);
                 vpp++) {
                pace_config config = pace_config_default();
                config.pp = 4, config.dp = 2, config.vpp = vpp;
                config.global_batch = 16;
                config.schedule = schedule;
                config.execution = execution;
                check_stages(&model, &config);
            }
    pace_config config = pace_config_default();
    config.pp = 3; /* 2, 3 and 3 layers */
    config.global_batch = 4;
    config.mode = PACE_INFERENCE;
    check_stages(&model, &config);
    pace_graph graph;
    config.pp = 9;
    assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_E_USAGE);
    config.pp = 4, config.vpp = 3;
    assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_E_USAGE);
    config.pp = 2, config.vpp = 2, config.global_batch = 5;
    assert_int_equal(pace_model_lower(&graph, &model, &config, 0), PACE_E_USAGE);
    pace_model_free(&model);
}

int main(void) {
    unsetenv("PACELINE_CATALOG");
    return run_tests_of_file(NULL, NULL);
}
