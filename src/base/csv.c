#include "base/csv.h"
#include "base/csv_form.h"
#include "base/csv_records.h"
#include "base/print.h"
#include "base/decimal.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

enum { CHUNK = 1 << 16, MOST_COLUMNS = 4096, MOST_OF_CELL = 1 << 20, MOST_OF_RECORDS = 64 << 20 };

typedef enum { LINE_START, CELL_START, PLAIN, QUOTED, QUOTE_SEEN, COMMENT } state;

typedef struct {
    pace_csv *csv;
    state state;
    size_t cells; /* of the row so far */
    uint32_t line, row_line;
    bool header_done;
    char separator;          /* the first comma, semicolon or tab of the header; 0 = none yet */
    bool piped;              /* Markdown: the header starts with a bar, or stands above a line of dashes and bars */
    bool ruled;              /* the line of dashes below it has been read */
    bool numbered;           /* rows begin with a number that no column is named for */
    unsigned spaces, blanks; /* that part cells, where nothing else does, and that have been read; 0 = not */
} reader;

static pace_status fault(const reader *r, const char *what) {
    return pace_fail(PACE_E_INPUT, "%s:%u: %s", r->csv->name, r->line, what);
}

static pace_status start_cell(reader *r) {
    if (r->cells == MOST_COLUMNS) return fault(r, "more than 4096 columns");
    r->cells++;
    return PACE_PUSH(&r->csv->cells, r->csv->text.count);
}

/* Blanks around a cell of Markdown, and what sets it in bold, italics or as code. */
static bool is_dress(const reader *r, char c) { return r->piped && (c == ' ' || c == '\t' || c == '*' || c == '`'); }

static pace_status end_cell(reader *r) {
    pace_csv *csv = r->csv;
    size_t start = csv->cells.items[csv->cells.count - 1];
    while (csv->text.count > start && is_dress(r, csv->text.items[csv->text.count - 1])) csv->text.count--;
    if (r->spaces) csv->text.count -= r->blanks;
    r->blanks = 0;
    return PACE_PUSH(&csv->text, '\0');
}

/* "---", ":---:": the first line below a header of Markdown, or of columns parted by blanks. */
static bool is_rule(const reader *r) {
    const pace_csv *csv = r->csv;
    if ((!r->piped && !r->spaces) || !r->header_done || r->ruled) return false;
    for (size_t i = 0; i < r->cells; i++) {
        const char *cell = csv->text.items + csv->cells.items[csv->cells.count - r->cells + i];
        if (!*cell || cell[strspn(cell, "-=+: ")]) return false;
    }
    return true;
}

/* "[10 rows x 4 columns]", which pandas prints below a table. */
static bool is_footer(const reader *r) {
    const pace_csv *csv = r->csv;
    if (!r->spaces || !r->header_done || r->cells == 0) return false;
    const char *text = csv->text.items;
    const char *first = text + csv->cells.items[csv->cells.count - r->cells];
    return *first == '[' && pace_ends(text + csv->cells.items[csv->cells.count - 1], "columns]");
}

/* Columns without a name may be many: spreadsheets end lines with commas. */
static pace_status check_names(const reader *r) {
    const pace_csv *csv = r->csv;
    for (size_t i = 1; i < csv->columns; i++) {
        const char *name = pace_csv_name(csv, i);
        size_t first = *name ? (size_t)pace_csv_find(csv, name) : i;
        if (first < i)
            return pace_fail(PACE_E_INPUT, "%s:%u: expected each column once, found \"%.60s\" as columns %zu and %zu",
                             csv->name, r->row_line, name, first + 1, i + 1);
    }
    return PACE_OK;
}

/* The number that pandas prints before each row. */
static void drop_number(reader *r) {
    size_t *first = r->csv->cells.items + r->csv->cells.count - r->cells;
    memmove(first, first + 1, (r->cells - 1) * sizeof *first);
    r->csv->cells.count--;
    r->cells--;
    r->numbered = true;
}

static pace_status end_row(reader *r) {
    pace_csv *csv = r->csv;
    bool begun = csv->rows > 0;
    bool numbered = r->spaces && r->header_done && r->cells == csv->columns + 1 && (r->numbered || !begun);
    if (numbered && !is_footer(r)) drop_number(r);
    if (!r->header_done) {
        if (r->cells == 0) return fault(r, "expected names of columns between bars");
        csv->columns = r->cells;
        r->header_done = true;
        PACE_TRY(check_names(r));
    } else if (is_rule(r) || is_footer(r)) {
        r->ruled |= !is_footer(r);
        csv->cells.count -= r->cells;
    } else if (r->cells != csv->columns) {
        return pace_fail(PACE_E_INPUT, "%s:%u: expected %zu cell%s as in the header, found %zu", csv->name, r->row_line,
                         csv->columns, csv->columns == 1 ? "" : "s", r->cells);
    } else {
        PACE_TRY(PACE_PUSH(&csv->lines, r->row_line));
        csv->rows++;
    }
    r->cells = 0;
    r->state = LINE_START;
    return PACE_OK;
}

