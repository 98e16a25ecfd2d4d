/* Which mapping a file is of, by its header or its first rows. */
#include "base/text.h"
#include "base/yaml_member.h"
#include "source/usage/usage_header.h"
#include "source/usage/usage_reader.h"
#include "source/usage/usage_samples.h"
#include "source/usage/usage_words.h"

#include <string.h>

enum { ROWS_LOOKED_AT = 5 };

static size_t found_of(const pace_usage_mapping *m, const pace_usage_cells *cells, const pace_yaml_node *names) {
    size_t found = 0;
    PACE_YAML_EACH (one, names) found += pace_usage_cell_named(m, cells, pace_yaml_text(one)) >= 0;
    return found;
}

static size_t fields_found(const pace_usage_mapping *m, const pace_usage_cells *cells, const pace_yaml_node *fields) {
    size_t found = 0;
    double unit;
    PACE_YAML_EACH (one, fields) {
        const char *name = pace_yaml_text(one);
        pace_usage_field field = pace_usage_field_named(name ? name : "");
        found += field != PACE_USAGE_FIELDS && pace_usage_cell_of_field(&unit, m, cells, field) >= 0;
    }
    return found;
}

/* By what the columns are, whatever they are called: less certain than any mapping that knows their names. */
static bool known_by_fields(const pace_usage_mapping *m, const pace_usage_cells *cells) {
    const pace_yaml_node *all = pace_yaml_get(m->known_by, "fields"), *any = pace_yaml_get(m->known_by, "any_field");
    return all && fields_found(m, cells, all) == pace_yaml_count(all) && (!any || fields_found(m, cells, any));
}

/* How many of its columns the header has, when it has all that it must; else 0. */
static size_t known_by_header(const pace_usage_mapping *m, const pace_usage_cells *cells) {
    const pace_yaml_node *columns = pace_yaml_get(m->known_by, "columns"), *any = pace_yaml_get(m->known_by, "any");
    size_t all = found_of(m, cells, columns), some = found_of(m, cells, any);
    if (all < pace_yaml_count(columns) || (any && some == 0)) return 0;
    if (found_of(m, cells, pace_yaml_get(m->known_by, "none")) > 0) return 0;
    return all + some > 0 ? all + some : known_by_fields(m, cells);
}

static pace_usage_text cell_named(const pace_usage_mapping *m, const pace_usage_cells *cells, const char *name) {
    int at = name ? pace_text_place(m->columns, name) : -1;
    return at < 0 ? (pace_usage_text){"", 0} : pace_usage_trim(cells->cells[at]);
}

static bool is_one_of(pace_usage_text text, const pace_yaml_node *words) {
    bool is = text.length == 0;
    for (size_t i = 0; !is && i < pace_yaml_count(words); i++) {
        const char *word = pace_yaml_text(pace_yaml_item(words, i));
        is = word && pace_span_is(text.data, text.length, word);
    }
    return is;
}

/* A row of a file without a header: as many cells, and each as the mapping says that it can be. */
static bool could_be_row(const pace_usage_mapping *m, const pace_usage_cells *cells) {
    const pace_yaml_node *numbers = pace_yaml_get(m->known_by, "numbers"), *words = pace_yaml_get(m->known_by, "words");
    double number;
    if (cells->count != pace_yaml_count(m->columns) || cells->count > PACE_USAGE_MOST_CELLS) return false;
    PACE_YAML_EACH (one, numbers) {
        pace_usage_text text = cell_named(m, cells, pace_yaml_text(one));
        if (text.length && !pace_usage_number(&number, text)) return false;
    }
    PACE_YAML_EACH (entry, words)
        if (!is_one_of(cell_named(m, cells, pace_yaml_key_of(entry)), entry)) return false;
    return true;
}

/* The cells of the next of the first rows, counted in *rows: of whole lines only, unless there is but one. */
static bool next_row(pace_usage_cells *cells, char **line, char *end, char separator, int *rows) {
    for (char *at = *line; at < end && *rows < ROWS_LOOKED_AT; at = *line) {
        char *stop = pace_usage_line_end(line, at, end);
        if (*line == end && end[-1] != '\n' && *rows > 0) return false;
        if (stop == at || *at == '#') continue;
        pace_usage_split(cells, at, (size_t)(stop - at), separator);
        ++*rows;
        return true;
    }
    return false;
}

static size_t known_by_rows(const pace_usage_mapping *m, char *head, char *end) {
    pace_usage_cells cells;
    int rows = 0;
    while (next_row(&cells, &head, end, m->separator, &rows))
        if (!could_be_row(m, &cells)) return 0;
    return rows ? pace_yaml_count(m->columns) : 0;
}

static bool begins_as_json(const char *head, size_t length) {
    size_t at = 0;
    while (at < length && pace_is_space(head[at])) at++;
    return at < length && (head[at] == '{' || head[at] == '[');
}

static size_t known_by_text(const pace_usage_mapping *m, const char *head, size_t length) {
    const pace_yaml_node *texts = pace_yaml_get(m->known_by, "text");
    PACE_YAML_EACH (one, texts) {
        const char *word = pace_yaml_text(one);
        if (!word || !*word || !pace_span_holds(head, length, word)) return 0;
    }
    return pace_yaml_count(texts);
}

