/* The table of checks against limits (--fail-on), which JUnit is written from. Private to report/. */
#pragma once

#include "report/report.h"

void pace_put_check(pace_node *root, const char *name, bool holds, const char *found);
