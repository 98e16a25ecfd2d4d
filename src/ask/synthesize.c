/* Jobs that are made up, written where they are wanted. */
#include "base/whole_file.h"
#include "ask/context.h"
#include "fleet/population.h"

typedef struct {
    const pace_synthesize_options *options;
    pace_population population;
} made;

static pace_status fill(pace_sink *sink, void *context) {
    const made *m = context;
    const pace_synthesize_options *options = m->options;
    return pace_population_write(sink, &m->population, options->seed, options->jobs, options->progress,
                                 options->progress_context);
}

pace_status pace_synthesize_jobs(const pace_synthesize_options *options) {
    made m = {.options = options};
    pace_sink sink;
    PACE_TRY(pace_population_load(&m.population, options->context->catalog));
    if (options->path) return pace_whole_file_write(options->path, fill, &m);
    PACE_TRY(pace_sink_open(&sink, options->write, options->write_context));
    pace_status status = fill(&sink, &m), closed = pace_sink_close(&sink);
    return status == PACE_OK ? closed : status;
}
