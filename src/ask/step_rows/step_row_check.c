/* Cells of a row about a step that hold no such value as their column is of: a row is not answered in silence as if
 * they were empty. */
#include "ask/step_rows/step_cells.h"
#include "ask/rows/column_words.h"
#include "base/text.h"

#include <math.h>

/* Whole numbers; beyond the most no step is meant. */
static const double MOST = 1e9;

static const struct {
    pace_step_column column;
    const char *name;
} whole[] = {{PACE_STEP_N_GPU, "n_gpu"},
             {PACE_STEP_NODES, "nodes"},
             {PACE_STEP_GPUS_PER_NODE, "gpus_per_node"},
             {PACE_STEP_HIDDEN, "hidden"},
             {PACE_STEP_LAYERS, "layers"},
             {PACE_STEP_HEADS, "heads"},
             {PACE_STEP_HEAD_DIM, "head_dim"},
             {PACE_STEP_KV_HEADS, "kv_heads"},
             {PACE_STEP_FFN, "ffn"},
             {PACE_STEP_VOCAB, "vocab"},
             {PACE_STEP_EXPERTS, "experts"},
             {PACE_STEP_TOPK, "topk"},
             {PACE_STEP_EXPERT_FFN, "expert_ffn"},
             {PACE_STEP_SHARED, "shared"},
             {PACE_STEP_DENSE, "dense"},
             {PACE_STEP_AHEAD, "mtp"},
             {PACE_STEP_QUERY_RANK, "q_rank"},
             {PACE_STEP_KEY_RANK, "kv_rank"},
             {PACE_STEP_SLIDING, "sliding"},
             {PACE_STEP_TP, "tp"},
             {PACE_STEP_PP, "pp"},
             {PACE_STEP_VPP, "vpp"},
             {PACE_STEP_CP, "cp"},
             {PACE_STEP_EP, "ep"},
             {PACE_STEP_DP, "dp"},
             {PACE_STEP_MICRO_BATCH, "micro_batch"},
             {PACE_STEP_GLOBAL_BATCH, "global_batch"},
             {PACE_STEP_GRAD_ACCUM, "grad_accum"}};

/* A column may be found twice: "gpu" as the device's name, and as the number of devices where no other column is. */
static bool is_word(const pace_step_reader *r, pace_step_column column) {
    for (int i = PACE_STEP_DEVICE; i < PACE_STEP_N_GPU; i++)
        if (r->column[i] == r->column[column]) return true;
    return false;
}

/* Of a text that is more than a number ("0:384 200B:768") the row may be answered without it. */
static bool take_cell(pace_step_row *out, const pace_step_reader *r, size_t row, pace_step_column column,
                      const char *name) {
    const char *text = pace_step_cell(r, row, column);
    double value;
    bool number = pace_step_number(&value, r, row, column), part = column == PACE_STEP_SEQ;
    if (!*text || pace_step_flag(text) == 0 || is_word(r, column)) return true;
    if (column == PACE_STEP_SLIDING && pace_says_no_window(text)) return true;
    if (number && value >= 0 && value <= MOST && (part || value == floor(value))) return true;
    bool holds_some = !number && pace_is_digit(*text);
    pace_step_note(out, "%s is \"%.24s\": expected a %snumber up to %g%s", name, text, part ? "" : "whole ", MOST,
                   holds_some ? ", left out" : "");
    return holds_some;
}

bool pace_step_row_check(pace_step_row *out, const pace_step_reader *r, size_t row) {
    for (size_t i = 0; i < PACE_COUNT(whole); i++)
        if (!take_cell(out, r, row, whole[i].column, whole[i].name)) return false;
    return take_cell(out, r, row, PACE_STEP_SEQ, "seq");
}
