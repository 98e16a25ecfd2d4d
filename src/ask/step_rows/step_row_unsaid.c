/* What a row leaves open of how its step is run, beside what framework and batch give: how pipelines are interleaved,
 * whether a device that can multiply in 8 bits does, and how images lie in memory. */
#include "ask/step_rows/step_cells.h"
#include "cost/formula.h"
#include "model/parts.h"

#include <math.h>

enum { ENDS = 2 }; /* head and tail, which may stand for a layer each (Llama 3 405B: 126 layers on 16 stages) */

/* Chunks of layers that each stage may have, at most as many as are usual: each holds as many of the repeated layers,
 * and micro-batches come in rounds of all stages. */
static double usual_chunks(const pace_step_row *row, double most) {
    const pace_config *config = &row->config;
    pace_model_parts parts;
    double rounds = config->global_batch / (config->micro_batch * config->dp);
    if (fmod(rounds, config->pp) != 0 || pace_model_parts_find(&parts, row->model, config) != PACE_OK) return 1;
    double chunks = 1;
    for (double v = 2; v <= most && config->pp * v <= parts.layers; v++)
        if (fmod(parts.layers, config->pp * v) == 0 || fmod(parts.layers + ENDS, config->pp * v) == 0) chunks = v;
    pace_model_parts_free(&parts);
    return chunks;
}

static void set_chunks(pace_step_row *out, const pace_step_reader *r, size_t row) {
    pace_config *config = &out->config;
    const char *schedule = pace_step_cell(r, row, PACE_STEP_SCHEDULE);
    bool interleaved = pace_step_says(schedule, "interleav");
    bool said = *pace_step_cell(r, row, PACE_STEP_VPP) || (*schedule && !interleaved) || config->vpp > 1;
    if (said || config->pp < 2 || config->mode != PACE_TRAINING || !(out->framework->interleaves > 0)) return;
    double chunks = usual_chunks(out, r->things->doubts.figure[PACE_DOUBT_ROW_INTERLEAVING]);
    if (chunks == 1) return;
    if (!interleaved && !pace_step_row_suite_interleaves(out, r, row)) {
        out->may_chunk = chunks;
        pace_step_note(out, "assumed vpp 1");
        return;
    }
    config->vpp = chunks;
    pace_step_note(out, interleaved ? "assumed vpp %g" : "assumed vpp %g, as the benchmark's submissions have", chunks);
}

/* Whether the table is of steps that were run, in whatever it does not say; other rows ask as options do. */
static bool is_record(const pace_step_reader *r) {
    bool measured = r->measured >= 0;
    for (int i = 0; i < PACE_STEP_RATES; i++) measured |= r->rate[i] >= 0;
    for (int i = 0; i < PACE_STEP_RUNS; i++) measured |= r->run[i] >= 0;
    return measured;
}

/* A device is asked in 16 bits unless given; steps of sequences on devices that have 8 may be run in these. Steps
 * of frameworks that run in single precision unless told may be told. */
static void doubt_precision(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const double *peak = out->device->flop_per_s;
    bool said = *pace_step_cell(r, row, PACE_STEP_PRECISION) || *pace_step_cell(r, row, PACE_STEP_FP8);
    pace_precision products = pace_config_matrix_precision(&out->config);
    bool half = products == PACE_FP16 || products == PACE_BF16;
    if (said) return;
    bool eight = half && out->model->sequence > 0 && peak[PACE_FP8] > 0;
    out->may_be_fp8 = eight && out->ran && out->framework->keeps_fp8 > 0;
    if (out->may_be_fp8) pace_step_note(out, "taken half way from 16 to 8 bits");
    else if (eight) pace_step_doubt(out, r, PACE_DOUBT_ROW_PRECISION);
    if (out->ran && products == PACE_FP32 && peak[PACE_FP16] > 2 * peak[PACE_FP32])
        pace_step_doubt(out, r, PACE_DOUBT_ROW_SINGLE_PRECISION);
}

/* Boards that were made for single precision hold halves all the same. */
static void note_half(pace_step_row *out) {
    if (pace_device_widens_half(out->device, pace_config_matrix_precision(&out->config)))
        pace_step_note(out, "%s multiplies fp16 in single precision", out->device->name);
}

/* Whether images are copied for matrix units depends on how they lie in memory. */
static void doubt_layout(pace_step_row *out, const pace_step_reader *r) {
    const pace_config *config = &out->config;
    pace_precision products = pace_config_convolution_precision(config);
    bool half = products == PACE_FP16 || products == PACE_BF16;
    bool matters =
        half && config->execution != PACE_COMPILED && pace_model_has_layer(out->model, PACE_LAYER_CONVOLUTION);
    if (!out->ran || out->says_layout || !matters || !pace_device_copies_nchw(out->device)) return;
    pace_step_note(out, "assumed layout %s", pace_config_word(config, "layout"));
    out->unsaid_spread = hypot(out->unsaid_spread, r->things->doubts.figure[PACE_DOUBT_ROW_LAYOUT]);
}

/* What was run, a framework has, whatever the catalogue knows of it. */
static void note_lacks(pace_step_row *out) {
    char lacks[160];
    if (!out->ran && pace_framework_lacks(lacks, sizeof lacks, out->framework, &out->config))
        pace_step_note(out, "answered as if %s had %s", out->framework->name, lacks);
}

void pace_step_row_unsaid(pace_step_row *out, const pace_step_reader *r, size_t row) {
    out->ran = is_record(r);
    set_chunks(out, r, row);
    doubt_precision(out, r, row);
    note_half(out);
    doubt_layout(out, r);
    note_lacks(out);
}