/* A character of a table whose cells blanks part. */
static pace_status take_spaced(reader *r, char c) {
    if (c == '\r') return PACE_OK;
    if (r->state == CELL_START) {
        if (c == '\n' && r->cells > 0) return end_row(r);
        if (c == '\n') r->state = LINE_START;
        if (c == ' ' || c == '\n') return PACE_OK;
        PACE_TRY(start_cell(r));
        r->state = PLAIN;
    }
    if (c == '\n') {
        PACE_TRY(end_cell(r));
        return end_row(r);
    }
    r->blanks = c == ' ' ? r->blanks + 1 : 0;
    PACE_TRY(PACE_PUSH(&r->csv->text, c));
    if (r->blanks < r->spaces) return PACE_OK;
    r->state = CELL_START;
    return end_cell(r);
}

static pace_status take(reader *r, char c) {
    if (c == '\0') return fault(r, "a NUL byte: expected text");
    if (r->state == LINE_START) {
        if (c == '\r' || c == '\n') return PACE_OK; /* an empty line */
        r->row_line = r->line;
        if (c == '#' && !r->header_done) {
            r->state = COMMENT;
            return PACE_OK;
        }
        if (c == '|' && !r->header_done) r->piped = true, r->separator = c;
        r->state = CELL_START;
        if (r->piped && c == '|') return PACE_OK;
    }
    if (r->spaces && r->state != COMMENT) return take_spaced(r, c);
    switch (r->state) {
    case COMMENT:
        if (c == '\n') r->state = LINE_START;
        return PACE_OK;
    case CELL_START:
        if (is_dress(r, c) || (r->piped && c == '\r')) return PACE_OK;
        if (r->piped && c == '\n') return end_row(r); /* the bar that closes a line */
        PACE_TRY(start_cell(r));
        r->state = c == '"' && !r->piped ? QUOTED : PLAIN;
        if (r->state == QUOTED) return PACE_OK;
        break;
    case QUOTED:
        if (c != '"') return PACE_PUSH(&r->csv->text, c);
        r->state = QUOTE_SEEN;
        return PACE_OK;
    case QUOTE_SEEN:
        if (c == '"') {
            r->state = QUOTED;
            return PACE_PUSH(&r->csv->text, c);
        }
        r->state = PLAIN;
        break;
    default: break;
    }
    if (!r->separator && (c == ',' || c == ';' || c == '\t')) r->separator = c;
    if (c == r->separator) {
        r->state = CELL_START;
        return end_cell(r);
    }
    if (c == '\n') {
        PACE_TRY(end_cell(r));
        return end_row(r);
    }
    return c == '\r' ? PACE_OK : PACE_PUSH(&r->csv->text, c);
}

static pace_status finish(reader *r) {
    if (r->state == QUOTED) return pace_fail(PACE_E_INPUT, "%s:%u: a quote is left open", r->csv->name, r->row_line);
    bool closed = (r->piped || r->spaces) && r->state == CELL_START;
    if (r->spaces && r->state == CELL_START && r->cells == 0) r->state = LINE_START;
    if (r->state == CELL_START && !closed) PACE_TRY(start_cell(r));
    if (r->state == CELL_START || r->state == PLAIN || r->state == QUOTE_SEEN) {
        if (!closed) PACE_TRY(end_cell(r));
        PACE_TRY(end_row(r));
    }
    if (!r->header_done) return pace_fail(PACE_E_INPUT, "%s: empty: expected a line of column names", r->csv->name);
    return PACE_OK;
}

/* A table without its end is refused: what is lost may be what mattered. The message at hand says where the file breaks
 * off. */
static pace_status fail_lost(const reader *r) {
    char why[512];
    snprintf(why, sizeof why, "%s", pace_message());
    return pace_fail(PACE_E_INPUT, "%s in line %u; the %zu whole rows before it are not used either: the rest is lost",
                     why, r->line, r->csv->rows);
}

/* A list of records, whose first bytes were read, is read as the table that it stands for. */
static pace_status take_records(reader *r, pace_input *input, const char *head, size_t length) {
    char *rest = NULL;
    size_t more;
    pace_text text = {0}, table = {0};
    pace_status status = pace_input_read_all(&rest, &more, input, MOST_OF_RECORDS);
    if (status == PACE_OK) status = pace_text_append(&text, head, length);
    if (status == PACE_OK) status = pace_text_append(&text, rest, more + 1);
    if (status == PACE_OK) status = pace_csv_of_records(&table, r->csv->name, text.items, text.count - 1);
    for (size_t i = 0; status == PACE_OK && i < table.count; i++) {
        status = take(r, table.items[i]);
        r->line += table.items[i] == '\n';
    }
    pace_free(rest);
    PACE_VEC_FREE(&text, &table);
    return status;
}

