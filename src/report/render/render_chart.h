/* Charts of the HTML renderer. Private to report/. */
#pragma once

#include "report/report_node.h"

/** Curves over one axis, or stacked bars, as an SVG with its legend. */
void pace_render_chart(pace_sink *sink, const pace_held_chart *chart);
