/* Columns of a step table that are called as fields of a configuration: their cells say what --set KEY=VALUE says. */
#include "ask/rows/column_finder.h"
#include "ask/predict/setting_effects.h"
#include "ask/step_rows/step_cells.h"
#include "base/text.h"

#include <string.h>

void pace_step_find_fields(pace_step_reader *r) {
    for (size_t i = 0; pace_config_key(i); i++) {
        const char *key = pace_config_key(i);
        int column = pace_find_column_named(&r->rows->csv, key, strlen(key));
        bool read = column >= 0 && pace_step_column_read(r, column);
        r->field[i] = read && !pace_config_is_worded(i) ? -1 : column;
    }
}

static const char *field_cell(const pace_step_reader *r, size_t row, const char *key) {
    for (size_t i = 0; pace_config_key(i); i++)
        if (strcmp(pace_config_key(i), key) == 0)
            return r->field[i] < 0 ? "" : pace_csv_cell(&r->rows->csv, row, (size_t)r->field[i]);
    return "";
}

/* An optimizer's name may say how it goes over its tensors: "adamw_torch_fused". */
static void set_update(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const char *said = pace_step_said(r->things, "update", field_cell(r, row, "optimizer"));
    if (said && !*field_cell(r, row, "update") && pace_config_set(&out->config, "update", said) != PACE_OK)
        pace_step_note(out, "unknown update \"%.30s\"", said);
}

void pace_step_row_fields(pace_step_row *out, const pace_step_reader *r, size_t row) {
    for (size_t i = 0; pace_config_key(i); i++) {
        char value[PACE_MODULES_TEXT] = "";
        const char *text = r->field[i] < 0 ? "" : pace_csv_cell(&r->rows->csv, row, (size_t)r->field[i]);
        bool word = pace_config_is_worded(i); /* in any case; not so units */
        for (size_t k = 0; text[k] && k + 1 < sizeof value; k++)
            value[k] = word ? pace_lower(text[k]) : text[k], value[k + 1] = '\0';
        if (!*value || pace_config_set(&out->config, pace_config_key(i), value) == PACE_OK) continue;
        if (pace_step_column_read(r, r->field[i])) continue;
        const char *said = pace_step_said(r->things, pace_config_key(i), value); /* in others' words */
        if (!said || pace_config_set(&out->config, pace_config_key(i), said) != PACE_OK)
            pace_step_note(out, "unknown %s \"%.30s\"", pace_config_key(i), text);
    }
    set_update(out, r, row);
}

/* Columns of these settings by other names; one that is called as the setting is among the fields. */
static const struct {
    pace_step_column column;
    const char *setting;
} others[] = {{PACE_STEP_SEQ, "sequence"},
              {PACE_STEP_FLASH, "attention"},
              {PACE_STEP_COMPILE, "execution"},
              {PACE_STEP_EXECUTION, "execution"},
              {PACE_STEP_GRAPHS, "graphs"}};

static bool is_field(const pace_step_reader *r, int column) {
    bool found = false;
    for (size_t i = 0; pace_config_key(i); i++) found |= r->field[i] == column;
    return found;
}

void pace_step_row_note_idle(pace_step_row *out, const pace_step_reader *r, size_t row) {
    const pace_setting_question asked = {&out->config, out->model, out->framework, true, false};
    for (size_t i = 0; pace_config_key(i); i++) {
        const char *key = pace_config_key(i);
        if (r->field[i] < 0 || !*pace_csv_cell(&r->rows->csv, row, (size_t)r->field[i])) continue;
        const char *why = pace_setting_idle(key, &asked);
        if (why) pace_step_note(out, "%s has no effect %s", key, why);
    }
    for (size_t i = 0; i < PACE_COUNT(others); i++) {
        if (!*pace_step_cell(r, row, others[i].column) || is_field(r, r->column[others[i].column])) continue;
        const char *why = pace_setting_idle(others[i].setting, &asked);
        if (why) pace_step_note(out, "%s has no effect %s", others[i].setting, why);
    }
}
