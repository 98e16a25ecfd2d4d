/* A verb: its words made into a question, and what is asked shown. */
#pragma once

#include "arguments.h"

/** Returns the exit status. */
int cli_run_verb(cli_arguments *arguments);

/** `paceline completion SHELL`, `paceline man [VERB]`: written from the table of options. */
int cli_completion(const char *shell);
int cli_manual(const char *verb);
