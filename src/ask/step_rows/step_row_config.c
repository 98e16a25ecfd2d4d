/* How a row runs: precision, batches, and how ranks share the work. */
#include "ask/predict/step_ask.h"
#include "ask/step_rows/step_cells.h"

#include <math.h>

double pace_step_at_least_one(const pace_step_reader *r, size_t row, pace_step_column column) {
    double value;
    return pace_step_number(&value, r, row, column) && value >= 1 && value == floor(value) ? value : 0;
}

/* Weights in 16 bits and their gradients in single precision. */
enum { HELD_BYTES = 6 };

/* Megatron lets tensor-parallel ranks split experts as well, which they do where whole ones leave no room for weights
 * and gradients, or where `ep` counts them: the same share each, in groups of another shape. */
static void split_experts(pace_step_row *out) {
    pace_config *config = &out->config;
    double held = HELD_BYTES * pace_model_total(out->model, config).parameters / (config->ep * config->pp);
    if (config->whole_experts && held > out->device->memory_bytes && pace_config_expert_split(config) < config->tp) {
        config->whole_experts = false;
        pace_step_note(out, "assumed experts split over tp %g: whole ones do not fit", config->tp);
    }
    double replicas = config->dp * config->cp, stated = config->ep;
    if (fmod(pace_config_expert_ranks(config), stated) == 0 || fmod(replicas * config->tp, stated) != 0) return;
    config->ep = fmod(stated, config->tp) == 0 ? stated / config->tp : 1;
    if (fmod(replicas, config->ep) != 0) config->ep = 1;
    pace_step_note(out, "took ep %g for ep %g within tp %g", stated, config->ep, config->tp);
}

/* Nodes of so many devices. */
static double by_nodes(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    double nodes = pace_step_at_least_one(r, row, PACE_STEP_NODES), counted = pace_step_row_counted(r, row),
           each = pace_step_at_least_one(r, row, PACE_STEP_GPUS_PER_NODE);
    if (each == 0) each = counted;
    if (nodes == 0 && counted > 0) return counted;
    if (each == 0) each = pace_step_row_node(r, row, out->device);
    return nodes * each;
}

/* Fewer samples at once than ranks: several share one, layers first within a node; then those of a step that takes
 * several micro-batches are cut into stages, which these fill, and words of others. */
static void assume_split(pace_step_row *out, const pace_step_reader *r, double ranks, double global, double turns) {
    pace_config *config = &out->config;
    double split = global > 0 ? ranks * fmax(1, turns) / global : 1;
    if (!(split > 1) || config->cp > 1) return;
    while (config->tp < split && config->tp < 8) config->tp *= 2;
    double *rest = turns > 1 ? &config->pp : &config->cp;
    while (config->tp * *rest < split) *rest *= 2;
    pace_step_doubt(out, r, PACE_DOUBT_ROW_SPLIT);
    pace_step_note(out, "assumed tp %g, %s %g: fewer samples %sthan devices", config->tp, turns > 1 ? "pp" : "cp",
                   *rest, turns > 1 ? "at once " : "");
}

/* Whether twice as many ranks may share the model so: then they do. */
static bool double_if_possible(pace_step_row *out, double ranks, double *degree) {
    *degree *= 2;
    bool possible = fmod(ranks, *degree) == 0 && pace_model_check_parallel(out->model, &out->config) == PACE_OK;
    if (!possible) *degree /= 2;
    return possible;
}

/* Megatron's ranks share experts and layers, each within a node, and then stages, until `whole` bytes leave half of a
 * device's memory. */
static void assume_layers_shared(pace_step_row *out, const pace_step_reader *r, double ranks, double whole) {
    pace_config *config = &out->config;
    double room = out->device->memory_bytes / 2, node = 8;
    bool split = config->pp > 1; /* by assume_split(), which said so */
    while (config->ep < node && whole > room * config->ep && double_if_possible(out, ranks, &config->ep)) continue;
    whole /= config->ep;
    while (config->tp < node && whole > room * config->tp && double_if_possible(out, ranks / config->ep, &config->tp))
        continue;
    while (whole > room * config->tp * config->pp &&
           double_if_possible(out, ranks / (config->ep * config->tp), &config->pp))
        continue;
    if (!split) pace_step_doubt(out, r, PACE_DOUBT_ROW_SPLIT);
    pace_step_note(out, "assumed tp %g, pp %g, ep %g", config->tp, config->pp, config->ep);
}

