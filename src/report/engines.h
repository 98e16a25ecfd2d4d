/* The engines behind the verbs, each with the report of what it found. pace_ask() words them. */
#pragma once

#include "ask/history.h"
#include "report/report.h"

/** Reads traces (files, directories, globs, "-"; one rank or many) and reports where the time of a step goes.
 * Errors: PACE_E_INPUT, PACE_E_IO, PACE_E_LIMIT as described by pace_message(). */
pace_status pace_analyze(pace_report **out, const char *const *paths, size_t path_count,
                         const pace_analyze_options *options);

/** Puts two traces, or two ranks of one, side by side: whether and why the step of one takes longer. `*missed` = limits
 * that do not hold. Errors: PACE_E_USAGE for other numbers of inputs and ranks that no trace is of, and those of
 * pace_analyze(). */
pace_status pace_compare(pace_report **out, size_t *missed, const char *const *inputs, size_t count,
                         const pace_compare_options *options);

/** Predicts what a step would take elsewhere: of traces (as pace_analyze() reads them), PyTorch execution traces, or
 * one model of the catalogue or a YAML file. Steps without times run on the first device of `on`. Errors: PACE_E_USAGE
 * for a what-if that cannot be understood, PACE_E_MISSING for an unknown device, and those of pace_analyze(). */
pace_status pace_predict(pace_report **out, const char *const *paths, size_t path_count,
                         const pace_predict_options *options);

/** Lists the devices of the catalogue, or describes one when `name` is not NULL: a name, FILE.yaml, FILE.yaml:NAME, or
 * one of these with changed figures ("a100 memory=2TB/s"). */
pace_status pace_machines(pace_report **out, pace_context *context, const char *name);

/** Lists the models of the catalogue, or describes one layer by layer when `name` is not NULL: a model's name,
 * "FILE.yaml", "FILE.yaml:NAME" or "FILE.onnx". `set` (may be NULL) holds "KEY=VALUE": the model's parameters
 * ("hidden=1024") or how it is run ("precision=fp16", "attention=math", "sequence=512"). */
pace_status pace_models(pace_report **out, pace_context *context, const char *name, const pace_words *set);

/** Learns from tables of measurements (CSV, plain, gzip or zstd, "-"), writes options->fit_path (NULL = no file) and
 * reports the error on rows that were held out. Errors: PACE_E_INPUT for a missing column (the closest name is
 * suggested), nothing measured, too few rows; PACE_E_USAGE for an unknown kind or split. */
pace_status pace_fit(pace_report **out, const char *const *paths, size_t path_count, const pace_rows_options *options);

/** Searches how a model's training is best shared out over machines, and reports the fastest configurations. Errors:
 * PACE_E_USAGE for words that mean nothing or contradict each other, PACE_E_MISSING for unknown names. */
pace_status pace_plan(pace_report **out, const char *model, const pace_plan_options *options);

/** The same of a network of neurons partitioned over hosts (docs/partition.md): searched, or with `one` the
 * configuration that is set. */
pace_status pace_partition_report(pace_report **out, const char *model, const pace_plan_options *options, bool one);

/** Reports which algorithm and protocol of each collective, size and number of nodes is the fastest, and what that
 * gains over the library's own choice; its CSV is what tuner plug-ins read. Errors: those of
 * pace_predict_exchange(). */
pace_status pace_tune(pace_report **out, const pace_tune_options *options) PACE_MUST_CHECK;

/** How long a collective takes on all devices of a machine, in the form of nccl-tests, with 90 % intervals. Errors:
 * PACE_E_USAGE, PACE_E_MISSING for an unknown machine, PACE_E_INPUT for one that is not connected. */
pace_status pace_predict_exchange(pace_report **out, const pace_exchange_options *options);
/** The same by each of the approaches that the options name. */
pace_status pace_predict_approaches(pace_report **out, const pace_exchange_options *options);

/** A step of one job in closed form (Wang et al., IISWC 2019): its parts, its bottleneck, what it would be under other
 * architectures, on faster links, with other software, with 90 % intervals. Errors: PACE_E_USAGE, PACE_E_INPUT,
 * PACE_E_MISSING for an unknown machine. */
pace_status pace_predict_job(pace_report **out, const pace_job_options *options);

/** Simulates a collective on a machine's links, message by message, beside its closed form. Errors: as for
 * pace_predict_exchange(); PACE_E_USAGE when ranks do not divide or an algorithm cannot do it. */
