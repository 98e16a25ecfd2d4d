/* Why a program failed, by what it left. */
#include "run_program.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmocka_of_tests.h"

static void leave(char *path, const char *text) {
    strcpy(path, "/tmp/paceline-said-XXXXXX");
    int file = mkstemp(path);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
}

TEST(its_own_words) {
    char path[64], reason[160];
    leave(path, "loading\npaceline train: lenet: no memory\npaceline train: more\n");
    pace_program_reason(reason, sizeof reason, path);
    assert_string_equal(reason, "lenet: no memory");
    unlink(path);
}

/* Where nothing more can be written a program fails without a word, as on a full disk. */
TEST(no_room_for_words) {
    char path[64], reason[160];
    struct rlimit before, none;
    leave(path, "");
    pace_program_reason(reason, sizeof reason, path);
    assert_string_equal(reason, "it failed");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = before, none.rlim_cur = 1;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &none);
    pace_program_reason(reason, sizeof reason, path);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_non_null(strstr(reason, "File too large"));
    assert_non_null(strstr(reason, path));
    unlink(path);
}

int main(void) { return run_tests_of_file(NULL, NULL); }
