/*
 * Paceline: where the time of a training step goes, and what to change first.
 *
 * The public C API: ask a question, get a report, write it in any format.
 *
 * Conventions. Every function that can fail returns a pace_status; the text of the last failure on this
 * thread is pace_message(). Out-pointers come first, are owned by the caller and written only on success.
 * The library never prints, exits, or changes locale, signals or directory.
 */
#ifndef PACELINE_H
#define PACELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define PACE_API __attribute__((visibility("default")))
#else
#define PACE_API
#endif

/** What became of a call. */
typedef enum {
    PACE_OK = 0,
    PACE_E_USAGE,    /**< the question itself is wrong (an unknown option value, a bad regular expression) */
    PACE_E_INPUT,    /**< an input is malformed or holds nothing that can answer the question */
    PACE_E_IO,       /**< a file could not be opened, read or written */
    PACE_E_MEMORY,   /**< out of memory */
    PACE_E_LIMIT,    /**< an input exceeds a safety limit (nesting, decompressed size, …) */
    PACE_E_MISSING,  /**< this build or machine lacks something (a catalogue entry, a package) */
    PACE_E_INTERNAL, /**< an invariant of the library does not hold: a bug */
} pace_status;

/** The text of this thread's last failure: file, place, expected, found. Never NULL; borrowed, valid until
 * the next failing call on this thread. */
PACE_API const char *pace_message(void);

/** The library's version, "MAJOR.MINOR.PATCH". */
PACE_API const char *pace_version(void);

/** Edits (letters changed, dropped or added; upper and lower case alike) that make one word of the other: whoever has
 * the fewest is what was meant. Past 63 letters words are cut. Wagner and Fischer, 1974. */
PACE_API size_t pace_word_edits(const char *a, const char *b);

/** What questions are asked of: the catalogue of machines, devices and models. Open it once and keep it: what was
 * read of the catalogue stays read. Several threads may ask of one context at a time. */
typedef struct pace_context pace_context;

/** Opens the catalogue that is compiled in, or the directory that the environment variable PACELINE_CATALOG names now:
 * files that are there take the place of those compiled in. Errors: PACE_E_MEMORY. */
PACE_API pace_status pace_context_open(pace_context **out);

/** Whatever was asked of it must be done. NULL is allowed. */
PACE_API void pace_context_free(pace_context *context);

/** Whether a file of this name in a directory is read as a trace: "rank0.json.gz", "rank0.et", … */
PACE_API bool pace_is_trace_name(const char *name);

/** An answer: sentences, tables, matrices, lanes and notes, rendered by pace_report_write(). */
typedef struct pace_report pace_report;

typedef enum {
    PACE_FORMAT_TABLE,
    PACE_FORMAT_JSON,
    PACE_FORMAT_CSV,
    PACE_FORMAT_HTML,
    PACE_FORMAT_PERFETTO,
} pace_format;

/** Where rendered bytes go: returns 0, or an errno value when the bytes could not be written. */
typedef int (*pace_write_fn)(void *context, const void *bytes, size_t length);

/** How a report is rendered. Zero-initialise for defaults. */
typedef struct {
    /** CSV: the one table to write, by its keys as in JSON ("critical_path.top", "step_matrices.0.matrix"); the last
     * key alone will do where one table has it. NULL = the report's main table */
    const char *table;
    bool color; /**< table: use ANSI colour */
    int width;  /**< table: columns available; 0 = 100 */
} pace_write_options;

/** Renders `report`. Errors: PACE_E_IO when `write` fails, PACE_E_USAGE for an unknown table key (the message
 * lists the keys there are) or a format this report cannot take. */
PACE_API pace_status pace_report_write(const pace_report *report, pace_format format, const pace_write_options *options,
                                       pace_write_fn write, void *context);

/** The number of warnings the report carries, and each one's text (borrowed). */
PACE_API size_t pace_report_warning_count(const pace_report *report);
PACE_API const char *pace_report_warning(const pace_report *report, size_t index);

/* --- what a report holds, without rendering ----------------------------------------------------------------------- */

/** What kind of thing stands under a path or in a column. */
typedef enum {
    PACE_VALUE_NOTHING, /**< null; a column: no cell has a value */
    PACE_VALUE_INTEGER, /**< a column: every cell has one */
    PACE_VALUE_REAL,    /**< a column: numbers, NaN where there is none */
    PACE_VALUE_BOOL,
    PACE_VALUE_TEXT, /**< a column: text in one cell at least */
} pace_value_kind;

