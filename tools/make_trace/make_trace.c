/*
 * make_trace: writes a synthetic trace of data-parallel training, laid out like the files of the PyTorch profiler,
 * to standard output. For benchmarks and tests of size; independent of the library.
 *
 * It simulates every rank's host threads, streams and all-reduces in whole nanoseconds and prints one rank's
 * events. Host operators nest properly, flows pair up, a stream runs one kernel at a time, and an all-reduce ends
 * at the same instant on all ranks. With --devices one process drives them all, each by threads of its own, and
 * all their events are printed. The same options and seed give the same bytes.
 */
#include "trace_print.h"
#include "simulated_ranks.h"

#include <stdlib.h>

trace_options options = {.ranks = 1, .streams = 2, .seed = 1};

static void generate(FILE *file, uint64_t steps, uint64_t layers, uint64_t *bytes, uint64_t *events) {
    unsigned count = options.ranks < MAX_SIMULATED ? options.ranks : MAX_SIMULATED;
    rank_state *ranks = calloc(count, sizeof *ranks);
    if (!ranks) abort();
    for (unsigned i = 0; i < count; i++) {
        uint64_t mix = options.seed * 0x2545f4914f6cdd1du + i;
        next_random(&mix);
        ranks[i].random = mix;
        ranks[i].emit = options.devices > 1 || i == options.rank % count;
        ranks[i].device = options.devices > 1 ? i : 0;
        ranks[i].slow_permille = i % 4 == 1 ? 40 : 0; /* every fourth rank is 4 % slower */
        ranks[i].id = ranks[i].correlation = 1000 + (int64_t)ranks[i].device * 100000000; /* one process, one count */
        ranks[i].sequence = (int64_t)ranks[i].device * 100000000;
        ranks[i].clock[0] = ORIGIN_NS + around(&ranks[i], 20000);
    }
    out.file = file;
    out.bytes = out.events = out.used = 0;
    out.first = true;
    print_head();
    for (uint64_t s = 0; s < steps; s++) run_step(ranks, count, s + 3, layers);
    print_tail(ranks[options.rank % count].clock[0] + 5000);
    flush_out();
    *bytes = out.bytes;
    *events = out.events;
    free(ranks);
}

/* The number of layers that brings `steps` steps to `goal` bytes or events. */
static uint64_t layers_for(uint64_t goal, bool count_events, uint64_t steps) {
    uint64_t bytes[2], events[2], size[2];
    for (int i = 0; i < 2; i++) {
        generate(NULL, 2, i ? 64 : 16, &bytes[i], &events[i]);
        size[i] = (count_events ? events[i] : bytes[i]) / 2;
    }
    uint64_t slope = (size[1] - size[0]) / 48, fixed = size[0] - slope * 16, each = goal / steps;
    return each > fixed + slope ? (each - fixed) / slope : 1;
}

static void usage(FILE *to) {
    fputs("usage: make_trace [options] > FILE\n"
          "Writes a synthetic PyTorch profiler trace of data-parallel training.\n\n"
          "  --events N      about N events\n"
          "  --bytes SIZE    about SIZE bytes; suffixes K M G (powers of 1000)\n"
          "  --steps N       training steps (default 4, or as many as the size makes sensible)\n"
          "  --layers N      layers of the model (default 24, or what the size asks for)\n"
          "  --ranks N       ranks (default 1); --rank R: whose trace (default 0)\n"
          "  --devices N     devices of one process (default 1); not with --ranks\n"
          "  --streams N     device streams: 1 = all on one, 2 = exchanges apart (default), more = side streams\n"
          "  --seed S        random seed (default 1)\n"
          "  --pretty        one event over a few lines, as the profiler writes it (default)\n"
          "  --compact       no white space\n",
          to);
}

static uint64_t number(const char *option, const char *text, bool suffix) {
    char *end;
    if (!text || *text < '0' || *text > '9') goto bad;
    uint64_t value = strtoull(text, &end, 10);
    if (suffix && *end) {
        uint64_t scale = *end == 'K' ? 1000 : *end == 'M' ? 1000000 : *end == 'G' ? 1000000000 : 0;
        if (!scale) goto bad;
        value *= scale;
        end++;
    }
    if (*end == '\0') return value;
bad:
    fprintf(stderr, "make_trace: %s expects a whole number%s\n", option, suffix ? ", with K, M or G if need be" : "");
    exit(2);
}

int main(int argc, char **argv) {
    uint64_t events = 0, bytes = 0;
    for (int i = 1; i < argc; i++) {
        const char *name = argv[i], *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (!strcmp(name, "--help")) return usage(stdout), 0;
        if (!strcmp(name, "--pretty")) out.compact = 0;
        else if (!strcmp(name, "--compact")) out.compact = 1;
        else if (!strcmp(name, "--events")) events = number(name, value, true), i++;
        else if (!strcmp(name, "--bytes")) bytes = number(name, value, true), i++;
        else if (!strcmp(name, "--steps")) options.steps = number(name, value, false), i++;
        else if (!strcmp(name, "--layers")) options.layers = number(name, value, false), i++;
        else if (!strcmp(name, "--ranks")) options.ranks = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--rank")) options.rank = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--devices")) options.devices = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--streams")) options.streams = (unsigned)number(name, value, false), i++;
        else if (!strcmp(name, "--seed")) options.seed = number(name, value, false), i++;
        else {
            fprintf(stderr, "make_trace: unknown option '%s'\n", name);
            return usage(stderr), 2;
        }
    }
    if (options.ranks < 1 || options.rank >= options.ranks || options.streams < 1 || options.streams > MAX_STREAMS) {
        fprintf(stderr, "make_trace: needs 0 <= rank < ranks and 1 <= streams <= %d\n", MAX_STREAMS);
        return 2;
    }
    if (options.devices > MAX_SIMULATED || (options.devices > 1 && options.ranks > 1)) {
        fprintf(stderr, "make_trace: needs devices <= %d, and one rank with several\n", MAX_SIMULATED);
        return 2;
    }
    if (options.devices > 1) options.ranks = options.devices; /* they exchange as ranks do */
    if (bytes && events) {
        fputs("make_trace: --bytes or --events, not both\n", stderr);
        return 2;
    }
    out.capacity = 1 << 20;
    out.buffer = malloc(out.capacity);
    if (!out.buffer) return 3;
    uint64_t goal = bytes ? bytes : events;
    if (goal) {
        uint64_t per_step = bytes ? 16000000 : 48000;
        if (!options.steps) {
            options.steps = goal / per_step;
            if (options.steps < 4) options.steps = 4;
            if (options.steps > 64) options.steps = 64;
        }
        if (!options.layers) options.layers = layers_for(goal, events != 0, options.steps);
    }
    if (!options.steps) options.steps = 4;
    if (!options.layers) options.layers = 24;
    generate(stdout, options.steps, options.layers, &bytes, &events);
    if (fflush(stdout) != 0) {
        perror("make_trace: standard output");
        return 3;
    }
    fprintf(stderr, "%" PRIu64 " bytes, %" PRIu64 " events\n", bytes, events);
    free(out.buffer);
    return 0;
}
