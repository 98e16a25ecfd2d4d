/*
 * Paceline trains networks for real, to measure: steps a second, where a step's time goes, and a trace of it.
 */
#ifndef PACELINE_TRAIN_H
#define PACELINE_TRAIN_H

#include "paceline/paceline.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Trains: answers a question of the verb "train". Its one input is a model, as predict takes it. Of several processes
 * (pace_question_set_processes()) each is a rank, and process 0 alone gets an answer. The optional modules are looked
 * for as calibrate does. Errors: PACE_E_USAGE for a model with a layer that cannot be trained (the message names it)
 * and for fields that are at odds; PACE_E_MISSING without oneDNN or the library of an approach (the message names the
 * package); PACE_E_NO_FIT where the model does not fit the memory; PACE_E_IO when another rank died. Handlers of
 * signals that may come in between are set with SA_ONSTACK: kernels move the stack pointer. */
PACE_API pace_status pace_train(pace_answer **out, pace_context *context, const pace_question *question);

/** A time of each step: the median over the steps, and where the true median is in 90 % of all cases. */
typedef struct {
    const char *name; /**< of a part of a step: "forward"; of a layer its name */
    const char *kind; /**< of a layer: "conv" */
    double median_s, low_s, high_s;
    double share;                                          /**< of the step */
    double forward_s, backward_data_s, backward_weights_s; /**< of a layer: medians */
} pace_trained_part;

/** A training to report. Borrowed by pace_training_answer(). */
typedef struct {
    size_t size; /**< sizeof(pace_training_done): later versions add members at the end */
    const char *const *command;
    size_t command_count;
    const char *model, *optimizer, *software, *data, *approach, *trace_path; /**< approach, trace_path: NULL = none */
    int ranks, threads;                                                      /**< threads of each rank */
    size_t batch, steps, warm_up; /**< batch of one rank; steps that were measured */
    double parameters, memory_bytes;
    double step_s, step_low_s, step_high_s;
    double samples_per_s, samples_per_s_low, samples_per_s_high; /**< of all ranks together */
    double first_loss, last_loss,
        accuracy; /**< of batches; accuracy: of the last tenth of the steps, NAN = no classes */
    const pace_trained_part *parts;
    size_t part_count;
    const pace_trained_part *layers;
    size_t layer_count;
    bool stopped;             /**< before all steps were done */
    bool oversubscribed;      /**< more ranks times threads than processors */
    uint64_t exchanged_bytes; /**< sent by rank 0 in the measured steps */
    const char *transport;    /**< what carried them; NULL = nothing */
    const char *runner;       /**< "torch"; NULL = Paceline's own trainer */
    int replicas, workers,
        servers;                /**< of layers over workers: of a replica its workers; replicas 0 = not so trained */
    double worker_weight_bytes; /**< that one of them has */
} pace_training_done;

/** One training of a study. */
typedef struct {
    const char *model, *approach; /**< approach: NULL = one rank */
    const char *scaling;          /**< "weak", "strong", NULL = neither */
    int ranks;
    size_t batch; /**< of one rank */
    bool done, oversubscribed;
    int64_t step_ns;
    double samples_per_s, samples_low_per_s, samples_high_per_s, last_loss;
    double compute_share, exchange_share, update_share; /**< of the step */
    double speedup, efficiency;                         /**< against one rank; NAN = there is none */
    const char *transport, *status;                     /**< NULL = none; status: why it was not done */
    double forward_share, backward_share;               /**< the parts of compute_share */
    const char *runner;                                 /**< "torch"; NULL = Paceline's own trainer */
    double against_referee; /**< samples a second over those of the runner that its approach stands for; NAN = none */
    int threads, replicas, workers,
        servers;                    /**< of layers over workers; workers: of a replica; replicas 0 = not so trained */
    double worker_weight_bytes;     /**< that one of them has */
    double predicted_samples_per_s; /**< NAN = nobody asked */
    double error;                   /**< predicted over measured, less 1 */
} pace_study_row;

/** A study to report. Borrowed by pace_study_answer(). */
typedef struct {
    size_t size; /**< sizeof(pace_study_done) */
    const char *const *command;
    size_t command_count;
    const char *study;
    const pace_study_row *rows;
    size_t row_count;
    bool stopped; /**< before all runs were made */
} pace_study_done;

/** Makes an answer of a study. */
PACE_API pace_status pace_study_answer(pace_answer **out, const pace_study_done *study);

/** Makes an answer of a training; for whoever trains with tools of their own. */
PACE_API pace_status pace_training_answer(pace_answer **out, const pace_training_done *training);

/** Holds predictions against this machine: answers a question of the verb "validate" with "live". Calibrates the
 * processor (unless "on" names an entry), predicts steps of models, trains them, several times in turn. Errors: those
 * of pace_calibrate(), pace_ask() of predict, and pace_train(). */
PACE_API pace_status pace_validate_live(pace_answer **out, pace_context *context, const pace_question *question);

/** One step, predicted and measured. */
typedef struct {
    const char *model;
    size_t batch, runs;
    double predicted_s, low_s, high_s;
    double measured_s, least_s, most_s; /**< the median of the runs' medians; the runs' extremes */
    double error;                       /**< predicted over measured, less 1 */
    double predicted_forward, predicted_backward, predicted_update; /**< shares of the three together */
    double measured_forward, measured_backward, measured_update;
    bool covered;                                 /**< the predicted interval holds what was measured */
    int ranks;                                    /**< their batch is of each */
    const char *approach;                         /**< NULL = one rank */
    const char *link;                             /**< its rate; NULL = the memory of the host */
    bool oversubscribed;                          /**< more ranks times threads than processors: no figure counts it */
    double predicted_exchange, measured_exchange; /**< shares of the step, beside those three */
    const char *status;                           /**< why it was not trained; NULL = it was */
} pace_live_step;

/** A figure of merit over such steps. */
typedef struct {
    const char *name; /**< "one_rank_mape"; accuracy/cases.yaml has its case and bar */
    double value;     /**< NAN = there is nothing to compute it from */
    size_t count;     /**< of steps, or of pairs of steps */
} pace_live_figure;

/** Such a comparison to report. Borrowed by pace_live_answer(). */
typedef struct {
    size_t size;        /**< sizeof(pace_live_done): later versions add members at the end */
    const char *device; /**< its entry: a file */
    const char *software;
    int threads;
    bool calibrated; /**< here and now */
    const pace_live_step *steps;
    size_t step_count;
    double mape, coverage, most_share_off; /**< the last: of FP, BP and WU, over all steps */
    const pace_live_figure *figures;
    size_t figure_count;
    int cores;          /**< processors that it may use */
    const char *runner; /**< what trained: "paceline", "torch" */
    bool stopped;       /**< before all runs were made */
    bool learned;       /**< of calibration rows, not of the entry alone */
} pace_live_done;

/** Whether what pace_live_answer() will need can be read and written: the question's store, and the file of bars. Ask
 * it before training. */
PACE_API pace_status pace_live_check(const pace_question *question);

/** Makes an answer of such a comparison, and keeps it where the question's "store" says. */
PACE_API pace_status pace_live_answer(pace_answer **out, const pace_question *question, const pace_live_done *live);

#ifdef __cplusplus
}
#endif

#endif