/** One value. Read only the member that `kind` names; of an integer and a bool, `real` holds the number too. */
typedef struct {
    const char *path; /**< the keys of JSON, joined by dots; items of lists by number: "ranks.0.span_ns". Borrowed */
    pace_value_kind kind;
    int64_t integer;  /**< 0 or 1 of a bool */
    double real;      /**< NaN of what is no number */
    const char *text; /**< NULL of what is no text; borrowed from the report */
} pace_value;

/** Anything but 0 ends the visit. */
typedef int (*pace_value_fn)(void *context, const pace_value *value);

/** Visits every value in the order of the document; matrices are visited cell by cell ("matrix.forward.copy_ns"), tables
 * are not. Returns what `visit` returned last. */
PACE_API int pace_report_visit_values(const pace_report *report, pace_value_fn visit, void *context);

/** The number under a path; 0 or 1 of a bool. Errors: PACE_E_USAGE when there is none; the message names the closest
 * path. */
PACE_API pace_status pace_report_value(const pace_report *report, double *out, const char *path);

/** A table, as pace_report_visit_tables() shows it. Borrowed. */
typedef struct {
    const char *path; /**< as pace_write_options has it: "critical_path.top" */
    size_t row_count, column_count;
} pace_table_shape;

/** Anything but 0 ends the visit. */
typedef int (*pace_table_fn)(void *context, const pace_table_shape *table);

/** Visits every table and matrix in the order of the document. Returns what `visit` returned last. */
PACE_API int pace_report_visit_tables(const pace_report *report, pace_table_fn visit, void *context);

/** A column of a table. Borrowed. */
typedef struct {
    const char *key; /**< as in JSON, unit included: "step_ns" */
    pace_value_kind kind;
} pace_column_shape;

/** Anything but 0 ends the visit. */
typedef int (*pace_column_fn)(void *context, const pace_column_shape *column);

/** Visits the columns of a table; `*ended` is what `visit` returned last. Errors: PACE_E_USAGE for an unknown table. */
PACE_API pace_status pace_report_visit_columns(const pace_report *report, int *ended, const char *table,
                                               pace_column_fn visit, void *context);

/** Copies a column into `cells`, which has room for every row of the table: integers only where every cell is one, reals
 * with NaN where there is no number, texts (borrowed from the report) with NULL where there is no text. Errors:
 * PACE_E_USAGE for an unknown table, a column that it does not have or one that holds no integers. */
PACE_API pace_status pace_report_column_integers(const pace_report *report, int64_t *cells, const char *table,
                                                 size_t column);
PACE_API pace_status pace_report_column_reals(const pace_report *report, double *cells, const char *table,
                                              size_t column);
PACE_API pace_status pace_report_column_texts(const pace_report *report, const char **cells, const char *table,
                                              size_t column);

PACE_API void pace_report_free(pace_report *report);

/** Called now and then during long work. `done` and `total` are in bytes of input; total 0 = unknown. */
typedef void (*pace_progress_fn)(void *context, const char *what, uint64_t done, uint64_t total);

/** Options of pace_analyze() and pace_compare(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *step_regex;     /**< POSIX extended regular expression of step annotations; NULL = find them */
    const char *overheads_path; /**< write the host-overhead samples to this file; NULL = do not */
    double profiler_event_us;   /**< profiler cost to take off per recorded host event, microseconds */
    bool profiler_guess;        /**< guess that cost from the trace instead */
    const char *device;         /**< catalogue name of the device when the trace does not say; NULL = from the trace */
    double samples_per_step;    /**< samples (or tokens) a step trains on, for throughput; 0 = unknown */
    bool check;                 /**< run the invariant checker on everything that is built */
    pace_progress_fn progress;  /**< may be NULL */
    void *progress_context;
} pace_analyze_options;

/** Reads traces (files, directories, globs, "-"; one rank or many) and reports where the time of a step goes.
 * Errors: PACE_E_INPUT, PACE_E_IO, PACE_E_LIMIT as described by pace_message(). */
PACE_API pace_status pace_analyze(pace_report **out, const char *const *paths, size_t path_count,
                                  const pace_analyze_options *options);

/** Puts two traces side by side: matrix difference, operators matched, where the time went. */
PACE_API pace_status pace_compare(pace_report **out, const char *path_a, const char *path_b,
                                  const pace_analyze_options *options);

/** Words given to an option. */
typedef struct {
    const char *const *items;
    size_t count;
} pace_words;

