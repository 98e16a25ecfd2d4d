#include "rows_file.h"

#include "base/decimal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LONGEST_ROW = 2048, MOST_TABLE_BYTES = 1 << 30 };

/* Columns besides the sizes, which stand behind "pass". */
enum { BEFORE = 5, AFTER = 11, CELLS = BEFORE + PACE_POINT_SIZES + AFTER };
enum { DEVICE, SOURCE, OP, DTYPE, PASS };
enum { LATENCY = BEFORE + PACE_POINT_SIZES, SPREAD, BEST, BATCHES, RUNS, THREADS, CLOCK, CACHE, HOST, SOFTWARE, DATE };

static const char *const before[BEFORE] = {"device", "source", "op", "dtype", "pass"};
static const char *const after[AFTER] = {"latency_us", "spread", "best_us", "batches",  "runs", "threads",
                                         "clock",      "cache",  "host",    "software", "date"};

static size_t header(char *line, size_t size) {
    size_t used = 0;
    for (int i = 0; i < CELLS; i++) {
        const char *name = i < BEFORE    ? before[i]
                           : i < LATENCY ? pace_point_size_names[i - BEFORE]
                                         : after[i - LATENCY];
        used += (size_t)snprintf(line + used, size - used, "%s%s", i ? "," : "", name);
    }
    return used + (size_t)snprintf(line + used, size - used, "\n");
}

void pace_rows_clean(char *text) {
    for (; *text; text++)
        if (*text == ',' || *text == '"' || *text == '\\') *text = ';';
        else if ((unsigned char)*text < ' ') *text = ' ';
}

/* --- keys ------------------------------------------------------------------------------------------------------- */

static size_t put_sizes(char *text, size_t size, const pace_point *point) {
    size_t used = 0;
    for (int i = 0; i < PACE_POINT_SIZES; i++)
        used += (size_t)(point->size[i] < 0 ? snprintf(text + used, size - used, ",")
                                            : snprintf(text + used, size - used, ",%.0f", point->size[i]));
    return used;
}

static size_t make_key(char *key, size_t size, const pace_point *point, const char *source, int threads) {
    size_t used = (size_t)snprintf(key, size, "%d,%.64s,%d,%d,%d", threads, source, (int)point->op, (int)point->dtype,
                                   (int)point->pass);
    return used + put_sizes(key + used, size - used, point);
}

static pace_status remember(pace_rows_file *rows, const pace_measured_row *row) {
    char key[LONGEST_ROW];
    pace_name name;
    size_t length = make_key(key, sizeof key, &row->point, pace_names_text(&rows->names, row->source), row->threads);
    PACE_TRY(pace_names_add(&name, &rows->names, key, length));
    while (rows->row_of_name.count <= name) PACE_TRY(PACE_PUSH(&rows->row_of_name, 0));
    PACE_TRY(PACE_PUSH(&rows->rows, *row));
    rows->row_of_name.items[name] = (uint32_t)rows->rows.count;
    return PACE_OK;
}

const pace_measured_row *pace_rows_file_find(const pace_rows_file *rows, const pace_point *point, const char *source,
                                             int threads) {
    char key[LONGEST_ROW];
    pace_name name;
    size_t length = make_key(key, sizeof key, point, source, threads);
    if (!pace_names_find(&name, &rows->names, key, length) || name >= rows->row_of_name.count) return NULL;
    uint32_t row = rows->row_of_name.items[name];
    return row ? &rows->rows.items[row - 1] : NULL;
}

/* --- reading what is there -------------------------------------------------------------------------------------- */

static bool number(double *out, const char *cell) { return pace_number_parse(out, cell) && *out >= 0 && *out < 1e300; }

static bool word(int *out, const char *const *words, int count, const char *cell) {
    *out = pace_word_find(words, count, cell);
    return *out < count;
}

