/*
 * What engines are asked with. The fields of a question become these in one place (report/ask.c); no engine sees a
 * question. Texts and words are borrowed.
 */
#pragma once

#include "ask/context.h"
#include "base/words.h"
#include "forecast/what_ifs.h"
#include "insight/analyze_options.h"

/** Options of pace_predict(): what-ifs, each walked alone, and all together when there are several of different kinds.
 * Zero-initialise for defaults. */
typedef struct {
    pace_context *context;                   /**< what is asked; must be given */
    pace_words on;                           /**< devices it would run on: names, files, changed figures */
    pace_words what_ifs[PACE_WHAT_IFS_MOST]; /**< values of each of pace_what_ifs; of a flag one, NULL */
    const char *from;                        /**< device it was measured on; NULL = what the trace says */
    pace_words set;                          /**< of a model: "KEY=VALUE" of its configuration or its parameters */
    const char *approach; /**< of a model with dp > 1: how gradients are exchanged (catalog/approaches.yaml) */
    const char *jitter;   /**< with an approach: how much ranks' steps differ, "0.05" or "5%"; NULL = the catalogue's */
    pace_words calibrate; /**< "FROM_TRACE=TO_TRACE": steps recorded on both devices of a move */
    double samples;       /**< as many as it has; 0 = inferred from shapes */
    pace_words fits;      /**< files of pace_fit(), the last that knows an operation's family answers */
    pace_words overheads; /**< files of host overheads, pooled, to use in place of the inputs' own */
    const char *step_regex; /**< POSIX extended regular expression of step annotations; NULL = find them */
    pace_step_choice steps; /**< of a trace: which of them */
    pace_progress progress; /**< may be NULL */
} pace_predict_options;

/** Options of pace_compare(). Zero-initialise for defaults. */
typedef struct {
    pace_analyze_options reading; /**< of both sides; its context must be given */
    bool has_with_rank;           /**< B is rank `with_rank`: of the second trace, or of the only one */
    int64_t with_rank;
    bool has_limit; /**< whether B's step may be longer than A's by the share `limit` at most */
    double limit;
} pace_compare_options;

/** Options of pace_slice_traces(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *output;     /**< the slice: NAME.json or NAME.json.gz; of several ranks NAME.RANK.json; must be given */
    const char *ranks;      /**< "0,7": of these ranks; NULL = of all inputs */
    const char *step_regex; /**< POSIX extended regular expression of step annotations; NULL = find them */
    pace_step_choice steps; /**< which steps; all = everything, steps or not */
    bool anonymize;         /**< replace names that catalog/public_names.yaml does not know */
    pace_progress progress; /**< may be NULL */
} pace_slice_options;

/** What the job model assumes (docs/fleet.md). NULL = as the catalogue has it. */
typedef struct {
    const char *on;         /**< the machine: "pai-2018" (NULL), "pai-v100 network=100Gb/s compute=2x" */
    const char *overlap;    /**< "none" (NULL), "ideal", or a number from 0 to 1 */
    const char *contention; /**< whose input shares the host link: "none", "projected" (NULL), "all" */
    const char *nvlink;     /**< "link" (NULL) or "aggregate" */
    const char *efficiency; /**< shares of the peaks: "0.5", "compute=0.5,memory=0.03" */
    const char *fit_path;   /**< efficiencies from pace_fit(), kind "job"; NULL = none */
} pace_job_assumptions;

/** Options of pace_fit() and pace_predict_rows(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *kind;       /**< "kernel" (NULL), "exchange", "step", "job"; pace_fit() too: "overhead", "profiler" */
    const char *device;     /**< catalogue name or trace name for rows that name none; NULL = as the fit or rows say */
    const char *fit_path;   /**< pace_fit(): the file to write; pace_predict_rows(): the fit to use, NULL = none */
    const char *split;      /**< pace_fit(): rows held out together: "shape" (NULL), "device", or columns: "n,k" */
    uint64_t seed;          /**< pace_fit(): which groups are held out */
    const char *collective; /**< kind "exchange": of rows that name none; NULL = they must */
    pace_words set;         /**< pace_predict_rows(): "COLUMN=VALUE" of cells that the table leaves empty */
    int probes;             /**< pace_fit(), kind "exchange": sizes of a curve that are fitted for the score; 0 = 6 */
    pace_job_assumptions job; /**< kind "job"; its machine is `device`, its fit `fit_path` */
    pace_progress progress;   /**< may be NULL */
} pace_rows_options;

