/* The data of the job model, from catalog/jobs.yaml: architectures, machines, upgrades and software changes. Every
 * figure of a machine carries its source and confidence for the report. */
#pragma once

#include "machine/device.h"
#include "machine/machine.h"
#include "source/jobs/job_table.h"

/* What a job needs of a machine. */
typedef enum {
    PACE_JOB_COMPUTE, /* FLOP/s of a device */
    PACE_JOB_MEMORY,  /* bytes/s of a device's memory */
    PACE_JOB_PCIE,    /* bytes/s between host and device */
    PACE_JOB_NETWORK, /* bytes/s of one NIC */
    PACE_JOB_NVLINK,  /* bytes/s between devices of a server */
    PACE_JOB_RESOURCES
} pace_job_resource;

extern const char *const pace_job_resource_names[PACE_JOB_RESOURCES];

/* Figures of a machine: the peak rates and the shares of them that jobs reach, by resource, and what else counts. */
typedef enum {
    PACE_FIGURE_RATE,                            /* PACE_JOB_RESOURCES of them */
    PACE_FIGURE_EFFICIENCY = PACE_JOB_RESOURCES, /* as many; 0 < e <= 1 */
    PACE_FIGURE_MIXED = 2 * PACE_JOB_RESOURCES,  /* FLOP/s in half precision on matrix units */
    PACE_FIGURE_NVLINK_AGGREGATE,                /* bytes/s of all NVLinks of a device */
    PACE_FIGURE_DEVICE_MEMORY,                   /* bytes */
    PACE_FIGURE_DEVICES,                         /* of a server */
    PACE_FIGURES
} pace_job_figure;

/* "compute_flop_per_s", …, "compute_efficiency", …, "devices_per_server". */
extern const char *const pace_job_figure_names[PACE_FIGURES];

typedef struct {
    char name[96];
    double figure[PACE_FIGURES];
    pace_figure_source source[PACE_FIGURES]; /* borrowed from the catalogue */
} pace_job_machine;

typedef enum { PACE_WEIGHTS_HOST, PACE_WEIGHTS_DEVICE, PACE_WEIGHTS_PARTITIONED } pace_weights_place;
typedef enum { PACE_SPAN_GPU, PACE_SPAN_SERVER, PACE_SPAN_CLUSTER } pace_job_span;

/* One architecture. */
typedef struct {
    bool link[PACE_JOB_RESOURCES]; /* weights travel over these, one after the other */
    pace_job_span span;            /* how far its replicas may spread */
    bool shares_pcie;              /* replicas of one server share the host link */
    pace_weights_place weights;
    const char *confidence;
} pace_job_scheme;

typedef struct {
    pace_job_resource resource;
    PACE_VEC(double) values;
    pace_figure_source source;
} pace_job_sweep;

/* A change of software or of an assumption. Factors are on the time of input, compute, memory, weights. */
enum { PACE_CHANGE_INPUT, PACE_CHANGE_COMPUTE, PACE_CHANGE_MEMORY, PACE_CHANGE_WEIGHT, PACE_CHANGE_FACTORS };
typedef struct {
    const char *name, *title;
    double factor[PACE_CHANGE_FACTORS];
    double rows;                           /* factor on the rows of embeddings that weights' traffic holds */
    double samples;                        /* factor on the samples of a step */
    double spread;                         /* standard deviation of the logarithm of the factors */
    double overlap;                        /* NAN = as it is */
    double efficiency[PACE_JOB_RESOURCES]; /* NAN = as it is */
    pace_figure_source source;
} pace_job_lever;

typedef struct {
    const pace_yaml *yaml; /* has the texts; borrowed */
    pace_job_scheme schemes[PACE_JOB_ARCHITECTURES];
    PACE_VEC(pace_job_machine) machines;
    PACE_VEC(pace_job_sweep) sweeps;
    PACE_VEC(pace_job_lever) software, assumptions;
    double dense_traffic; /* bytes of weights' traffic for each byte of dense weights; the rest is rows of embeddings */
    double spread;        /* standard deviation of the logarithm of a step time without a fit */
    pace_figure_source spread_source;
    pace_device_catalog devices; /* what other machines are made of; empty unless loaded */
    pace_machine_catalog named;
} pace_job_catalog;

/** Errors: PACE_E_INPUT with file:line:column for a missing or impossible figure. */
pace_status pace_job_catalog_load(pace_job_catalog *out, pace_catalog *catalog) PACE_MUST_CHECK;
pace_status pace_job_catalog_read(pace_job_catalog *out, const pace_yaml *yaml) PACE_MUST_CHECK; /* borrows the yaml */
void pace_job_catalog_free(pace_job_catalog *catalog);

/** A machine by what --on says: a name of jobs.yaml, or what machine/machine.h knows, and figures in place of its own:
 *    "pai-2018", "pai-2018 network=100Gb/s compute=2x", "pai-v100 memory_efficiency=0.5"
 *    "dgx-h100", "a100*8 nvlink=300GB/s net=200Gb/s", "rack.yaml compute=2x" (fleet/job_machine.c)
 * A figure is known by its name or by its resource's. Errors: PACE_E_MISSING for an unknown name (with the closest),
 * PACE_E_USAGE for a figure that is unknown or cannot be, and those of pace_machine_parse(). */
pace_status pace_job_machine_parse(pace_job_machine *out, const pace_job_catalog *catalog,
                                   const char *text) PACE_MUST_CHECK;

/** A figure as people write it, of its own dimension and with its unit: "25Gb/s" is no rate of computing, "200" none at
 * all. False for what no machine has, too. `which`: a pace_job_figure. */
bool pace_job_figure_parse(double *out, int which, const char *text);

/** Changes one figure: "compute_efficiency", "0.5". `change` is the whole text, for messages. */
pace_status pace_job_machine_set(pace_job_machine *machine, const char *key, const char *value) PACE_MUST_CHECK;

bool pace_job_resource_find(pace_job_resource *out, const char *name);
