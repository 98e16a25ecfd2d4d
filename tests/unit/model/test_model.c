/* Models of the catalogue against published counts, the language, and what it refuses. */
#include "model/expression.h"
#include "model/model_catalog.h"
#include "catalog_of_tests.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

static pace_model load(const char *name, const pace_model_setting *settings, size_t count) {
    pace_model model;
    if (pace_model_load(&model, test_catalog(), name, settings, count) != PACE_OK)
        fail_msg("%s: %s", name, pace_message());
    return model;
}

/* Two names are one exactly when what counts of them is. */
TEST(test_plain_names) {
    static const char *const names[] = {"gpt3_1.3b",  "GPT3-1.3B (ours)", "gpt3_13b",  "GPT-3 13B", "Llama-3.1-8B",
                                        "llama31 8b", "llama_3.1_8b",     "qwen3.30b", "...",       "(x)"};
    char a[80], b[80];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t j = 0; j < sizeof names / sizeof *names; j++) {
            pace_model_plain_name(a, sizeof a, names[i]);
            pace_model_plain_name(b, sizeof b, names[j]);
            assert_int_equal(strcmp(a, b) == 0, pace_model_same_name(names[i], names[j]));
        }
    pace_model_plain_name(a, sizeof a, "GPT3-1.3B. (ours)");
    assert_string_equal(a, "gpt31.3b");
    pace_model_plain_name(a, 5, "GPT3-1.3B");
    assert_string_equal(a, "gpt3");
    assert_false(pace_model_same_name("gpt3_13b", "gpt3_1.3b"));
}

/* Parameters as their sources print them. torchvision: "num_params" of its weights' documentation. Hugging Face:
 * num_parameters() of the checkpoints. All are from memory; that layers add up to each of them to the last digit is the
 * evidence. Without the router's 58 x 256 selection biases of DeepSeek-V3 (671,026,419,200
 * with them) and the 36 x 64 attention sinks of gpt-oss (116,829,156,672 with them), which are no layer here. */