/** Options of pace_predict_exchange(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *on;         /**< the machine: "dgx-h100*2", FILE.yaml, "a100*4 nvlink=300GB/s"; must be given */
    const char *collective; /**< "allreduce" (NULL), "allgather", "reducescatter", "alltoall", "broadcast", … */
    const char *bytes;      /**< sizes as nccl-tests counts them: "8..1G" (NULL), each twice the last, or "1M,25MB" */
    const char *library;    /**< "nccl", "nccl-2.7", "textbook"; NULL = NCCL of unsaid age on NVIDIA's devices */
    const char *algorithm, *protocol; /**< NULL = as the library chooses */
    const char *fit_path;             /**< measured curves from pace_fit(); NULL = none */
    double ranks;                     /**< the first so many devices; 0 = all */
    pace_words approach; /**< as frameworks exchange gradients, "NAME:KEY=NUMBER,NAME"; none = as the library does */
} pace_exchange_options;

/** Options of pace_tune(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *table;      /**< choices that paceline-tune-collective made; then nothing else; NULL = a question */
    const char *on;         /**< the machine, as in pace_exchange_options; must be given */
    const char *collective; /**< "allreduce,allgather"; NULL = all that plug-ins are asked about */
    const char *bytes;      /**< as in pace_exchange_options */
    const char *nodes;      /**< "1,2,4" or "1..32"; NULL = 1, 2, 4, … up to those of the machine */
    const char *library;    /**< "nccl-2.18"; NULL = the newest */
    const char *dialect;    /**< of the file: "nccl" (NULL), "rccl", "torchcomms" */
    const char *fit_path;   /**< measured curves from pace_fit(); NULL = none */
} pace_tune_options;

/** Options of pace_predict_job(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context; /**< what is asked; must be given */
    const char *job;       /**< "architecture=ps_worker,flop=105.8G,...", or the path of a YAML file of such members */
    pace_words set;        /**< "KEY=VALUE" of the model that the job names ("model=resnet50") */
    pace_job_assumptions assume;
} pace_job_options;

/** Options of pace_simulate_exchange() and pace_simulate_traces(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *on;         /**< the machine, as in pace_exchange_options; must be given */
    const char *collective; /**< "allreduce" (NULL), … */
    const char *bytes;      /**< "8..1G" (NULL), or "1M,25MB" */
    const char *library;    /**< as in pace_exchange_options: whose choice is simulated; NULL = the usual */
    const char *algorithm;  /**< of the textbook's ("ring", "rails", …); NULL = the library's choice */
    double ranks;           /**< the first so many devices, of all jobs; 0 = all */
    double jobs;            /**< so many do the same side by side; 0 = 1 */
    pace_words straggler;   /**< "1%:0.5": one rank in a hundred at half its rate; "7:0.5": rank 7 */
    pace_words background;  /**< "30%": of every link between nodes; "0-8:10GB/s": a flow between two ranks */
    bool unfolded;          /**< simulate every rank, alike or not */
} pace_simulate_options;

/** Options of pace_predict_scaling(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context; /**< what is asked; must be given */
    const char *on;        /**< the machine; as many nodes as the workers need, or those it names; must be given */
    const char *workers; /**< "1..128": each twice the last, or "1,2,4,8"; NULL = 1 up to all devices of the machine */
    pace_words approach; /**< how gradients are exchanged (catalog/approaches.yaml), each "NAME:KEY=NUMBER,NAME"; none =
                              PyTorch's DistributedDataParallel */
    const char *jitter;  /**< how much workers' steps differ, "0.05" or "5%"; NULL = as the catalogue has it */
    pace_words batch;  /**< "16,32": samples of one worker, or with `strong` of all; none = as configured or recorded */
    pace_words set;    /**< "KEY=VALUE" of the model's configuration or its parameters */
    bool strong;       /**< the batch of all workers stays; else that of each */
    double one_worker; /**< samples/s measured of one worker, that all times are stretched to; 0 = as predicted */
    double samples;    /**< of a recorded step, where shapes do not show it; 0 = inferred */
    const char *from;  /**< the device a trace was measured on, when it does not name it; may be NULL */
    const char *step_regex; /**< annotations that mark the steps of a trace; NULL = the profiler's */
    pace_words fits;        /**< of models: fits of kernels, and one of exchanges; none = formulas */
} pace_scaling_options;

