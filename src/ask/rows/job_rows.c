#include "ask/rows/job_rows.h"
#include "ask/rows/measured_cell.h"
#include "ask/rows/wanted_columns.h"
#include "source/jobs/job_names.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    int architecture, job, user, value[PACE_JOB_COLUMNS]; /* columns; -1 = none */
    double factor[PACE_JOB_COLUMNS];                      /* from the column's unit to ours */
    const pace_yaml *yaml;                                /* catalog/columns.yaml */
    char unit[8];                                         /* of the measured column */
} layout;

/* --- columns ------------------------------------------------------------------------------------------------------ */

static pace_status fail_missing(const pace_csv *csv, const char *name) {
    char instead[320];
    pace_csv_instead(instead, sizeof instead, csv, name);
    return pace_fail(PACE_E_INPUT, "%s: expected a column \"%s\", found none%s", csv->name, name, instead);
}

static int *place_of(layout *out, int role) {
    if (role < PACE_JOB_COLUMNS) return &out->value[role];
    return role == PACE_JOB_ID ? &out->job : role == PACE_JOB_USER ? &out->user : &out->architecture;
}

/* Columns of our own names first, then those that others use. */
static pace_status find_by_name(layout *out, pace_catalog *catalog, const pace_csv *csv) {
    pace_job_names names;
    bool ours[PACE_JOB_ROLES];
    for (int i = 0; i < PACE_JOB_COLUMNS; i++) out->factor[i] = 1;
    for (int role = 0; role < PACE_JOB_ROLES; role++) *place_of(out, role) = -1;
    for (size_t c = csv->columns; c-- > 0;) {
        int role = pace_job_role_named(pace_csv_name(csv, c));
        if (role != PACE_JOB_NO_ROLE) *place_of(out, role) = (int)c;
    }
    for (int role = 0; role < PACE_JOB_ROLES; role++) ours[role] = *place_of(out, role) >= 0;
    PACE_TRY(pace_job_names_load(&names, catalog));
    for (size_t c = csv->columns; c-- > 0;) {
        double factor;
        const char *unit;
        int role = pace_job_name_find(&factor, &unit, &names, pace_csv_name(csv, c));
        if (role == PACE_JOB_NO_ROLE || ours[role]) continue;
        *place_of(out, role) = (int)c;
        if (role < PACE_JOB_COLUMNS) out->factor[role] = factor;
        if (role == PACE_JOB_STEP_S) snprintf(out->unit, sizeof out->unit, "%s", unit);
    }
    return PACE_OK;
}

static pace_status find_layout(layout *out, pace_catalog *catalog, pace_job_rows *rows) {
    static const pace_job_column needed[] = {PACE_JOB_FLOP, PACE_JOB_MEMORY_ACCESS_BYTES, PACE_JOB_INPUT_BYTES,
                                             PACE_JOB_WEIGHT_TRAFFIC_BYTES};
    const pace_csv *csv = &rows->csv;
    *out = (layout){.unit = "s"};
    PACE_TRY(find_by_name(out, catalog, csv));
    const pace_wanted_column others[] = {{.key = "machine", .column = &rows->machine},
                                         {.key = "software", .column = &rows->software}};
    PACE_TRY(pace_wanted_columns_find(catalog, "job", csv, others, 2));
    rows->measured = out->value[PACE_JOB_STEP_S];
    rows->unit_s = out->factor[PACE_JOB_STEP_S];
    memcpy(rows->unit, out->unit, sizeof rows->unit);
    if (out->architecture < 0) return fail_missing(csv, "architecture");
    for (size_t i = 0; i < PACE_COUNT(needed); i++)
        if (out->value[needed[i]] < 0) return fail_missing(csv, pace_job_column_names[needed[i]]);
    return PACE_OK;
}

/* --- rows --------------------------------------------------------------------------------------------------------- */

