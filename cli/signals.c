#include "signals.h"

#include "paceline/paceline.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t interrupted;

/* On the stack that the library keeps for handlers: it computes on stacks with no room below them. */
void cli_handle(int number, void (*handler)(int)) {
    struct sigaction now, act = {.sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK};
    if (sigaction(number, NULL, &now) == 0 && now.sa_handler != SIG_IGN) sigaction(number, &act, NULL);
}

static void end(int number) {
    pace_remove_unfinished();
    signal(number, SIG_DFL);
    raise(number);
}

/* Signals that end no process, or cannot be caught. */
static bool ends_nothing(int number) {
    static const int numbers[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP, SIGTTIN, SIGTTOU, SIGURG, SIGWINCH};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (number == numbers[i]) return true;
    return false;
}

/* Whoever handles a signal (a sanitizer) goes on doing so. */
void cli_clean_when_ended(void) {
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction now;
        bool free = !ends_nothing(number) && sigaction(number, NULL, &now) == 0;
        if (free && !(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL) cli_handle(number, end);
    }
}

static void on_interrupt(int number) {
    (void)number;
    interrupted = 1;
    cli_handle(SIGINT, end);
}

void cli_stop_at(int number) { cli_handle(number, on_interrupt); }

bool cli_stops(void *context) {
    (void)context;
    return interrupted;
}
