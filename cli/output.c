#include "output.h"
#include "processes.h"
#include "say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
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
    {"html", ".htm", PACE_FORMAT_HTML},
    {"perfetto", ".perfetto.json", PACE_FORMAT_PERFETTO},
    {"junit", ".xml", PACE_FORMAT_JUNIT},
    {"folded", ".folded", PACE_FORMAT_FOLDED},
    {"folded_device", ".device.folded", PACE_FORMAT_FOLDED_DEVICE},
};
enum { FORMATS = sizeof formats / sizeof *formats };

/* Whatever the case. */
static bool ends_with(const char *text, const char *end) {
    size_t length = strlen(text), want = strlen(end);
    return length >= want && strcasecmp(text + length - want, end) == 0;
}

/* The length of a path without ".gz" or ".zst", which says that the file is compressed. */
static size_t length_packed(const char *path) {
    return strlen(path) - (ends_with(path, ".gz") ? 3 : ends_with(path, ".zst") ? 4 : 0);
}

static bool has_suffix(const char *path, const char *suffix) {
    size_t length = length_packed(path), want = strlen(suffix);
    return length >= want && strncasecmp(path + length - want, suffix, want) == 0;
}

/* A name without a suffix holds a table. */
static bool format_of_suffix(pace_format *out, const char *verb, const char *path) {
    struct stat about;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    bool known = !strchr(name, '.') || strcmp(path, "-") == 0 || (stat(path, &about) == 0 && !S_ISREG(about.st_mode));
    for (size_t i = 0; i < FORMATS; i++)
        if (has_suffix(path, formats[i].suffix)) {
            *out = formats[i].format;
            known = true;
        }
    if (!known)
        cli_say(
            "paceline %s: --output: %.200s: expected a name that ends with .txt, .json, .csv, .html, .perfetto.json, .folded or .xml, "
            "each also with .gz or .zst, or --format with it",
            verb, path);
    return known;
}

/* "--format html -o x.json" would be a page that its name calls something else. Perfetto's traces are JSON. */
bool cli_output_agrees(const char *verb, const cli_output *output) {
    const char *named = NULL;
    if (!output->format || !output->path) return true;
    for (size_t i = 0; i < FORMATS; i++)
        if (has_suffix(output->path, formats[i].suffix)) named = formats[i].name;
    if (!named || strcmp(named, "table") == 0 || strncmp(named, output->format, strlen(named)) == 0) return true;
    if (strcmp(named, "json") == 0 && strcmp(output->format, "perfetto") == 0) return true;
    cli_say("paceline %s: --format: %s, but --output %.200s is a name of %s: expected one of the two", verb,
            output->format, output->path, named);
    return false;
}

static bool choose_format(pace_format *out, const char *verb, const cli_output *output) {
    *out = PACE_FORMAT_TABLE;
    if (!output->format) return !output->path || format_of_suffix(out, verb, output->path);
    for (size_t i = 0; i < FORMATS; i++) {
        if (strcmp(output->format, formats[i].name) == 0) {
            *out = formats[i].format;
            return true;
        }
    }
    size_t number;
    (void)pace_option_word_find(&number, verb, "format", output->format);
    cli_say("paceline %s: --%s", verb, pace_message());
    return false;
}

bool cli_output_format(pace_format *out, const char *verb, const cli_output *output) {
    if (!choose_format(out, verb, output)) return false;
    if (output->path && !*output->path) {
        cli_say("paceline %s: --output: expected a file's name, found ''", verb);
        return false;
    }
    if (!output->table || *out == PACE_FORMAT_CSV) return true;
    cli_say("paceline %s: --table chooses one table for csv: expected --format csv with it", verb);
    return false;
}

static bool is_file(const struct stat *file, const char *path, size_t length) {
    char name[4096];
    struct stat other;
    if (length == 0 || length >= sizeof name) return false;
    memcpy(name, path, length);
    name[length] = '\0';
    return stat(name, &other) == 0 && other.st_ino == file->st_ino && other.st_dev == file->st_dev;
}

/* Whether a word is the file's name, or holds it: "--fit=A", "A=B", "A.yaml:NAME", "A.yaml*8 net=switch". */
static bool names_file(const struct stat *file, const char *word) {
    static const char between[] = "=:, *";
    if (is_file(file, word, strlen(word))) return true;
    for (const char *at = word; *at; at += strspn(at, between)) {
        size_t length = strcspn(at, between);
        if (is_file(file, at, length)) return true;
        at += length;
    }
    return false;
}

/* Whether a directory is read as a folder of traces, of which `path`, a file that is there, would be one. */
static bool holds_trace(const char *directory, const char *path) {
    const char *slash = strrchr(path, '/');
    struct stat parent;
    if (!pace_is_trace_name(path) || stat(directory, &parent) != 0) return false;
    return slash ? is_file(&parent, path, (size_t)(slash - path) + 1) : is_file(&parent, ".", 1);
}

