/* The table of checks against limits (--fail-on), which JUnit is written from. Private to report/. */
#pragma once

#include "report/report.h"

pace_node *pace_open_checks(pace_node *root);
void pace_put_check(pace_node *checks, const char *name, bool holds, const char *found);
