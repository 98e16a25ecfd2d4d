/* The parts of a report about a cluster's usage. Private to report/. */
#pragma once

#include "ask/fleet/usage_asked.h"
#include "report/report.h"

void pace_put_usage_sentences(pace_node *root, const pace_usage_asked *asked);
void pace_warn_of_usage_doubts(pace_report *report, const pace_usage_asked *asked, const char *const *paths);
void pace_put_usage_charts(pace_node *root, const pace_usage_asked *asked);
