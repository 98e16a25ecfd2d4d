#include "fleet_other.h"
#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool cli_fleet_other_asked(const cli_fleet_other *other) {
    return other->iterations || other->pods || other->nodes || other->synthesize > 0;
}

static int usage(const char *expected) {
    cli_say("paceline fleet: expected %s (see 'paceline fleet --help')", expected);
    return CLI_USAGE;
}

static int synthesize(const cli_fleet_other *other, const cli_output *output, pace_context *context) {
    bool to_file = output->path && strcmp(output->path, "-") != 0;
    const pace_synthesize_options options = {.context = context,
                                             .jobs = (uint64_t)other->synthesize,
                                             .seed = (uint64_t)other->seed,
                                             .path = to_file ? output->path : NULL,
                                             .write = cli_write,
                                             .write_context = stdout,
                                             .progress = cli_progress(output)};
    if (output->format && strcmp(output->format, "csv") != 0) return usage("--format csv with --synthesize");
    pace_status status = pace_synthesize_jobs(&options);
    cli_progress_end();
    return status == PACE_OK ? CLI_DONE : cli_fail("fleet", status);
}

int cli_fleet_other_answer(const cli_fleet_other *other, const cli_output *output, cli_arguments *arguments,
                           int operands) {
    bool pods = other->pods || other->nodes, made = other->synthesize > 0;
    pace_cluster_options options = {arguments->context, arguments->command, (size_t)arguments->command_count};
    pace_format format;
    pace_report *report;
    pace_status status;
    if (other->iterations + pods + made != 1) return usage("one of --iterations, --pods with --nodes, --synthesize");
    if (made)
        return operands == 0 ? synthesize(other, output, arguments->context) : usage("no files with --synthesize");
    if (!cli_output_format(&format, "fleet", output)) return CLI_USAGE;
    if (pods) {
        if (!other->pods || !other->nodes || operands > 0) return usage("--pods FILE and --nodes FILE, and no others");
        if (!cli_spares_inputs("fleet", output->path, arguments, 0)) return CLI_USAGE;
        status = pace_cluster_capacity(&report, other->pods, other->nodes, &options);
    } else {
        if (operands == 0) return usage("tables of iterations, found none");
        if (!cli_spares_inputs("fleet", output->path, arguments, operands)) return CLI_USAGE;
        status = pace_stragglers(&report, arguments->words, (size_t)operands, &options);
    }
    return status == PACE_OK ? cli_output_report("fleet", report, format, output) : cli_fail("fleet", status);
}