/* Nothing is said of how ranks share the work: each has the whole model, or its share of one that several have, where
 * that leaves half of its memory, else parameters are sharded over all, or layers by a framework that does not
 * shard. */
static void assume_data_parallel(pace_step_row *out, const pace_step_reader *r, double ranks) {
    bool frozen = out->config.frozen > 0 || out->config.lora > 0,
         shards = out->framework->zero_known[3] || out->model->sequence == 0;
    double each = frozen   ? 2
                  : shards ? 16
                           : HELD_BYTES; /* weights; and gradients; and Adam's states, unless replicas share these */
    double whole = each * pace_model_total(out->model, &out->config).parameters;
    double room = out->device->memory_bytes / 2 * out->config.tp * out->config.pp;
    bool fits = whole < room || (shards && out->config.pp > 1);
    if (!shards && !fits && room > 0) {
        assume_layers_shared(out, r, ranks, whole);
        return;
    }
    if (out->config.pp == 1 && shards) out->config.zero_stage = fits ? 0 : 3;
    pace_step_note(out, fits ? "assumed data parallelism" : "assumed fully sharded data parallelism");
}

/* "sp" with a number above 1 is in how many parts words are split around attention (Jacobs et al. 2023). */
static double ulysses(const pace_step_reader *r, size_t row) {
    double value;
    return pace_step_number(&value, r, row, PACE_STEP_SEQ_PAR) && value > 1 ? value : 1;
}

/* Tables of a recommender, where no column says what is split. */
static bool spread_tables(pace_step_row *out, const pace_step_reader *r, size_t row, bool said) {
    bool shards = *pace_step_cell(r, row, PACE_STEP_ZERO_STAGE) || *pace_step_cell(r, row, PACE_STEP_SHARDING);
    if (said || out->ranks <= 1 || !pace_step_spreads_tables(&out->config, out->model, shards)) return false;
    pace_step_note(out, "tables spread over all devices");
    pace_step_doubt(out, r, PACE_DOUBT_SPREAD_TABLES);
    return true;
}

static bool is_said(const pace_step_reader *r, size_t row, const pace_step_column *columns, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (*pace_step_cell(r, row, columns[i])) return true;
    return false;
}

/* A machine without a word of how many ranks there are: replicas fill it, as for predict MODEL. 0 = it was said, or no
 * machine was. */
static double all_devices(pace_step_row *out, const pace_step_reader *r, size_t row) {
    static const pace_step_column ranks[] = {PACE_STEP_N_GPU, PACE_STEP_NODES, PACE_STEP_DP};
    if (out->config.mode != PACE_TRAINING || is_said(r, row, ranks, PACE_COUNT(ranks))) return 0;
    double devices = pace_step_row_devices(r, row), replicas = pace_config_replicas(&out->config, devices);
    if (replicas > 1) pace_step_note(out, "assumed dp %g: all devices", replicas);
    return replicas > 1 ? devices : 0;
}

/* What means something in pipelines only. */
static void drop_pipeline(pace_step_row *out) {
    pace_config *config = &out->config;
    if (config->pp > 1) return;
    if (config->vpp > 1) pace_step_note(out, "no effect without pp: vpp %g", config->vpp);
    if (config->schedule != PACE_SCHEDULE_1F1B)
        pace_step_note(out, "no effect without pp: schedule %s", pace_config_word(config, "schedule"));
    config->vpp = 1;
    config->schedule = PACE_SCHEDULE_1F1B;
}

/* A pipeline that DualPipe cannot fill from both ends is answered as 1F1B, which is slower. */
static void take_two_way(pace_step_row *out, const pace_step_reader *r) {
    double stages = out->config.pp;
    if (out->config.schedule != PACE_SCHEDULE_DUALPIPE) return;
    if (pace_config_take_two_way(&out->config) == PACE_OK) {
        pace_step_note(out, "dualpipe on pp %g taken for dualpipe-v on pp %g, each held twice", stages, stages / 2);
        return;
    }
    pace_step_note(out, "schedule \"dualpipe\" taken for 1F1B");
    pace_step_doubt(out, r, PACE_DOUBT_ROW_SCHEDULE);
    out->config.schedule = PACE_SCHEDULE_1F1B;
}

