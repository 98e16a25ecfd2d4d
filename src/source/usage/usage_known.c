/* Which mapping a file is of, by its header or its first rows. */
#include "base/text.h"
#include "source/usage/usage_reader.h"
#include "source/usage/usage_samples.h"
#include "source/usage/usage_words.h"

#include <string.h>

enum { ROWS_LOOKED_AT = 5 };

static int place_of(const pace_usage_cells *cells, const char *name) {
    for (size_t i = 0; i < cells->count && i < PACE_USAGE_MOST_CELLS; i++) {
        pace_usage_text cell = pace_usage_trim(cells->cells[i]);
        if (name && pace_span_is(cell.data, cell.length, name)) return (int)i;
    }
    return -1;
}

static size_t found_of(const pace_usage_cells *cells, const pace_yaml_node *names) {
    size_t found = 0;
    for (size_t i = 0; i < pace_yaml_count(names); i++)
        found += place_of(cells, pace_yaml_text(pace_yaml_item(names, i))) >= 0;
    return found;
}

/* How many of its columns the header has, when it has all that it must; else 0. */
static size_t known_by_header(const pace_usage_mapping *m, const pace_usage_cells *cells) {
    const pace_yaml_node *columns = pace_yaml_get(m->known_by, "columns"), *any = pace_yaml_get(m->known_by, "any");
    size_t all = found_of(cells, columns), some = found_of(cells, any);
    if (all < pace_yaml_count(columns) || (any && some == 0)) return 0;
    return all + some;
}

static int named_place(const pace_yaml_node *columns, const char *name) {
    for (size_t i = 0; i < pace_yaml_count(columns); i++) {
        const char *one = pace_yaml_text(pace_yaml_item(columns, i));
        if (one && name && strcmp(one, name) == 0) return (int)i;
    }
    return -1;
}

static pace_usage_text cell_named(const pace_usage_mapping *m, const pace_usage_cells *cells, const char *name) {
    int at = named_place(m->columns, name);
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
    for (size_t i = 0; i < pace_yaml_count(numbers); i++) {
        pace_usage_text text = cell_named(m, cells, pace_yaml_text(pace_yaml_item(numbers, i)));
        if (text.length && !pace_usage_number(&number, text)) return false;
    }
    for (size_t i = 0; i < pace_yaml_count(words); i++)
        if (!is_one_of(cell_named(m, cells, pace_yaml_key(words, i)), pace_yaml_item(words, i))) return false;
    return true;
}

/* Whole lines only, unless there is but one. */
static size_t known_by_rows(const pace_usage_mapping *m, char *head, char *end) {
    pace_usage_cells cells;
    char *line = head, *next;
    int rows = 0;
    for (; line < end && rows < ROWS_LOOKED_AT; line = next) {
        char *stop = pace_usage_line_end(&next, line, end);
        if (next == end && end[-1] != '\n' && rows > 0) break;
        if (stop == line || *line == '#') continue;
        pace_usage_split(&cells, line, (size_t)(stop - line), m->separator);
        if (!could_be_row(m, &cells)) return 0;
        rows++;
    }
    return rows ? pace_yaml_count(m->columns) : 0;
}

static bool holds(const char *head, size_t length, const char *word) {
    size_t most = strlen(word);
    for (size_t i = 0; most && i + most <= length; i++)
        if (head[i] == *word && memcmp(head + i, word, most) == 0) return true;
    return false;
}

static bool begins_as_json(const char *head, size_t length) {
    size_t at = 0;
    while (at < length && pace_is_space(head[at])) at++;
    return at < length && (head[at] == '{' || head[at] == '[');
}

static size_t known_by_text(const pace_usage_mapping *m, const char *head, size_t length) {
    const pace_yaml_node *texts = pace_yaml_get(m->known_by, "text");
    for (size_t i = 0; i < pace_yaml_count(texts); i++) {
        const char *word = pace_yaml_text(pace_yaml_item(texts, i));
        if (!word || !holds(head, length, word)) return 0;
    }
    return pace_yaml_count(texts);
}

static size_t known_by_lines(const pace_usage_mapping *m, char *head, char *end) {
    pace_usage_cells cells;
    char *line = head, *next, *stop;
    if (end - line >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) line += 3;
    while ((stop = pace_usage_line_end(&next, line, end)) < end && (stop == line || *line == '#')) line = next;
    if (stop == line || memchr(line, '\0', (size_t)(stop - line))) return 0;
    pace_usage_split(&cells, line, (size_t)(stop - line), m->separator);
    size_t known = known_by_header(m, &cells);
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
    if (m->own && !m->known_by) return 1;
    if (m->samples) return known_as_samples(head, head + length) ? known_by_text(m, head, length) : 0;
    if (length == 0 || m->json != begins_as_json(head, length)) return 0;
    return m->json ? known_by_text(m, head, length) : known_by_lines(m, head, head + length);
}

const pace_usage_mapping *pace_usage_recognised(const pace_usage_mappings *mappings, char *head, size_t length) {
    const pace_usage_mapping *best = NULL;
    size_t most = 0;
    for (size_t i = 0; i < mappings->count; i++) {
        const pace_usage_mapping *m = &mappings->items[i];
        size_t by = known(m, head, length);
        if (by && m->own) return m;
        if (by > most) best = m, most = by;
    }
    return best;
}

/* A mapping whose columns the header has between other characters, as sacct's with --delimiter; `*found` is the one
 * there. */
static const pace_usage_mapping *separated_otherwise(char *found, const pace_usage_mappings *mappings, char *head,
                                                     size_t length) {
    for (const char *one = "|,;\t"; *one && !begins_as_json(head, length); one++)
        for (size_t i = 0; i < mappings->count; i++) {
            pace_usage_mapping other = mappings->items[i];
            *found = *one;
            if (other.json || other.samples || other.columns || *one == other.separator) continue;
            other.separator = *one;
            if (known_by_lines(&other, head, head + length)) return &mappings->items[i];
        }
    return NULL;
}

/* As messages show it. */
static const char *shown(char separator, char out[2]) {
    out[0] = separator;
    out[1] = '\0';
    return separator == '\t' ? "tabs" : out;
}

pace_status pace_usage_recognise(const pace_usage_mapping **out, const pace_usage_mappings *mappings,
                                 const char *path) {
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
    if (status == PACE_OK) *out = pace_usage_recognised(mappings, head, length);
    char there, texts[2][2];
    const pace_usage_mapping *near =
        status == PACE_OK && !*out ? separated_otherwise(&there, mappings, head, length) : NULL;
    if (near)
        status = pace_fail(PACE_E_USAGE, "%s: the columns of %s stand between \"%s\": expected \"%s\"", path,
                           near->title, shown(there, texts[0]), shown(near->separator, texts[1]));
    pace_free(head);
    pace_input_free(input);
    return status;
}
