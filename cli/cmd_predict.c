#include "output.h"
#include "predict_rows.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <string.h>

static int predict_exchange(pace_exchange_options *options, cli_output *output) {
    pace_format format;
    pace_report *report;
    if (!cli_output_format(&format, "predict", output)) return CLI_USAGE;
    pace_status status = pace_predict_exchange(&report, options);
    if (status != PACE_OK) return cli_fail("predict", status);
    return cli_output_report("predict", report, format, output);
}

static int predict_job(pace_job_options *options, cli_output *output) {
    pace_format format;
    pace_report *report;
    if (!cli_output_format(&format, "predict", output)) return CLI_USAGE;
    pace_status status = pace_predict_job(&report, options);
    if (status != PACE_OK) return cli_fail("predict", status);
    return cli_output_report("predict", report, format, output);
}

/* Of a collective; of traces, where there are paths. */
static int simulate(pace_simulate_options *options, const pace_exchange_options *asked, const char *const *paths,
                    int path_count, cli_output *output) {
    pace_format format;
    pace_report *report;
    options->on = asked->on;
    options->collective = asked->collective;
    options->bytes = asked->bytes;
    options->algorithm = asked->algorithm;
    if (asked->library || asked->protocol || asked->fit_path) {
        cli_say("paceline predict: --simulate takes no --library, --protocol or --fit");
        return CLI_USAGE;
    }
    if (path_count && (options->bytes || options->ranks != 0 || options->jobs != 0 || options->straggler.count ||
                       options->background.count)) {
        cli_say("paceline predict: --simulate of traces takes no --bytes, --ranks, --jobs, --straggler or "
                "--background");
        return CLI_USAGE;
    }
    if (!cli_output_format(&format, "predict", output)) return CLI_USAGE;
    pace_status status = path_count ? pace_simulate_traces(&report, paths, (size_t)path_count, options)
                                    : pace_simulate_exchange(&report, options);
    if (status != PACE_OK) return cli_fail("predict", status);
    return cli_output_report("predict", report, format, output);
}

static int predict_scaling(const char *const *inputs, size_t count, pace_scaling_options *options,
                           const pace_predict_options *others, cli_output *output) {
    pace_format format;
    pace_report *report;
    options->command = others->command;
    options->command_count = others->command_count;
    if (others->on.count == 1) options->on = others->on.items[0];
    options->batch = others->batch;
    options->set = others->set;
    options->jitter = others->jitter;
    options->samples = others->samples;
    options->from = others->from;
    options->step_regex = others->step_regex;
    if (!cli_output_format(&format, "predict", output)) return CLI_USAGE;
    pace_status status = pace_predict_scaling(&report, inputs, count, options);
    if (status != PACE_OK) return cli_fail("predict", status);
    return cli_output_report("predict", report, format, output);
}

/* --- which options go together ------------------------------------------------------------------------------------ */

static const double not_given = -1; /* of numbers, none of which may be 0 */

static bool is_given(const cli_option *option) {
    if (option->type == OPTION_HEADING) return false;
    if (option->type == OPTION_FLAG) return *(const bool *)option->target;
    if (option->type == OPTION_TEXT) return *(const char *const *)option->target != NULL;
    if (option->type == OPTION_LIST) return ((const cli_list *)option->target)->count > 0;
    return *(const double *)option->target != 0;
}

/* Numbers that were not given become 0. False after a message, when one was given as 0. */
static bool take_numbers(const cli_option *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (table[i].type != OPTION_NUMBER) continue;
        double *number = table[i].target;
        if (*number == 0) {
            cli_say("paceline predict: %s: expected a number above 0, found 0", table[i].name);
            return false;
        }
        if (*number == not_given) *number = 0;
    }
    return true;
}

static const char output_options[] = " --format --output --table --quiet ";

/* Whether `list`, " --a --b ", has the name. */
static bool lists(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if (at[-1] == ' ' && at[length] == ' ') return true;
    return false;
}