TEST(test_parameters) {
    static const struct {
        const char *name;
        double parameters;
    } published[] = {
        {"lenet", 431080}, /* Caffe examples/mnist */
        {"alexnet", 61100840},
        {"vgg11", 132863336},
        {"vgg13", 133047848},
        {"vgg16", 138357544},
        {"vgg19", 143667240},
        {"resnet18", 11689512},
        {"resnet34", 21797672},
        {"resnet50", 25557032},
        {"resnet101", 44549160},
        {"resnext50_32x4d", 25028904},
        {"resnext101_32x4d", 44177704}, /* timm: 44.18 M */
        {"resnext101_32x8d", 88791336},
        {"mobilenet_v2", 3504872},
        {"densenet121", 7978856},
        {"densenet161", 28681000},
        {"densenet169", 14149480},
        {"densenet201", 20013928},
        {"efficientnet_b0", 5288548},
        {"efficientnet_b1", 7794184},
        {"efficientnet_b2", 9109994},
        {"efficientnet_b3", 12233232},
        {"efficientnet_b4", 19341616},
        {"efficientnet_b5", 30389784},
        {"efficientnet_b6", 43040704},
        {"efficientnet_b7", 66347960},
        {"wide_resnet50_2", 68883240},
        {"vit_base_16", 86567656}, /* torchvision's vit_b_16, vit_l_16; timm's vit_huge_patch14_224 */
        {"vit_large_16", 304326632},
        {"vit_huge_14", 632045800},
        {"t5-small", 60506624 - 512}, /* without two tables of 32 relative positions a head */
        {"t5-base", 222903552 - 768},
        {"t5-large", 737668096 - 1024},
        {"t5-v1.1-xl", 2849757184.0 - 2048},
        {"tinyllama-1.1b", 1100048384},
        {"qwen3-0.6b", 596049920},
        {"qwen3-8b", 8190735360.0},
        {"gemma-2b", 2506172416.0},
        {"gemma-7b", 8537680896.0},
        {"yi-34b", 34388917248.0},
        {"phi-3-mini", 3821079552.0},
        {"mistral-nemo-12b", 12247782400.0},
        {"gpt-oss-20b", 20914757184.0},
        {"resnet152", 60192808},
        {"googlenet", 6624904},
        {"googlenet_aux", 13004888},
        {"inception_v3", 27161264},
        {"squeezenet1_0", 1248424},
        {"mobilenet", 4231976},     /* Keras: 4,253,864 with the 21,888 running statistics */
        {"nasnet_large", 88753150}, /* Keras: 88,949,818 with the 196,668 running statistics */
        {"bert_base", 109482240},
        {"bert_large", 335141888},
        {"bert_base_pretraining", 110106428},
        {"bert_large_pretraining", 336226108},
        {"gpt2", 124439808},
        {"gpt2_medium", 354823168},
        {"gpt2_large", 774030080},
        {"gpt2_xl", 1557611200},
        {"opt_125m", 125239296},
        {"opt_1.3b", 1315758080},
        {"opt_6.7b", 6658473984},
        {"llama2-7b", 6738415616},
        {"llama2-13b", 13015864320},
        {"llama2-70b", 68976648192},
        {"llama3-8b", 8030261248},
        {"llama3-70b", 70553706496},
        {"llama-7b", 6738415616},
        {"llama-65b", 65285660672},
        {"llama3.2-1b", 1235814400},
        {"llama3.2-3b", 3212749824},
        {"mistral-7b", 7241732096},
        {"olmo2-7b", 7298617344},
        {"smollm3-3b", 3075098624},
        {"qwen2.5-7b", 7615616512},
        {"qwen2.5-72b", 72706203648},
        {"mixtral-8x7b", 46702792704},
        {"llama3.1-405b", 405853388800},
        {"qwen3-30b-a3b", 30532122624},
        {"qwen3-235b-a22b", 235093634560},
        {"gpt-oss-120b", 116829156672},
        {"gemma2-2b", 2614341888},
        {"gemma3-1b", 999885952},
        {"pythia-6.9b", 6857302016},
        {"gpt-neox-20b", 20554567680},
        {"gpt-j-6b", 6050882784},
        {"gpt-neo-1.3b", 1315575808},
        {"falcon-7b", 6921720704},
        {"falcon-40b", 41303293952},
        {"phi-2", 2779683840},
        {"starcoder2-3b", 3030371328},
        {"stablelm-3b", 2795443200},
        {"command-r-35b", 34980831232},
        {"command-r-plus-104b", 103810674688},
        {"bloom-176b", 176247271424},
        {"olmo-7b", 6888095744},
        {"olmoe-7b", 6919161856},
        {"qwen1.5-moe-a2.7b", 14315784192},
        {"deepseek-moe-16b", 16375728128},
        {"llama4-scout", 107769861120},
        {"llama4-maverick", 400711848960},
        {"glm4.5-355b", 352797814784},
        {"glm4.5-air", 106852245504},
        {"exaone4-1.2b", 1279391488},
        {"glm4-9b", 9400279040},
        {"deepseek-v2", 235741434880},
        {"deepseek-v3", 671026419200 - 58 * 256},
        {"convnext_tiny", 28589128},
        {"convnext_small", 50223688},
        {"convnext_base", 88591464},
        {"convnext_large", 197767336},
        {"swin_tiny", 28288354 - 169 * 138}, /* without tables of 13 x 13 biases a head */
        {"swin_small", 49606258 - 169 * 282},
        {"retinanet_resnet50", 34014999},
        /* By hand from SSD's ssd/model.py: three stages of ResNet-50 (25,557,032 without its head of 2,049,000 and last
         * stage of 14,964,736), what follows, and 85 numbers a box from 3 x 3 places of each level. */
        {"ssd300_resnet50",
         8543296 + 1443328 + 1312256 + 361216 + 2 * 328448 + 340 * 9217 + 2 * 510 * 4609 + 510 * 2305 + 2 * 340 * 2305},
        {"unet", 31037698},    /* milesial/Pytorch-UNet with 3 channels and 2 classes */
        {"sd-1.5", 859520964}, /* diffusers: UNet2DConditionModel, FluxTransformer2DModel */
        {"sd-2.1", 865910724},
        {"sdxl", 2567463684},
        {"flux.1-dev", 11901408320},
        {"flux.1-schnell", 11891178560},
        {"whisper-tiny", 37760640},
        {"whisper-base", 72593920},
        {"whisper-small", 241734912},
        {"whisper-medium", 763857920},
        {"whisper-large", 1543304960},
        {"whisper-large-v3", 1543490560},
        {"whisper-large-v3-turbo", 808878080},
        {"gnmt", 159605817}, /* of DeepLearningExamples' log, from memory; the vocabulary, 31,800, follows from it */
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        pace_model model = load(published[i].name, NULL, 0);
        pace_config config = pace_config_default();
        double parameters = pace_model_total(&model, &config).parameters;
        if (parameters != published[i].parameters)
            fail_msg("%s has %.0f parameters, published %.0f", published[i].name, parameters, published[i].parameters);
        pace_model_free(&model);
    }
}

