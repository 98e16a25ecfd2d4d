#include "output.h"
#include "processes.h"
#include "say.h"
#include "signals.h"
#include "verb.h"

#include "paceline/calibrate.h"
#include "paceline/train.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The files that a run writes: the n-th, NULL past the last. */
static const char *written(const cli_arguments *arguments, int n) {
    if (n == arguments->written_count) return arguments->output.path;
    return n < arguments->written_count ? arguments->written[n] : NULL;
}

/* The folder in which a path is, or would be. */
static bool find_folder(struct stat *out, const char *path) {
    char folder[4096] = ".";
    const char *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    if (length >= sizeof folder) return false;
    if (slash) memcpy(folder, path, length), folder[length] = '\0';
    return stat(folder, out) == 0;
}

/* Also of files that are not there yet: "x" and "folder/../x". */
static bool is_same_place(const char *a, const char *b) {
    struct stat one, other;
    const char *of_a = strrchr(a, '/'), *of_b = strrchr(b, '/');
    return strcmp(of_a ? of_a + 1 : a, of_b ? of_b + 1 : b) == 0 && find_folder(&one, a) && find_folder(&other, b) &&
           one.st_ino == other.st_ino && one.st_dev == other.st_dev;
}

static bool is_same_file(const char *a, const char *b) {
    struct stat one, other;
    if (strcmp(a, b) == 0) return strcmp(a, "-") != 0;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    if (stat(a, &one) != 0 && stat(b, &other) != 0) return is_same_place(a, b);
    return stat(a, &one) == 0 && stat(b, &other) == 0 && S_ISREG(one.st_mode) && one.st_ino == other.st_ino &&
           one.st_dev == other.st_dev;
}

/* Two outputs of one run are two files. */
static bool outputs_differ(const cli_arguments *arguments) {
    for (int i = 0; written(arguments, i); i++)
        for (int k = 0; k < i; k++)
            if (is_same_file(written(arguments, i), written(arguments, k))) {
                cli_say("paceline %s: %s: expected two files, found one for two outputs", arguments->verb->name,
                        written(arguments, i));
                return false;
            }
    return true;
}

/* No file that is written is one that is read. */
static bool spares_inputs(const cli_arguments *arguments) {
    bool spared = outputs_differ(arguments) && cli_spares_inputs(arguments->output.path, arguments);
    for (int i = 0; spared && i < arguments->written_count; i++)
        spared = cli_spares_inputs(arguments->written[i], arguments);
    return spared;
}

/* Said before hours are spent on what could not be kept. Devices and pipes are written in place, links where they
 * lead. */
static bool can_be_written(const cli_arguments *arguments) {
    struct stat there, folder;
    for (int i = 0; written(arguments, i); i++) {
        const char *path = written(arguments, i), *slash = strrchr(path, '/');
        if (strcmp(path, "-") == 0 || (lstat(path, &there) == 0 && !S_ISREG(there.st_mode))) continue;
        char name[4096] = ".";
        if (slash) snprintf(name, sizeof name, "%.*s", slash > path ? (int)(slash - path) : 1, path);
        int error = !find_folder(&folder, path) ? errno : access(name, W_OK | X_OK) != 0 ? errno : 0;
        if (!error) continue;
        char option[64] = "--output";
        if (i < arguments->written_count) cli_option_name(option, arguments->written_by[i]);
        cli_say("paceline %s: %s: %s: cannot be created: %s", arguments->verb->name, option, path, strerror(error));
        return false;
    }
    return true;
}

/* Answers that are tables before anything else are CSV unless somebody looks or asks for another format. */
static void prefer_csv(cli_output *output, const pace_question *question) {
    bool made = pace_question_has(question, "synthesize");
    bool rows = pace_question_has(question, "rows") && !cli_is_terminal(STDOUT_FILENO);
    if ((made || rows) && !output->format && !output->path) output->format = "csv";
}

static bool suits(pace_format format, const pace_question *question) {
    if (!pace_question_has(question, "synthesize") || format == PACE_FORMAT_CSV) return true;
    cli_say("paceline fleet: --synthesize writes a table of jobs: expected --format csv or a name that ends in .csv");
    return false;
}

enum { PROCESS_0_SAYS_IN_S = 10 };

