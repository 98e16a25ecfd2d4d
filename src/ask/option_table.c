/* One row per verb, one per option: what a command line, a table of questions, C and Python may say. */
#include "ask/option_table.h"
#include "base/memory.h"

#include <stddef.h>

const pace_verb pace_verb_table[PACE_VERBS] = {
    {"analyze", "TRACE...", "where the time of a training step goes, and what to change first",
     "Reads PyTorch profiler traces (files, directories, globs, '-'; plain, gzip, zstd; one\n"
     "rank or many) and tells where the time of a step goes and what to change first."},
    {"predict", "TRACE...|MODEL", "what the step would be on other hardware, or with a change",
     "Computes a step again: as it is, under each what-if alone, and under all together. A what-if\n"
     "given several times counts as several; --overheads given several times are pooled."},
    {"plan", "[MODEL|TRACE]", "which configuration trains a model fastest, and what the next ones lose",
     "Searches for the fastest way to share a model's training over a machine: tensor, pipeline, context,\n"
     "expert and data parallelism, ZeRO, micro-batch, recomputation. What --set fixes is not searched."},
    {"tune", "[TABLE]", "which algorithm and protocol a communication library should take, by size",
     "Names the fastest algorithm and protocol of NCCL for each collective, size and number of nodes,\n"
     "and the gain over NCCL's own choice. Tuner plug-ins read -o FILE.csv. With a TABLE of\n"
     "paceline-tune-collective: its choices, and their measured gains."},
    {"compare", "A [B]", "two traces side by side, and a limit for their difference",
     "Puts two traces (or directories of ranks) side by side, or two ranks of one: how much longer the\n"
     "typical step of B is, whether that is significant, and which operators and kernels are why."},
    {"convert", "TRACE... | MODEL", "traces and models as Chakra execution traces",
     "Writes traces or a model as Chakra execution traces."},
    {"slice", "TRACE...", "some steps and ranks of traces, as small traces",
     "Writes some steps of PyTorch profiler traces, and all that these steps need, as traces that any\n"
     "viewer opens: the same events, byte for byte. With --anonymize, names of users are hashed."},
    {"history", "FILE.sqlite...", "answers over time: which runs are worse than those before",
     "Lists the figures that --store kept, and tells whether the last runs are worse than those\n"
     "before, and which values changed."},
    {"fleet", "FILE...", "where a cluster's time goes, from a table of its jobs",
     "Where the time of a cluster goes, from tables of its jobs (CSV, plain, gzip or zstd; SQLite):\n"
     "composition, bottlenecks, what AllReduce, faster hardware or other software would buy."},
    {"fit", "TRAIN.csv|LOG...", "learn from measurements",
     "Learns from measurements (tables with columns such as device, m, n, k, latency_us) and\n"
     "prints the error on rows it held out. 'paceline predict --rows' uses the file it writes."},
    {"calibrate", "[cpu|cuda|neurons]", "measure this machine: rows for fit, an entry for --on",
     "Measures this machine: rows that 'paceline fit' learns from, and a device entry that --on\n"
     "takes. A stopped run continues where it stopped."},
    {"train", "MODEL", "train for real on this machine: samples/s, FP | BP | WU, a trace",
     "Trains a network with oneDNN's layers on the processors of this machine, to measure: samples a\n"
     "second with an interval, where a step's time goes, what each layer takes."},
    {"validate", "[CASE-GLOB]", "is it true? figures of merit, recomputed",
     "Recomputes figures of merit from the data at hand: holds out rows of tables, fits the others,\n"
     "and predicts the held-out rows; asks questions, and compares the answers with tables.\n"
     "Exits with 1 when a bar is missed, when a figure is worse than in the ledger beside the\n"
     "cases, or when a case fails."},
    {"machines", "[NAME]", "the devices of the catalogue", "Lists the devices of the catalogue, or describes one."},
    {"models", "[NAME | FILE.yaml[:NAME] | FILE.onnx]", "the models of the catalogue, layer by layer",
     "Lists the models of the catalogue, or describes one layer by layer."},
};