/* Rounded figures: model cards and papers. DLRM: rows x width of the tables (Lin et al. 2022) and the layers' weights
 * counted by hand. */
TEST(test_rounded_parameters) {
    static const struct {
        const char *name;
        double billions, within;
    } published[] = {
        {"gpt3_125m", 0.125, 0.01}, {"gpt3_350m", 0.356, 0.01},    {"gpt3_760m", 0.760, 0.01},
        {"gpt3_1.3b", 1.3, 0.02},   {"gpt3_2.7b", 2.7, 0.02},      {"gpt3_6.7b", 6.7, 0.01},
        {"gpt3_13b", 13.0, 0.02},   {"gpt3_175b", 175, 0.01},      {"mpt-7b", 6.65, 0.001},
        {"mpt-30b", 29.95, 0.001},  {"nemotron4-15b", 15.6, 0.01}, {"nemotron4-340b", 341, 0.001},
        {"unet3d", 0.0312, 0.001},  {"retinanet", 0.037, 0.005},   {"mask_rcnn", 0.0444, 0.005},
        {"grok1-314b", 314, 0.006}, {"dlrm_ddp", 0.0827, 0.001},   {"dlrm_default", 0.5145, 0.001},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        pace_model model = load(published[i].name, NULL, 0);
        pace_config config = pace_config_default();
        double billions = pace_model_total(&model, &config).parameters / 1e9;
        if (fabs(billions / published[i].billions - 1) > published[i].within)
            fail_msg("%s has %.4f billion parameters, published %.4f", published[i].name, billions,
                     published[i].billions);
        pace_model_free(&model);
    }
}

/* Billions of multiply-adds of one image. torchvision: "GFLOPS" of its weights' documentation, two decimals; MobileNet:
 * Howard et al. 2017, table 8 (569 million); NASNet: Zoph et al. 2018, table 2 (23.8 billion); DiT: Peebles and Xie
 * 2023, table 1; ResNets of 2015: He et al., table 1. */
