#include "output.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_profiler(pace_analyze_options *options, const char *text) {
    char *end;
    if (!text) return true;
    options->profiler_guess = strcmp(text, "auto") == 0;
    if (options->profiler_guess) return true;
    options->profiler_event_us = strtod(text, &end);
    if (*text && !*end && options->profiler_event_us >= 0 && options->profiler_event_us <= 1e6) return true;
    cli_say("paceline analyze: --profiler-us: expected a number of at least 0, or auto, found '%.80s'", text);
    return false;
}

int cmd_analyze(cli_arguments *arguments) {
    pace_analyze_options options = {.context = arguments->context,
                                    .command = arguments->command,
                                    .command_count = (size_t)arguments->command_count};
    cli_output output = {0};
    const char *profiler = NULL;
    const cli_option table[] = {
        CLI_OUTPUT_OPTIONS(output),
        {"--step-regex", 0, OPTION_TEXT, "REGEX", "annotations that mark steps (POSIX extended)", &options.step_regex},
        {"--overheads", 0, OPTION_TEXT, "FILE", "write the host-overhead samples there (JSON)",
         &options.overheads_path},
        {"--profiler-us", 0, OPTION_TEXT, "US", "profiler cost to take off per recorded host event; auto = guess it",
         &profiler},
        {"--on", 0, OPTION_TEXT, "DEVICE", "the device, when the trace does not name it", &options.device},
        {"--samples", 0, OPTION_NUMBER, "N", "samples or tokens per step and rank, for throughput",
         &options.samples_per_step},
        {"--check", 0, OPTION_FLAG, NULL, "check the invariants of everything that is built", &options.check},
    };
    bool helped;
    int operands = cli_parse("analyze", "TRACE...",
                             "Reads PyTorch profiler traces (files, directories, globs, '-'; plain, gzip, zstd; one\n"
                             "rank or many) and tells where the time of a step goes and what to change first.",
                             table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands < 0) return CLI_USAGE;
    if (operands == 0) {
        cli_say("paceline analyze: expected at least one trace, found none (see 'paceline analyze --help')");
        return CLI_USAGE;
    }
    if (!read_profiler(&options, profiler)) return CLI_USAGE;
    pace_format format;
    if (!cli_output_format(&format, "analyze", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("analyze", output.path, arguments, operands) ||
        !cli_spares_inputs("analyze", options.overheads_path, arguments, operands))
        return CLI_USAGE;
    options.progress = cli_progress(&output);
    pace_report *report;
    pace_status status = pace_analyze(&report, arguments->words, (size_t)operands, &options);
    if (status != PACE_OK) return cli_fail("analyze", status);
    return cli_output_report("analyze", report, format, &output);
}
