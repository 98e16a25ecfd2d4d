/* Heat maps and bars of the HTML renderer. Private to report/. */
#pragma once

#include "report/report_node.h"

/** A grid of values as an SVG with its legend. Each cell and bar says what it is of (data-row, data-column), so that a
 * script can lead from it to a timeline. */
pace_status pace_render_grid(pace_sink *sink, const pace_held_grid *grid) PACE_MUST_CHECK;
