#include "output.h"
#include "say.h"
#include "verbs.h"

int cmd_compare(cli_arguments *arguments) {
    pace_analyze_options options = {.context = arguments->context,
                                    .command = arguments->command,
                                    .command_count = (size_t)arguments->command_count};
    cli_output output = {0};
    const cli_option table[] = {
        CLI_OUTPUT_OPTIONS(output),
        {"--step-regex", 0, OPTION_TEXT, "REGEX", "annotations that mark steps (POSIX extended)", &options.step_regex},
    };
    bool helped;
    int operands =
        cli_parse("compare", "A B",
                  "Puts two traces (or directories of ranks) side by side: matrix, operators, where the time went.",
                  table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands >= 0 && operands != 2) cli_say("paceline compare: expected two traces, found %d", operands);
    if (operands != 2) return CLI_USAGE;
    pace_format format;
    if (!cli_output_format(&format, "compare", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("compare", output.path, arguments, operands)) return CLI_USAGE;
    options.progress = cli_progress(&output);
    pace_report *report;
    pace_status status = pace_compare(&report, arguments->words[0], arguments->words[1], &options);
    if (status != PACE_OK) return cli_fail("compare", status);
    return cli_output_report("compare", report, format, &output);
}