TEST(test_multiply_adds) {
    static const struct {
        const char *name;
        double billions, rounding;
    } published[] = {
        {"alexnet", 0.71, 0.005},       {"vgg11", 7.61, 0.005},         {"vgg13", 11.31, 0.005},
        {"vgg16", 15.47, 0.005},        {"vgg19", 19.63, 0.005},        {"resnet18", 1.81, 0.005},
        {"resnet34", 3.66, 0.005},      {"resnet50", 4.09, 0.005},      {"resnet101", 7.80, 0.005},
        {"resnet152", 11.51, 0.005},    {"googlenet", 1.50, 0.005},     {"inception_v3", 5.71, 0.005},
        {"squeezenet1_0", 0.82, 0.005}, {"mobilenet", 0.569, 0.0005},   {"nasnet_large", 23.8, 0.05},
        {"convnext_tiny", 4.46, 0.005}, {"convnext_base", 15.36, 0.01}, {"swin_tiny", 4.49, 0.005},
        {"swin_small", 8.74, 0.005},    {"swin_base", 15.43, 0.005},    {"retinanet_resnet50", 151.54, 0.005},
        {"dit-s", 6.06, 0.005},         {"dit-b", 23.01, 0.005},        {"dit-l", 80.71, 0.015},
        {"dit-xl", 118.64, 0.02},       {"resnet50_v1", 3.8, 0.06},     {"resnet101_v1", 7.6, 0.06},
        {"resnet152_v1", 11.3, 0.06},
    };
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        pace_model model = load(published[i].name, NULL, 0);
        pace_config config = pace_config_default();
        double billions = pace_model_total(&model, &config).multiply_adds / 1e9;
        if (fabs(billions - published[i].billions) > published[i].rounding)
            fail_msg("%s has %.4f billion multiply-adds, published %.4f", published[i].name, billions,
                     published[i].billions);
        pace_model_free(&model);
    }
}

/* Narayanan et al. 2021, equation 3, forward and without recomputation: 24 B s l h^2 (1 + s / 6h + V / 12 l h) flop. */
TEST(test_transformer_flop) {
    pace_model_setting settings[] = {{.key = "hidden", .value = 1536},
                                     {.key = "layers", .value = 7},
                                     {.key = "heads", .value = 12},
                                     {.key = "seq", .value = 640},
                                     {.key = "vocab", .value = 51200}};
    pace_model model = load("gpt", settings, 5);
    pace_config config = pace_config_default();
    double h = 1536, l = 7, s = 640, v = 51200;
    double flop = 24 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    assert_true(fabs(2 * pace_model_total(&model, &config).multiply_adds / flop - 1) < 1e-12);
    config.sequence = 1280; /* the length stays open */
    s = 1280;
    flop = 24 * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h));
    assert_true(fabs(2 * pace_model_total(&model, &config).multiply_adds / flop - 1) < 1e-12);
    pace_model_free(&model);
}

/* Bytes a layer of a GPT keeps: the difference that one more layer makes. */
static double layer_bytes(double h, double a, double s, pace_config config) {
    double bytes[2];
    config.precision = PACE_RUN_FP16;
    config.attention = PACE_ATTENTION_MATH;
    for (int l = 0; l < 2; l++) {
        pace_model_setting settings[] = {{.key = "hidden", .value = h},
                                         {.key = "heads", .value = a},
                                         {.key = "seq", .value = s},
                                         {.key = "layers", .value = l + 3}};
        pace_model model = load("gpt", settings, 4);
        bytes[l] = pace_model_total(&model, &config).activation_bytes;
        pace_model_free(&model);
    }
    return bytes[1] - bytes[0];
}

/* Korthikanti et al. 2022, equations 1 and 2 and table 2: a layer keeps s b h (34 + 5 a s / h) bytes in half precision
 * without fused attention; with tensor parallelism t, s b h (10 + 24 / t + 5 a s / (h t)); 34 s b h when attention is
 * recomputed, and 2 s b h when the layer is. */
TEST(test_activation_bytes) {
    double h = 1024, a = 16, s = 512;
    pace_config config = pace_config_default();
    for (config.tp = 1; config.tp <= 4; config.tp *= 4) {
        double t = config.tp;
        assert_true(fabs(layer_bytes(h, a, s, config) - s * h * (10 + 24 / t + 5 * a * s / (h * t))) < 0.5);
    }
    config.tp = 1;
    config.recompute = PACE_RECOMPUTE_SELECTIVE;
    assert_true(fabs(layer_bytes(h, a, s, config) - 34 * s * h) < 0.5);
    config.recompute = PACE_RECOMPUTE_FULL;
    assert_true(fabs(layer_bytes(h, a, s, config) - 2 * s * h) < 0.5);
}

