#include "output.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>

int cmd_models(cli_arguments *arguments) {
    cli_output output = {0};
    cli_list set = {0};
    const cli_option table[] = {{"--set", 0, OPTION_LIST, "KEY=VALUE",
                                 "the model's parameters, or precision, attention, sequence, tp", &set},
                                CLI_OUTPUT_OPTIONS(output)};
    bool helped;
    int operands = cli_parse("models", "[NAME | FILE.yaml[:NAME] | FILE.onnx]",
                             "Lists the models of the catalogue, or describes one layer by layer.", table,
                             sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands > 1) cli_say("paceline models: expected one name, found %d", operands);
    if (operands < 0 || operands > 1) return CLI_USAGE;
    pace_format format;
    if (!cli_output_format(&format, "models", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("models", output.path, arguments, operands)) return CLI_USAGE;
    pace_report *report;
    pace_words words = {set.items, set.count};
    pace_status status = pace_models(&report, arguments->context, operands ? arguments->words[0] : NULL, &words);
    if (status != PACE_OK) return cli_fail("models", status);
    return cli_output_report("models", report, format, &output);
}
