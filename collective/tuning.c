#include "tuning.h"

#include "base/decimal.h"
#include "base/text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void pace_tuning_machine(char out[PACE_MACHINE_LINE]) {
    char line[256], model[128] = "unknown processor";
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *colon = strchr(line, ':');
        if (!colon || strncmp(line, "model name", 10) != 0) continue;
        pace_snprintf(model, sizeof model, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
        break;
    }
    if (file) fclose(file);
    pace_snprintf(out, PACE_MACHINE_LINE, "%s, %ld processors", model, sysconf(_SC_NPROCESSORS_ONLN));
}

bool pace_tuning_path(char out[PACE_TUNING_PATH], bool *asked) {
    const char *named = getenv("PACELINE_COLLECTIVE_TABLE"), *folder = getenv("XDG_CONFIG_HOME"),
               *home = getenv("HOME");
    *asked = named && *named;
    if (named) pace_snprintf(out, PACE_TUNING_PATH, "%s", named);
    else if (folder && *folder) pace_snprintf(out, PACE_TUNING_PATH, "%s/paceline/collective.txt", folder);
    else if (home && *home) pace_snprintf(out, PACE_TUNING_PATH, "%s/.config/paceline/collective.txt", home);
    else return false;
    return !named || *named;
}

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct {
    const char *path, *machine;
    int line, ranks;
    int section, chosen; /* ranks of the section that is read, and of the one that counts so far; 0 = none */
    pace_settings *out;
    pace_settings base;
} reading;

static pace_status wrong(const reading *r, const char *expected, const char *found) {
    return pace_fail(PACE_E_INPUT, "%s:%d: expected %s, found '%s'", r->path, r->line, expected, found);
}

/* A section counts if no better one came before. */
static pace_status begin_section(reading *r, const char *number) {
    double ranks;
    if (!pace_number_parse(&ranks, number) || ranks < 2 || ranks > 1e6 || ranks != floor(ranks))
        return wrong(r, "a number of ranks", number);
    r->section = (int)ranks;
    bool fits = r->section <= r->ranks,
         better = !r->chosen || (fits && (r->chosen > r->ranks || r->section > r->chosen));
    if (!better) r->section = 0;
    else r->chosen = r->section, *r->out = r->base;
    return PACE_OK;
}

static pace_status read_line(reading *r, const char *text) {
    char where[PACE_TUNING_PATH + 32];
    if (r->line == 1)
        return strcmp(text, "paceline-collective 1") == 0 ? PACE_OK : wrong(r, "paceline-collective 1", text);
    if (!*text || *text == '#') return PACE_OK;
    if (r->line == 2 || pace_starts(text, "machine ")) {
        if (!pace_starts(text, "machine ")) return wrong(r, "the machine", text);
        if (strcmp(text + 8, r->machine) == 0) return PACE_OK;
        return pace_fail(
            PACE_E_INPUT,
            "%s was measured on another machine (%s; this is %s): measure again, or set PACELINE_COLLECTIVE_TABLE=",
            r->path, text + 8, r->machine);
    }
    if (pace_starts(text, "ranks ")) return begin_section(r, text + 6);
    if (!r->chosen) return wrong(r, "ranks and their number first", text);
    pace_settings aside = *r->out;
    pace_snprintf(where, sizeof where, "%s:%d", r->path, r->line);
    if (pace_settings_read(r->section ? r->out : &aside, text, where) != PACE_OK) return PACE_E_INPUT;
    return PACE_OK;
}

pace_status pace_tuning_read(pace_settings *settings, const char *text, const char *path, const char *machine,
                             int ranks) {
    pace_settings read = *settings;
    reading r = {.path = path, .machine = machine, .ranks = ranks, .out = &read, .base = *settings};
    char line[1024];
    while (*text || !r.line) {
        size_t length = strcspn(text, "\n");
        r.line++;
        if (length >= sizeof line) return wrong(&r, "lines of at most 1,023 characters", "a longer one");
        memcpy(line, text, length);
        line[length && line[length - 1] == '\r' ? length - 1 : length] = 0;
        PACE_TRY(read_line(&r, line));
        text += length + (text[length] == '\n');
    }
    if (r.line < 2) return wrong(&r, "the machine in line 2", "the end");
    *settings = read;
    return PACE_OK;
}

/* A table that nobody named need not be there. */
static pace_status read_table(pace_settings *settings, int ranks) {
    static _Thread_local char text[PACE_TUNING_BYTES];
    char path[PACE_TUNING_PATH], machine[PACE_MACHINE_LINE];
    bool asked;
    if (!pace_tuning_path(path, &asked)) return PACE_OK;
    FILE *file = fopen(path, "r");
    if (!file)
        return asked ? pace_fail(PACE_E_IO, "PACELINE_COLLECTIVE_TABLE: %s: %s", path, strerror(errno)) : PACE_OK;
    size_t length = fread(text, 1, sizeof text - 1, file);
    bool whole = feof(file) && !ferror(file);
    fclose(file);
    if (!whole || memchr(text, 0, length)) return pace_fail(PACE_E_INPUT, "%s is no table of collectives", path);
    text[length] = 0;
    pace_tuning_machine(machine);
    return pace_tuning_read(settings, text, path, machine, ranks);
}

pace_status pace_tuning_settings(pace_settings *out, int ranks) {
    pace_settings read = {.patience_s = 0};
    const char *said = getenv("PACELINE_COLLECTIVE");
    PACE_TRY(read_table(&read, ranks));
    if (said) PACE_TRY(pace_settings_read(&read, said, "PACELINE_COLLECTIVE"));
    *out = read;
    return PACE_OK;
}