static int ask(cli_arguments *arguments, pace_context *context, pace_question *question, pace_format format) {
    const char *verb = arguments->verb->name;
    bool calibrates = strcmp(verb, "calibrate") == 0, trains = strcmp(verb, "train") == 0,
         lives = strcmp(verb, "validate") == 0 && pace_question_has(question, "live"),
         plans = strcmp(verb, "plan") == 0,
         shared = trains || strcmp(verb, "fleet") == 0 || strcmp(verb, "analyze") == 0 || plans;
    const pace_processes *processes = NULL;
    const char *runner = trains ? pace_question_text(question, "runner") : NULL;
    bool ours = !runner || strcmp(runner, "paceline") == 0; /* others start ranks of their own */
    if (trains && ours && !pace_question_has(question, "study")) {
        int status =
            cli_processes_start(pace_question_number(question, "ranks"), arguments->command, arguments->command_count);
        if (status != CLI_GO_ON) return status;
    }
    pace_answer *answer = NULL;
    if (shared && cli_processes_started() > 1) cli_stop_at(SIGUSR1); /* what mpirun hands on, while MPI opens too */
    if (shared && !cli_processes_open(&processes, verb)) return CLI_MISSING;
    pace_question_set_processes(question, processes);
    pace_question_set_progress(question, cli_progress(&arguments->output), NULL);
    pace_question_set_stop(question, cli_stops, NULL);
    cli_clean_when_ended();
    if (calibrates || trains || lives || plans) cli_stop_at(SIGINT);
    pace_status status = calibrates ? pace_calibrate(&answer, context, question)
                         : trains   ? pace_train(&answer, context, question)
                         : lives    ? pace_validate_live(&answer, context, question)
                                    : pace_ask(&answer, context, question);
    bool lost = trains && status == PACE_E_IO; /* another rank is: whoever sees it says so */
    if (trains && status != PACE_OK && processes && processes->rank > 0 && !lost) {
        (void)sleep(PROCESS_0_SAYS_IN_S); /* it says the same, and ends all; else it has not failed */
        lost = true;
    }
    bool says = !processes || processes->rank == 0 || lost; /* else process 0 says it */
    int result = status == PACE_OK ? CLI_DONE : says ? cli_fail(verb, status) : cli_exit_status(status);
    if (trains && processes && status != PACE_OK)
        _exit(result);                          /* others may be gone: mpirun ends those that are not */
    if (processes) processes->close(processes); /* after the message: mpirun ends all when the first has failed */
    if (status != PACE_OK || !answer) return result;
    result = cli_output_answer(verb, answer, format, &arguments->output);
    if (result == CLI_DONE) result = cli_judge(verb, answer, arguments->output.strict);
    pace_answer_free(answer);
    return result;
}

/* The rows of calibrate, which it reads too: what it measured before. --list measures nothing: -o FILE is where the
 * list goes, unless it is a table, whose points are left out. */
static pace_status take_rows(cli_arguments *arguments, pace_question *question) {
    const char *path = arguments->output.path, *suffix = path ? strrchr(path, '.') : NULL;
    bool table = suffix && strcasecmp(suffix, ".csv") == 0;
    if (!path || strcmp(arguments->verb->name, "calibrate") != 0) return PACE_OK;
    if (!table && pace_question_has(question, "list")) return PACE_OK;
    arguments->output.path = NULL;
    return pace_question_set(question, "output", path);
}

static int run(cli_arguments *arguments, pace_context *context, pace_question *question) {
    pace_format format;
    if (!cli_parse(arguments, question)) return CLI_USAGE;
    if (arguments->helped) return CLI_DONE;
    pace_status status = take_rows(arguments, question);
    if (status != PACE_OK) return cli_fail(arguments->verb->name, status);
    if (!cli_output_agrees(arguments->verb->name, &arguments->output)) return CLI_USAGE;
    prefer_csv(&arguments->output, question);
    if (!cli_output_format(&format, arguments->verb->name, &arguments->output) || !suits(format, question) ||
        !spares_inputs(arguments))
        return CLI_USAGE;
    if (!can_be_written(arguments)) return CLI_INPUT;
    status = pace_question_set_command(question, arguments->command, (size_t)arguments->command_count);
    return status == PACE_OK ? ask(arguments, context, question, format) : cli_fail(arguments->verb->name, status);
}

int cli_run_verb(cli_arguments *arguments) {
    pace_context *context = NULL;
    pace_question *question = NULL;
    pace_status status = pace_context_open(&context);
    if (status == PACE_OK) status = pace_question_new(&question, context, arguments->verb->name);
    int result = status == PACE_OK ? run(arguments, context, question) : cli_fail(arguments->verb->name, status);
    pace_question_free(question);
    pace_context_free(context);
    return result;
}