/* Of one more layer, per token and width. */
static double autocast_bytes(const char *name, int execution) {
    const double s = 256, h = 768, heads = 12;
    double bytes[2];
    pace_config config = pace_config_default();
    config.precision = PACE_RUN_AMP_BF16;
    config.attention = PACE_ATTENTION_FUSED;
    config.execution = execution;
    for (int l = 0; l < 2; l++) {
        pace_model_setting settings[] = {{.key = "hidden", .value = h},
                                         {.key = "heads", .value = heads},
                                         {.key = "seq", .value = s},
                                         {.key = "layers", .value = l + 3},
                                         {.key = "dropout", .value = 0}};
        pace_model model = load(name, settings, 5);
        bytes[l] = pace_model_total(&model, &config).activation_bytes;
        pace_model_free(&model);
    }
    return (bytes[1] - bytes[0] - 4 * s * heads) / (s * h); /* attention's scale of a row */
}

/* torch.autocast: norms take and give single precision, and products keep the half copy that each casts for itself. So
 * a layer of GPT keeps inputs of norms 2 x 4, their copies 2 x 2, of queries, keys and values 6, attention's output 2,
 * what comes into GELU 8 and out of it 8; OPT, whose three products cast the same norm, two copies more, and ReLU's
 * output alone. A compiler sees that the copies are alike. */
TEST(test_autocast_copies) {
    assert_true(fabs(autocast_bytes("gpt", PACE_EAGER) - 36) < 1e-6);
    assert_true(fabs(autocast_bytes("opt_125m", PACE_EAGER) - 32) < 1e-6);
    assert_true(fabs(autocast_bytes("gpt", PACE_COMPILED) - 36) < 1e-6);
    assert_true(fabs(autocast_bytes("opt_125m", PACE_COMPILED) - 28) < 1e-6);
}

static pace_status visit(void *context, const pace_model *model) {
    size_t *count = context;
    pace_config config = pace_config_default();
    pace_model_totals total = pace_model_total(model, &config);
    ++*count;
    assert_true(total.parameters > 0 && total.multiply_adds > 0 && total.activation_bytes > 0);
    assert_true(*pace_names_text(&model->names, model->source));
    for (uint32_t i = 0; i < model->layers.count; i++) /* inputs come first */
        for (uint32_t k = 0; k < model->layers.items[i].input_count; k++)
            assert_true(model->inputs.items[model->layers.items[i].first_input + k] < i);
    return PACE_OK;
}

TEST(test_every_model) {
    size_t count = 0;
    if (pace_model_each(test_catalog(), visit, &count) != PACE_OK) fail_msg("%s", pace_message());
    assert_true(count >= 50);
    pace_model model;
    assert_int_equal(pace_model_load(&model, test_catalog(), "resnet51", NULL, 0), PACE_E_MISSING);
    assert_non_null(strstr(pace_message(), "closest name is \"resnet50\""));
    pace_model_setting wrong = {.key = "height", .value = 3};
    assert_int_equal(pace_model_load(&model, test_catalog(), "gpt", &wrong, 1), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "height"));
}

