/* What `paceline fit --kind` can fit besides kernels, one file each. Private to report/. */
#ifndef PACE_REPORT_FIT_KINDS_H
#define PACE_REPORT_FIT_KINDS_H

#include "base/status.h"

pace_status pace_fit_overheads(pace_report **out, const char *const *paths, size_t path_count,
                               const pace_rows_options *options) PACE_MUST_CHECK;
pace_status pace_fit_exchange(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_rows_options *options) PACE_MUST_CHECK;
pace_status pace_fit_jobs(pace_report **out, const char *const *paths, size_t path_count,
                          const pace_rows_options *options) PACE_MUST_CHECK;

/** And what `paceline predict --rows --kind` can answer. */
pace_status pace_predict_exchange_rows(pace_report **out, const char *path,
                                       const pace_rows_options *options) PACE_MUST_CHECK;

pace_status pace_predict_job_rows(pace_report **out, const char *path,
                                  const pace_rows_options *options) PACE_MUST_CHECK;
pace_status pace_predict_step_rows(pace_report **out, const char *path,
                                   const pace_rows_options *options) PACE_MUST_CHECK;
pace_status pace_predict_scaling_rows(pace_report **out, const char *path,
                                      const pace_rows_options *options) PACE_MUST_CHECK;
pace_status pace_fit_steps(pace_report **out, const char *const *paths, size_t path_count,
                           const pace_rows_options *options) PACE_MUST_CHECK;

pace_status pace_fit_scaling(pace_report **out, const char *const *paths, size_t path_count,
                             const pace_rows_options *options) PACE_MUST_CHECK;

pace_status pace_fit_profiler(pace_report **out, const char *const *paths, size_t path_count,
                              const pace_rows_options *options) PACE_MUST_CHECK;

#endif
