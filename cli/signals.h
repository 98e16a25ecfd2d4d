/* What an interrupt and the signals that end the program do. */
#pragma once

#include <stdbool.h>

/** What is half written is removed before a signal ends the program. */
void cli_clean_when_ended(void);

/** Handles a signal, unless the caller has it ignored (nohup). */
void cli_handle(int number, void (*handler)(int));

/** The signal asks for a stop. A second interrupt ends the program at once. */
void cli_stop_at(int number);

/** Whether a stop was asked for; for pace_question_set_stop(). */
bool cli_stops(void *context);
