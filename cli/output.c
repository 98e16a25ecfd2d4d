#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *name, *suffix;
    pace_format format;
} formats[] = {
    {"table", ".txt", PACE_FORMAT_TABLE},
    {"json", ".json", PACE_FORMAT_JSON},
    {"csv", ".csv", PACE_FORMAT_CSV},
    {"html", ".html", PACE_FORMAT_HTML},
    {"perfetto", ".perfetto.json", PACE_FORMAT_PERFETTO},
};
enum { FORMATS = sizeof formats / sizeof *formats };

static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), want = strlen(end);
    return length >= want && strcmp(text + length - want, end) == 0;
}

static bool choose_format(pace_format *out, const char *verb, const cli_output *output) {
    *out = PACE_FORMAT_TABLE;
    if (output->path && !output->format)
        for (size_t i = 0; i < FORMATS; i++)
            if (ends_with(output->path, formats[i].suffix)) *out = formats[i].format;
    if (!output->format) return true;
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(output->format, formats[i].name) == 0) {
            *out = formats[i].format;
            return true;
        }
    }
    fprintf(stderr, "paceline %s: --format: expected table, json, csv, html or perfetto, found '%s'\n", verb,
            output->format);
    return false;
}

bool cli_output_format(pace_format *out, const char *verb, const cli_output *output) {
    if (!choose_format(out, verb, output)) return false;
    if (!output->table || *out == PACE_FORMAT_CSV) return true;
    fprintf(stderr, "paceline %s: --table chooses one table for csv: expected --format csv with it\n", verb);
    return false;
}

bool cli_spares_inputs(const char *verb, const char *path, const char *const *inputs, int count) {
    struct stat target, input;
    if (!path || stat(path, &target) != 0 || !S_ISREG(target.st_mode)) return true;
    for (int i = 0; i < count; i++) {
        if (stat(inputs[i], &input) != 0 || input.st_ino != target.st_ino || input.st_dev != target.st_dev) continue;
        fprintf(stderr, "paceline %s: %s: is an input: expected another file to write to\n", verb, path);
        return false;
    }
    return true;
}

static bool progress_shown;

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total) {
    (void)context;
    progress_shown = true;
    if (total) fprintf(stderr, "\r%s %3.0f %%", what, 100.0 * (double)done / (double)total);
    else fprintf(stderr, "\r%s %.0f MB", what, (double)done / 1e6);
}

pace_progress_fn cli_progress(const cli_output *output) {
    return !output->quiet && isatty(STDERR_FILENO) ? show_progress : NULL;
}

void cli_progress_end(void) {
    if (progress_shown) fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

static int write_file(void *context, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, context) == length) return 0;
    return errno ? errno : EIO;
}

int cli_fail(const char *verb, pace_status status) {
    cli_progress_end();
    fprintf(stderr, "paceline %s: %s\n", verb, pace_message());
    return status == PACE_E_USAGE                                ? CLI_USAGE
           : status == PACE_E_MISSING || status == PACE_E_MEMORY ? CLI_MISSING
                                                                 : CLI_INPUT;
}

static int write_report(const char *verb, const pace_report *report, pace_format format, const cli_output *output,
                        FILE *file, const char *name) {
    pace_write_options options = {.table = output->table};
    struct winsize size;
    bool terminal = file == stdout && isatty(STDOUT_FILENO);
    const char *term = getenv("TERM");
    options.color = terminal && !getenv("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
        options.width = size.ws_col > 160 ? 160 : size.ws_col;
    pace_status status = pace_report_write(report, format, &options, write_file, file);
    if (status != PACE_OK && status != PACE_E_IO) return cli_fail(verb, status);
    errno = 0;
    if (fflush(file) != 0 || status == PACE_E_IO) {
        fprintf(stderr, "paceline %s: %s: could not be written: %s\n", verb, name,
                errno ? strerror(errno) : pace_message());
        return CLI_INPUT;
    }
    return CLI_DONE;
}

/* A file appears whole or not at all: written beside its place, then renamed. */
static int write_to_path(const char *verb, const pace_report *report, pace_format format, const cli_output *output) {
    struct stat about;
    char beside[4096];
    bool special = stat(output->path, &about) == 0 && !S_ISREG(about.st_mode);
    int length = snprintf(beside, sizeof beside, special ? "%s" : "%s.part", output->path);
    FILE *file = length < (int)sizeof beside ? fopen(beside, "wb") : NULL;
    if (!file) {
        fprintf(stderr, "paceline %s: %s: cannot be created: %s\n", verb, output->path, strerror(errno));
        return CLI_INPUT;
    }
    int result = write_report(verb, report, format, output, file, output->path);
    if (fclose(file) != 0 && result == CLI_DONE) {
        fprintf(stderr, "paceline %s: %s: could not be written: %s\n", verb, output->path, strerror(errno));
        result = CLI_INPUT;
    }
    if (!special && result == CLI_DONE && rename(beside, output->path) != 0) {
        fprintf(stderr, "paceline %s: %s: could not be replaced: %s\n", verb, output->path, strerror(errno));
        result = CLI_INPUT;
    }
    if (!special && result != CLI_DONE) unlink(beside);
    return result;
}

int cli_output_report(const char *verb, pace_report *report, pace_format format, const cli_output *output) {
    cli_progress_end();
    for (size_t i = 0; !output->quiet && i < pace_report_warning_count(report); i++)
        fprintf(stderr, "paceline %s: warning: %s\n", verb, pace_report_warning(report, i));
    int result = output->path && strcmp(output->path, "-") != 0
                     ? write_to_path(verb, report, format, output)
                     : write_report(verb, report, format, output, stdout, "standard output");
    pace_report_free(report);
    return result;
}
