/* Which model an answer is of, in words below its tables: a short name fits several sizes. */
#pragma once

#include "model/model.h"
#include "report/report_node.h"

/** Of a network of images and words that its decoder alone is counted; nothing of others. */
void pace_put_decoder_alone(pace_node *root, const pace_model *model);
/** "bert_large: 335.1 million parameters.", and in how many layers windows of attention are shorter than the sequence,
 * with what that assumes. Nothing of a model found in a recording, which is told at length. */
void pace_put_model_note(pace_node *root, const pace_model *model, const pace_config *config);