TEST(test_expressions) {
    static const struct {
        const char *text;
        double value;
    } right[] = {{"1 + 2*3", 7}, {"(1 + 2)*3", 9}, {"-h + 4", -60},   {"h / 4 / 2", 8},
                 {"7 % 4", 3},   {"2.5e2", 250},   {"1e-2*100", 1},   {" h ", 64},
                 {"2*-3", -6},   {"h_2 - h", 1},   {"10 - 2 - 3", 5}, {"((((3))))", 3},
                 {"2 > 1", 1},   {"1 + 1 > 2", 0}, {"3*(h > 63)", 3}, {"0 - (1 > 2)", 0}};
    static const struct {
        const char *text, *message;
    } wrong[] = {{"", "a number or a name"}, {"1 +", "a number or a name"},
                 {"(1", "closing bracket"},  {"x", "nothing is named \"x\""},
                 {"1 / 0", "division by 0"}, {"1 2", "an operator or the end"},
                 {"list", "is a list"},      {"1 >", "a number or a name"},
                 {"1e999", "out of range"},  {"h^2", "an operator or the end"}};
    pace_scope outer = {0}, scope = {.outer = &outer};
    double values[2] = {64, 65};
    assert_int_equal(pace_scope_bind(&outer, "h", &values[1], 1), PACE_OK); /* hidden by the inner one */
    assert_int_equal(pace_scope_bind(&outer, "h_2", &values[1], 1), PACE_OK);
    assert_int_equal(pace_scope_bind(&scope, "h", values, 1), PACE_OK);
    assert_int_equal(pace_scope_bind(&scope, "list", values, 2), PACE_OK);
    for (size_t i = 0; i < sizeof right / sizeof *right; i++) {
        double value = 0;
        if (pace_expression(&value, right[i].text, &scope) != PACE_OK) fail_msg("%s", pace_message());
        if (fabs(value - right[i].value) > 1e-12) fail_msg("%s gives %g", right[i].text, value);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value = 0;
        assert_int_equal(pace_expression(&value, wrong[i].text, &scope), PACE_E_INPUT);
        if (!strstr(pace_message(), wrong[i].message))
            fail_msg("\"%s\" lacks \"%s\"", pace_message(), wrong[i].message);
    }
    pace_scope_free(&scope);
    pace_scope_free(&outer);
}

#define HEAD "family: f\nabout: a\nsource: s\ninputs: {image: {image: [3, 8, 8]}}\n"

static pace_status build(pace_model *model, const char *text) {
    pace_yaml *yaml = NULL;
    pace_status status = pace_yaml_parse(&yaml, "m.yaml", text, strlen(text));
    if (status == PACE_OK) status = pace_model_build(model, yaml, NULL, NULL, 0);
    pace_yaml_free(yaml);
    return status;
}

/* Branches, repetition, names: counted by hand. */
TEST(test_language) {
    pace_model model;
    const char *text = HEAD
        "parameters: {w: 4, list: [2, 3]}\n"
        "blocks: {b: {parameters: {out: w, k: 3}, layers: [{conv: {out: out, kernel: k, pad: (k - 1) / 2}}, relu]}}\n"
        "layers:\n"
        "  - {b: {}, as: x}\n"
        "  - concat: [[], [b: {out: 2}], x]\n"              /* 4 + 2 + 4 channels */
        "  - {b: {out: 5 + i, k: 1}, repeat: 2, name: r}\n" /* 5, 6 channels */
        "  - {b: {out: n}, each: {n: list}}\n"              /* 2, 3 channels */
        "  - {b: {}, repeat: 0}\n"
        "  - {flatten: , name: flat}\n"
        "  - linear: {out: 1, bias: 0}\n";
    if (build(&model, text) != PACE_OK) fail_msg("%s", pace_message());
    pace_config config = pace_config_default();
    double convs = (3 * 4 * 9 + 4) + (4 * 2 * 9 + 2) + (10 * 5 + 5) + (5 * 6 + 6) + (6 * 2 * 9 + 2) + (2 * 3 * 9 + 3);
    assert_true(pace_model_total(&model, &config).parameters == convs + 3 * 64);
    assert_true(pace_model_total(&model, &config).multiply_adds == 64 * (108 + 72 + 50 + 30 + 108 + 54) + 3 * 64);
    pace_name name;
    static const char *const names[] = {"b1.conv", "concat.2.b.relu", "r.1.conv", "b3.0.relu", "flat"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!pace_names_find(&name, &model.names, names[i], strlen(names[i]))) fail_msg("no layer %s", names[i]);
    pace_model_free(&model);
}

