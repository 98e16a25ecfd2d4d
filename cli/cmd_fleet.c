#include "fleet_other.h"
#include "predict_rows.h"
#include "processes.h"
#include "say.h"
#include "verbs.h"

#include <stdio.h>

int cmd_fleet(cli_arguments *arguments) {
    pace_fleet_options options = {.context = arguments->context,
                                  .command = arguments->command,
                                  .command_count = (size_t)arguments->command_count};
    cli_list sweep = {0}, price = {0};
    cli_output output = {0};
    cli_fleet_other other = {0};
    double most_rejected = 0.01;
    const cli_option table[] = {
        CLI_OUTPUT_OPTIONS(output),
        {"--on", 0, OPTION_TEXT, "MACHINE", "pai-2018 (default), dgx-h100, \"pai-v100 network=100Gb/s\"",
         &options.assume.on},
        {"--fit", 0, OPTION_TEXT, "FILE", "efficiencies that 'paceline fit --kind job' learned",
         &options.assume.fit_path},
        CLI_JOB_OPTIONS(options.assume),
        {"--sweep", 0, OPTION_LIST, "RESOURCE=RATES", "ask about these, such as network=200Gb/s,400Gb/s", &sweep},
        {"--price", 0, OPTION_LIST, "RESOURCE=RATE:P", "what a cNode's upgrade costs: network=100Gb/s:3000", &price},
        {"--columns", 0, OPTION_TEXT, "THEIRS=OURS,...", "columns that have other names", &options.columns},
        {"--database-table", 0, OPTION_TEXT, "NAME", "of a database: jobs, or its only one", &options.table},
        {"--rejects", 0, OPTION_TEXT, "FILE", "list the refused rows there, with line and reason",
         &options.rejects_path},
        {"--most-rejected", 0, OPTION_NUMBER, "SHARE", "of refused rows, beyond which the run fails (0.01)",
         &most_rejected},
        {"--repeats", 0, OPTION_FLAG, NULL, "ids may be there twice", &options.repeats},
        {"--exact", 0, OPTION_FLAG, NULL, "exact quantiles, in memory that grows with the jobs", &options.exact},
        CLI_FLEET_OTHER_OPTIONS(other),
    };
    bool helped;
    int operands =
        cli_parse("fleet", "FILE...",
                  "Where the time of a cluster goes, from tables of its jobs (CSV, plain, gzip or zstd; SQLite):\n"
                  "composition, bottlenecks, what AllReduce, faster hardware or other software would buy.",
                  table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands < 0) return CLI_USAGE;
    if (cli_fleet_other_asked(&other)) return cli_fleet_other_answer(&other, &output, arguments, operands);
    if (operands == 0) {
        cli_say("paceline fleet: expected a table of jobs, found none (see 'paceline fleet --help')");
        return CLI_USAGE;
    }
    pace_format format;
    if (!cli_output_format(&format, "fleet", &output)) return CLI_USAGE;
    if (!cli_spares_inputs("fleet", output.path, arguments, operands) ||
        !cli_spares_inputs("fleet", options.rejects_path, arguments, operands))
        return CLI_USAGE;
    options.sweep = (pace_words){sweep.items, sweep.count};
    options.price = (pace_words){price.items, price.count};
    options.most_rejected = most_rejected;
    if (!(most_rejected > 0 && most_rejected <= 1)) {
        cli_say("paceline fleet: --most-rejected: expected a share above 0, at most 1, found %g", most_rejected);
        return CLI_USAGE;
    }
    options.progress = cli_progress(&output);
    if (!cli_processes_open(&options.processes, "fleet")) return CLI_MISSING;
    pace_report *report;
    pace_status status = pace_characterize(&report, arguments->words, (size_t)operands, &options);
    const pace_processes *processes = options.processes;
    int result = status == PACE_OK                  ? CLI_DONE
                 : processes && processes->rank > 0 ? cli_exit_status(status) /* process 0 says it */
                                                    : cli_fail("fleet", status);
    if (processes) processes->close(processes); /* after the message: mpirun ends all when the first has failed */
    if (status != PACE_OK) return result;
    return report ? cli_output_report("fleet", report, format, &output) : CLI_DONE;
}