/* dp from the devices, or the devices from the product. */
static bool set_ranks(pace_step_row *out, const pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    double n = pace_step_at_least_one(r, row, PACE_STEP_N_GPU), dp = pace_step_at_least_one(r, row, PACE_STEP_DP);
    double *const shares[] = {&config->tp, &config->pp, &config->vpp, &config->cp, &config->ep};
    const pace_step_column columns[] = {PACE_STEP_TP, PACE_STEP_PP, PACE_STEP_VPP, PACE_STEP_CP, PACE_STEP_EP};
    static const char *const words[] = {"tp", "pp", "vpp", "cp", "ep"};
    const char *text = pace_step_cell(r, row, PACE_STEP_SHARDING);
    for (size_t i = 0; i < PACE_COUNT(columns); i++) {
        double value = pace_step_at_least_one(r, row, columns[i]);
        if (value == 0) value = pace_step_degree(text, words[i]);
        *shares[i] = value > 0 ? value : 1;
    }
    if (dp == 0) dp = pace_step_degree(text, "dp");
    if (config->cp == 1) config->cp = fmax(1, floor(ulysses(r, row)));
    if (n == 0) n = by_nodes(out, r, row);
    if (n == 0 && dp == 0) n = all_devices(out, r, row);
    drop_pipeline(out);
    if (pace_schedule_is_v(config->schedule) && config->vpp == 1) config->vpp = PACE_V_CHUNKS;
    bool shared = pace_step_at_least_one(r, row, PACE_STEP_TP) || pace_step_at_least_one(r, row, PACE_STEP_PP) ||
                  dp > 0 || config->tp * config->pp > 1;
    bool said = out->says_zero || config->zero_stage != out->framework->zero_stage;
    bool silent = (r->distributed || pace_step_row_counted(r, row) > 0) && n > 1 && !shared && !said;
    if (silent)
        assume_split(out, r, n, pace_step_at_least_one(r, row, PACE_STEP_GLOBAL_BATCH),
                     pace_step_at_least_one(r, row, PACE_STEP_GRAD_ACCUM));
    if (silent && config->zero_stage < 3) assume_data_parallel(out, r, n);
    double each = config->tp * config->pp * config->cp;
    if (n == 0 && dp == 0) {
        dp = fmod(config->cp * config->tp, config->ep) == 0 ? 1 : config->ep;
        bool guessed = r->distributed && r->column[PACE_STEP_N_GPU] >= 0;
        if (guessed) pace_step_note(out, "assumed dp %g", dp);
        out->guesses_work |= guessed;
    }
    if (n == 0) n = each * dp;
    config->dp = n / each;
    if (config->dp != floor(config->dp) || config->dp < 1 || (dp > 0 && dp != config->dp)) {
        pace_step_note(out, "n_gpu %g is not tp %g x pp %g x cp %g x dp %g", n, config->tp, config->pp, config->cp,
                       dp > 0 ? dp : config->dp);
        return false;
    }
    out->ranks = n;
    take_two_way(out, r);
    if (spread_tables(out, r, row, pace_step_at_least_one(r, row, PACE_STEP_EP) > 0)) return true;
    split_experts(out);
    return true;
}

/* Megatron fused its kernels when the generation behind the A100 came. */
enum { LAST_EAGER_GENERATION = 80 };

/* A row that names no framework: PyTorch's, as `predict MODEL` has it, but for benchmarks whose submissions run
 * otherwise and for tables of how language models are shared among ranks, which are Megatron's of the device's time. */
static const char *framework_word(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *text = pace_step_cell(r, row, PACE_STEP_FRAMEWORK);
    if (*text) return text;
    if (!r->distributed || (out->model->sequence == 0 && pace_step_row_execution(r, row))) return "";
    if (pace_step_says(pace_step_cell(r, row, PACE_STEP_SHARDING), "fsdp") ||
        pace_step_flag(pace_step_cell(r, row, PACE_STEP_FSDP)) == 1)
        return "fsdp";
    const char *suite = pace_step_row_suite_framework(out, r, row);
    if (suite) {
        pace_step_note(out, "assumed steps of %s, as the benchmark's submissions run", suite);
        return suite;
    }
    if (out->model->sequence == 0 || !r->shares_model) return "";
    bool eager = out->device->generation > 0 && out->device->generation <= LAST_EAGER_GENERATION;
    bool deepspeed = eager && *pace_step_cell(r, row, PACE_STEP_ZERO_STAGE); /* ZeRO is its word */
    return deepspeed ? "megatron-deepspeed" : eager ? "megatron-eager" : "megatron";
}