TEST(test_refused) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"[]", "m.yaml:1:1: expected a map"},
        {"family: f", "needs the text \"about\""},
        {HEAD, "needs a list \"layers\""},
        {HEAD "layer: []", "m.yaml:5:8: unknown member \"layer\" of a model: expected family, about"},
        {HEAD "layers: [konv: 3]", "m.yaml:5:10: no layer or block is called \"konv\""},
        {HEAD "layers: [conv: {out: 3, size: 1}]", "m.yaml:5:31: \"conv\" has no option \"size\""},
        {HEAD "layers: [conv: {kernel: 3}]", "\"conv\" needs \"out\""},
        {HEAD "layers: [conv: {out: 1.5}]", "\"out\": expected a whole number of at least 1, found 1.5"},
        {HEAD "layers: [conv: {out: 4, kernel: 9}]", "leaves nothing"},
        {HEAD "layers: [conv: {out: 4, groups: 2}]", "do not divide into 2 groups"},
        {HEAD "layers: [conv: width]", "m.yaml:5:16: \"width\": nothing is named \"width\""},
        {HEAD "layers: [conv: 2 +]", "m.yaml:5:16: \"2 +\": expected a number or a name at character 4"},
        {HEAD "layers: [linear: 3]", "flatten it first"},
        {HEAD "layers: [{relu: , from: x}]", "m.yaml:5:25: no output is named \"x\""},
        {HEAD "layers: [{relu: , repeat: 1.5}]", "whole number of times"},
        {HEAD "layers: [{relu: , gelu: }]", "\"gelu\" beside \"relu\""},
        {HEAD "layers: [{name: x}]", "expected a kind of layer"},
        {HEAD "layers: [relu: 3]", "\"relu\" takes no value"},
        {HEAD "layers: [add: [[], [conv: 4]]]", "branch 1 gives 3 x 8 x 8, branch 2 gives 4 x 8 x 8"},
        {HEAD "layers: [concat: [[], [max_pool: 2]]]", "branch 2 gives 4 x 4"},
        {HEAD "layers: [{relu: , shard: row}]", "of a linear layer"},
        {HEAD "layers: [flatten, {linear: 3, shard: row}]", "is not split"},
        {HEAD "layers: [attention: {heads: 2}]", "expected sequences"},
        {HEAD "layers: [cross_entropy]", "no layer or block"},
        {HEAD "loss: hinge\nlayers: [relu]", "expected a loss"},
        {HEAD "blocks: {relu: {layers: []}}\nlayers: []", "another name for a block"},
        {HEAD "blocks: {b: {layers: [b: {}]}}\nlayers: [b: {}]", "nested more than 24 deep"},
        {HEAD "blocks: {b: {layers: [relu]}}\nlayers: [b: {x: 1}]", "b has no parameter \"x\""},
        {HEAD "layers: [{layers: [{layers: [{layers: [relu], repeat: 1000}], repeat: 1000}], repeat: 1000}]",
         "more than 100000 layers"},
        {HEAD "layers: [{layers: [{layers: [{layers: [], repeat: 1000}], repeat: 1000}], repeat: 1000}]",
         "more than 1000000 layers and blocks"},
        {"family: f\nabout: a\nsource: s\ninputs: {x: {sound: 3}}\nlayers: []", "m.yaml:4:13: expected {image:"},
        {"family: f\nabout: a\nsource: s\ninputs: {x: {image: [3, 0, 1]}}\nlayers: []", "at least 1"},
        {"family: f\nabout: a\nsource: s\ninputs: {x: {indices: 4}}\nlayers: [embedding_bag: {rows: [2, 3], width: "
         "4, tables: 3}]",
         "rows for each"},
        {"family: f\nabout: a\nsource: s\nvariants: {v: {n: 1}}\ninputs: {x: {features: 4}}\nlayers: []",
         "the family has no parameter \"n\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        pace_model model;
        pace_status status = build(&model, cases[i].text);
        if (status == PACE_OK) fail_msg("case %zu was accepted; expected \"%s\"", i, cases[i].message);
        if (!strstr(pace_message(), cases[i].message))
            fail_msg("case %zu: \"%s\" lacks \"%s\"", i, pace_message(), cases[i].message);
    }
}