/** Options of pace_predict(): what-ifs, each walked alone, and all together when there are several of different kinds.
 * Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    pace_words on;            /**< devices it would run on: names, files, changed figures */
    const char *from;         /**< device it was measured on; NULL = what the trace says */
    pace_words scale;         /**< "REGEX:FACTOR": kernels or operators so named take FACTOR times as long */
    pace_words drop_overhead; /**< "t1" … "t5" or "all": host overheads (Lin et al. 2022) that would be none */
    pace_words set;           /**< of a model: "KEY=VALUE" of its configuration or its parameters */
    const char *approach;     /**< of a model with dp > 1: how gradients are exchanged (catalog/approaches.yaml) */
    const char *jitter;   /**< with an approach: how much ranks' steps differ, "0.05" or "5%"; NULL = the catalogue's */
    pace_words calibrate; /**< "FROM_TRACE=TO_TRACE": steps recorded on both devices of a move */
    pace_words batch;     /**< samples a rank's step would have */
    double samples;       /**< as many as it has; 0 = inferred from shapes */
    pace_words precision; /**< "fp32", "tf32", "fp16", "bf16", "fp8": of matrix operations */
    pace_words fuse;      /**< regular expressions: chains of element-wise kernels so named that are fused */
    bool fuse_tables;     /**< embedding lookups of several tables in one kernel (Lin et al. 2022) */
    bool balance_tables;  /**< embedding tables spread evenly over the ranks */
    bool graph;           /**< the step as one captured device graph: launches cost nothing */
    pace_words fits;      /**< files of pace_fit(), the last that knows an operation's family answers */
    pace_words overheads; /**< files of host overheads, pooled, to use in place of the inputs' own */
    const char *step_regex;    /**< POSIX extended regular expression of step annotations; NULL = find them */
    pace_progress_fn progress; /**< may be NULL */
    void *progress_context;
} pace_predict_options;

/** Predicts what a step would take elsewhere: of traces (as pace_analyze() reads them), PyTorch execution traces, or
 * one model of the catalogue or a YAML file. Steps without times run on the first device of `on`. Errors: PACE_E_USAGE
 * for a what-if that cannot be understood, PACE_E_MISSING for an unknown device, and those of pace_analyze(). */
PACE_API pace_status pace_predict(pace_report **out, const char *const *paths, size_t path_count,
                                  const pace_predict_options *options);

/** Options of pace_convert(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *output;        /**< the file to write, "NAME.et"; of several ranks "NAME.RANK.et" */
    pace_words set;            /**< of a model: "KEY=VALUE" of its configuration or its parameters */
    const char *step_regex;    /**< POSIX extended regular expression of step annotations; NULL = find them */
    pace_progress_fn progress; /**< may be NULL */
    void *progress_context;
} pace_convert_options;

/** Writes traces, execution traces or one model of the catalogue or a YAML file as Chakra execution traces (protobuf),
 * and reports what was written and what the format has no place for. A file takes its name only when it is whole.
 * Errors: PACE_E_USAGE for another kind of output, PACE_E_IO when it cannot be written, and those of pace_predict(). */
PACE_API pace_status pace_convert(pace_report **out, const char *const *paths, size_t path_count,
                                  const pace_convert_options *options);

/** Lists the devices of the catalogue, or describes one when `name` is not NULL: a name, FILE.yaml, FILE.yaml:NAME, or
 * one of these with changed figures ("a100 memory=2TB/s"). */
PACE_API pace_status pace_machines(pace_report **out, pace_context *context, const char *name);

/** Lists the models of the catalogue, or describes one layer by layer when `name` is not NULL: a model's name,
 * "FILE.yaml", "FILE.yaml:NAME" or "FILE.onnx". `set` (may be NULL) holds "KEY=VALUE": the model's parameters
 * ("hidden=1024") or how it is run ("precision=fp16", "attention=math", "sequence=512"). */
PACE_API pace_status pace_models(pace_report **out, pace_context *context, const char *name, const pace_words *set);

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
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *kind;       /**< "kernel" (NULL), "exchange", "step", "job"; pace_fit() too: "overhead", "profiler" */
    const char *device;     /**< catalogue name or trace name for rows that name none; NULL = as the fit or rows say */
    const char *fit_path;   /**< pace_fit(): the file to write; pace_predict_rows(): the fit to use, NULL = none */
    const char *split;      /**< pace_fit(): rows held out together: "shape" (NULL), "device", or columns: "n,k" */
    uint64_t seed;          /**< pace_fit(): which groups are held out */
    const char *collective; /**< kind "exchange": of rows that name none; NULL = they must */
    int probes;             /**< pace_fit(), kind "exchange": sizes of a curve that are fitted for the score; 0 = 6 */
    pace_job_assumptions job;  /**< kind "job"; its machine is `device`, its fit `fit_path` */
    pace_progress_fn progress; /**< may be NULL */
    void *progress_context;
} pace_rows_options;