/* Returns the bytes before the header. */
static size_t find_form(reader *r, const char *head, size_t length) {
    pace_csv_form form = pace_csv_form_of(head, length);
    r->spaces = form.spaces;
    r->piped = form.piped;
    if (form.piped) r->separator = '|';
    for (size_t i = 0; i < form.skip; i++) r->line += head[i] == '\n';
    return form.skip;
}

/* What is no table may be one line of a gigabyte. */
static pace_status check_cell(const reader *r) {
    const pace_csv *csv = r->csv;
    bool open = r->state == PLAIN || r->state == QUOTED || r->state == QUOTE_SEEN;
    bool longer = open && csv->text.count - csv->cells.items[csv->cells.count - 1] > MOST_OF_CELL;
    return longer ? fault(r, "a cell of more than 1 MiB") : PACE_OK;
}

static pace_status read_all(reader *r, pace_input *input) {
    size_t room = pace_input_room(input, CHUNK);
    char *buffer = pace_alloc(room, 1);
    if (!buffer) return PACE_E_MEMORY;
    pace_status status = PACE_OK;
    bool first = true;
    for (size_t got = 1; status == PACE_OK && got > 0;) {
        status = pace_input_read(input, buffer, room, &got);
        if (status == PACE_E_INPUT && !first) status = fail_lost(r);
        size_t at = first && got >= 3 && memcmp(buffer, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* a byte order mark */
        if (first && status == PACE_OK && pace_csv_is_records(buffer + at, got - at)) {
            status = take_records(r, input, buffer + at, got - at);
            break;
        }
        if (first && status == PACE_OK) at += find_form(r, buffer + at, got - at);
        first = false;
        for (; status == PACE_OK && at < got; at++) {
            status = take(r, buffer[at]);
            r->line += buffer[at] == '\n';
        }
        if (status == PACE_OK) status = check_cell(r);
    }
    pace_free(buffer);
    return status == PACE_OK ? finish(r) : status;
}

pace_status pace_csv_read(pace_csv *out, pace_input *input) {
    pace_csv csv = {0};
    const char *name = pace_input_name(input);
    csv.name = pace_copy_text(name, strlen(name));
    reader r = {.csv = &csv, .line = 1};
    pace_status status = csv.name ? read_all(&r, input) : PACE_E_MEMORY;
    if (status == PACE_OK && !(csv.looked = pace_alloc(csv.columns, sizeof *csv.looked))) status = PACE_E_MEMORY;
    csv.bytes = pace_input_stored_bytes(input);
    return PACE_GIVE(out, csv, status, pace_csv_free(&csv));
}

static pace_status read_input(void *out, pace_input *input) { return pace_csv_read(out, input); }

pace_status pace_csv_open(pace_csv *out, const char *path) { return pace_input_read_file(out, path, read_input); }

void pace_csv_free(pace_csv *csv) {
    PACE_FREE(csv->name, csv->looked);
    PACE_VEC_FREE(&csv->text, &csv->cells, &csv->lines);
    *csv = (pace_csv){0};
}

int pace_csv_find(const pace_csv *csv, const char *name) {
    for (size_t i = 0; i < csv->columns; i++)
        if (strcmp(pace_csv_name(csv, i), name) == 0) return (int)i;
    return -1;
}

int pace_csv_find_any_case(const pace_csv *csv, const char *name, size_t length) {
    for (size_t i = 0; i < csv->columns; i++) {
        const char *own = pace_csv_name(csv, i);
        if (strlen(own) == length && pace_strncasecmp(own, name, length) == 0) return (int)i;
    }
    return -1;
}

void pace_csv_instead(char *out, size_t size, const pace_csv *csv, const char *name) {
    const char *best = pace_csv_name(csv, 0);
    for (size_t i = 1; i < csv->columns; i++) best = pace_word_nearer(name, best, pace_csv_name(csv, i));
    bool near = pace_word_is_near(name, best);
    pace_snprintf(out, size, near ? "; the closest name is \"%.60s\"" : "; its columns: ", best);
    for (size_t i = 0; !near && i < csv->columns; i++)
        pace_append(out, size, "%s%.40s", i ? ", " : "", pace_csv_name(csv, i));
}

/* Whole numbers of at most 15 digits, most of what tables hold; false leaves `cell` to the reader of decimals. */
static bool whole_number(double *out, const char *cell) {
    double value = 0;
    int digits = 0;
    for (; *cell >= '0' && *cell <= '9' && digits < 16; cell++, digits++) value = value * 10 + (*cell - '0');
    if (*cell || digits == 0 || digits > 15) return false;
    *out = value;
    return true;
}

bool pace_csv_number(double *out, const char *cell) {
    while (*cell == ' ') cell++;
    if (whole_number(out, cell)) return true;
    return pace_number_parse(out, cell);
}

pace_status pace_csv_read_written(const pace_text *text, const char *name,
                                  pace_status (*read)(void *context, pace_input *input), void *context) {
    pace_input *input;
    PACE_TRY(pace_input_open_memory(&input, name, text->items, text->count));
    pace_status status = read(context, input);
    pace_input_free(input);
    return status;
}