/* What means nothing on ranks that hold no replica, or do not share layers: tables say it of all rows. */
static void drop_sharding(pace_step_row *out, const pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    bool alone = config->dp * config->cp == 1, whole = config->tp == 1;
    bool sharded = config->zero_stage > 0 && pace_step_at_least_one(r, row, PACE_STEP_ZERO_STAGE) > 0;
    if (alone && sharded) pace_step_note(out, "no effect without dp: zero_stage %g", config->zero_stage);
    if (alone) config->zero_stage = 0;
    if (config->zero_stage == 0 && config->zero_group > 0)
        pace_step_note(out, "no effect without zero_stage: zero_group %g", config->zero_group);
    if (config->zero_stage == 0) config->zero_group = 0;
    if (whole && pace_step_flag(pace_step_cell(r, row, PACE_STEP_SEQ_PAR)) == 1)
        pace_step_note(out, "no effect without tp: sequence parallelism");
    if (whole) config->sequence_parallel = 0;
}

/* Whether no cell led to the word: how the table shares its models did. */
static bool is_assumed(pace_step_row *out, const pace_step_reader *r, size_t row, const char *word) {
    return strncmp(word, "megatron", strlen("megatron")) == 0 && !*pace_step_cell(r, row, PACE_STEP_FRAMEWORK) &&
           !pace_step_row_suite_framework(out, r, row);
}

/* Its release is named with it, or in a column of its own, as that of a table's source; notes say options alone. */
static void set_framework(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const pace_frameworks *known = &r->things->frameworks;
    const char *word = framework_word(out, r, row);
    if (!*word || pace_frameworks_named(&out->framework, known, word) != PACE_OK) {
        out->framework = pace_frameworks_find(known, word);
        if (*word) pace_step_note(out, "unknown framework \"%.30s\", taken for %s", word, out->framework->name);
        if (*word) pace_step_doubt(out, r, PACE_DOUBT_ROW_FRAMEWORK);
    }
    const char *texts[] = {word, pace_step_cell(r, row, PACE_STEP_RELEASE),
                           pace_step_said(r->things, "release_notes", pace_step_cell(r, row, PACE_STEP_NOTES))};
    for (size_t i = 0; i < PACE_COUNT(texts); i++)
        if (texts[i]) out->framework = pace_frameworks_released(known, out->framework, texts[i], out->device);
    const char *about = out->framework->about;
    if (*word && about && !pace_step_says(word, out->framework->name)) pace_step_note(out, "taken for %s", about);
    if (is_assumed(out, r, row, word)) pace_step_note(out, "assumed framework %s", out->framework->name);
}

bool pace_step_row_config(pace_step_row *out, pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    double seq;
    *config = pace_config_default();
    set_framework(out, r, row);
    out->attention = pace_frameworks_attention(&r->things->frameworks, out->device->name, out->framework->name);
    pace_step_defaults_of(config, out->framework, out->model);
    pace_framework_lay_out(config, out->framework, out->device);
    bool sized = pace_step_number(&seq, r, row, PACE_STEP_SEQ) && seq >= 1;
    if (sized && out->model->sequence == 0) pace_step_note(out, "no effect on a model without sequences: seq");
    else if (sized) config->sequence = floor(seq);
    if (sized && seq != floor(seq)) pace_step_note(out, "took seq for %.0f", floor(seq));
    pace_step_row_padding(out, r, row);
    if (!pace_step_row_words(out, r, row) || !pace_step_row_adapt(out, r) || !set_ranks(out, r, row)) return false;
    if (pace_step_scales_losses(config, out->framework, out->model)) pace_step_note(out, "took amp for fp16");
    pace_step_row_note_idle(out, r, row);
    out->half_causal = pace_step_said(r->things, "flop", pace_step_cell(r, row, PACE_STEP_FRAMEWORK)) != NULL;
    if (!pace_step_row_power(out, r, row)) return false;
    drop_sharding(out, r, row);
    pace_step_row_unused(out, r, row);
    if (config->mode != PACE_TRAINING) config->recompute = PACE_RECOMPUTE_NONE;
    return true;
}