/* Whether all that was given is of the mode. False after a message. */
static bool only(const cli_option *table, size_t count, const char *mode, const char *allowed) {
    for (size_t i = 0; i < count; i++) {
        if (!is_given(&table[i]) || lists(output_options, table[i].name) || lists(allowed, table[i].name)) continue;
        cli_say("paceline predict: %s takes no %s", mode, table[i].name);
        return false;
    }
    return true;
}

int cmd_predict(cli_arguments *arguments) {
    cli_list on = {0}, set = {0}, batch = {0}, precision = {0}, fuse = {0}, calibrate = {0}, scale = {0}, drop = {0},
             overheads = {0}, straggler = {0}, background = {0}, approach = {0};
    bool simulated = false;
    pace_simulate_options simulation = {.context = arguments->context,
                                        .command = arguments->command,
                                        .command_count = (size_t)arguments->command_count};
    pace_scaling_options scaling = {.context = arguments->context};
    bool weak = false;
    pace_predict_options options = {.context = arguments->context,
                                    .command = arguments->command,
                                    .command_count = (size_t)arguments->command_count};
    cli_rows rows = {.options = {.context = arguments->context,
                                 .command = arguments->command,
                                 .command_count = (size_t)arguments->command_count}};
    pace_exchange_options exchange = {.context = arguments->context,
                                      .command = arguments->command,
                                      .command_count = (size_t)arguments->command_count};
    pace_job_options job = {.context = arguments->context,
                            .command = arguments->command,
                            .command_count = (size_t)arguments->command_count};
    cli_output output = {0};
    const cli_option table[] = {
        CLI_OUTPUT_OPTIONS(output),
        CLI_HEADING("what is run, and where"),
        {"--on", 0, OPTION_LIST, "DEVICE", "a machine's name, FILE.yaml, or \"a100 memory=2TB/s\"", &on},
        {"--from", 0, OPTION_TEXT, "DEVICE", "what it was measured on, when the trace does not name it", &options.from},
        {"--set", 0, OPTION_LIST, "KEY=VALUE", "a model's configuration (precision, framework, ...) or parameters",
         &set},
        {"--samples", 0, OPTION_NUMBER, "N", "samples it has, when shapes do not show it", &options.samples},
        {"--step-regex", 0, OPTION_TEXT, "REGEX", "annotations that mark steps (POSIX extended)", &options.step_regex},
        CLI_HEADING("what if"),
        {"--batch", 0, OPTION_LIST, "N", "each rank's step had N samples", &batch},
        {"--precision", 0, OPTION_LIST, "NAME", "matrices were fp32, tf32, fp16, bf16 or fp8", &precision},
        {"--graph", 0, OPTION_FLAG, NULL, "the step were one captured device graph", &options.graph},
        {"--fuse", 0, OPTION_LIST, "REGEX", "chains of element-wise kernels so named were one each", &fuse},
        {"--scale", 0, OPTION_LIST, "REGEX:FACTOR", "kernels or operators so named took FACTOR times as long", &scale},
        {"--drop-overhead", 0, OPTION_LIST, "TYPE", "host overhead T1 ... T5 (or all) were none", &drop},
        {"--fuse-tables", 0, OPTION_FLAG, NULL, "embedding tables were looked up together", &options.fuse_tables},
        {"--balance-tables", 0, OPTION_FLAG, NULL, "embedding tables were spread evenly over ranks",
         &options.balance_tables},
        {"--overheads", 0, OPTION_LIST, "FILE", "host overheads to share, in place of its own (analyze --overheads)",
         &overheads},
        {"--calibrate", 0, OPTION_LIST, "TRACE=TRACE", "a step recorded here and there, to learn the move from",
         &calibrate},
        CLI_HEADING("a table of questions, and what was learned"),
        CLI_ROWS_OPTIONS(rows),
        CLI_HEADING("one job, or a table of them"),
        {"--job", 0, OPTION_TEXT, "KEY=VALUE,...", "architecture=ps_worker,flop=106G,... or FILE.yaml", &job.job},
        CLI_JOB_OPTIONS(job.assume),
        CLI_HEADING("how a step scales"),
        {"--workers", 0, OPTION_TEXT, "N,N", "a model's step on so many workers: 1..128, or 1,2,4,8", &scaling.workers},
        {"--approach", 0, OPTION_LIST, "NAME,NAME", "how workers exchange gradients: grpc, horovod-nccl, ...",
         &approach},
        {"--jitter", 0, OPTION_TEXT, "SHARE", "with --approach: how much workers' steps differ: 5%, 0 = not at all",
         &options.jitter},
        {"--weak", 0, OPTION_FLAG, NULL, "the batch is each one's (default)", &weak},
        {"--strong", 0, OPTION_FLAG, NULL, "the batch is that of all together", &scaling.strong},
        {"--one-worker", 0, OPTION_NUMBER, "RATE", "samples/s that were measured of one", &scaling.one_worker},
        CLI_HEADING("an exchange between ranks"),
        {"--collective", 0, OPTION_TEXT, "NAME", "allreduce (default), allgather, alltoall, ...", &exchange.collective},
        {"--bytes", 0, OPTION_TEXT, "SIZES", "8..1G (default), 1M,25MB, or 0,8..1G", &exchange.bytes},
        {"--library", 0, OPTION_TEXT, "NAME", "nccl, nccl-2.7, ... or textbook", &exchange.library},
        {"--algorithm", 0, OPTION_TEXT, "NAME", "instead of the library's choice", &exchange.algorithm},
        {"--protocol", 0, OPTION_TEXT, "NAME", "ll, ll128 or simple", &exchange.protocol},
        CLI_HEADING("an exchange or traces of all ranks, message by message"),
        {"--simulate", 0, OPTION_FLAG, NULL, "send every message; links are shared", &simulated},
        {"--ranks", 0, OPTION_NUMBER, "N", "the first N devices", &simulation.ranks},
        {"--jobs", 0, OPTION_NUMBER, "N", "N jobs that do the same side by side", &simulation.jobs},
        {"--straggler", 0, OPTION_LIST, "SHARE:RATE", "1%:0.5 = 1 % at half rate", &straggler},
        {"--background", 0, OPTION_LIST, "TRAFFIC", "30% of the network, or 0-8:10GB/s", &background},
        {"--unfolded", 0, OPTION_FLAG, NULL, "every rank, alike or not", &simulation.unfolded},
    };
    const size_t count = sizeof table / sizeof *table;
    bool helped;
    options.samples = scaling.one_worker = simulation.ranks = simulation.jobs = not_given;
    int operands = cli_parse("predict", "TRACE...|MODEL",
                             "Walks a step anew: as it is, and under every what-if, each alone and all together. A\n"
                             "what-if given several times is that many; --overheads given several times is pooled.",
                             table, count, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands < 0 || !take_numbers(table, count)) return CLI_USAGE;
    if (!cli_spares_inputs("predict", output.path, arguments, operands)) return CLI_USAGE;
    if (job.job && !rows.path && operands == 0 && on.count <= 1 && rows.fits.count <= 1) {
        if (!only(table, count, "--job", " --job --on --fit --overlap --contention --nvlink --efficiency "))
            return CLI_USAGE;
        job.assume.on = on.count ? on.items[0] : NULL;
        job.assume.fit_path = rows.fits.count ? rows.fits.items[0] : NULL;
        return predict_job(&job, &output);
    }
    if (rows.path && !job.job && operands == 0 && on.count <= 1 && rows.fits.count <= 1) {
        if (!only(table, count, "--rows",
                  " --rows --kind --on --fit --collective --overlap --contention --nvlink --efficiency "))
            return CLI_USAGE;
        rows.options.fit_path = rows.fits.count ? rows.fits.items[0] : NULL;
        rows.options.device = on.count ? on.items[0] : NULL;
        rows.options.collective = exchange.collective;
        rows.options.job = job.assume;
        return cli_predict_rows(&rows, &output);
    }
    bool only_simulated =
        simulation.ranks != 0 || simulation.jobs != 0 || straggler.count || background.count || simulation.unfolded;
    if (only_simulated && !simulated) {
        cli_say("paceline predict: --ranks, --jobs, --straggler, --background and --unfolded are of --simulate");
        return CLI_USAGE;
    }
    bool says_exchange =
        rows.options.kind ? strcmp(rows.options.kind, "exchange") == 0 : exchange.collective || exchange.bytes;
    bool of_exchange = operands == 0 && says_exchange;
    if (!rows.path && (of_exchange || (simulated && operands > 0)) && on.count <= 1 && rows.fits.count <= 1) {
        if (!only(table, count, simulated ? "--simulate" : "--kind exchange",
                  " --kind --on --fit --collective --bytes --library --algorithm --protocol --simulate --ranks --jobs "
                  "--straggler --background --unfolded "))
            return CLI_USAGE;
        exchange.on = on.count ? on.items[0] : NULL;
        exchange.fit_path = rows.fits.count ? rows.fits.items[0] : NULL;
        simulation.straggler = (pace_words){straggler.items, straggler.count};
        simulation.background = (pace_words){background.items, background.count};
        return simulated ? simulate(&simulation, &exchange, arguments->words, operands, &output)
                         : predict_exchange(&exchange, &output);
    }
    if (rows.path || job.job || operands == 0) {
        cli_say("paceline predict: expected %s (see 'paceline predict --help')",
                rows.path     ? "--rows alone, with one --on and one --fit at most"
                : job.job     ? "--job alone, with one --on and one --fit at most"
                : of_exchange ? "--kind exchange with one --on and one --fit at most"
                              : "a trace, an execution trace, a model, --rows, --job or --collective, found none");
        return CLI_USAGE;
    }
    pace_format format;
    options.on = (pace_words){on.items, on.count};
    options.set = (pace_words){set.items, set.count};
    options.calibrate = (pace_words){calibrate.items, calibrate.count};
    options.batch = (pace_words){batch.items, batch.count};
    options.precision = (pace_words){precision.items, precision.count};
    options.fuse = (pace_words){fuse.items, fuse.count};
    options.scale = (pace_words){scale.items, scale.count};
    options.drop_overhead = (pace_words){drop.items, drop.count};
    options.fits = (pace_words){rows.fits.items, rows.fits.count};
    options.overheads = (pace_words){overheads.items, overheads.count};
    bool ranks = false; /* of a model run on several: its step is walked */
    for (size_t i = 0; i < set.count; i++) ranks = ranks || strncmp(set.items[i], "dp=", 3) == 0;
    if (ranks && !scaling.workers && (approach.count > 1 || (approach.count && strchr(approach.items[0], ',')))) {
        fprintf(stderr,
                "paceline predict: with --set dp=N the step is walked by one --approach (several with --workers), "
                "found more\n");
        return CLI_USAGE;
    }
    if (approach.count == 1 && ranks && !scaling.workers) options.approach = approach.items[0];
    if (scaling.workers || (approach.count && !options.approach)) {
        scaling.approach = (pace_words){approach.items, approach.count};
        bool others = calibrate.count || precision.count || fuse.count || scale.count || drop.count ||
                      overheads.count || options.fuse_tables || options.balance_tables || options.graph ||
                      rows.fits.count;
        if (on.count > 1 || others || (weak && scaling.strong)) {
            cli_say(
                "paceline predict: --workers is of models and traces on one machine, with --approach, --batch, --set, "
                "--samples, --one-worker and --weak or --strong alone");
            return CLI_USAGE;
        }
        if (!only(
                table, count, "--workers",
                " --workers --approach --jitter --batch --on --set --samples --from --step-regex --one-worker --weak --strong "))
            return CLI_USAGE;
        return predict_scaling(arguments->words, (size_t)operands, &scaling, &options, &output);
    }
    if (!cli_output_format(&format, "predict", &output)) return CLI_USAGE;
    if (!only(table, count, "a step, without --workers or --kind exchange,",
              " --on --from --set --calibrate --batch --samples --precision --fuse --fuse-tables --balance-tables "
              "--scale --drop-overhead --graph --overheads --fit --step-regex --approach "
              "--jitter "))
        return CLI_USAGE;
    options.progress = cli_progress(&output);
    pace_report *report;
    pace_status status = pace_predict(&report, arguments->words, (size_t)operands, &options);
    if (status != PACE_OK) return cli_fail("predict", status);
    return cli_output_report("predict", report, format, &output);
}
