#include "output.h"
#include "say.h"
#include "verbs.h"

int cmd_machines(cli_arguments *arguments) {
    cli_output output = {0};
    const cli_option table[] = {CLI_OUTPUT_OPTIONS(output)};
    bool helped;
    int operands = cli_parse("machines", "[NAME]", "Lists the devices of the catalogue, or describes one.", table,
                             sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands > 1) cli_say("paceline machines: expected one name, found %d", operands);
    if (operands < 0 || operands > 1) return CLI_USAGE;
    pace_format format;
    if (!cli_output_format(&format, "machines", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("machines", output.path, arguments, operands)) return CLI_USAGE;
    pace_report *report;
    pace_status status = pace_machines(&report, arguments->context, operands ? arguments->words[0] : NULL);
    if (status != PACE_OK) return cli_fail("machines", status);
    return cli_output_report("machines", report, format, &output);
}
