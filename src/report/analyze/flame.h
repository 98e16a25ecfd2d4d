/*
 * A flame graph of a page, upside down: boxes as wide as their shares, each below the one around it. It is drawn when a
 * page is written, for no other format has it: a builder gives a function that fills it (pace_node_flame).
 */
#pragma once

#include "base/json_writer.h"
#include "report/report_node.h"

/** A box from the share `from` to the share `to` of the whole, `depth` rows below the top; `figure` says what the share
 * is of ("3.1 ms"). Boxes narrower than a pixel or so are left out. */
void pace_flame_box(pace_flame *flame, unsigned depth, double from, double to, pace_class color, const char *name,
                    const char *figure);
/** A colour for a name, where colours only tell neighbours apart. */
pace_class pace_flame_color(const char *name);
/** Says what a colour stands for. */
void pace_flame_legend(pace_flame *flame, pace_class color, const char *words);

pace_status pace_render_flame(pace_sink *sink, const pace_held_flame *held) PACE_MUST_CHECK;