TEST(test_own_file) {
    char directory[] = "/tmp/pace_models_XXXXXX", path[64], named[80];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/net.yaml", directory);
    snprintf(named, sizeof named, "%s:big", path);
    FILE *file = fopen(path, "w");
    fputs("family: f\nabout: a\nsource: s\nparameters: {w: 2}\nvariants: {small: {}, big: {w: 5}}\n"
          "inputs: {x: {features: 4}}\nlayers: [linear: w]\n",
          file);
    fclose(file);
    pace_config config = pace_config_default();
    pace_model model = load(path, NULL, 0);
    assert_true(pace_model_total(&model, &config).parameters == 10);
    pace_model_free(&model);
    model = load(named, NULL, 0);
    assert_true(pace_model_total(&model, &config).parameters == 25);
    pace_model_free(&model);
    pace_model_setting setting = {.key = "w", .value = 1};
    model = load(named, &setting, 1);
    assert_true(pace_model_total(&model, &config).parameters == 5);
    pace_model_free(&model);
    unlink(path);
    assert_int_equal(pace_model_load(&model, test_catalog(), path, NULL, 0), PACE_E_IO);
    rmdir(directory);
}

TEST(test_config) {
    pace_config config = pace_config_default();
    assert_int_equal(pace_config_set(&config, "precision", "amp"), PACE_OK);
    assert_int_equal(pace_config_set(&config, "micro_batch", "8"), PACE_OK);
    assert_int_equal(pace_config_set(&config, "dp", "4"), PACE_OK);
    assert_int_equal(pace_config_set(&config, "global_batch", "64"), PACE_OK);
    assert_string_equal(pace_config_word(&config, "precision"), "amp");
    assert_true(pace_config_micro_batches(&config) == 2);
    assert_int_equal(pace_config_check(&config), PACE_OK);
    assert_int_equal(pace_config_set(&config, "precision", "fp12"), PACE_E_USAGE);
    assert_non_null(strstr(pace_message(), "fp32, tf32, fp16"));
    assert_int_equal(pace_config_set(&config, "dp", "2.5"), PACE_E_USAGE);
    assert_int_equal(pace_config_set(&config, "dp", "0"), PACE_E_USAGE);
    assert_int_equal(pace_config_set(&config, "color", "1"), PACE_E_USAGE);
    assert_int_equal(pace_config_set(&config, "global_batch", "65"), PACE_OK);
    assert_int_equal(pace_config_check(&config), PACE_E_USAGE);
}

/* Each allocation of a load fails once: no leak, and the status says why. */
TEST(test_allocations_fail) {
    int64_t before = pace_memory_live();
    pace_status status = PACE_E_MEMORY;
    for (uint64_t n = 1; status != PACE_OK; n += 13) {
        pace_model model;
        pace_memory_fail_at(n);
        status = pace_model_load(&model, test_catalog(), "alexnet", NULL, 0);
        pace_memory_fail_at(0);
        assert_true(status == PACE_OK || status == PACE_E_MEMORY);
        if (status == PACE_OK) pace_model_free(&model);
        assert_int_equal(pace_memory_live(), before);
    }
}

int main(void) {
    unsetenv("PACELINE_CATALOG");
    return run_tests_of_file(NULL, NULL);
}
