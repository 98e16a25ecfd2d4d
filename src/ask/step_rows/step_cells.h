/* Cells of a table about steps, and what is said of a row. Private to ask/step_rows/. */
#pragma once

#include "ask/step_rows/step_row.h"

/** 1 for yes, true, on, 1; 0 for no, false, off, none, 0; -1 for anything else. */
int pace_step_flag(const char *text);
/** A cell; "" where there is no column, and for words that mean nothing is said ("NA", "n/a", "-", "none given"). */
const char *pace_step_cell(const pace_step_reader *reader, size_t row, pace_step_column column);
/** Whether a column is one that fields of rows are read from. */
bool pace_step_column_read(const pace_step_reader *reader, int column);
/** A cell's number; what stands behind it in parentheses is another configuration's. False where there is none. */
bool pace_step_number(double *out, const pace_step_reader *reader, size_t row, pace_step_column column);
/** Adds to what a row's status says. */
void pace_step_note(pace_step_row *row, const char *format, ...) PACE_PRINTF(2, 3);
/** Makes a row's answer less sure, by what the row leaves open. */
void pace_step_doubt(pace_step_row *row, const pace_step_reader *reader, pace_doubt doubt);
/** Whether `word` occurs in `text`, whatever the case. */
bool pace_step_says(const char *text, const char *word);
/** The degree that a text says of `word`: "TP8 PP4", "tp=8,pp=4", "dp 2". 0 without. */
double pace_step_degree(const char *text, const char *word);
