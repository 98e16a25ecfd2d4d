/* The verbs. Each takes the words after its name and returns the exit status. */
#ifndef PACE_CLI_VERBS_H
#define PACE_CLI_VERBS_H

#include "paceline/paceline.h"

typedef struct {
    pace_context *context; /* asked of */
    const char **words;    /* after the verb; may be reordered */
    int count;
    const char *const *command; /* the whole command line, to be echoed */
    int command_count;
} cli_arguments;

int cmd_analyze(cli_arguments *arguments);
int cmd_calibrate(cli_arguments *arguments);
int cmd_compare(cli_arguments *arguments);
int cmd_convert(cli_arguments *arguments);
int cmd_fleet(cli_arguments *arguments);
int cmd_fit(cli_arguments *arguments);
int cmd_validate(cli_arguments *arguments);
int cmd_machines(cli_arguments *arguments);
int cmd_models(cli_arguments *arguments);
int cmd_predict(cli_arguments *arguments);

#endif