/* Whether the first rows, too, have so many cells between this separator. */
static bool rows_have(size_t cells_wanted, char separator, char *line, char *end) {
    pace_usage_cells cells;
    int rows = 0;
    while (next_row(&cells, &line, end, separator, &rows))
        if (cells.count != cells_wanted) return false;
    return true;
}

static size_t known_by_lines(bool *rows_fit, const pace_usage_mapping *m, char separator, char *head, char *end) {
    pace_usage_cells cells;
    char *line = head, *next, *stop;
    if (end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) line += 3;
    while ((stop = pace_usage_line_end(&next, line, end)) < end && (stop == line || *line == '#')) line = next;
    if (stop == line || memchr(line, '\0', (size_t)(stop - line))) return 0;
    pace_usage_split(&cells, line, (size_t)(stop - line), separator);
    size_t known = known_by_header(m, &cells);
    *rows_fit = known && rows_have(cells.count, separator, next, end);
    return known || !m->columns ? known : known_by_rows(m, line, end);
}

/* The first sample, behind comments and samples without labels. */
static bool known_as_samples(char *head, char *end) {
    char *next;
    for (char *line = head; line < end; line = next) {
        char *stop = pace_usage_line_end(&next, line, end);
        if (pace_usage_begins_sample(line, (size_t)(stop - line))) return true;
        if (stop > line && *line != '#' && memchr(line, ',', (size_t)(stop - line))) return false;
    }
    return false;
}

/* Splitting into cells undoes quotes in place, which would garble JSON. */
static size_t known(const pace_usage_mapping *m, char *head, size_t length) {
    bool rows_fit;
    if (m->own && !m->known_by) return 1;
    if (m->samples) return known_as_samples(head, head + length) ? known_by_text(m, head, length) : 0;
    if (length == 0 || m->json != begins_as_json(head, length)) return 0;
    if (m->json || pace_yaml_get(m->known_by, "text")) return known_by_text(m, head, length);
    return known_by_lines(&rows_fit, m, m->separator, head, head + length);
}

/* What the names of the first line stand between. */
static char header_separator(char *head, char *end) {
    char *line = head, *next, *stop;
    while ((stop = pace_usage_line_end(&next, line, end)) < end && (stop == line || *line == '#')) line = next;
    return pace_between_names(line, (size_t)(stop - line));
}

/* A mapping whose columns the header has between other characters, as sacct's with --delimiter. Where the rows have
 * more cells than the header (commas in lists of resources), `out->separator` stays 0. */
static void find_otherwise(pace_usage_reading *out, const pace_usage_mappings *mappings, char *head, size_t length) {
    size_t most = 0;
    const char separators[] = {'|', ',', ';', '\t', header_separator(head, head + length), '\0'};
    for (const char *one = separators; *one && !begins_as_json(head, length); one++)
        PACE_ITEMS (const pace_usage_mapping, m, mappings) {
            bool rows_fit = false;
            if (m->json || m->samples || m->columns || *one == m->separator) continue;
            size_t by = known_by_lines(&rows_fit, m, *one, head, head + length);
            if (by <= most) continue;
            *out = (pace_usage_reading){.mapping = m, .separator = rows_fit ? *one : 0};
            most = by;
        }
}

void pace_usage_recognised(pace_usage_reading *out, const pace_usage_mappings *mappings, char *head, size_t length) {
    size_t most = 0;
    *out = (pace_usage_reading){0};
    PACE_ITEMS (const pace_usage_mapping, m, mappings) {
        size_t by = known(m, head, length);
        if (by <= most) continue;
        *out = (pace_usage_reading){.mapping = m, .separator = m->separator};
        most = by;
        if (m->own) return;
    }
    if (most == 0) find_otherwise(out, mappings, head, length);
}

pace_status pace_usage_recognise(pace_usage_reading *out, const pace_usage_mappings *mappings, const char *path) {
    pace_input *input;
    size_t length = 0, got = 0;
    PACE_TRY(pace_input_peek(&input, path));
    char *head = pace_alloc(1, PACE_USAGE_HEAD);
    pace_status status = head ? PACE_OK : PACE_E_MEMORY;
    do {
        if (status == PACE_OK) status = pace_input_read(input, head + length, PACE_USAGE_HEAD - length, &got);
        length += status == PACE_OK ? got : 0;
    } while (status == PACE_OK && got > 0 && length < PACE_USAGE_HEAD);
    if (length > 0 && status == PACE_E_INPUT) status = PACE_OK;
    if (status == PACE_OK) pace_usage_recognised(out, mappings, head, length);
    if (status == PACE_OK && out->mapping && !out->separator)
        status = pace_fail(PACE_E_USAGE,
                           "%s: the columns of %s stand between characters that cells hold, too: expected \"%c\"", path,
                           out->mapping->title, out->mapping->separator);
    pace_free(head);
    pace_input_free(input);
    return status;
}
