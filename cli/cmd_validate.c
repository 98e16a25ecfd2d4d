#include "output.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>

int cmd_validate(cli_arguments *arguments) {
    pace_validate_options options = {.context = arguments->context,
                                     .command = arguments->command,
                                     .command_count = (size_t)arguments->command_count};
    cli_output output = {0};
    const cli_option table[] = {
        CLI_OUTPUT_OPTIONS(output),
        {"--data", 'd', OPTION_TEXT, "DIR", "the folder the cases' tables lie in", &options.data_path},
        {"--cases", 0, OPTION_TEXT, "FILE", "the cases (default accuracy/cases.yaml)", &options.cases_path},
        {"--ledger", 0, OPTION_TEXT, "FILE", "put the figures into this ledger", &options.ledger_path},
    };
    bool helped;
    int operands =
        cli_parse("validate", "[CASE-GLOB]",
                  "Recomputes figures of merit from the data at hand: rows are held out, the others fitted,\n"
                  "the held-out ones predicted. Exits with 1 when a bar is missed.",
                  table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands < 0) return CLI_USAGE;
    if (operands > 1 || !options.data_path) {
        cli_say("paceline validate: expected --data DIR and at most one pattern (see 'paceline validate --help')");
        return CLI_USAGE;
    }
    pace_format format;
    if (!cli_output_format(&format, "validate", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("validate", output.path, arguments, 0) ||
        !cli_spares_inputs("validate", options.ledger_path, arguments, 0))
        return CLI_USAGE;
    options.glob = operands ? arguments->words[0] : NULL;
    options.progress = cli_progress(&output);
    pace_report *report;
    size_t missed;
    pace_status status = pace_validate(&report, &missed, &options);
    if (status != PACE_OK) return cli_fail("validate", status);
    int result = cli_output_report("validate", report, format, &output);
    return result == CLI_DONE && missed > 0 ? CLI_NO : result;
}
