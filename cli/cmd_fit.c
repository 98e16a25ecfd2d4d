#include "predict_rows.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>

int cmd_fit(cli_arguments *arguments) {
    pace_rows_options options = {.context = arguments->context,
                                 .command = arguments->command,
                                 .command_count = (size_t)arguments->command_count};
    cli_output output = {0};
    double seed = 0, probes = 0;
    const cli_option table[] = {
        {"--kind", 'k', OPTION_TEXT, "KIND", "kernel, exchange, step, scaling, job (by columns), overhead, profiler",
         &options.kind},
        {"--output", 'o', OPTION_TEXT, "FILE", "write the fit there", &options.fit_path},
        {"--split", 's', OPTION_TEXT, "HOW", "held out: shape (default), device, n,k; scaling: model, device, row",
         &options.split},
        {"--on", 0, OPTION_TEXT, "DEVICE", "the device (exchange: the machine) of rows that name none",
         &options.device},
        {"--collective", 0, OPTION_TEXT, "NAME", "exchange: of rows and logs that name none", &options.collective},
        {"--probes", 0, OPTION_NUMBER, "N", "exchange: sizes of a curve the score is fitted on (6)", &probes},
        CLI_JOB_OPTIONS(options.job),
        {"--seed", 0, OPTION_NUMBER, "N", "which groups are held out", &seed},
        {"--format", 'f', OPTION_TEXT, "FORMAT", "of the report: table (default), json, csv or html", &output.format},
        {"--quiet", 'q', OPTION_FLAG, NULL, "no warnings, no progress", &output.quiet},
    };
    bool helped;
    int operands = cli_parse("fit", "TRAIN.csv|LOG...",
                             "Learns from measurements (tables with columns such as device, m, n, k, latency_us) and\n"
                             "prints the error on rows it held out. 'paceline predict --rows' uses the file it writes.",
                             table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands < 0) return CLI_USAGE;
    if (operands == 0) {
        cli_say("paceline fit: expected at least one table, found none (see 'paceline fit --help')");
        return CLI_USAGE;
    }
    pace_format format;
    if (!cli_output_format(&format, "fit", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("fit", options.fit_path, arguments, operands)) return CLI_USAGE;
    options.seed = (uint64_t)seed;
    options.probes = probes >= 0 && probes <= 1024 ? (int)probes : -1;
    options.progress = cli_progress(&output);
    pace_report *report;
    pace_status status = pace_fit(&report, arguments->words, (size_t)operands, &options);
    if (status != PACE_OK) return cli_fail("fit", status);
    return cli_output_report("fit", report, format, &output);
}