#define ANALYZE (1U << PACE_VERB_ANALYZE)
#define CALIBRATE (1U << PACE_VERB_CALIBRATE)
#define COMPARE (1U << PACE_VERB_COMPARE)
#define CONVERT (1U << PACE_VERB_CONVERT)
#define FIT (1U << PACE_VERB_FIT)
#define FLEET (1U << PACE_VERB_FLEET)
#define HISTORY (1U << PACE_VERB_HISTORY)
#define MACHINES (1U << PACE_VERB_MACHINES)
#define MODELS (1U << PACE_VERB_MODELS)
#define PLAN (1U << PACE_VERB_PLAN)
#define PREDICT (1U << PACE_VERB_PREDICT)
#define SLICE (1U << PACE_VERB_SLICE)
#define TRAIN (1U << PACE_VERB_TRAIN)
#define TUNE (1U << PACE_VERB_TUNE)
#define VALIDATE (1U << PACE_VERB_VALIDATE)
#define ALL ((1U << PACE_VERBS) - 1)
#define REPORTS (ANALYZE | COMPARE | FLEET | HISTORY | MACHINES | MODELS | PLAN | PREDICT | TRAIN | TUNE | VALIDATE)

/* Rows in the order of help. Of a flag, a text, a list and a number; a field of a table of questions, and the kinds of
 * questions that take it, stand behind the help. */
#define FLAG(name, heading, help, ...) \
    { name, 0, PACE_OPTION_FLAG, PACE_OPTION_ASKS, NULL, NULL, heading, help, __VA_ARGS__ }
#define TEXT(name, argument, heading, help, ...) \
    { name, 0, PACE_OPTION_TEXT, PACE_OPTION_ASKS, argument, NULL, heading, help, __VA_ARGS__ }
#define LIST(name, argument, heading, help, ...) \
    { name, 0, PACE_OPTION_LIST, PACE_OPTION_ASKS, argument, NULL, heading, help, __VA_ARGS__ }
#define NUMBER(name, argument, unit, heading, help, ...) \
    { name, 0, PACE_OPTION_NUMBER, PACE_OPTION_ASKS, argument, unit, heading, help, __VA_ARGS__ }
#define WRITES(name, letter, argument, heading, help) \
    { name, letter, PACE_OPTION_TEXT, PACE_OPTION_WRITES, argument, NULL, heading, help, NULL, NULL }
#define RENDERS(name, letter, argument, help) \
    { name, letter, PACE_OPTION_TEXT, PACE_OPTION_RENDERS, argument, NULL, NULL, help, NULL, NULL }

#define WHERE "what is run, and where"
#define WHAT_IF "what if"
#define TABLES "tables of questions, and fits"
#define JOBS "one job, or a table of jobs"
#define RANKS "several ranks"
#define SCALES "how a step scales"
#define EXCHANGES "an exchange between ranks"
#define MESSAGES "an exchange or traces of all ranks, message by message"

/* What is assumed of jobs. */
#define JOB_ROWS(verbs, heading, kinds)                                                                                \
    {verbs,                                                                                                            \
     TEXT("overlap", "HOW", heading, "overlap of input, computation, weights: none, ideal or 0 to 1", NULL, kinds)},   \
        {verbs, TEXT("contention", "WHOSE", heading, "whose input shares the host link: none, projected or all", NULL, \
                     kinds)},                                                                                          \
        {verbs, TEXT("nvlink", "HOW", heading, "link: the rate of one link; aggregate: of all links", NULL, kinds)}, { \
        verbs,                                                                                                         \
            TEXT("efficiency", "SHARES", heading, "shares of the peaks: 0.5 or compute=0.5,memory=0.03", NULL, kinds)  \
    }