/* NULL, or the name of the first cell that cannot be. */
static const char *read_point(pace_point *point, char *const *cells) {
    int op, dtype, pass;
    if (!word(&op, pace_point_op_names, PACE_MEASURES, cells[OP])) return "op";
    if (!word(&dtype, pace_point_dtype_names, PACE_POINT_DTYPES, cells[DTYPE])) return "dtype";
    if (!word(&pass, pace_point_pass_names, PACE_POINT_PASSES, cells[PASS])) return "pass";
    *point = (pace_point){.op = (pace_measured_op)op, .dtype = (pace_point_dtype)dtype, .pass = (pace_point_pass)pass};
    for (int i = 0; i < PACE_POINT_SIZES; i++) {
        point->size[i] = -1;
        if (*cells[BEFORE + i] && !number(&point->size[i], cells[BEFORE + i])) return pace_point_size_names[i];
    }
    return NULL;
}

static pace_status read_row(pace_rows_file *rows, char *const *cells, const char *device, size_t line) {
    pace_measured_row row;
    double latency_us, best_us, threads;
    const char *fault = read_point(&row.point, cells);
    if (!fault && (!number(&latency_us, cells[LATENCY]) || latency_us <= 0)) fault = "latency_us";
    if (!fault && !number(&row.spread, cells[SPREAD])) fault = "spread";
    if (!fault && (!number(&best_us, cells[BEST]) || best_us <= 0)) fault = "best_us";
    if (!fault && (!number(&threads, cells[THREADS]) || threads > 1e6)) fault = "threads";
    if (fault)
        return pace_fail(PACE_E_INPUT, "%s:%zu: cannot be continued: bad value in column %s", rows->path, line, fault);
    if (strcmp(cells[DEVICE], device) != 0) return PACE_OK;
    row.median_s = 1e-6 * latency_us;
    row.best_s = 1e-6 * best_us;
    PACE_TRY(pace_names_add(&row.source, &rows->names, cells[SOURCE], strlen(cells[SOURCE])));
    rows->kept++;
    row.threads = (int)threads;
    return remember(rows, &row);
}

/* Splits at commas; the number of cells, which may be more than CELLS. */
static int split(char **cells, char *line) {
    int count = 0;
    for (char *at = line; at; count++) {
        char *comma = strchr(at, ',');
        if (comma) *comma++ = '\0';
        if (count < CELLS) cells[count] = at;
        at = comma;
    }
    return count;
}

static pace_status read_lines(pace_rows_file *rows, char *text, const char *device) {
    size_t line = 2;
    for (char *at = strchr(text, '\n') + 1; *at; line++) {
        char *cells[CELLS], *end = strchr(at, '\n');
        *end = '\0';
        int count = split(cells, at);
        if (count != CELLS)
            return pace_fail(PACE_E_INPUT, "%s:%zu: cannot be continued: expected %d cells, found %d", rows->path, line,
                             CELLS, count);
        PACE_TRY(read_row(rows, cells, device, line));
        at = end + 1;
    }
    return PACE_OK;
}

static pace_status fail_io(const pace_rows_file *rows, const char *what) {
    return pace_fail(PACE_E_IO, "%s: %s: %s", rows->path, what, strerror(errno));
}

static pace_status read_whole(char **out, size_t *length, const pace_rows_file *rows) {
    struct stat entry;
    if (fstat(rows->file, &entry) != 0) return fail_io(rows, "cannot be read");
    if (!S_ISREG(entry.st_mode)) return pace_fail(PACE_E_IO, "%s: expected a plain file", rows->path);
    if (entry.st_size > MOST_TABLE_BYTES) return pace_fail(PACE_E_LIMIT, "%s: larger than 1 GiB", rows->path);
    size_t size = (size_t)entry.st_size, used = 0;
    char *text = pace_alloc(size + 1, 1);
    if (!text) return PACE_E_MEMORY;
    while (used < size) {
        ssize_t got = pread(rows->file, text + used, size - used, (off_t)used);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        used += (size_t)got;
    }
    *out = text;
    *length = used;
    return PACE_OK;
}