bool cli_spares_inputs(const char *path, const cli_arguments *arguments) {
    struct stat target;
    bool input = false;
    if (!path || stat(path, &target) != 0 || !S_ISREG(target.st_mode)) return true;
    for (int i = 0; i < arguments->command_count; i++) {
        const char *word = arguments->command[i];
        bool itself = path >= word && path <= word + strlen(word);
        input = input || (!itself && names_file(&target, word));
    }
    for (int i = 0; i < arguments->operands; i++) input = input || holds_trace(arguments->words[i], path);
    if (input) cli_say("paceline %s: %s: is an input: expected another file to write to", arguments->verb->name, path);
    return !input;
}

static bool progress_shown;

static void show_progress(void *context, const char *what, uint64_t done, uint64_t total) {
    (void)context;
    progress_shown = true;
    if (total) fprintf(stderr, "\r%s %3.0f %%", what, 100.0 * (double)done / (double)total);
    else fprintf(stderr, "\r%s %.0f MB", what, (double)done / 1e6);
}

pace_progress_fn cli_progress(const cli_output *output) {
    return !output->quiet && cli_is_terminal(STDERR_FILENO) ? show_progress : NULL;
}

static void end_progress(void) {
    if (progress_shown) fprintf(stderr, "\r\033[K");
    progress_shown = false;
}

static bool reader_left; /* "| head": nobody wants to know */

static int write_bytes(void *file, const void *bytes, size_t length) {
    errno = 0;
    if (fwrite(bytes, 1, length, file) == length) return 0;
    reader_left = errno == EPIPE;
    return errno ? errno : EIO;
}

int cli_exit_status(pace_status status) {
    return status == PACE_E_USAGE                                ? CLI_USAGE
           : status == PACE_E_MISSING                            ? CLI_MISSING
           : status == PACE_E_MEMORY                             ? CLI_MEMORY
           : status == PACE_E_STOPPED || status == PACE_E_NO_FIT ? CLI_NO
                                                                 : CLI_INPUT;
}

int cli_fail(const char *verb, pace_status status) {
    char message[2048];
    end_progress();
    if (reader_left) return CLI_READER_GONE;
    pace_message_as_options(message, sizeof message, verb);
    if (status == PACE_E_USAGE && strncmp(message, "expected ", 9) == 0)
        cli_say("paceline %s: %s (see 'paceline %s --help')", verb, message, verb);
    else cli_say("paceline %s: %s", verb, message);
    return cli_exit_status(status);
}

static int print_answer(const char *verb, const pace_answer *answer, pace_format format, const cli_output *output) {
    pace_write_options options = {.size = sizeof options, .table = output->table};
    struct winsize size;
    bool terminal = cli_is_terminal(STDOUT_FILENO);
    const char *term = getenv("TERM");
    options.color = terminal && !getenv("NO_COLOR") && !(term && strcmp(term, "dumb") == 0);
    if (terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 60)
        options.width = size.ws_col > 160 ? 160 : size.ws_col;
    pace_status status = pace_answer_write(answer, format, &options, write_bytes, stdout);
    if (status != PACE_OK && status != PACE_E_IO) return cli_fail(verb, status);
    errno = 0;
    if (fflush(stdout) == 0 && status == PACE_OK) return CLI_DONE;
    if (reader_left || errno == EPIPE) return CLI_READER_GONE;
    cli_say("paceline %s: standard output: could not be written: %s", verb, errno ? strerror(errno) : pace_message());
    return CLI_INPUT;
}

static int save_answer(const char *verb, const pace_answer *answer, pace_format format, const cli_output *output) {
    pace_write_options options = {.size = sizeof options,
                                  .table = output->table,
                                  .gzip = ends_with(output->path, ".gz"),
                                  .zstd = ends_with(output->path, ".zst")};
    pace_status status = pace_answer_save(answer, format, &options, output->path);
    return status == PACE_OK ? CLI_DONE : cli_fail(verb, status);
}

int cli_judge(const char *verb, const pace_answer *answer, bool strict) {
    char codes[1024];
    size_t used = 0;
    for (size_t i = 0; strict && i < pace_answer_warning_count(answer) && used < sizeof codes; i++) {
        pace_warning one = pace_answer_warning(answer, i);
        if (one.strict) used += (size_t)snprintf(codes + used, sizeof codes - used, "%s%s", used ? ", " : "", one.code);
    }
    if (used == 0) return pace_answer_holds(answer) ? CLI_DONE : CLI_NO;
    cli_say("paceline %s: --strict: the answer has warnings: %s", verb, codes);
    return CLI_INPUT;
}

int cli_output_answer(const char *verb, const pace_answer *answer, pace_format format, const cli_output *output) {
    end_progress();
    bool read =
        format == PACE_FORMAT_TABLE && !output->path && cli_is_terminal(STDOUT_FILENO); /* they stand in the table */
    for (size_t i = 0; !output->quiet && !read && i < pace_answer_warning_count(answer); i++)
        cli_say("paceline %s: warning: %s", verb, pace_answer_warning(answer, i).text);
    return output->path && strcmp(output->path, "-") != 0 ? save_answer(verb, answer, format, output)
                                                          : print_answer(verb, answer, format, output);
}