/* An empty cell of a column that need not be there is as if it were not. */
static void read_values(double *values, char *why, char unmeasured[PACE_CELL_FAULT], size_t size,
                        const pace_job_rows *rows, const layout *columns, size_t row) {
    pace_job_values_clear(values);
    values[PACE_JOB_CNODES] = values[PACE_JOB_BATCH_SIZE] = 1;
    values[PACE_JOB_DENSE_WEIGHT_BYTES] = values[PACE_JOB_EMBEDDING_WEIGHT_BYTES] = 0;
    for (int c = 0; c < PACE_JOB_COLUMNS; c++) {
        if (columns->value[c] < 0) continue;
        const char *cell = pace_csv_cell(&rows->csv, row, (size_t)columns->value[c]);
        if (!*cell) continue;
        if (c == PACE_JOB_STEP_S) {
            pace_measured_cell told = pace_measured_time(&values[c], columns->yaml, cell, columns->factor[c]);
            if (told == PACE_CELL_REFUSED)
                pace_measured_refuse(unmeasured, pace_csv_name(&rows->csv, (size_t)columns->value[c]), false, cell);
            continue;
        }
        if (!pace_csv_number(&values[c], cell) && !*why && c != PACE_JOB_START_S)
            snprintf(why, size, "%s: expected a number, found \"%.30s\"", pace_job_column_names[c], cell);
        values[c] *= columns->factor[c];
    }
}

static pace_job_text text_of(const pace_csv *csv, size_t row, int column) {
    if (column < 0) return (pace_job_text){0};
    const char *cell = pace_csv_cell(csv, row, (size_t)column);
    return (pace_job_text){cell, strlen(cell)};
}

static pace_status add_row(pace_job_rows *rows, const layout *columns, size_t row, const pace_job_catalog *catalog) {
    const pace_csv *csv = &rows->csv;
    const char *word = pace_csv_cell(csv, row, (size_t)columns->architecture);
    pace_job_architecture architecture = PACE_JOB_1W1G;
    double values[PACE_JOB_COLUMNS];
    char why[160] = "", unmeasured[PACE_CELL_FAULT] = "", *fault = NULL;
    if (!pace_job_architecture_find(&architecture, word, strlen(word)))
        snprintf(
            why, sizeof why,
            "unknown architecture \"%.20s\": expected 1w1g, 1wng, ps_worker, allreduce_local, allreduce_cluster or "
            "pearl",
            word);
    read_values(values, why, unmeasured, sizeof why, rows, columns, row);
    PACE_TRY(pace_jobs_add(&rows->jobs, text_of(csv, row, columns->job), text_of(csv, row, columns->user), architecture,
                           values, csv->lines.items[row]));
    if (!*why) pace_job_fault(why, sizeof why, &rows->jobs, row, catalog);
    if (*why && !(fault = pace_copy_text(why, strlen(why)))) return PACE_E_MEMORY;
    PACE_TRY(PACE_KEEP(&rows->faults, fault, pace_free(fault)));
    return pace_texts_add(&rows->unmeasured, unmeasured);
}

/* Rows name few machines many times, and some cost a look into the catalogue. */
static pace_status find_machine(size_t *out, pace_job_rows *rows, const char *text, const pace_job_catalog *catalog) {
    pace_job_machine machine;
    for (size_t i = rows->machines.count; i-- > 0;)
        if (strcmp(rows->machines.items[i].name, text) == 0) {
            *out = i;
            return PACE_OK;
        }
    PACE_TRY(pace_job_machine_parse(&machine, catalog, text));
    *out = rows->machines.count;
    return PACE_PUSH(&rows->machines, machine);
}

static pace_status place_row(pace_job_rows *rows, size_t row, const pace_job_catalog *catalog) {
    const char *text = pace_csv_at(&rows->csv, row, rows->machine);
    size_t machine = SIZE_MAX;
    pace_status status = *text ? find_machine(&machine, rows, text, catalog) : PACE_OK;
    if (status == PACE_E_MEMORY) return status;
    if (status != PACE_OK && !rows->faults.items[row]) {
        const char *why = pace_message_in_answer();
        if (!(rows->faults.items[row] = pace_copy_text(why, strlen(why)))) return PACE_E_MEMORY;
    }
    return PACE_PUSH(&rows->machine_of, machine);
}

