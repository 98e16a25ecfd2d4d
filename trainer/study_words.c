#include "study_words.h"

#include "base/print.h"

#include <string.h>
#include <unistd.h>

/* This program; a library that another program loaded asks the one in the path. */
static void find_program(char *out, size_t size) {
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    out[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(out, '/');
    if (!slash || strcmp(slash + 1, "paceline") != 0) pace_snprintf(out, size, "paceline");
}

pace_status pace_study_words_begin(pace_study_words *w, const char *link, int ranks) {
    w->count = w->number_count = 0;
    if (link) {
        PACE_TRY(pace_hosts_word(&w->hosts, ranks, link));
        pace_study_words_put(w, NULL, w->hosts.script);
        pace_study_words_put(w, w->hosts.count, w->hosts.rate);
    }
    find_program(w->program, sizeof w->program);
    pace_study_words_put(w, w->program, "train");
    return PACE_OK;
}

void pace_study_words_put(pace_study_words *w, const char *option, const char *value) {
    if (!value || w->count + 3 > PACE_STUDY_WORDS) return;
    if (option) w->words[w->count++] = option;
    w->words[w->count++] = value;
}

void pace_study_words_number(pace_study_words *w, const char *option, double value) {
    char *text = w->numbers[w->number_count++];
    pace_snprintf(text, sizeof w->numbers[0], "%.10g", value);
    pace_study_words_put(w, option, text);
}

const char *const *pace_study_words_end(pace_study_words *w) {
    w->words[w->count] = NULL;
    return w->words;
}
