/*
 * Names of columns compared word by word: "Avg. images / sec / GPU" and "samples_per_s_per_gpu" are one. Which words
 * are one, and which say nothing, is data (catalog/columns.yaml, step, words and idle_words). A column of idle words
 * alone ("Throughput") is called by what stands behind the number of its first cell ("2915 images/sec").
 */
#pragma once

#include "base/csv.h"
#include "base/text.h"
#include "base/yaml.h"

/* The words of a name in its plain form, cut at "_". */
typedef struct {
    char text[PACE_PLAIN_NAME];
    const char *word[PACE_PLAIN_NAME / 2]; /* in text */
    unsigned count;
} pace_name_words;

void pace_name_words_cut(pace_name_words *out, const char *name);

/* Columns that no name was found for as it stands, by their words. */
typedef struct {
    const pace_yaml_node *words, *idle;
    char (*names)[PACE_PLAIN_NAME]; /* by column; "" = it is taken */
    size_t columns, left;           /* left: those that are not taken */
} pace_column_words;

/** The columns of `csv` for which `taken` is false. `section` is that of columns.yaml; both are borrowed. Free with
 * pace_column_words_free(). PACE_E_MEMORY. */
pace_status pace_column_words_open(pace_column_words *out, const pace_yaml_node *section, const pace_csv *csv,
                                   const bool *taken) PACE_MUST_CHECK;
void pace_column_words_free(pace_column_words *words);

/** The column that one of the listed names stands for, which is taken from then on; -1 = none. */
int pace_column_words_find(pace_column_words *words, const pace_yaml_node *names);

/** The number above 0 that a cell begins with, "2,915 images/sec" or "14.5k", and what stands behind it; NULL
 * without. */
const char *pace_cell_number(double *out, const char *cell);
/** Whether a cell of windows of attention says that there is none, or nothing. */
bool pace_says_no_window(const char *cell);
/** Whether `text`, such as a cell's unit, is one of the listed names by its words. */
bool pace_column_words_mean(const pace_yaml_node *section, const char *text, const pace_yaml_node *names);

/** The same of names with a unit of `units` behind them, whose index is put into `unit`. */
int pace_column_words_find_unit(size_t *unit, pace_column_words *words, const pace_yaml_node *names,
                                const pace_yaml_node *units);