pace_status pace_simulate_exchange(pace_report **out, const pace_simulate_options *options);

/** How training steps (models, and traces or execution traces of one worker) scale with workers that exchange
 * gradients: step time with its 90 % interval, throughput, efficiency, FP+BP and weight update, exposed exchange and
 * what limits it. Errors: PACE_E_USAGE for an unknown approach (the message lists them), workers that do not fill
 * nodes, a batch that does not divide; PACE_E_MISSING for an unknown machine or model. */
pace_status pace_predict_scaling(pace_report **out, const char *const *inputs, size_t count,
                                 const pace_scaling_options *options);

/** Where the time of a cluster goes, from tables of its jobs (CSV, plain, gzip or zstd; SQLite): composition, shares
 * and bottlenecks by job and by cNode, what a move of PS/Worker jobs to AllReduce or PEARL, faster hardware and other
 * software would buy (Wang et al., IISWC 2019). Streams: memory does not grow with the jobs. Errors: PACE_E_INPUT,
 * PACE_E_IO, PACE_E_USAGE. */
pace_status pace_characterize(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_fleet_options *options);

/** Replays execution traces of many ranks on a machine's links: files, directories; NAME.RANK.et of one NAME are one
 * workload. Of the options `on` counts, and `algorithm` for `collective`. Errors: PACE_E_USAGE, PACE_E_INPUT for what
 * is no trace, and for exchanges that do not meet or cannot finish: it names the operations that wait. */
pace_status pace_simulate_traces(pace_report **out, const char *const *paths, size_t count,
                                 const pace_simulate_options *options);

/** Answers a table of questions: the rows come back with predicted, low, high (90 %), unit, rung and status. A row with
 * several measured columns comes back once for each, named in the column "question". Errors: as for pace_fit(). */
pace_status pace_predict_rows(pace_report **out, const char *path, const pace_rows_options *options);

/** Recomputes figures of merit: fits and predicts rows that were held out, for every case. `*missed` = bars that do not
 * hold. Cases whose files are not there are named in a warning. Errors: PACE_E_INPUT, PACE_E_IO, PACE_E_USAGE. */
pace_status pace_validate(pace_report **out, size_t *missed, const pace_validate_options *options);

/** Which workers held up synchronous jobs, when, and how much slower jobs of more workers would be: of tables with the
 * time of each worker and iteration, one job a file. Errors: PACE_E_INPUT, PACE_E_IO. */
pace_status pace_stragglers(pace_report **out, pace_catalog *catalog, const char *const *paths, size_t path_count);

/** What a cluster's GPUs were used for and which could not be: of a table of pods and one of nodes. Errors:
 * PACE_E_INPUT, PACE_E_IO. */
pace_status pace_cluster_capacity(pace_report **out, pace_catalog *catalog, const char *pods_path,
                                  const char *nodes_path);

/** Where GPU-hours of a cluster go, what is idle, who waits, what to change, of records of schedulers and counters of
 * GPUs (docs/fleet.md). Errors: PACE_E_INPUT for a file that no mapping recognises, and those of the readers. */
pace_status pace_cluster_usage(pace_report **out, const char *const *paths, size_t count,
                               const pace_usage_options *options);

/** Writes traces, execution traces or one model of the catalogue or a YAML file as Chakra execution traces (protobuf),
 * and reports what was written and what the format has no place for. A file takes its name only when it is whole.
 * Errors: PACE_E_USAGE for another kind of output, PACE_E_IO when it cannot be written, and those of pace_predict(). */
pace_status pace_convert(pace_report **out, const char *const *paths, size_t path_count,
                         const pace_convert_options *options);

/** Writes parts of Kineto traces as traces of their own: some steps, some ranks, without names if asked; reports what
 * was kept. Streams: memory grows with what is kept. Errors: PACE_E_USAGE, PACE_E_INPUT, PACE_E_IO. */
pace_status pace_slice_traces(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_slice_options *options);

/** The runs of a series that --store kept in `count` files, whether the last ones are worse than those before, and
 * which values changed. `*missed` = limits that do not hold. Errors: PACE_E_USAGE for a series or a value that is not
 * there or a file given twice, PACE_E_INPUT, PACE_E_IO, PACE_E_MISSING without SQLite. */
pace_status pace_history(pace_report **out, size_t *missed, const char *const *paths, size_t count,
                         const pace_history_options *options);