static pace_status write_whole(const pace_rows_file *rows, const char *text, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t put = write(rows->file, text + done, length - done);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return fail_io(rows, "cannot be written");
        done += (size_t)put;
    }
    return PACE_OK;
}

/* What is there, less a last line that was cut off. A file that holds only part of the header is begun anew. */
static pace_status continue_table(pace_rows_file *rows, char *text, size_t length, const char *device) {
    char head[LONGEST_ROW];
    size_t head_length = header(head, sizeof head), whole = length;
    while (whole > 0 && text[whole - 1] != '\n') whole--;
    bool begun = length < head_length && strncmp(text, head, length) == 0;
    if (!begun && (whole < head_length || memcmp(text, head, head_length) != 0))
        return pace_fail(PACE_E_INPUT, "%s: is no table of calibrate: its first line is another", rows->path);
    if (memchr(text, '\0', length)) return pace_fail(PACE_E_INPUT, "%s: holds a NUL byte", rows->path);
    if (begun) whole = 0;
    if (whole < length && ftruncate(rows->file, (off_t)whole) != 0) return fail_io(rows, "cannot be shortened");
    rows->torn_bytes = length - whole;
    if (begun) return write_whole(rows, head, head_length);
    text[whole] = '\0';
    return read_lines(rows, text, device);
}

static pace_status open_table(pace_rows_file *rows, const char *device) {
    char *text = NULL;
    size_t length = 0;
    rows->file = open(rows->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (rows->file < 0) return fail_io(rows, "cannot be opened");
    PACE_TRY(read_whole(&text, &length, rows));
    pace_status status = continue_table(rows, text, length, device);
    pace_free(text);
    return status;
}

pace_status pace_rows_file_open(pace_rows_file *out, const char *path, const char *device) {
    pace_rows_file rows = {.file = -1};
    pace_status status = pace_names_init(&rows.names);
    if (status == PACE_OK && path) {
        rows.path = pace_copy_text(path, strlen(path));
        status = rows.path ? open_table(&rows, device) : PACE_E_MEMORY;
    }
    if (status != PACE_OK) pace_rows_file_close(&rows);
    else *out = rows;
    return status;
}

void pace_rows_file_close(pace_rows_file *rows) {
    if (rows->file >= 0) close(rows->file);
    pace_free(rows->path);
    pace_names_free(&rows->names);
    PACE_VEC_FREE(&rows->rows);
    PACE_VEC_FREE(&rows->row_of_name);
    *rows = (pace_rows_file){.file = -1};
}

/* --- adding ----------------------------------------------------------------------------------------------------- */

static size_t make_line(char *line, size_t size, const pace_point *point, const pace_row_origin *origin,
                        const pace_point_time *m) {
    size_t used = (size_t)snprintf(line, size, "%.96s,%.64s,%s,%s,%s", origin->device, origin->source,
                                   pace_point_op_names[point->op], pace_point_dtype_names[point->dtype],
                                   pace_point_pass_names[point->pass]);
    used += put_sizes(line + used, size - used, point);
    used += (size_t)pace_snprintf(line + used, size - used, ",%.6g,%.4f,%.6g,%u,%u,%d,%.16s,warm,%.128s,%.128s,%.32s\n",
                                  1e6 * m->median_s, m->spread, 1e6 * m->best_s, m->batches, m->runs, origin->threads,
                                  origin->clock, origin->host, origin->software, origin->date);
    return used;
}

pace_status pace_rows_file_add(pace_rows_file *rows, const pace_point *point, const pace_row_origin *origin,
                               const pace_point_time *measurement) {
    char line[LONGEST_ROW];
    pace_measured_row row = {.point = *point,
                             .median_s = measurement->median_s,
                             .best_s = measurement->best_s,
                             .spread = measurement->spread,
                             .threads = origin->threads};
    PACE_TRY(pace_names_add(&row.source, &rows->names, origin->source, strlen(origin->source)));
    if (rows->file >= 0) PACE_TRY(write_whole(rows, line, make_line(line, sizeof line, point, origin, measurement)));
    return remember(rows, &row);
}
