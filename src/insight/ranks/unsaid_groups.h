/* Which ranks exchange together, where their traces do not say: those whose kernels end together. */
#pragma once

#include "insight/ranks/collectives.h"

/** Settles who meets whom where no kernel names its group's members and more than two ranks are here.
 *
 * All ranks together are one group if their kernels, matched in order, meet: on the wall's clocks, or on those that
 * the match itself gave. Else, where nine in ten kernels end together with those of other ranks on the wall's clocks,
 * these are the exchanges; the ranks' clocks are the wall's then, and *moved is true. Else nothing is matched, and
 * groups_unknown is set. */
pace_status pace_collectives_regroup(pace_collectives *collectives, bool *moved, pace_rank *const *ranks,
                                     size_t rank_count) PACE_MUST_CHECK;
