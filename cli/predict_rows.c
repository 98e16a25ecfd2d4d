#include "predict_rows.h"

#include <unistd.h>

int cli_predict_rows(const cli_rows *rows, cli_output *output) {
    pace_format format;
    pace_report *report;
    if (!output->format && !output->path && !isatty(STDOUT_FILENO)) output->format = "csv";
    if (!cli_output_format(&format, "predict", output)) return CLI_USAGE;
    pace_status status = pace_predict_rows(&report, rows->path, &rows->options);
    if (status != PACE_OK) return cli_fail("predict", status);
    return cli_output_report("predict", report, format, output);
}
