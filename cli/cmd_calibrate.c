#include "output.h"
#include "say.h"
#include "verbs.h"

#include "paceline/calibrate.h"

#include <signal.h>
#include <string.h>

static volatile sig_atomic_t interrupted;

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
    signal(SIGINT, SIG_DFL); /* a second one ends at once */
}

static bool stop(void *context) {
    (void)context;
    return interrupted;
}

/* "-o rows.csv" is the table of rows; other suffixes name the report. */
static bool is_table(const char *path) {
    size_t length = path ? strlen(path) : 0;
    return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

int cmd_calibrate(cli_arguments *arguments) {
    pace_calibrate_options options = {.command = arguments->command,
                                      .command_count = (size_t)arguments->command_count,
                                      .effort = PACE_EFFORT_DEFAULT};
    cli_output output = {0};
    bool quick = false, full = false;
    double threads = 0, device = 0;
    const cli_option table[] = {
        {"--output", 'o', OPTION_TEXT, "ROWS.csv", "the table of rows; what is there is kept and skipped",
         &options.rows_path},
        {"--entry", 'e', OPTION_TEXT, "DEVICE.yaml", "write a device entry, for --on DEVICE.yaml", &options.entry_path},
        {"--family", 0, OPTION_TEXT, "A,B", "these families alone (--list shows them)", &options.families},
        {"--quick", 0, OPTION_FLAG, NULL, "under a minute", &quick},
        {"--full", 0, OPTION_FLAG, NULL, "every grid; hours", &full},
        {"--list", 'l', OPTION_FLAG, NULL, "say what would be measured and how long it takes", &options.list},
        {"--name", 'n', OPTION_TEXT, "NAME", "of the device in rows and entry", &options.name},
        {"--memory", 0, OPTION_NUMBER, "BYTES", "the tensors of one point take at most so much", &options.memory_bytes},
        {"--threads", 0, OPTION_NUMBER, "N", "CPU threads; default one per core", &threads},
        {"--device", 0, OPTION_NUMBER, "N", "which CUDA device", &device},
        {"--format", 'f', OPTION_TEXT, "FORMAT", "of the report: table (default), json, csv or html", &output.format},
        {"--quiet", 'q', OPTION_FLAG, NULL, "no warnings, no progress", &output.quiet},
    };
    bool helped;
    int operands =
        cli_parse("calibrate", "[cpu|cuda]",
                  "Measures this machine: rows that 'paceline fit' learns from, and a device entry that --on\n"
                  "takes. A run that was stopped goes on where it was.",
                  table, sizeof table / sizeof *table, arguments->words, arguments->count, &helped);
    if (helped) return CLI_DONE;
    if (operands < 0) return CLI_USAGE;
    if (operands > 1 || (quick && full)) {
        cli_say("paceline calibrate: expected at most one of %s (see 'paceline calibrate --help')",
                operands > 1 ? "cpu and cuda" : "--quick and --full");
        return CLI_USAGE;
    }
    if (!(threads >= 0 && threads <= 4096) || !(device >= 0 && device <= 1024) || !(options.memory_bytes >= 0)) {
        cli_say("paceline calibrate: expected 1 to 4096 threads, a device from 0 on, bytes above 0");
        return CLI_USAGE;
    }
    if (options.rows_path && !is_table(options.rows_path)) {
        cli_say("paceline calibrate: --output: expected a file ending in .csv, found '%.80s'", options.rows_path);
        return CLI_USAGE;
    }
    if (options.rows_path && options.entry_path && strcmp(options.rows_path, options.entry_path) == 0) {
        cli_say("paceline calibrate: expected two files for --output and --entry, found '%.80s'", options.rows_path);
        return CLI_USAGE;
    }
    pace_format format;
    if (!cli_output_format(&format, "calibrate", &output) ||
        !cli_spares_inputs("calibrate", options.entry_path, arguments, 0))
        return CLI_USAGE;
    if (operands == 1) options.target = arguments->words[0];
    options.effort = quick ? PACE_EFFORT_QUICK : full ? PACE_EFFORT_FULL : PACE_EFFORT_DEFAULT;
    options.threads = (int)threads;
    options.device = (int)device;
    options.progress = cli_progress(&output);
    options.stop = stop;
    signal(SIGINT, on_interrupt);
    pace_report *report;
    pace_status status = pace_calibrate(&report, &options);
    if (status != PACE_OK) return cli_fail("calibrate", status);
    return cli_output_report("calibrate", report, format, &output);
}
