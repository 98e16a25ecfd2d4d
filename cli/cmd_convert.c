#include "output.h"
#include "say.h"
#include "verbs.h"

int cmd_convert(cli_arguments *arguments) {
    pace_convert_options options = {.context = arguments->context,
                                    .command = arguments->command,
                                    .command_count = (size_t)arguments->command_count};
    cli_output output = {0};
    cli_list set = {0};
    const cli_option table[] = {
        {"--output", 'o', OPTION_TEXT, "OUT.et", "the Chakra trace to write; of several ranks OUT.0.et, OUT.1.et, ...",
         &options.output},
        {"--set", 0, OPTION_LIST, "KEY=VALUE", "a model's configuration or its parameters", &set},
        {"--step-regex", 0, OPTION_TEXT, "REGEX", "annotations that mark steps (POSIX extended)", &options.step_regex},
        {"--format", 'f', OPTION_TEXT, "FORMAT", "of the answer: table (default), json, csv or html", &output.format},
        {"--table", 't', OPTION_TEXT, "KEY", "csv: which table", &output.table},
        {"--quiet", 'q', OPTION_FLAG, NULL, "no warnings, no progress", &output.quiet},
    };
    bool helped;
    int operands = cli_parse("convert", "TRACE... | MODEL", "Writes traces or a model as Chakra execution traces.",
                             table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands == 0) cli_say("paceline convert: expected a trace or a model (see 'paceline convert --help')");
    if (operands <= 0) return CLI_USAGE;
    pace_format format;
    if (!cli_output_format(&format, "convert", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("convert", options.output, arguments, operands)) return CLI_USAGE;
    options.set = (pace_words){set.items, set.count};
    options.progress = cli_progress(&output);
    pace_report *report;
    pace_status status = pace_convert(&report, arguments->words, (size_t)operands, &options);
    cli_progress_end();
    if (status != PACE_OK) return cli_fail("convert", status);
    return cli_output_report("convert", report, format, &output);
}
