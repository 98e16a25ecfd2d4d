#include "tuner_table.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_FIELDS = 8, MOST_FIELDS = 10, MOST_ROWS = 1 << 20 };

static const char *const collectives[] = {[TUNER_BROADCAST] = "broadcast",
                                          [TUNER_REDUCE] = "reduce",
                                          [TUNER_ALLGATHER] = "allgather",
                                          [TUNER_REDUCESCATTER] = "reducescatter",
                                          [TUNER_ALLREDUCE] = "allreduce"};
static const char *const algorithms[] = {[TUNER_TREE] = "tree",
                                         [TUNER_RING] = "ring",
                                         [TUNER_COLLNET_DIRECT] = "collnet_direct",
                                         [TUNER_COLLNET_CHAIN] = "collnet_chain",
                                         [TUNER_NVLS] = "nvls",
                                         [TUNER_NVLS_TREE] = "nvls_tree",
                                         [TUNER_PAT] = "pat"};
static const char *const protocols[] = {[TUNER_LL] = "ll", [TUNER_LL128] = "ll128", [TUNER_SIMPLE] = "simple"};
#define COUNT(array) ((int)(sizeof(array) / sizeof *(array)))

typedef struct {
    const char *path;
    char *message;
    int line;
} reading;

static bool wrong(const reading *r, const char *expected, const char *found) {
    snprintf(r->message, TUNER_MESSAGE, "%.300s:%d: expected %s, found '%.60s'", r->path, r->line, expected, found);
    return false;
}

static int find_word(const char *const *words, int count, const char *text) {
    int i = 0;
    while (i < count && strcmp(words[i], text) != 0) i++;
    return i < count ? i : -1;
}

/* Digits alone; -1 where `any` allows it, which is then UINT64_MAX. */
static bool read_number(uint64_t *out, const char *text, uint64_t most, bool any) {
    if (any && strcmp(text, "-1") == 0) {
        *out = UINT64_MAX;
        return true;
    }
    *out = 0;
    for (const char *at = text; *at; at++) {
        uint64_t digit = (uint64_t)(*at - '0');
        if (digit > 9 || *out > (most - digit) / 10) return false;
        *out = *out * 10 + digit;
    }
    return *text != '\0';
}

static bool read_small(int *out, const reading *r, const char *text, const char *what) {
    uint64_t number;
    if (!read_number(&number, text, 1 << 30, true)) return wrong(r, what, text);
    *out = number == UINT64_MAX ? TUNER_ANY : (int)number;
    return true;
}

static char *trimmed(char *text) {
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t')) length--;
    text[length] = '\0';
    return text;
}

/* Cuts a line at its commas. Returns how many fields there are, of which the first few are in `fields`. */
static int cut(char *fields[MOST_FIELDS], char *line) {
    int count = 0;
    for (char *at = line; at; count++) {
        char *comma = strchr(at, ',');
        if (comma) *comma = '\0';
        if (count < MOST_FIELDS) fields[count] = trimmed(at);
        at = comma ? comma + 1 : NULL;
    }
    return count;
}

static bool read_words(tuner_row *row, const reading *r, char *fields[MOST_FIELDS]) {
    int collective = find_word(collectives, COUNT(collectives), fields[0]),
        algorithm = find_word(algorithms, COUNT(algorithms), fields[3]),
        protocol = find_word(protocols, COUNT(protocols), fields[4]);
    if (collective < 0) return wrong(r, "allreduce, allgather, reducescatter, broadcast or reduce", fields[0]);
    if (algorithm < 0) return wrong(r, "tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree or pat", fields[3]);
    if (protocol < 0) return wrong(r, "ll, ll128 or simple", fields[4]);
    row->collective = (tuner_collective)collective;
    row->algorithm = (tuner_algorithm)algorithm;
    row->protocol = (tuner_protocol)protocol;
    return true;
}

