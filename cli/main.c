/* paceline VERB [options] INPUT… */
#include "options.h"
#include "output.h"
#include "say.h"
#include "verbs.h"

#include "paceline/paceline.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
    const char *name;
    int (*run)(cli_arguments *);
    const char *summary;
} verbs[] = {
    {"analyze", cmd_analyze, "where the time of a training step goes, and what to change first"},
    {"predict", cmd_predict, "what the step would be elsewhere, or if something were different"},
    {"compare", cmd_compare, "two traces side by side"},
    {"convert", cmd_convert, "traces and models as Chakra execution traces"},
    {"fleet", cmd_fleet, "where a cluster's time goes, from a table of its jobs"},
    {"fit", cmd_fit, "learn from measurements"},
    {"calibrate", cmd_calibrate, "measures this machine: rows for fit, an entry for --on"},
    {"validate", cmd_validate, "is it true? figures of merit, recomputed"},
    {"machines", cmd_machines, "the devices of the catalogue"},
    {"models", cmd_models, "the models of the catalogue, layer by layer"},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static void print_usage(FILE *to) {
    fprintf(to, "usage: paceline VERB [options] INPUT...\n\nverbs:\n");
    for (size_t i = 0; i < VERBS; i++) fprintf(to, "  %-10s %s\n", verbs[i].name, verbs[i].summary);
    fprintf(to, "\n'paceline VERB --help' tells a verb's options; 'paceline --version' the version.\n");
}

static int unknown_verb(const char *word) {
    const char *nearest = verbs[0].name;
    for (size_t i = 1; i < VERBS; i++)
        if (pace_word_edits(word, verbs[i].name) < pace_word_edits(word, nearest)) nearest = verbs[i].name;
    if (cli_is_slip(word, nearest))
        cli_say("paceline: unknown verb '%.80s' (did you mean %s? see 'paceline --help')", word, nearest);
    else cli_say("paceline: unknown verb '%.80s' (see 'paceline --help')", word);
    return CLI_USAGE;
}

static int run_verb(const char *verb, int count, const char *const *words) {
    for (size_t i = 0; i < VERBS; i++) {
        if (strcmp(verb, verbs[i].name) != 0) continue;
        const char **copies = calloc((size_t)count, 2 * sizeof *copies);
        if (!copies) return CLI_MISSING;
        for (int k = 0; k < count; k++) copies[k] = copies[count + k] = words[k];
        cli_arguments arguments = {NULL, copies + 2, count - 2, copies + count, count};
        pace_status opened = pace_context_open(&arguments.context);
        int result = opened == PACE_OK ? verbs[i].run(&arguments) : cli_fail(verb, opened);
        pace_context_free(arguments.context);
        free(copies);
        return result;
    }
    return unknown_verb(verb);
}

/* A stream that the caller closed must not be given to the next file that is opened, or warnings land in it. What is
 * put in its place fails as a closed one does. */
static void hold_streams(void) {
    for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
        if (fcntl(stream, F_GETFD) < 0) (void)!open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

static int answer(int count, char **words) {
    if (count < 2) {
        print_usage(stderr);
        return CLI_USAGE;
    }
    const char *verb = words[1];
    bool help = strcmp(verb, "--help") == 0 || strcmp(verb, "-h") == 0 || strcmp(verb, "help") == 0;
    if (help && count > 2) return run_verb(words[2], 3, (const char *[]){words[0], words[2], "--help"});
    if (help) {
        print_usage(stdout);
        return CLI_DONE;
    }
    if (strcmp(verb, "--version") == 0 || strcmp(verb, "version") == 0) {
        printf("paceline %s\n", pace_version());
        return CLI_DONE;
    }
    return run_verb(verb, count, (const char *const *)words);
}

int main(int count, char **words) {
    hold_streams();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error like any other */
    int result = answer(count, words);
    if (fflush(stdout) == 0 || result != CLI_DONE) return result;
    if (errno != EPIPE) cli_say("paceline: standard output: could not be written: %s", strerror(errno));
    return CLI_INPUT;
}