/** Learns from tables of measurements (CSV, plain, gzip or zstd, "-"), writes options->fit_path (NULL = no file) and
 * reports the error on rows that were held out. Errors: PACE_E_INPUT for a missing column (the closest name is
 * suggested), nothing measured, too few rows; PACE_E_USAGE for an unknown kind or split. */
PACE_API pace_status pace_fit(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_rows_options *options);

/** Options of pace_predict_exchange(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *on;         /**< the machine: "dgx-h100*2", FILE.yaml, "a100*4 nvlink=300GB/s"; must be given */
    const char *collective; /**< "allreduce" (NULL), "allgather", "reducescatter", "alltoall", "broadcast", … */
    const char *bytes;      /**< sizes as nccl-tests counts them: "8..1G" (NULL), each twice the last, or "1M,25MB" */
    const char *library;    /**< "nccl", "nccl-2.7", "textbook"; NULL = the newest NCCL on NVIDIA's devices */
    const char *algorithm, *protocol; /**< NULL = as the library chooses */
    const char *fit_path;             /**< measured curves from pace_fit(); NULL = none */
} pace_exchange_options;

/** How long a collective takes on all devices of a machine, in the form of nccl-tests, with 90 % intervals. Errors:
 * PACE_E_USAGE, PACE_E_MISSING for an unknown machine, PACE_E_INPUT for one that is not connected. */
PACE_API pace_status pace_predict_exchange(pace_report **out, const pace_exchange_options *options);

/** Options of pace_predict_job(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *job; /**< "architecture=ps_worker,flop=105.8G,...", or the path of a YAML file of such members */
    pace_job_assumptions assume;
} pace_job_options;

/** A step of one job in closed form (Wang et al., IISWC 2019): its parts, its bottleneck, what it would be under other
 * architectures, on faster links, with other software, with 90 % intervals. Errors: PACE_E_USAGE, PACE_E_INPUT,
 * PACE_E_MISSING for an unknown machine. */
PACE_API pace_status pace_predict_job(pace_report **out, const pace_job_options *options);

/** Options of pace_simulate_exchange() and pace_simulate_traces(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *on;         /**< the machine, as in pace_exchange_options; must be given */
    const char *collective; /**< "allreduce" (NULL), … */
    const char *bytes;      /**< "8..1G" (NULL), or "1M,25MB" */
    const char *algorithm;  /**< of the textbook's ("ring", "rails", …); NULL = that of the least closed form */
    double ranks;           /**< the first so many devices, of all jobs; 0 = all */
    double jobs;            /**< so many do the same side by side; 0 = 1 */
    pace_words straggler;   /**< "1%:0.5": one rank in a hundred at half its rate; "7:0.5": rank 7 */
    pace_words background;  /**< "30%": of every link between nodes; "0-8:10GB/s": a flow between two ranks */
    bool unfolded;          /**< simulate every rank, alike or not */
} pace_simulate_options;

/** Simulates a collective on a machine's links, message by message, beside its closed form. Errors: as for
 * pace_predict_exchange(); PACE_E_USAGE when ranks do not divide or an algorithm cannot do it. */
PACE_API pace_status pace_simulate_exchange(pace_report **out, const pace_simulate_options *options);

/** Options of pace_predict_scaling(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *on;      /**< the machine; as many nodes as the workers need, or those it names; must be given */
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
} pace_scaling_options;

/** How training steps (models, and traces or execution traces of one worker) scale with workers that exchange
 * gradients: step time with its 90 % interval, throughput, efficiency, FP+BP and weight update, exposed exchange and
 * what limits it. Errors: PACE_E_USAGE for an unknown approach (the message lists them), workers that do not fill
 * nodes, a batch that does not divide; PACE_E_MISSING for an unknown machine or model. */
PACE_API pace_status pace_predict_scaling(pace_report **out, const char *const *inputs, size_t count,
                                          const pace_scaling_options *options);

