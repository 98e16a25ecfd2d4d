/* Findings shown as they are. Private to report/. */
#pragma once

#include "ask/findings.h"
#include "report/report.h"

/** Adds findings to a report: figures and tables in their order; those with a path go into objects for programs. */
pace_status pace_put_findings(pace_report *report, const pace_findings *findings) PACE_MUST_CHECK;

/** How a column of findings is shown. */
pace_column pace_column_of_found(const pace_found_column *column);

/** One cell of a table of such columns. */
void pace_put_found_cell(pace_node *table, const pace_found_column *column, const pace_found_cell *cell);