const pace_option_row pace_option_table[] = {
    {MODELS,
     LIST("set", "KEY=VALUE", NULL, "set model parameters, or precision, attention, sequence or tp", NULL, NULL)},
    {ANALYZE | COMPARE | PREDICT | VALIDATE,
     WRITES("store", 0, "FILE.sqlite", NULL, "add the figures to this file, for 'paceline history'")},
    {ANALYZE | COMPARE | PREDICT | VALIDATE,
     TEXT("label", "TEXT", NULL, "with --store: a name for this run, such as its commit", NULL, NULL)},
    {ANALYZE | COMPARE | PREDICT | VALIDATE,
     TEXT("series", "NAME", NULL, "with --store: the series this run belongs to (default: the verb)", NULL, NULL)},
    {HISTORY, TEXT("series", "NAME", NULL, "read this series alone, if the file holds several", NULL, NULL)},
    {HISTORY, TEXT("value", "PATH", NULL, "follow this value, such as window.idle_ns (default: the step)", NULL, NULL)},
    {HISTORY, NUMBER("last", "N", "runs", NULL, "compare the last N runs with those before (3)", NULL, NULL)},
    {HISTORY, NUMBER("window", "N", "runs", NULL, "look at the last N runs of a series (50)", NULL, NULL)},
    {HISTORY, TEXT("fail_on", "+5%", NULL, "exit with 1 if they are worse by more than this", NULL, NULL)},
    {HISTORY, NUMBER("top", "N", "rows", NULL, "show N rows of each table", NULL, NULL)},
    {HISTORY, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html or junit")},
    {ANALYZE, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html, perfetto, folded or folded_device")},
    {PREDICT, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html or perfetto")},
    {COMPARE, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html or junit")},
    {FLEET | MACHINES | MODELS | PLAN | TRAIN | VALIDATE,
     RENDERS("format", 'f', "FORMAT", "table (default), json, csv or html")},
    {TUNE, RENDERS("format", 'f', "FORMAT", "table (default), json, csv (for the plug-in) or html")},
    {REPORTS, RENDERS("output", 'o', "FILE", "write to FILE; its suffix chooses the format, .gz or .zst compresses")},
    {REPORTS, RENDERS("table", 't', "KEY", "csv: the table to write")},
    {ALL,
     {"quiet", 'q', PACE_OPTION_FLAG, PACE_OPTION_RENDERS, NULL, NULL, NULL, "print only failures on standard error",
      NULL, NULL}},
    {ALL,
     {"strict", 0, PACE_OPTION_FLAG, PACE_OPTION_RENDERS, NULL, NULL, NULL,
      "exit with 3 if the answer warns of damage or doubt", NULL, NULL}},

    {PLAN, LIST("on", "MACHINE", NULL, "a machine to plan for: dgx-h100*4; several are compared", NULL, NULL)},
    {PLAN,
     LIST("set", "KEY=VALUE", NULL, "what to keep fixed: global_batch, precision, framework, tp, ...", NULL, NULL)},
    {PLAN, TEXT("tokens", "N", NULL, "tokens to train on: 15T, 300G; gives days, and cost with --price", NULL, NULL)},
    {PLAN,
     TEXT("within", "DAYS", NULL, "find the smallest part of each machine that is done by then: 30d", NULL, NULL)},
    {PLAN, LIST("price", "PRICE", NULL, "price of a device's hour: one for all machines, or one for each", NULL, NULL)},
    {PLAN, TEXT("budget", "MONEY", NULL, "what all tokens may cost, in the unit of --price: 2M, 50000", NULL, NULL)},
    {PLAN,
     TEXT("from", "FILE", NULL, "a script or configuration that starts your training: what to change", NULL, NULL)},
    {PLAN,
     LIST("fit", "FILE", NULL, "use what 'paceline fit' learned of your own runs, kernels, exchanges", NULL, NULL)},
    {PLAN, TEXT("failures", "MTBF:SAVE:RESTART", NULL,
                "a device's failures, and checkpoints (50000h:60s:10m): more days", NULL, NULL)},
    {PLAN, TEXT("critical_batch", "N", NULL, "tokens of a step beyond which batches learn worse: 4M", NULL, NULL)},
    {PLAN, TEXT("jitter", "SHARE", NULL, "how much the devices' step times differ: 3%, 0 = not at all", NULL, NULL)},
    {PLAN, FLAG("together", NULL, "the machines are one cluster: each trains a share of every step", NULL, NULL)},
    {PLAN,
     NUMBER("top", "N", "configurations", NULL, "show the N fastest configurations of each machine (5)", NULL, NULL)},

    {TUNE, TEXT("on", "MACHINE", NULL, "the machine: dgx-h100*4, FILE.yaml or \"a100*8 nvlink=300GB/s\"", NULL, NULL)},
    {TUNE,
     TEXT("fit", "FILE", NULL, "use the measured curves that 'paceline fit --kind exchange' learned", NULL, NULL)},
    {TUNE, TEXT("collective", "NAME,NAME", NULL, "allreduce, allgather, ... (default: all that plug-ins choose for)",
                NULL, NULL)},
    {TUNE, TEXT("bytes", "SIZES", NULL, "sizes: 8..1G (default), 1M,25MB, or 0,8..1G", NULL, NULL)},
    {TUNE, TEXT("nodes", "N,N", NULL, "numbers of nodes: 1,2,4 or 1..32 (default: up to the machine's)", NULL, NULL)},
    {TUNE, TEXT("library", "NAME", NULL, "whose own choice: nccl (the newest), nccl-2.18, rccl, textbook", NULL, NULL)},
    {TUNE, TEXT("dialect", "NAME", NULL, "who reads the CSV: nccl (default), rccl or torchcomms", NULL, NULL)},

    {PREDICT, LIST("on", "DEVICE", WHERE, "the machine: a name, FILE.yaml or \"a100 memory=2TB/s\"", "device", NULL)},
    {PREDICT, TEXT("from", "DEVICE", WHERE, "the device it was measured on, if the trace does not name it", NULL,
                   " step scaling ")},
    {PREDICT, LIST("set", "KEY=VALUE", WHERE, "set configuration or model parameters; of --rows, cells left empty",
                   NULL, " step scaling partition job rows ")},
    {PREDICT, NUMBER("samples", "N", "samples", WHERE, "samples in a measured step, if shapes do not show them", NULL,
                     " step scaling ")},

    {ANALYZE | COMPARE | CONVERT | SLICE,
     TEXT("step_regex", "REGEX", NULL, "which annotations mark steps (POSIX extended expression)", NULL, NULL)},
    {ANALYZE | COMPARE | CONVERT | SLICE,
     TEXT("steps", "A:B", NULL, "use these steps, by number: 3:4 (3 and 4), 3:, :4 or 3", NULL, NULL)},
    {ANALYZE | COMPARE | CONVERT | SLICE,
     NUMBER("skip", "N", "steps", NULL, "leave out the first N steps (warm-up)", NULL, NULL)},
    {PREDICT, TEXT("step_regex", "REGEX", WHERE, "which annotations mark steps (POSIX extended expression)", NULL,
                   " step scaling ")},
    {ANALYZE | COMPARE | CONVERT | FLEET | SLICE,
     TEXT("max_size", "SIZE", NULL, "refuse larger inputs (compressed: 200 times, or 1GiB)", NULL, NULL)},
    {PREDICT,
     TEXT("max_size", "SIZE", WHERE, "refuse larger traces (compressed: 200 times, or 1GiB)", NULL, " step scaling ")},
    {PREDICT, TEXT("steps", "A:B", WHERE, "use these steps of a trace, by number: 3:4, 3:, :4 or 3", NULL, " step ")},
    {PREDICT, NUMBER("skip", "N", "steps", WHERE, "leave out the first N steps of a trace", NULL, " step ")},
    {ANALYZE | COMPARE, NUMBER("rank", "N", NULL, NULL, "report this rank, not the slowest", NULL, NULL)},
    {COMPARE,
     NUMBER("with_rank", "N", NULL, NULL, "use this rank as B: of the second trace, or of the only one", NULL, NULL)},
    {COMPARE, TEXT("fail_on", "+5%", NULL, "exit with 1 if B's step is longer by more than this", NULL, NULL)},
    {ANALYZE | COMPARE, NUMBER("top", "N", "rows", NULL, "show N rows of each table", NULL, NULL)},
    {ANALYZE, TEXT("filter", "REGEX", NULL, "show only operators, kernels and modules whose name matches", NULL, NULL)},
    {ANALYZE,
     TEXT("stage", "NAME", NULL, "show only operators, kernels and modules of a stage: forward, ...", NULL, NULL)},
    {ANALYZE, WRITES("overheads", 0, "FILE", NULL, "write samples of host overhead to FILE (JSON)")},
    {ANALYZE,
     TEXT("profiler_us", "US", NULL, "subtract the profiler's cost from each host event; auto = guess it", NULL, NULL)},
    {ANALYZE, TEXT("on", "DEVICE", NULL, "the device, if the trace does not name it, or the machine", NULL, NULL)},
    {ANALYZE,
     NUMBER("samples", "N", "samples", NULL, "samples or tokens per step and rank, for throughput", NULL, NULL)},
    {ANALYZE, FLAG("check", NULL, "check the invariants of all data structures", NULL, NULL)},

    {PREDICT, {0}}, /* the what-ifs' own rows */
    {PREDICT,
     LIST("overheads", "FILE", WHAT_IF, "use these host overheads, not its own (analyze --overheads)", NULL, " step ")},
    {PREDICT, LIST("calibrate", "TRACE=TRACE", WHAT_IF, "learn the move from a step that was recorded here and there",
                   NULL, " step ")},

    {PREDICT,
     {"rows", 'r', PACE_OPTION_TEXT, PACE_OPTION_ASKS, "FILE", NULL, TABLES,
      "answer the question in each row of a table", NULL, " rows "}},
    {PREDICT,
     {"kind", 'k', PACE_OPTION_TEXT, PACE_OPTION_ASKS, "KIND", NULL, TABLES,
      "kernel, exchange, step, scaling or job (default: by columns)", NULL, " rows exchange simulate replay "}},
    {PREDICT, LIST("fit", "FILE", TABLES, "use what 'paceline fit' learned", NULL, " step rows job exchange scaling ")},

    {FIT,
     {"kind", 'k', PACE_OPTION_TEXT, PACE_OPTION_ASKS, "KIND", NULL, NULL,
      "kernel, exchange, step, scaling, job (by columns), overhead, profiler", NULL, NULL}},
    {FIT, WRITES("output", 'o', "FILE", NULL, "write the fit to FILE")},
    {FIT,
     {"split", 's', PACE_OPTION_TEXT, PACE_OPTION_ASKS, "HOW", NULL, NULL,
      "hold out by shape (default), device, n,k; scaling: model, device, row", NULL, " kernel scaling "}},
    {FIT, TEXT("on", "DEVICE", NULL, "the device (exchange: the machine) of rows that name none", NULL,
               " kernel exchange step scaling job ")},
    {FIT,
     TEXT("collective", "NAME", NULL, "exchange: the collective of rows and logs that name none", NULL, " exchange ")},
    {FIT,
     NUMBER("probes", "N", NULL, NULL, "exchange: for the score, fit each curve on N sizes (6)", NULL, " exchange ")},

    {FLEET, TEXT("on", "MACHINE", NULL, "machine: pai-2018 (default), dgx-h100, \"pai-v100 network=100Gb/s\"", NULL,
                 " jobs ")},
    {FLEET, TEXT("fit", "FILE", NULL, "use the efficiencies that 'paceline fit --kind job' learned", NULL, " jobs ")},
    {PREDICT, TEXT("job", "KEY=VALUE,...", JOBS, "ask about a job: architecture=ps_worker,flop=106G,... or FILE.yaml",
                   NULL, " job ")},
    JOB_ROWS(PREDICT, JOBS, " job rows.job "),
    JOB_ROWS(FIT, NULL, " job "),
    JOB_ROWS(FLEET, NULL, " jobs "),

    {FIT, NUMBER("seed", "N", NULL, NULL, "seed that chooses the groups to hold out", NULL, " kernel ")},
    {FIT, RENDERS("format", 'f', "FORMAT", "format of the report: table (default), json, csv or html")},

    {FLEET, LIST("sweep", "RESOURCE=RATES", NULL, "ask about these upgrades, such as network=200Gb/s,400Gb/s", NULL,
                 " jobs ")},
    {FLEET, LIST("price", "PRICE", NULL, "a GPU's hour: 2.5, a100=1.8; or an upgrade: network=100Gb/s:3000", NULL,
                 " jobs usage ")},
    {FLEET, TEXT("zone", "+08:00", NULL, "zone of records' times that have none (UTC)", NULL, " usage ")},
    {FLEET, TEXT("dates", "ORDER", NULL, "of dates such as 03/04/2026: month-first or day-first", NULL, " usage ")},
    {FLEET, LIST("mapping", "FILE.yaml", NULL, "what the columns of your scheduler's records are", NULL, " usage ")},
    {FLEET, TEXT("columns", "THEIRS=OURS,...", NULL, "names of columns in your table, and ours", NULL, " jobs ")},
    {FLEET,
     TEXT("database_table", "NAME", NULL, "table of the database (default: jobs, or its only one)", NULL, " jobs ")},
    {FLEET,
     {"rejects", 0, PACE_OPTION_TEXT, PACE_OPTION_WRITES, "FILE", NULL, NULL,
      "write refused rows to FILE, with line and reason", NULL, " jobs "}},
    {FLEET, NUMBER("most_rejected", "SHARE", NULL, NULL, "fail if a larger share of the rows is refused (0.01)", NULL,
                   " jobs ")},
    {FLEET, FLAG("repeats", NULL, "accept ids that occur twice", NULL, " jobs ")},
    {FLEET, FLAG("exact", NULL, "compute exact quantiles; memory grows with the jobs", NULL, " jobs ")},
    {FLEET, FLAG("iterations", NULL, "FILEs hold worker times by iteration: show who delays a job", NULL, NULL)},
    {FLEET,
     TEXT("pods", "FILE", NULL, "with --nodes: show what GPUs were used for, and which could not be", NULL, NULL)},
    {FLEET, TEXT("nodes", "FILE", NULL, "nodes of the cluster that ran the pods", NULL, NULL)},
    {FLEET, NUMBER("synthesize", "N", "jobs", NULL, "make up N jobs like those of Alibaba's PAI, as a CSV (-o FILE)",
                   NULL, NULL)},
    {FLEET, NUMBER("seed", "N", NULL, NULL, "seed of the made-up jobs: the same seed makes the same jobs", NULL,
                   " synthesize ")},

    {PREDICT,
     TEXT("workers", "N,N", SCALES, "time a model's step on N workers: 1..128, or 1,2,4,8", "workers", " scaling ")},
    {PREDICT, LIST("approach", "NAME,NAME", SCALES, "how workers exchange gradients: grpc, horovod-nccl, ...",
                   "approach", " step scaling exchange ")},
    {PREDICT, TEXT("jitter", "SHARE", SCALES, "how much the workers' step times differ: 5%, 0 = not at all", NULL,
                   " step scaling ")},
    {PREDICT, FLAG("weak", SCALES, "keep the batch of each worker (default)", NULL, " scaling ")},
    {PREDICT, FLAG("strong", SCALES, "keep the batch of all workers together", NULL, " scaling ")},
    {PREDICT,
     NUMBER("one_worker", "RATE", "samples/s", SCALES, "measured samples/s of one worker", "one_worker", " scaling ")},

    {PREDICT, TEXT("collective", "NAME", EXCHANGES, "allreduce (default), allgather, alltoall, ...", "collective",
                   " rows.exchange exchange simulate replay ")},
    {PREDICT,
     TEXT("bytes", "SIZES", EXCHANGES, "sizes: 8..1G (default), 1M,25MB, or 0,8..1G", "bytes", " exchange simulate ")},
    {PREDICT, TEXT("library", "NAME", EXCHANGES, "nccl, nccl-2.7, ..., rccl or textbook", NULL, " exchange simulate ")},
    {PREDICT, TEXT("algorithm", "NAME", EXCHANGES, "use this algorithm, not the library's choice", "algorithm",
                   " exchange simulate replay ")},
    {PREDICT, TEXT("protocol", "NAME", EXCHANGES, "ll, ll128 or simple", NULL, " exchange ")},
    {PREDICT, NUMBER("ranks", "N", "ranks", EXCHANGES, "use the first N devices", NULL, " exchange simulate ")},

    {PREDICT, FLAG("simulate", MESSAGES, "simulate every message; messages share links", NULL, " simulate replay ")},
    {PREDICT, NUMBER("jobs", "N", "jobs", MESSAGES, "run N such jobs side by side", NULL, " simulate ")},
    {PREDICT,
     LIST("straggler", "SHARE:RATE", MESSAGES, "slow ranks: 1%:0.5 = 1 % of them at half rate", NULL, " simulate ")},
    {PREDICT,
     LIST("background", "TRAFFIC", MESSAGES, "other traffic: 30% of the network, or 0-8:10GB/s", NULL, " simulate ")},
    {PREDICT, FLAG("unfolded", MESSAGES, "simulate every rank, alike or not", NULL, " simulate replay ")},

    {CALIBRATE, WRITES("output", 'o', "ROWS.csv", NULL, "write rows to this table; points that it holds are skipped")},
    {CALIBRATE, WRITES("entry", 'e', "DEVICE.yaml", NULL, "write a device entry, for --on DEVICE.yaml")},
    {CALIBRATE, TEXT("family", "A,B", NULL, "measure these families only (--list shows them)", NULL, NULL)},
    {CALIBRATE, FLAG("quick", NULL, "measure for less than a minute", NULL, NULL)},
    {CALIBRATE, FLAG("full", NULL, "measure every grid, for hours", NULL, NULL)},
    {CALIBRATE,
     {"list", 'l', PACE_OPTION_FLAG, PACE_OPTION_ASKS, NULL, NULL, NULL,
      "show what would be measured, and how long; -o FILE.json writes it", NULL, NULL}},
    {CALIBRATE,
     {"name", 'n', PACE_OPTION_TEXT, PACE_OPTION_ASKS, "NAME", NULL, NULL, "name of the device in rows and entry", NULL,
      NULL}},
    {CALIBRATE, NUMBER("memory", "BYTES", "bytes", NULL, "most memory for the tensors of one point", NULL, NULL)},
    {CALIBRATE, NUMBER("threads", "N", "threads", NULL, "CPU threads (default: one for each core)", NULL, NULL)},
    {CALIBRATE, NUMBER("device", "N", NULL, NULL, "number of the CUDA device", NULL, NULL)},

    {CALIBRATE, RENDERS("format", 'f', "FORMAT", "format of the report: table (default), json, csv or html")},

    {CONVERT,
     WRITES("output", 'o', "OUT.et", NULL, "write this Chakra trace; for several ranks OUT.0.et, OUT.1.et, ...")},
    {CONVERT, LIST("set", "KEY=VALUE", NULL, "set model configuration or parameters", NULL, NULL)},
    {CONVERT, RENDERS("format", 'f', "FORMAT", "format of the answer: table (default), json, csv or html")},
    {CONVERT, RENDERS("table", 't', "KEY", "csv: the table to write")},

    {SLICE, TEXT("ranks", "N,N", NULL, "slice these ranks only", NULL, NULL)},
    {SLICE, FLAG("anonymize", NULL, "replace names of users, files, modules and machines by hashes", NULL, NULL)},
    {SLICE, WRITES("output", 'o', "OUT.json.gz", NULL,
                   "write the slice; for several ranks OUT.0.json.gz, OUT.1.json.gz, ...")},
    {SLICE, RENDERS("format", 'f', "FORMAT", "format of the answer: table (default), json, csv or html")},
    {SLICE, RENDERS("table", 't', "KEY", "csv: the table to write")},

    {TRAIN,
     LIST("set", "KEY=VALUE", NULL, "set optimizer (momentum, sgd, adam), sequence or model parameters", NULL, NULL)},
    {TRAIN, NUMBER("batch", "N", "samples", NULL, "samples of a step on each rank (32)", NULL, NULL)},
    {TRAIN, NUMBER("steps", "N", "steps", NULL, "measure N steps (20)", NULL, NULL)},
    {TRAIN, NUMBER("warm_up", "N", "steps", NULL, "run N steps before the measured ones (5)", NULL, NULL)},
    {TRAIN, NUMBER("threads", "N", "threads", NULL, "threads of each rank (default: one for each core)", NULL, NULL)},
    {TRAIN,
     TEXT("clock", "CLOCK", NULL, "wall (default); thread: processor time of one thread, without others'", NULL, NULL)},
    {TRAIN, TEXT("data", "KIND|DIR", NULL, "synthetic (default): one batch; digits: drawn anew; or MNIST's files", NULL,
                 NULL)},
    {TRAIN,
     NUMBER("loader", "SECONDS", "seconds", NULL, "loading a batch takes so long, before each step (0)", NULL, NULL)},
    {TRAIN, NUMBER("rate", "R", NULL, NULL, "learning rate (0.01; adam 0.001)", NULL, NULL)},
    {TRAIN, NUMBER("seed", "N", NULL, NULL, "seed of parameters, samples and dropout (1)", NULL, NULL)},
    {TRAIN, NUMBER("memory", "BYTES", "bytes", NULL, "most memory to take (default: what is free)", NULL, NULL)},
    {TRAIN,
     TEXT("study", "KIND", RANKS, "approaches, batch, scaling, stages, referees or partition: many runs", NULL, NULL)},
    {TRAIN,
     TEXT("on", "HOSTS", RANKS, "study partition: predict each run on 'FILE.yaml*4 net=10Gb/s' too", NULL, NULL)},
    {TRAIN, TEXT("runner", "NAME", RANKS, "who trains: paceline (default), torch, horovod or tensorflow", NULL, NULL)},
    {TRAIN, NUMBER("ranks", "N", "ranks", RANKS, "start N ranks by mpirun, each with its own batch (1)", NULL, NULL)},
    {TRAIN, TEXT("approach", "NAME", RANKS, "exchange gradients as grpc, horovod-mpi, p2p, ... (mpi-opt)", NULL, NULL)},
    {TRAIN, TEXT("overlap", "on|off", RANKS, "exchange while backward runs (on), or after it (off)", NULL, NULL)},
    {TRAIN, FLAG("asynchronous", RANKS, "servers apply each gradient as it comes (HOGWILD)", NULL, NULL)},
    {TRAIN, NUMBER("servers", "N", "servers", RANKS, "parameter servers (one on each host)", NULL, NULL)},
    {TRAIN, NUMBER("port", "N", NULL, RANKS, "servers listen on this port and the next ones (any free)", NULL, NULL)},
    {TRAIN, NUMBER("fusion", "BYTES", "bytes", RANKS, "most that one buffer holds (64 MiB)", NULL, NULL)},
    {TRAIN, NUMBER("timeout", "SECONDS", "seconds", RANKS, "give up when a rank has not answered for so long (60)",
                   NULL, NULL)},
    {TRAIN, WRITES("trace", 0, "FILE.json", NULL, "write the measured steps as a trace, for 'paceline analyze'")},

    {VALIDATE,
     {"data", 'd', PACE_OPTION_TEXT, PACE_OPTION_ASKS, "DIR", NULL, NULL, "the folder with the tables of the cases",
      NULL, NULL}},
    {VALIDATE, FLAG("live", NULL, "train on this machine, and compare with predictions", NULL, NULL)},
    {VALIDATE, LIST("model", "NAME", NULL, "live: a model to train (default: lenet, alexnet)", NULL, NULL)},
    {VALIDATE, LIST("batch", "N", NULL, "live: a batch to train it with (default: 8, 32)", NULL, NULL)},
    {VALIDATE, NUMBER("runs", "N", "runs", NULL, "live: train each N times, in turn (3)", NULL, NULL)},
    {VALIDATE, NUMBER("steps", "N", "steps", NULL, "live: measure N steps in each run (10)", NULL, NULL)},
    {VALIDATE, NUMBER("threads", "N", "threads", NULL, "live: CPU threads (1)", NULL, NULL)},
    {VALIDATE, LIST("ranks", "N", NULL, "live: so many ranks (1)", NULL, NULL)},
    {VALIDATE, TEXT("runner", "NAME", NULL, "live: who trains: paceline (default) or torch", NULL, NULL)},
    {VALIDATE,
     LIST("approach", "NAME", NULL, "live: exchange gradients so (default: mpi-opt, horovod-mpi)", NULL, NULL)},
    {VALIDATE,
     LIST("link", "RATE", NULL, "live: memory (default), or 1Gb/s: ranks are hosts behind such links", NULL, NULL)},
    {VALIDATE, FLAG("quick", NULL, "live: calibrate in half a minute, not in ten, and learn less", NULL, NULL)},
    {VALIDATE, TEXT("on", "DEVICE.yaml", NULL, "live: calibrate's entry (default: calibrate now)", NULL, NULL)},
    {VALIDATE, LIST("fit", "FILE", NULL, "live: use what 'paceline fit' learned of calibrate's rows", NULL, NULL)},
    {VALIDATE, TEXT("cases", "FILE", NULL, "the cases (default: accuracy/cases.yaml, or those built in)", NULL, NULL)},
    {VALIDATE, WRITES("ledger", 0, "FILE", NULL, "write the figures into this ledger")},
};

const size_t pace_option_table_count = PACE_COUNT(pace_option_table);
