/* What `paceline fleet` answers besides tables of jobs: iterations of workers, pods and nodes, jobs that are made up.
 */
#ifndef PACE_CLI_FLEET_OTHER_H
#define PACE_CLI_FLEET_OTHER_H

#include "output.h"
#include "verbs.h"

typedef struct {
    bool iterations;
    const char *pods, *nodes;
    double synthesize, seed;
} cli_fleet_other;

/* The rows of the option table for these. */
#define CLI_FLEET_OTHER_OPTIONS(other)                                                                                \
    {"--iterations",     0, OPTION_FLAG, NULL, "FILEs hold times of workers by iteration: who holds up a job",        \
     &(other).iterations},                                                                                            \
        {"--pods",     0, OPTION_TEXT, "FILE", "with --nodes: what GPUs were used for, and which could not be",       \
         &(other).pods},                                                                                              \
        {"--nodes", 0, OPTION_TEXT, "FILE", "of the pods' cluster", &(other).nodes},                                  \
        {"--synthesize",     0, OPTION_NUMBER, "N", "make up N jobs like those of Alibaba's PAI, as a CSV (-o FILE)", \
         &(other).synthesize},                                                                                        \
    {                                                                                                                 \
        "--seed", 0, OPTION_NUMBER, "N", "of the made-up jobs: the same seed, the same jobs", &(other).seed           \
    }

/** Whether one of them is asked for. */
bool cli_fleet_other_asked(const cli_fleet_other *other);

/** Answers it and returns the exit status; `operands` are those at the front of arguments->words. */
int cli_fleet_other_answer(const cli_fleet_other *other, const cli_output *output, cli_arguments *arguments,
                           int operands);

#endif
