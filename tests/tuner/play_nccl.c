/*
 * play_nccl PLUGIN VERSION RANKS NODES [-ALGORITHM:PROTOCOL]...
 *
 * Does with a tuner plug-in what NCCL does: loads it, looks its interface up (VERSION 5, 4 or 3; 0 = the newest it
 * has), opens a communicator, asks for each line "COLLECTIVE BYTES PIPED REGISTERED" of standard input, and closes it.
 * Prints what the plug-in logs ("log LEVEL TEXT") and, for each line, the algorithm, protocol and number of channels
 * that NCCL would take: the least cost, by itself tree ll with 0 channels (its own number). What stands behind "-" is
 * impossible: its cost is -1, and nothing may change it. Declared here once more, after NCCL's description and not
 * after the plug-in's own header.
 */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALGORITHMS = 7, PROTOCOLS = 3 };
static const char *const algorithms[ALGORITHMS] = {"tree",      "ring", "collnet_direct", "collnet_chain", "nvls",
                                                   "nvls_tree", "pat"};
static const char *const protocols[PROTOCOLS] = {"ll", "ll128", "simple"};
static const char *const collectives[] = {"broadcast", "reduce", "allgather", "reducescatter", "allreduce"};

typedef void (*logger)(int level, unsigned long flags, const char *file, int line, const char *format, ...);
typedef int (*init_4)(size_t ranks, size_t nodes, logger log, void **context);
typedef int (*init_5)(void **context, uint64_t id, size_t ranks, size_t nodes, logger log, void *domains,
                      void *constants);
typedef int (*choice_3)(void *context, int collective, size_t bytes, int piped, float **costs, int rows, int columns,
                        int *channels);
typedef int (*choice_4)(void *context, int collective, size_t bytes, int piped, float **costs, int rows, int columns,
                        int registered, int *channels);

/* Name, how it is opened, asked and closed. */
typedef struct {
    const char *name;
    void (*open)(void), (*ask)(void);
    int (*close)(void *context);
} interface;

__attribute__((format(printf, 5, 6))) static void say(int level, unsigned long flags, const char *file, int line,
                                                      const char *format, ...) {
    va_list values;
    va_start(values, format);
    printf("log %d %s", level, flags == 64 && file && line > 0 ? "" : "(without its place) ");
    vprintf(format, values);
    puts("");
    va_end(values);
}

static const interface *find(int *version, void *library) {
    for (int v = *version ? *version : 5; v >= (*version ? *version : 3); v--) {
        char name[32];
        snprintf(name, sizeof name, "ncclTunerPlugin_v%d", v);
        const interface *found = dlsym(library, name);
        *version = v;
        if (found) return found;
    }
    fprintf(stderr, "play_nccl: no such interface\n");
    exit(2);
}

static int place(const char *word, const char *const *words, int count) {
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0) return i;
    fprintf(stderr, "play_nccl: unknown word %s\n", word);
    exit(2);
}

static void forbid(float costs[ALGORITHMS][PROTOCOLS], char **pairs, int count) {
    for (int i = 0; i < count; i++) {
        char *colon = strchr(pairs[i], ':');
        *colon = '\0';
        costs[place(pairs[i] + 1, algorithms, ALGORITHMS)][place(colon + 1, protocols, PROTOCOLS)] = -1;
        *colon = ':';
    }
}

static void print_least(float costs[ALGORITHMS][PROTOCOLS], int channels) {
    int best = -1;
    for (int i = 0; i < ALGORITHMS * PROTOCOLS; i++) {
        float cost = costs[i / PROTOCOLS][i % PROTOCOLS];
        if (cost >= 0 && (best < 0 || cost < costs[best / PROTOCOLS][best % PROTOCOLS])) best = i;
    }
    printf("%s %s %d\n", algorithms[best / PROTOCOLS], protocols[best % PROTOCOLS], channels);
}

static int ask(const interface *plugin, int version, void *context, char **pairs, int count) {
    float costs[ALGORITHMS][PROTOCOLS];
    char collective[32];
    unsigned long long bytes;
    int piped, registered, failed = 0;
    while (scanf("%31s %llu %d %d", collective, &bytes, &piped, &registered) == 4) {
        int channels = 0, which = place(collective, collectives, 5);
        for (int i = 0; i < ALGORITHMS * PROTOCOLS; i++) costs[i / PROTOCOLS][i % PROTOCOLS] = 10 + (float)i;
        forbid(costs, pairs, count);
        float **table = (float **)(void *)costs;
        failed |= version == 3
                      ? ((choice_3)plugin->ask)(context, which, bytes, piped, table, ALGORITHMS, PROTOCOLS, &channels)
                      : ((choice_4)plugin->ask)(context, which, bytes, piped, table, ALGORITHMS, PROTOCOLS, registered,
                                                &channels);
        print_least(costs, channels);
    }
    return failed;
}

int main(int argc, char **argv) {
    if (argc < 5) return 2;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL), *context = NULL;
    int version = atoi(argv[2]), failed;
    size_t ranks = (size_t)atoi(argv[3]), nodes = (size_t)atoi(argv[4]);
    if (!library) {
        fprintf(stderr, "play_nccl: %s\n", dlerror());
        return 2;
    }
    const interface *plugin = find(&version, library);
    printf("%s %d\n", plugin->name, version);
    if (version == 5) failed = ((init_5)plugin->open)(&context, 42, ranks, nodes, say, NULL, NULL);
    else failed = ((init_4)plugin->open)(ranks, nodes, say, &context);
    if (!failed) failed = ask(plugin, version, context, argv + 5, argc - 5);
    if (!failed) failed = plugin->close(context);
    if (dlclose(library) != 0) failed = 2;
    return failed;
}