static bool read_row(tuner_row *row, const reading *r, char *line) {
    char *fields[MOST_FIELDS], number[16];
    int count = cut(fields, line);
    snprintf(number, sizeof number, "%d", count);
    if (count < LEAST_FIELDS || count > MOST_FIELDS) return wrong(r, "8 to 10 fields between commas", number);
    *row = (tuner_row){.piped = TUNER_ANY, .registered = TUNER_ANY, .line = r->line};
    if (!read_words(row, r, fields)) return false;
    if (!read_number(&row->least_bytes, fields[1], UINT64_MAX, false)) return wrong(r, "a number of bytes", fields[1]);
    if (!read_number(&row->most_bytes, fields[2], UINT64_MAX, false)) return wrong(r, "a number of bytes", fields[2]);
    if (row->least_bytes > row->most_bytes) return wrong(r, "no fewer bytes than at the start", fields[2]);
    if (!read_small(&row->channels, r, fields[5], "a number of channels, or -1")) return false;
    if (row->channels == 0) return wrong(r, "a number of channels from 1, or -1", fields[5]);
    if (!read_small(&row->nodes, r, fields[6], "a number of nodes, or -1")) return false;
    if (!read_small(&row->ranks, r, fields[7], "a number of ranks, or -1")) return false;
    if (count > 8 && !read_small(&row->piped, r, fields[8], "a number of operations, or -1")) return false;
    return count < 10 || read_small(&row->registered, r, fields[9], "0, 1 or -1");
}

static bool add(tuner_table *table, const reading *r, const tuner_row *row) {
    if (table->count == MOST_ROWS) return wrong(r, "at most 1,048,576 rows", "more");
    if (table->count == table->room) {
        size_t room = table->room ? 2 * table->room : 64;
        tuner_row *rows = realloc(table->rows, room * sizeof *rows);
        if (!rows) return wrong(r, "memory", "none left");
        table->rows = rows;
        table->room = room;
    }
    table->rows[table->count++] = *row;
    return true;
}

/* Comments, empty lines and the line that names the columns say nothing. */
static bool is_row(const char *line) { return *line && *line != '#' && strncmp(line, "collective_type,", 16) != 0; }

static bool read_line(tuner_table *out, reading *r, char *line, size_t length) {
    tuner_row row;
    r->line++;
    if (strlen(line) != length) return wrong(r, "text", "a byte of 0");
    line[strcspn(line, "\r\n")] = '\0';
    char *text = trimmed(line);
    return !is_row(text) || (read_row(&row, r, text) && add(out, r, &row));
}

static bool read_lines(tuner_table *out, reading *r, FILE *file) {
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    errno = 0;
    for (ssize_t length; good && (length = getline(&line, &room, file)) >= 0;)
        good = read_line(out, r, line, (size_t)length);
    free(line);
    if (good && !feof(file)) good = wrong(r, "a file that can be read", strerror(errno));
    return good;
}

bool tuner_table_read(tuner_table *out, char message[TUNER_MESSAGE], const char *path) {
    tuner_table read = {NULL, 0, 0};
    reading r = {path, message, 0};
    FILE *file = fopen(path, "re");
    if (!file) {
        snprintf(message, TUNER_MESSAGE, "%.300s: %s", path, strerror(errno));
        return false;
    }
    bool good = read_lines(&read, &r, file);
    fclose(file);
    if (good) *out = read;
    else tuner_table_free(&read);
    return good;
}

void tuner_table_free(tuner_table *table) {
    free(table->rows);
    *table = (tuner_table){NULL, 0, 0};
}

static bool fits(int wanted, size_t found) { return wanted == TUNER_ANY || (size_t)wanted == found; }

void tuner_table_keep(tuner_table *table, size_t nodes, size_t ranks) {
    size_t kept = 0;
    for (size_t i = 0; i < table->count; i++)
        if (fits(table->rows[i].nodes, nodes) && fits(table->rows[i].ranks, ranks))
            table->rows[kept++] = table->rows[i];
    table->count = kept;
}

const tuner_row *tuner_table_find(const tuner_table *table, tuner_collective collective, uint64_t bytes, int piped,
                                  int registered) {
    for (size_t i = 0; i < table->count; i++) {
        const tuner_row *row = &table->rows[i];
        bool asked = row->piped == TUNER_ANY || row->piped == piped;
        bool of_buffers = row->registered == TUNER_ANY || registered == TUNER_ANY || row->registered == registered;
        if (row->collective == collective && bytes >= row->least_bytes && bytes <= row->most_bytes && asked &&
            of_buffers)
            return row;
    }
    return NULL;
}
