/* paceline VERB [options] INPUT… */
#include "arguments.h"
#include "exit_codes.h"
#include "heap.h"
#include "say.h"
#include "verb.h"

#include "paceline/paceline.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static void print_usage(FILE *to) {
    fprintf(to, "usage: paceline VERB [options] INPUT...\n\nverbs:\n");
    const pace_verb *verb;
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) fprintf(to, "  %-10s %s\n", verb->name, verb->summary);
    fprintf(to, "\nexit status:\n");
    for (const cli_exit_code *one = cli_exit_codes; one->code >= 0; one++)
        fprintf(to, "  %3d  %s\n", one->code, one->means);
    fprintf(to, "\nenvironment:\n");
    for (const cli_variable *one = cli_variables; one->name; one++) fprintf(to, "  %-16s  %s\n", one->name, one->means);
    fprintf(to, "\n'paceline VERB --help' tells a verb's options; 'paceline --version' the version.\n");
}

/* Questions that are no verbs of their own. */
static const struct {
    const char *word, *instead;
} asked_elsewhere[] = {{"exchange", "predict --kind exchange"}, {"simulate", "predict --simulate"}};

static int unknown_verb(const char *word) {
    const pace_verb *verb;
    for (size_t i = 0; i < sizeof asked_elsewhere / sizeof *asked_elsewhere; i++)
        if (strcmp(word, asked_elsewhere[i].word) == 0) {
            cli_say("paceline: unknown verb '%s': expected 'paceline %s'", word, asked_elsewhere[i].instead);
            return CLI_USAGE;
        }
    const char *nearest = pace_verb_at(0)->name;
    for (size_t i = 1; (verb = pace_verb_at(i)); i++)
        if (pace_word_edits(word, verb->name) < pace_word_edits(word, nearest)) nearest = verb->name;
    if (cli_is_slip(word, nearest))
        cli_say("paceline: unknown verb '%.80s' (did you mean %s? see 'paceline --help')", word, nearest);
    else cli_say("paceline: unknown verb '%.80s' (see 'paceline --help')", word);
    return CLI_USAGE;
}

static int run_verb(const char *name, int count, const char *const *words) {
    const pace_verb *verb;
    for (size_t i = 0; (verb = pace_verb_at(i)); i++) {
        if (strcmp(name, verb->name) != 0) continue;
        cli_suit_heap(name);
        const char **copies = calloc((size_t)count, 2 * sizeof *copies);
        if (!copies) return CLI_MEMORY;
        for (int k = 0; k < count; k++) copies[k] = copies[count + k] = words[k];
        cli_arguments arguments = {
            .verb = verb, .words = copies + 2, .count = count - 2, .command = copies + count, .command_count = count};
        int result = cli_run_verb(&arguments);
        free(copies);
        return result;
    }
    if (strcmp(name, "completion") == 0) return cli_completion(count > 2 ? words[2] : NULL);
    if (strcmp(name, "man") == 0) return cli_manual(count > 2 ? words[2] : NULL);
    return unknown_verb(name);
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

typedef struct {
    int count;
    char **words;
    int result;
} call;

static void *answer_call(void *argument) {
    call *c = argument;
    c->result = answer(c->count, c->words);
    return NULL;
}

/* Answers take up to 192 KiB of stack. Under a limit near that (`ulimit -s`) a thread with a stack of its own answers,
 * and those that it starts get such stacks too. */
static int answer_on_room(int count, char **words) {
    enum { ROOM = 1 << 20 };
    call c = {.count = count, .words = words};
    struct rlimit limit;
    pthread_attr_t attributes;
    pthread_t thread;
    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= ROOM) return answer(count, words);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, ROOM);
#ifdef __GLIBC__
    pthread_setattr_default_np(&attributes);
#endif
    int error = pthread_create(&thread, &attributes, answer_call, &c);
    pthread_attr_destroy(&attributes);
    if (error) return answer(count, words);
    pthread_join(thread, NULL);
    return c.result;
}

int main(int count, char **words) {
    cli_prepare_heap();
    hold_streams();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error like any other, */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file past `ulimit -f` */
    signal(SIGCHLD, SIG_DFL); /* under a caller who ignores it, ended ranks would leave no status */
    int result = answer_on_room(count, words);
    if (fflush(stdout) == 0 || result != CLI_DONE) return result;
    if (errno == EPIPE) return CLI_READER_GONE;
    cli_say("paceline: standard output: could not be written: %s", strerror(errno));
    return CLI_INPUT;
}