/** Options of pace_plan(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context; /**< what is asked; must be given */
    pace_words on;         /**< machines that are offered, as in pace_exchange_options; at least one */
    pace_words set; /**< "KEY=VALUE" of the model and its configuration; what shares the step is not searched then */
    const char *tokens; /**< to be trained on: "15T", "300G"; samples for a model without sequences; NULL = not said */
    pace_words price;   /**< of one device's hour: one for all machines, or one each */
    const char *within; /**< "30d": the smallest part of each machine that trains so long at most; with tokens */
    const char *budget; /**< "2M": what all tokens may cost at most; with tokens and price; NULL = not said */
    const char *from;   /**< a configuration of torchtitan or Megatron-LM to be improved; NULL = none */
    pace_words fits;    /**< a fit of steps, as of `paceline fit --kind step`; none = the formulas */
    bool together;      /**< all machines train one model: each has a share of every step */
    const char *failures; /**< "50000h:60s:10m": of one device, a checkpoint, a restart; with tokens; NULL = none */
    const char *critical_batch;  /**< "4M" tokens of a step from which larger batches learn worse; NULL = not said */
    const char *jitter;          /**< how much devices' steps differ, "0.05" or "5%"; NULL = the catalogue's */
    double top;                  /**< configurations of each machine that are shown; 0 = 5 */
    bool (*stop)(void *context); /**< asked now and then: true ends the search, what was found stays; NULL = never */
    void *stop_context;
} pace_plan_options;

/** Options of pace_characterize(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context; /**< what is asked; must be given */
    pace_job_assumptions assume;
    pace_words sweep;                /**< "network=200Gb/s,400Gb/s": rates to ask about in place of the catalogue's */
    pace_words price;                /**< "network=100Gb/s:3000": what the upgrade of one cNode costs */
    const char *columns;             /**< "theirs=ours,...": columns that have other names; NULL = by name */
    const char *table;               /**< of a database; NULL = "jobs", or the only one */
    const char *rejects_path;        /**< list the refused rows there; NULL = do not */
    double most_rejected;            /**< share of refused rows beyond which the run fails; 0 = 0.01 */
    bool repeats;                    /**< ids may be there twice */
    bool exact;                      /**< exact quantiles, in memory that grows with the jobs */
    const pace_processes *processes; /**< each reads some of the files; NULL = this one reads all. Only process 0 has a
                                      report, the others get NULL */
    pace_progress progress;          /**< may be NULL */
} pace_fleet_options;

/** Options of pace_cluster_usage(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context; /**< what is asked; must be given */
    pace_words mapping;    /**< files that say what columns of records are; those of the catalogue are known */
    pace_words price;      /**< of a GPU's hour: "2.5", "a100=1.8"; none = as the catalogue has it */
    const char *zone;      /**< of times that have none: "+08:00"; NULL = not said, they count as UTC */
    const char *dates;     /**< of 03/04/2026: "month-first" or "day-first"; NULL = not said, such are refused */
} pace_usage_options;

/** pace_ask(), or what stands in for it. */
typedef pace_status (*pace_ask_fn)(pace_answer **out, pace_context *context, const pace_question *question);

/** Options of pace_validate(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *cases_path; /**< NULL = "accuracy/cases.yaml", or where that is not, those compiled in */
    const char *data_path;  /**< folder the cases' files lie in */
    const char *glob;       /**< only cases whose name matches; NULL = all */
    const char
        *ledger_path;       /**< put the figures into this ledger, in place of those of the same cases; NULL = do not */
    pace_ask_fn ask;        /**< pace_ask(), for cases that ask a question for each row */
    pace_progress progress; /**< may be NULL; `done` and `total` count cases */
} pace_validate_options;

/** Options of pace_convert(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;  /**< what is asked; must be given */
    const char *output;     /**< the file to write, "NAME.et"; of several ranks "NAME.RANK.et" */
    pace_words set;         /**< of a model: "KEY=VALUE" of its configuration or its parameters */
    const char *step_regex; /**< POSIX extended regular expression of step annotations; NULL = find them */
    pace_progress progress; /**< may be NULL */
    pace_step_choice steps; /**< of a trace: which of them */
} pace_convert_options;
