/* Benchmarks whose samples are shorter than the words a step has room for, and are run without the padding: which they
 * are, and by how much, is data (catalog/columns.yaml, step, padding). */
#include "ask/step_rows/step_cells.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

/* A column that only the benchmark's own tables have, or its name in a cell. */
static bool says_suite(const pace_step_reader *r, size_t row, const char *name) {
    static const pace_step_column cells[] = {PACE_STEP_MODEL, PACE_STEP_FAMILY, PACE_STEP_TASK, PACE_STEP_FRAMEWORK,
                                             PACE_STEP_NOTES};
    const char *suite = pace_step_cell(r, row, PACE_STEP_SUITE);
    if (*suite && (pace_step_says(suite, name) ||
                   !pace_step_says(pace_csv_name(&r->rows->csv, (size_t)r->column[PACE_STEP_SUITE]), "suite")))
        return true;
    for (size_t i = 0; i < PACE_COUNT(cells); i++)
        if (pace_step_says(pace_step_cell(r, row, cells[i]), name)) return true;
    return false;
}

/* A field of an entry as a number; NAN without. */
static double number_of(const pace_yaml *yaml, const pace_yaml_node *entry, const char *key) {
    const pace_yaml_node *node = pace_yaml_get(entry, key);
    double value;
    return node && pace_yaml_number(&value, yaml, node) == PACE_OK ? value : NAN;
}

static bool is_of(const pace_step_row *out, const pace_yaml_node *family) {
    const char *word = pace_yaml_text(family), *name = pace_names_text(&out->model->names, out->model->name);
    return word && pace_strncasecmp(name, word, strlen(word)) == 0;
}

static bool is_meant(const pace_step_row *out, const pace_step_reader *r, size_t row, const pace_yaml_node *entry) {
    const char *suite = pace_yaml_text_of(entry, "suite");
    double words = pace_model_sequence(out->model, &out->config);
    return suite && is_of(out, pace_yaml_get(entry, "model")) && says_suite(r, row, suite) &&
           words == number_of(r->things->columns, entry, "seq");
}

const char *pace_step_row_suite_framework(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    const pace_yaml *yaml = r->things->columns;
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "step"), "submitted");
    PACE_YAML_EACH (entry, all) {
        const pace_yaml_node *models = pace_yaml_get(entry, "models");
        const char *suite = pace_yaml_text_of(entry, "suite"), *devices = pace_yaml_text_of(entry, "devices");
        if (devices && strncmp(out->device->name, devices, strlen(devices)) != 0) continue;
        for (size_t k = 0; suite && k < pace_yaml_count(models); k++)
            if (is_of(out, pace_yaml_item(models, k)) && says_suite(r, row, suite))
                return pace_yaml_text_of(entry, "framework");
    }
    return NULL;
}

bool pace_step_row_suite_interleaves(const pace_step_row *out, const pace_step_reader *r, size_t row) {
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(pace_yaml_root(r->things->columns), "step"), "interleaved");
    PACE_YAML_EACH (entry, all) {
        const char *suite = pace_yaml_text_of(entry, "suite");
        if (suite && is_of(out, pace_yaml_get(entry, "model")) && says_suite(r, row, suite)) return true;
    }
    return false;
}

/* What no column tells of a family, and how much less is known of its steps for it. */
static void doubt_untold(pace_step_row *out, const pace_step_reader *r) {
    const pace_yaml *yaml = r->things->columns;
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "step"), "untold");
    PACE_YAML_EACH (entry, all) {
        const pace_yaml_node *families = pace_yaml_get(entry, "models");
        const char *taken = pace_yaml_text_of(entry, "taken");
        double spread = number_of(yaml, entry, "spread");
        PACE_YAML_EACH (one, families)
            if (taken && spread >= 1 && is_of(out, one)) {
                out->doubt *= spread;
                pace_step_note(out, "%.80s", taken);
            }
    }
}

/* How many words a benchmark packs into a sample, where no column says. */
static void set_packed(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const pace_yaml *yaml = r->things->columns;
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "step"), "packed");
    for (size_t i = 0; i < pace_yaml_count(all) && !*pace_step_cell(r, row, PACE_STEP_SEQ); i++) {
        const pace_yaml_node *entry = pace_yaml_item(all, i);
        const char *suite = pace_yaml_text_of(entry, "suite"), *says = pace_yaml_text_of(entry, "says");
        double words = number_of(yaml, entry, "seq");
        if (!suite || !says || !is_of(out, pace_yaml_get(entry, "model")) || !says_suite(r, row, suite)) continue;
        if (!pace_step_says(pace_step_cell(r, row, PACE_STEP_MODEL), says) || !(words >= 1)) continue;
        out->config.sequence = words;
        pace_step_note(out, "%g words, as the benchmark packs them", words);
    }
}

/* A model's own length, where nothing says another; that of patches follows from an image. */
static void note_words(pace_step_row *out) {
    double words = pace_model_sequence(out->model, &out->config);
    bool embedded = pace_model_has_layer(out->model, PACE_LAYER_EMBEDDING);
    if (out->config.sequence == 0 && words > 0 && embedded) pace_step_note(out, "assumed seq %g", words);
}

void pace_step_row_padding(pace_step_row *out, const pace_step_reader *r, size_t row) {
    set_packed(out, r, row);
    note_words(out);
    /* Products and all else that goes over words are as of so many words; attention within samples goes with the mean
     * of their squares, which is more than the square of the mean. */
    const pace_yaml *yaml = r->things->columns;
    const pace_yaml_node *all = pace_yaml_get(pace_yaml_get(pace_yaml_root(yaml), "step"), "padding");
    doubt_untold(out, r);
    PACE_YAML_EACH (entry, all) {
        double mean = number_of(yaml, entry, "mean"), squares = number_of(yaml, entry, "squares");
        double words = pace_model_sequence(out->model, &out->config);
        if (!(mean > 0 && squares >= mean * mean) || !is_meant(out, r, row, entry)) continue;
        out->config.sequence = fmax(1, round(mean * words));
        out->attention_factor *= squares / (mean * mean);
        pace_step_doubt(out, r, PACE_DOUBT_ROW_PADDING);
        pace_step_note(out, "%g words without padding", out->config.sequence);
        return;
    }
}
