/* Findings shown as they are. Private to report/. */
#pragma once

#include "ask/findings.h"
#include "report/report.h"

/** Adds findings to a report: figures and tables in their order; those with a path go into objects for programs. */
pace_status pace_put_findings(pace_report *report, const pace_findings *findings) PACE_MUST_CHECK;

/** One cell of a table of such columns. */
void pace_put_found_cell(pace_node *table, const pace_column *column, const pace_found_cell *cell);