static pace_status add_rows(pace_job_rows *rows, const pace_job_catalog *catalog) {
    layout columns;
    PACE_TRY(find_layout(&columns, catalog->devices.documents, rows));
    PACE_TRY(pace_catalog_document(&columns.yaml, catalog->devices.documents, "columns.yaml"));
    for (size_t row = 0; row < rows->csv.rows; row++) {
        PACE_TRY(add_row(rows, &columns, row, catalog));
        PACE_TRY(place_row(rows, row, catalog));
    }
    return PACE_OK;
}

static pace_status finish(pace_job_rows *out, pace_job_rows *rows, const pace_job_catalog *catalog) {
    pace_status status = add_rows(rows, catalog);
    return PACE_GIVE(out, *rows, status, pace_job_rows_free(rows));
}

pace_status pace_job_rows_read(pace_job_rows *out, pace_input *input, const pace_job_catalog *catalog) {
    pace_job_rows rows = {0};
    PACE_TRY(pace_csv_read(&rows.csv, input));
    return finish(out, &rows, catalog);
}

void pace_job_rows_free(pace_job_rows *rows) {
    for (size_t i = 0; i < rows->faults.count; i++) pace_free(rows->faults.items[i]);
    pace_texts_free(&rows->unmeasured);
    PACE_VEC_FREE(&rows->faults, &rows->machines, &rows->machine_of);
    pace_jobs_free(&rows->jobs);
    pace_csv_free(&rows->csv);
}

/* --- questions ---------------------------------------------------------------------------------------------------- */

static pace_status apply_software(double parts_s[PACE_JOB_PARTS], const pace_job_catalog *catalog, const char *text) {
    char words[256], *rest = NULL;
    snprintf(words, sizeof words, "%s", text);
    for (char *word = strtok_r(words, " ,;+", &rest); word; word = strtok_r(NULL, " ,;+", &rest)) {
        const pace_job_lever *lever = PACE_FIND(catalog->software.items, catalog->software.count, name, word);
        if (!lever) return pace_fail(PACE_E_MISSING, "unknown software \"%.40s\"", word);
        for (int p = 0; p < PACE_JOB_PARTS; p++)
            parts_s[p] *= lever->factor[p < PACE_CHANGE_WEIGHT ? p : PACE_CHANGE_WEIGHT];
    }
    return PACE_OK;
}

pace_status pace_job_rows_parts(double out_s[PACE_JOB_PARTS], pace_job_setting *setting, const pace_job_rows *rows,
                                size_t row, const pace_job_setting *usual) {
    const char *software = pace_csv_at(&rows->csv, row, rows->software);
    pace_job_parts parts;
    *setting = *usual;
    if (rows->machine_of.items[row] != SIZE_MAX) {
        setting->machine = rows->machines.items[rows->machine_of.items[row]];
        /* What jobs reach of a peak is an assumption of the whole question. */
        for (int r = 0; r < PACE_JOB_RESOURCES; r++)
            setting->machine.figure[PACE_FIGURE_EFFICIENCY + r] = usual->machine.figure[PACE_FIGURE_EFFICIENCY + r];
    }
    pace_job_parts_of(&parts, &rows->jobs, row, 1, setting);
    for (int p = 0; p < PACE_JOB_PARTS; p++) out_s[p] = parts.part[p][0];
    return apply_software(out_s, usual->catalog, software);
}

pace_status pace_job_rows_sample(pace_job_sample *out, bool *measured, const pace_job_rows *rows, size_t row,
                                 const pace_job_setting *usual) {
    pace_job_setting setting;
    pace_job_sample sample = {.step_s = rows->jobs.values[PACE_JOB_STEP_S][row]};
    PACE_TRY(pace_job_rows_parts(sample.part_s, &setting, rows, row, usual));
    for (int p = 0; p < PACE_JOB_PARTS; p++) {
        if (pace_job_own_efficiency(&rows->jobs, row, (pace_job_part)p) > 0) {
            sample.stated_s[p] = sample.part_s[p];
            sample.part_s[p] = 0;
        }
        sample.part_s[p] *= setting.machine.figure[PACE_FIGURE_EFFICIENCY + pace_job_part_resources[p]];
    }
    *measured = sample.step_s > 0;
    *out = sample;
    return PACE_OK;
}
