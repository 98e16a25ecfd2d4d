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
    {"machines", "[NAME|VENDOR]", "the devices of the catalogue",
     "Lists the devices of the catalogue, or those of a vendor, or describes one."},
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

/* Rows in the order of help. Behind the help stand members by name: a letter, a unit, a heading, a field of a table of
 * questions, the kinds of questions that take it. */
#define ROW(TYPE, ROLE, NAME, ...) \
    { .name = NAME, .type = PACE_OPTION_##TYPE, .role = PACE_OPTION_##ROLE, .help = __VA_ARGS__ }
#define FLAG(NAME, ...) ROW(FLAG, ASKS, NAME, __VA_ARGS__)
#define TEXT(NAME, ARGUMENT, ...) ROW(TEXT, ASKS, NAME, __VA_ARGS__, .argument = ARGUMENT)
#define LIST(NAME, ARGUMENT, ...) ROW(LIST, ASKS, NAME, __VA_ARGS__, .argument = ARGUMENT)
#define NUMBER(NAME, ARGUMENT, ...) ROW(NUMBER, ASKS, NAME, __VA_ARGS__, .argument = ARGUMENT)
#define WRITES(NAME, ARGUMENT, ...) ROW(TEXT, WRITES, NAME, __VA_ARGS__, .argument = ARGUMENT)
#define RENDERS(NAME, LETTER, ARGUMENT, ...) \
    ROW(TEXT, RENDERS, NAME, __VA_ARGS__, .letter = LETTER, .argument = ARGUMENT)

#define WHERE "what is run, and where"
#define WHAT_IF "what if"
#define TABLES "tables of questions, and fits"
#define JOBS "one job, or a table of jobs"
#define RANKS "several ranks"
#define SCALES "how a step scales"
#define EXCHANGES "an exchange between ranks"
#define MESSAGES "an exchange or traces of all ranks, message by message"

/* What is assumed of jobs. */
#define JOB_ROWS(verbs, ...)                                                                                           \
    {verbs, TEXT("overlap", "HOW", "overlap of input, computation, weights: none, ideal or 0 to 1", __VA_ARGS__)},     \
        {verbs, TEXT("contention", "WHOSE", "whose input shares the host link: none, projected or all", __VA_ARGS__)}, \
        {verbs, TEXT("nvlink", "HOW", "link: the rate of one link; aggregate: of all links", __VA_ARGS__)}, {          \
        verbs, TEXT("efficiency", "SHARES", "shares of the peaks: 0.5 or compute=0.5,memory=0.03", __VA_ARGS__)        \
    }

const pace_option_row pace_option_table[] = {
    {MODELS, LIST("set", "KEY=VALUE", "set model parameters, or precision, attention, sequence or tp")},
    {ANALYZE | COMPARE | PREDICT | VALIDATE,
     WRITES("store", "FILE.sqlite", "add the figures to this file, for 'paceline history'")},
    {ANALYZE | COMPARE | PREDICT | VALIDATE,
     TEXT("label", "TEXT", "with --store: a name for this run, such as its commit")},
    {ANALYZE | COMPARE | PREDICT | VALIDATE,
     TEXT("series", "NAME", "with --store: the series this run belongs to (default: the verb)")},
    {HISTORY, TEXT("series", "NAME", "read this series alone, if the file holds several")},
    {HISTORY, TEXT("value", "PATH", "follow this value, such as window.idle_ns (default: the step)")},
    {HISTORY, NUMBER("last", "N", "compare the last N runs with those before (3)", .unit = "runs")},
    {HISTORY, NUMBER("window", "N", "look at the last N runs of a series (50)", .unit = "runs")},
    {HISTORY, TEXT("fail_on", "+5%", "exit with 1 if they are worse by more than this")},
    {HISTORY, NUMBER("top", "N", "show N rows of each table", .unit = "rows")},
    {HISTORY, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html or junit")},
    {ANALYZE, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html, perfetto, folded or folded_device")},
    {PREDICT, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html or perfetto")},
    {COMPARE, RENDERS("format", 'f', "FORMAT", "table (default), json, csv, html or junit")},
    {FLEET | MACHINES | MODELS | PLAN | TRAIN | VALIDATE,
     RENDERS("format", 'f', "FORMAT", "table (default), json, csv or html")},
    {TUNE, RENDERS("format", 'f', "FORMAT", "table (default), json, csv (for the plug-in) or html")},
    {REPORTS, RENDERS("output", 'o', "FILE", "write to FILE; its suffix chooses the format, .gz or .zst compresses")},
    {REPORTS, RENDERS("table", 't', "KEY", "csv: the table to write")},
    {ALL, {"quiet", 'q', PACE_OPTION_FLAG, PACE_OPTION_RENDERS, .help = "print only failures on standard error"}},
    {ALL,
     {"strict", 0, PACE_OPTION_FLAG, PACE_OPTION_RENDERS,
      .help = "exit with 3 if the answer warns of damage or doubt"}},

    {PLAN, LIST("on", "MACHINE", "a machine to plan for: dgx-h100*4; several are compared")},
    {PLAN, LIST("set", "KEY=VALUE", "what to keep fixed: global_batch, precision, framework, tp, ...")},
    {PLAN, TEXT("tokens", "N", "tokens to train on: 15T, 300G; gives days, and cost with --price")},
    {PLAN, TEXT("within", "DAYS", "find the smallest part of each machine that is done by then: 30d")},
    {PLAN, LIST("price", "PRICE", "price of a device's hour: one for all machines, or one for each")},
    {PLAN, TEXT("budget", "MONEY", "what all tokens may cost, in the unit of --price: 2M, 50000")},
    {PLAN, TEXT("from", "FILE", "a script or configuration that starts your training: what to change")},
    {PLAN, LIST("fit", "FILE", "use what 'paceline fit' learned of your own runs, kernels, exchanges")},
    {PLAN, TEXT("failures", "MTBF:SAVE:RESTART", "a device's failures, and checkpoints (50000h:60s:10m): more days")},
    {PLAN, TEXT("critical_batch", "N", "tokens of a step beyond which batches learn worse: 4M")},
    {PLAN, TEXT("jitter", "SHARE", "how much the devices' step times differ: 3%, 0 = not at all")},
    {PLAN, FLAG("together", "the machines are one cluster: each trains a share of every step")},
    {PLAN, NUMBER("top", "N", "show the N fastest configurations of each machine (5)", .unit = "configurations")},

    {TUNE, TEXT("on", "MACHINE", "the machine: dgx-h100*4, FILE.yaml or \"a100*8 nvlink=300GB/s\"")},
    {TUNE, TEXT("fit", "FILE", "use the measured curves that 'paceline fit --kind exchange' learned")},
    {TUNE, TEXT("collective", "NAME,NAME", "allreduce, allgather, ... (default: all that plug-ins choose for)")},
    {TUNE, TEXT("bytes", "SIZES", "sizes: 8..1G (default), 1M,25MB, or 0,8..1G")},
    {TUNE, TEXT("nodes", "N,N", "numbers of nodes: 1,2,4 or 1..32 (default: up to the machine's)")},
    {TUNE, TEXT("library", "NAME", "whose own choice: nccl (the newest), nccl-2.18, rccl, textbook")},
    {TUNE, TEXT("dialect", "NAME", "who reads the CSV: nccl (default), rccl or torchcomms")},

    {PREDICT, LIST("on", "DEVICE", "the machine: a name, FILE.yaml or \"a100 memory=2TB/s\"", .heading = WHERE,
                   .column = "device")},
    {PREDICT, TEXT("from", "DEVICE", "the device it was measured on, if the trace does not name it", .heading = WHERE,
                   .kinds = " step scaling ")},
    {PREDICT, LIST("set", "KEY=VALUE", "set configuration or model parameters; of --rows, cells left empty",
                   .heading = WHERE, .kinds = " step scaling partition job rows ")},
    {PREDICT, NUMBER("samples", "N", "samples in a measured step, if shapes do not show them", .unit = "samples",
                     .heading = WHERE, .kinds = " step scaling ")},

    {ANALYZE | COMPARE | CONVERT | SLICE,
     TEXT("step_regex", "REGEX", "which annotations mark steps (POSIX extended expression)")},
    {ANALYZE | COMPARE | CONVERT | SLICE,
     TEXT("steps", "A:B", "use these steps, by number: 3:4 (3 and 4), 3:, :4 or 3")},
    {ANALYZE | COMPARE | CONVERT | SLICE,
     NUMBER("skip", "N", "leave out the first N steps (warm-up)", .unit = "steps")},
    {PREDICT, TEXT("step_regex", "REGEX", "which annotations mark steps (POSIX extended expression)", .heading = WHERE,
                   .kinds = " step scaling ")},
    {ANALYZE | COMPARE | CONVERT | FLEET | SLICE,
     TEXT("max_size", "SIZE", "refuse larger inputs (compressed: 200 times, or 1GiB)")},
    {PREDICT, TEXT("max_size", "SIZE", "refuse larger traces (compressed: 200 times, or 1GiB)", .heading = WHERE,
                   .kinds = " step scaling ")},
    {PREDICT, TEXT("steps", "A:B", "use these steps of a trace, by number: 3:4, 3:, :4 or 3", .heading = WHERE,
                   .kinds = " step ")},
    {PREDICT, NUMBER("skip", "N", "leave out the first N steps of a trace", .unit = "steps", .heading = WHERE,
                     .kinds = " step ")},
    {ANALYZE | COMPARE, NUMBER("rank", "N", "report this rank, not the slowest")},
    {COMPARE, NUMBER("with_rank", "N", "use this rank as B: of the second trace, or of the only one")},
    {COMPARE, TEXT("fail_on", "+5%", "exit with 1 if B's step is longer by more than this")},
    {ANALYZE | COMPARE, NUMBER("top", "N", "show N rows of each table", .unit = "rows")},
    {ANALYZE, TEXT("filter", "REGEX", "show only operators, kernels and modules whose name matches")},
    {ANALYZE, TEXT("stage", "NAME", "show only operators, kernels and modules of a stage: forward, ...")},
    {ANALYZE, WRITES("overheads", "FILE", "write samples of host overhead to FILE (JSON)")},
    {ANALYZE, TEXT("profiler_us", "US", "subtract the profiler's cost from each host event; auto = guess it")},
    {ANALYZE, TEXT("on", "DEVICE", "the device, if the trace does not name it, or the machine")},
    {ANALYZE, NUMBER("samples", "N", "samples or tokens per step and rank, for throughput", .unit = "samples")},
    {ANALYZE, FLAG("check", "check the invariants of all data structures")},

    {PREDICT, {0}}, /* the what-ifs' own rows */
    {PREDICT, LIST("overheads", "FILE", "use these host overheads, not its own (analyze --overheads)",
                   .heading = WHAT_IF, .kinds = " step ")},
    {PREDICT, LIST("calibrate", "TRACE=TRACE", "learn the move from a step that was recorded here and there",
                   .heading = WHAT_IF, .kinds = " step ")},

    {PREDICT, TEXT("rows", "FILE", "answer the question in each row of a table", .letter = 'r', .heading = TABLES,
                   .kinds = " rows ")},
    {PREDICT, TEXT("kind", "KIND", "kernel, exchange, step, scaling or job (default: by columns)", .letter = 'k',
                   .heading = TABLES, .kinds = " rows exchange simulate replay ")},
    {PREDICT, LIST("fit", "FILE", "use what 'paceline fit' learned", .heading = TABLES,
                   .kinds = " step rows job exchange scaling ")},

    {FIT, TEXT("kind", "KIND", "kernel, exchange, step, scaling, job (by columns), overhead, profiler", .letter = 'k')},
    {FIT, WRITES("output", "FILE", "write the fit to FILE", .letter = 'o')},
    {FIT, TEXT("split", "HOW", "hold out by shape (default), device, n,k; scaling: model, device, row", .letter = 's',
               .kinds = " kernel scaling ")},
    {FIT, TEXT("on", "DEVICE", "the device (exchange: the machine) of rows that name none",
               .kinds = " kernel exchange step scaling job ")},
    {FIT,
     TEXT("collective", "NAME", "exchange: the collective of rows and logs that name none", .kinds = " exchange ")},
    {FIT, NUMBER("probes", "N", "exchange: for the score, fit each curve on N sizes (6)", .kinds = " exchange ")},

    {FLEET,
     TEXT("on", "MACHINE", "machine: pai-2018 (default), dgx-h100, \"pai-v100 network=100Gb/s\"", .kinds = " jobs ")},
    {FLEET, TEXT("fit", "FILE", "use the efficiencies that 'paceline fit --kind job' learned", .kinds = " jobs ")},
    {PREDICT, TEXT("job", "KEY=VALUE,...", "ask about a job: architecture=ps_worker,flop=106G,... or FILE.yaml",
                   .heading = JOBS, .kinds = " job ")},
    JOB_ROWS(PREDICT, .heading = JOBS, .kinds = " job rows.job "),
    JOB_ROWS(FIT, .kinds = " job "),
    JOB_ROWS(FLEET, .kinds = " jobs "),

    {FIT, NUMBER("seed", "N", "seed that chooses the groups to hold out", .kinds = " kernel ")},
    {FIT, RENDERS("format", 'f', "FORMAT", "format of the report: table (default), json, csv or html")},

    {FLEET,
     LIST("sweep", "RESOURCE=RATES", "ask about these upgrades, such as network=200Gb/s,400Gb/s", .kinds = " jobs ")},
    {FLEET, LIST("price", "PRICE", "a GPU's hour: 2.5, a100=1.8; or an upgrade: network=100Gb/s:3000",
                 .kinds = " jobs usage ")},
    {FLEET, TEXT("zone", "+08:00", "zone of records' times that have none (UTC)", .kinds = " usage ")},
    {FLEET, TEXT("dates", "ORDER", "of dates such as 03/04/2026: month-first or day-first", .kinds = " usage ")},
    {FLEET, LIST("mapping", "FILE.yaml", "what the columns of your scheduler's records are", .kinds = " usage ")},
    {FLEET, TEXT("columns", "THEIRS=OURS,...", "names of columns in your table, and ours", .kinds = " jobs ")},
    {FLEET,
     TEXT("database_table", "NAME", "table of the database (default: jobs, or its only one)", .kinds = " jobs ")},
    {FLEET, WRITES("rejects", "FILE", "write refused rows to FILE, with line and reason", .kinds = " jobs ")},
    {FLEET,
     NUMBER("most_rejected", "SHARE", "fail if a larger share of the rows is refused (0.01)", .kinds = " jobs ")},
    {FLEET, FLAG("repeats", "accept ids that occur twice", .kinds = " jobs ")},
    {FLEET, FLAG("exact", "compute exact quantiles; memory grows with the jobs", .kinds = " jobs ")},
    {FLEET, FLAG("iterations", "FILEs hold worker times by iteration: show who delays a job")},
    {FLEET, TEXT("pods", "FILE", "with --nodes: show what GPUs were used for, and which could not be")},
    {FLEET, TEXT("nodes", "FILE", "nodes of the cluster that ran the pods")},
    {FLEET,
     NUMBER("synthesize", "N", "make up N jobs like those of Alibaba's PAI, as a CSV (-o FILE)", .unit = "jobs")},
    {FLEET,
     NUMBER("seed", "N", "seed of the made-up jobs: the same seed makes the same jobs", .kinds = " synthesize ")},

    {PREDICT, TEXT("workers", "N,N", "time a model's step on N workers: 1..128, or 1,2,4,8", .heading = SCALES,
                   .column = "workers", .kinds = " scaling ")},
    {PREDICT, LIST("approach", "NAME,NAME", "how workers exchange gradients: grpc, horovod-nccl, ...",
                   .heading = SCALES, .column = "approach", .kinds = " step scaling exchange ")},
    {PREDICT, TEXT("jitter", "SHARE", "how much the workers' step times differ: 5%, 0 = not at all", .heading = SCALES,
                   .kinds = " step scaling ")},
    {PREDICT, FLAG("weak", "keep the batch of each worker (default)", .heading = SCALES, .kinds = " scaling ")},
    {PREDICT, FLAG("strong", "keep the batch of all workers together", .heading = SCALES, .kinds = " scaling ")},
    {PREDICT, NUMBER("one_worker", "RATE", "measured samples/s of one worker", .unit = "samples/s", .heading = SCALES,
                     .column = "one_worker", .kinds = " scaling ")},

    {PREDICT, TEXT("collective", "NAME", "allreduce (default), allgather, alltoall, ...", .heading = EXCHANGES,
                   .column = "collective", .kinds = " rows.exchange exchange simulate replay ")},
    {PREDICT, TEXT("bytes", "SIZES", "sizes: 8..1G (default), 1M,25MB, or 0,8..1G", .heading = EXCHANGES,
                   .column = "bytes", .kinds = " exchange simulate ")},
    {PREDICT, TEXT("library", "NAME", "nccl, nccl-2.7, ..., rccl or textbook", .heading = EXCHANGES,
                   .kinds = " exchange simulate ")},
    {PREDICT, TEXT("algorithm", "NAME", "use this algorithm, not the library's choice", .heading = EXCHANGES,
                   .column = "algorithm", .kinds = " exchange simulate replay ")},
    {PREDICT, TEXT("protocol", "NAME", "ll, ll128 or simple", .heading = EXCHANGES, .kinds = " exchange ")},
    {PREDICT, NUMBER("ranks", "N", "use the first N devices", .unit = "ranks", .heading = EXCHANGES,
                     .kinds = " exchange simulate ")},

    {PREDICT, FLAG("simulate", "simulate every message; messages share links", .heading = MESSAGES,
                   .kinds = " simulate replay ")},
    {PREDICT,
     NUMBER("jobs", "N", "run N such jobs side by side", .unit = "jobs", .heading = MESSAGES, .kinds = " simulate ")},
    {PREDICT, LIST("straggler", "SHARE:RATE", "slow ranks: 1%:0.5 = 1 % of them at half rate", .heading = MESSAGES,
                   .kinds = " simulate ")},
    {PREDICT, LIST("background", "TRAFFIC", "other traffic: 30% of the network, or 0-8:10GB/s", .heading = MESSAGES,
                   .kinds = " simulate ")},
    {PREDICT, FLAG("unfolded", "simulate every rank, alike or not", .heading = MESSAGES, .kinds = " simulate replay ")},

    {CALIBRATE,
     WRITES("output", "ROWS.csv", "write rows to this table; points that it holds are skipped", .letter = 'o')},
    {CALIBRATE, WRITES("entry", "DEVICE.yaml", "write a device entry, for --on DEVICE.yaml", .letter = 'e')},
    {CALIBRATE, TEXT("family", "A,B", "measure these families only (--list shows them)")},
    {CALIBRATE, LIST("model", "MODEL", "measure this model's kernels, and only the grids of --family")},
    {CALIBRATE, LIST("set", "KEY=VALUE", "set the step's configuration or the model's parameters")},
    {CALIBRATE, FLAG("quick", "measure for less than a minute")},
    {CALIBRATE, FLAG("full", "measure every grid, for hours")},
    {CALIBRATE, FLAG("list", "show what would be measured, and how long; -o FILE.json writes it", .letter = 'l')},
    {CALIBRATE, TEXT("name", "NAME", "name of the device in rows and entry", .letter = 'n')},
    {CALIBRATE, NUMBER("memory", "BYTES", "most memory for the tensors of one point", .unit = "bytes")},
    {CALIBRATE, NUMBER("threads", "N", "CPU threads (default: one for each core)", .unit = "threads")},
    {CALIBRATE, NUMBER("device", "N", "number of the CUDA device")},

    {CALIBRATE, RENDERS("format", 'f', "FORMAT", "format of the report: table (default), json, csv or html")},

    {CONVERT,
     WRITES("output", "OUT.et", "write this Chakra trace; for several ranks OUT.0.et, OUT.1.et, ...", .letter = 'o')},
    {CONVERT, LIST("set", "KEY=VALUE", "set model configuration or parameters")},
    {CONVERT, RENDERS("format", 'f', "FORMAT", "format of the answer: table (default), json, csv or html")},
    {CONVERT, RENDERS("table", 't', "KEY", "csv: the table to write")},

    {SLICE, TEXT("ranks", "N,N", "slice these ranks only")},
    {SLICE, FLAG("anonymize", "replace names of users, files, modules and machines by hashes")},
    {SLICE, WRITES("output", "OUT.json.gz", "write the slice; for several ranks OUT.0.json.gz, OUT.1.json.gz, ...",
                   .letter = 'o')},
    {SLICE, RENDERS("format", 'f', "FORMAT", "format of the answer: table (default), json, csv or html")},
    {SLICE, RENDERS("table", 't', "KEY", "csv: the table to write")},

    {TRAIN, LIST("set", "KEY=VALUE", "set optimizer (momentum, sgd, adam), sequence or model parameters")},
    {TRAIN, NUMBER("batch", "N", "samples of a step on each rank (32)", .unit = "samples")},
    {TRAIN, NUMBER("steps", "N", "measure N steps (20)", .unit = "steps")},
    {TRAIN, NUMBER("warm_up", "N", "run N steps before the measured ones (5)", .unit = "steps")},
    {TRAIN, NUMBER("threads", "N", "threads of each rank (default: one for each core)", .unit = "threads")},
    {TRAIN, TEXT("clock", "CLOCK", "wall (default); thread: processor time of one thread, without others'")},
    {TRAIN, TEXT("data", "KIND|DIR", "synthetic (default): one batch; digits: drawn anew; or MNIST's files")},
    {TRAIN, NUMBER("loader", "SECONDS", "loading a batch takes so long, before each step (0)", .unit = "seconds")},
    {TRAIN, NUMBER("rate", "R", "learning rate (0.01; adam 0.001)")},
    {TRAIN, NUMBER("seed", "N", "seed of parameters, samples and dropout (1)")},
    {TRAIN, NUMBER("memory", "BYTES", "most memory to take (default: what is free)", .unit = "bytes")},
    {TRAIN,
     TEXT("study", "KIND", "approaches, batch, scaling, stages, referees or partition: many runs", .heading = RANKS)},
    {TRAIN, TEXT("on", "HOSTS", "study partition: predict each run on 'FILE.yaml*4 net=10Gb/s' too", .heading = RANKS)},
    {TRAIN, TEXT("runner", "NAME", "who trains: paceline (default), torch, horovod or tensorflow", .heading = RANKS)},
    {TRAIN,
     NUMBER("ranks", "N", "start N ranks by mpirun, each with its own batch (1)", .unit = "ranks", .heading = RANKS)},
    {TRAIN, TEXT("approach", "NAME", "exchange gradients as grpc, horovod-mpi, p2p, ... (mpi-opt)", .heading = RANKS)},
    {TRAIN, TEXT("overlap", "on|off", "exchange while backward runs (on), or after it (off)", .heading = RANKS)},
    {TRAIN, FLAG("asynchronous", "servers apply each gradient as it comes (HOGWILD)", .heading = RANKS)},
    {TRAIN, NUMBER("servers", "N", "parameter servers (one on each host)", .unit = "servers", .heading = RANKS)},
    {TRAIN, NUMBER("port", "N", "servers listen on this port and the next ones (any free)", .heading = RANKS)},
    {TRAIN, NUMBER("fusion", "BYTES", "most that one buffer holds (64 MiB)", .unit = "bytes", .heading = RANKS)},
    {TRAIN, NUMBER("timeout", "SECONDS", "give up when a rank has not answered for so long (60)", .unit = "seconds",
                   .heading = RANKS)},
    {TRAIN, WRITES("trace", "FILE.json", "write the measured steps as a trace, for 'paceline analyze'")},

    {VALIDATE, TEXT("data", "DIR", "the folder with the tables of the cases", .letter = 'd')},
    {VALIDATE, FLAG("live", "train on this machine, and compare with predictions")},
    {VALIDATE, LIST("model", "NAME", "live: a model to train (default: lenet, alexnet)")},
    {VALIDATE, LIST("batch", "N", "live: a batch to train it with (default: 8, 32)")},
    {VALIDATE, NUMBER("runs", "N", "live: train each N times, in turn (3)", .unit = "runs")},
    {VALIDATE, NUMBER("steps", "N", "live: measure N steps in each run (10)", .unit = "steps")},
    {VALIDATE, NUMBER("threads", "N", "live: CPU threads (1)", .unit = "threads")},
    {VALIDATE, LIST("ranks", "N", "live: so many ranks (1)")},
    {VALIDATE, TEXT("runner", "NAME", "live: who trains: paceline (default) or torch")},
    {VALIDATE, LIST("approach", "NAME", "live: exchange gradients so (default: mpi-opt, horovod-mpi)")},
    {VALIDATE, LIST("link", "RATE", "live: memory (default), or 1Gb/s: ranks are hosts behind such links")},
    {VALIDATE, FLAG("quick", "live: calibrate in half a minute, not in ten, and learn less")},
    {VALIDATE, TEXT("on", "DEVICE.yaml", "live: calibrate's entry (default: calibrate now)")},
    {VALIDATE, LIST("fit", "FILE", "live: use what 'paceline fit' learned of calibrate's rows")},
    {VALIDATE, TEXT("cases", "FILE", "the cases (default: accuracy/cases.yaml, or those built in)")},
    {VALIDATE, WRITES("ledger", "FILE", "write the figures into this ledger")},
};

const size_t pace_option_table_count = PACE_COUNT(pace_option_table);
