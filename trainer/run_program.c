#include "run_program.h"

#include "base/print.h"
#include "base/unfinished.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void pace_program_reason(char *out, size_t size, const char *path) {
    static const char begin[] = "paceline train: ";
    char line[4096];
    FILE *file = fopen(path, "a+");
    errno = 0;
    bool full = file && (fputc('\n', file) == EOF || fflush(file) != 0); /* then it could say nothing */
    pace_snprintf(out, size, full ? "it failed: %s: %s" : "it failed", path, strerror(errno));
    if (file) rewind(file);
    while (file && fgets(line, sizeof line, file)) {
        const char *said = strstr(line, begin);
        if (!said) continue;
        line[strcspn(line, "\n")] = '\0';
        pace_snprintf(out, size, "%s", said + strlen(begin));
        break;
    }
    if (file) fclose(file);
}

int pace_program_run(const char *const *words, const char *said) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t all, before;
    pid_t process;
    int status = -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    sigfillset(&all); /* no signal comes between the start and the note of it */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &before);
    int error = posix_spawnp(&process, words[0], &actions, &attributes, (char *const *)(uintptr_t)words, environ);
    if (!error) pace_unfinished_program(process);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (error) return -1;
    while (waitpid(process, &status, 0) < 0)
        if (errno != EINTR) break;
    pace_unfinished_program(0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