/** Processes that share the work of one question, as mpirun starts them. */
typedef struct pace_processes pace_processes;
/** Given each process's bytes; anything but 0 is a failure. */
typedef int (*pace_gathered_fn)(void *context, int rank, const void *bytes, size_t length);
enum { PACE_PROCESSES_VERSION = 2 };
struct pace_processes {
    int version, rank, count;
    /** Called by all: process 0 is given everybody's bytes, its own first, then by rank; returns its first failure. */
    int (*gather)(const pace_processes *processes, const void *bytes, size_t length, pace_gathered_fn take,
                  void *context);
    /** Called by all: process r is given what each process has in bytes[r], by rank; returns the first failure. */
    int (*exchange)(const pace_processes *processes, const void *const *bytes, const size_t *lengths,
                    pace_gathered_fn take, void *context);
    void (*close)(const pace_processes *processes);
};

/** Options of pace_characterize(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
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
    pace_progress_fn progress;       /**< may be NULL */
    void *progress_context;
} pace_fleet_options;

/** Where the time of a cluster goes, from tables of its jobs (CSV, plain, gzip or zstd; SQLite): composition, shares
 * and bottlenecks by job and by cNode, what a move of PS/Worker jobs to AllReduce or PEARL, faster hardware and other
 * software would buy (Wang et al., IISWC 2019). Streams: memory does not grow with the jobs. Errors: PACE_E_INPUT,
 * PACE_E_IO, PACE_E_USAGE. */
PACE_API pace_status pace_characterize(pace_report **out, const char *const *paths, size_t path_count,
                                       const pace_fleet_options *options);

/** Replays execution traces of many ranks on a machine's links: files, directories; NAME.RANK.et of one NAME are one
 * workload. Of the options `on` counts, and `algorithm` for `collective`. Errors: PACE_E_USAGE, PACE_E_INPUT for what
 * is no trace, and for exchanges that do not meet or cannot finish: it names the operations that wait. */
PACE_API pace_status pace_simulate_traces(pace_report **out, const char *const *paths, size_t count,
                                          const pace_simulate_options *options);

/** Answers a table of questions: the rows come back with predicted, low, high (90 %), unit, rung and status. A row with
 * several measured columns comes back once for each, named in the column "question". Errors: as for pace_fit(). */
PACE_API pace_status pace_predict_rows(pace_report **out, const char *path, const pace_rows_options *options);

/** Options of pace_validate(). Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
    const char *cases_path; /**< NULL = "accuracy/cases.yaml" */
    const char *data_path;  /**< folder the cases' files lie in */
    const char *glob;       /**< only cases whose name matches; NULL = all */
    const char
        *ledger_path; /**< put the figures into this ledger, in place of those of the same cases; NULL = do not */
    pace_progress_fn progress; /**< may be NULL; `done` and `total` count cases */
    void *progress_context;
} pace_validate_options;

/** Recomputes figures of merit: fits and predicts rows that were held out, for every case. `*missed` = bars that do not
 * hold. Cases whose files are not there are named in a warning. Errors: PACE_E_INPUT, PACE_E_IO, PACE_E_USAGE. */
PACE_API pace_status pace_validate(pace_report **out, size_t *missed, const pace_validate_options *options);

/** Options of questions about a cluster. Zero-initialise for defaults. */
typedef struct {
    pace_context *context;      /**< what is asked; must be given */
    const char *const *command; /**< the command line to echo in the report; may be NULL */
    size_t command_count;
} pace_cluster_options;

/** Which workers held up synchronous jobs, when, and how much slower jobs of more workers would be: of tables with the
 * time of each worker and iteration, one job a file. Errors: PACE_E_INPUT, PACE_E_IO. */
PACE_API pace_status pace_stragglers(pace_report **out, const char *const *paths, size_t path_count,
                                     const pace_cluster_options *options);

/** What a cluster's GPUs were used for and which could not be: of a table of pods and one of nodes. Errors:
 * PACE_E_INPUT, PACE_E_IO. */
PACE_API pace_status pace_cluster_capacity(pace_report **out, const char *pods_path, const char *nodes_path,
                                           const pace_cluster_options *options);

/** Options of pace_synthesize_jobs(). */
typedef struct {
    pace_context *context; /**< what is asked; must be given */
    uint64_t jobs, seed;
    const char *path; /**< the file to write; NULL = give the bytes to `write` */
    pace_write_fn write;
    void *write_context;
    pace_progress_fn progress; /**< may be NULL; `done` and `total` count jobs */
    void *progress_context;
} pace_synthesize_options;

/** Makes up a table of jobs with the marginals that are published of Alibaba's PAI (Wang et al., IISWC 2019): the same
 * for the same seed. Errors: PACE_E_IO. */
PACE_API pace_status pace_synthesize_jobs(const pace_synthesize_options *options);

#ifdef __cplusplus
}
#endif

#endif
