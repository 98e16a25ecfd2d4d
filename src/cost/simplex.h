/* The minimum of a function of a few variables, without derivatives: Nelder and Mead's simplex (1965). */
#pragma once

enum { PACE_SIMPLEX_MOST = 10 };

typedef double (*pace_simplex_fn)(const double *x, void *context);

/** Improves `x` (`count` of them, at most PACE_SIMPLEX_MOST) from steps of `step`, in so many evaluations at most.
 * Returns the least value found. */
double pace_simplex(double *x, unsigned count, double step, unsigned evaluations, pace_simplex_fn function,
                    void *context);
