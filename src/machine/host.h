/*
 * Hosts: processors that train networks of neurons themselves. What one multiply-add, one update, one activation and
 * one message take there, as `paceline calibrate` measured it: catalog/hosts.yaml, or a file of the same form.
 */
#pragma once

#include "machine/machine.h"

enum { PACE_HOST_SIZES = 12, PACE_HOST_THREADS = 16 };

/* What `threads` that read or write the same weights at once take for each of them. */
typedef struct {
    double bytes;                                                          /* of these weights */
    double multiply_add_s[PACE_HOST_THREADS], update_s[PACE_HOST_THREADS]; /* by the host's list of threads */
} pace_host_size;

typedef struct {
    char name[48];
    double cores, memory_bytes;
    double threads[PACE_HOST_THREADS]; /* measured, ascending from 1 */
    size_t thread_count;
    pace_host_size sizes[PACE_HOST_SIZES]; /* ascending */
    size_t size_count;
    double activation_s;
    double message_s, message_bytes_per_s; /* inside the host, over TCP */
    char source[256], confidence[8];
} pace_host;

/* Hosts that are offered: so many alike, and what joins them. */
typedef struct {
    char name[64]; /* "epyc-zen5-2t*16" */
    pace_host host;
    double machines;
    double message_s, bytes_per_s; /* of the network; inside the host of one machine alone */
    bool joined;                   /* a network was said */
} pace_hosts;

/* What the model takes for granted of all hosts. */
typedef struct {
    double spread; /* of the natural logarithm of an epoch's time */
    double jitter; /* of a replica's time between two exchanges, as a share */
} pace_host_doubts;

/** Whether what `--on` says are hosts: a name of catalog/hosts.yaml, or a file with a list "hosts". */
pace_status pace_hosts_named(bool *out, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;

/** Hosts by what `--on` says: "NAME*COUNT net=10Gb/s net-latency=50us", NAME of the catalogue or a file. Errors:
 * PACE_E_MISSING for an unknown name, PACE_E_INPUT with the place in a file, PACE_E_USAGE for several machines that
 * nothing joins. */
pace_status pace_hosts_asked(pace_hosts *out, pace_catalog *catalog, const char *text) PACE_MUST_CHECK;

pace_status pace_host_doubts_load(pace_host_doubts *out, pace_catalog *catalog) PACE_MUST_CHECK;

/** Seconds of one multiply-add, or of one update, where so many threads share so many bytes of weights: those of the
 * least measured size that holds them (the largest's beyond). Between measured numbers of threads, and beyond them, a
 * line. */
double pace_host_multiply_add_s(const pace_host *host, double threads, double bytes);
double pace_host_update_s(const pace_host *host, double threads, double bytes);
/** The most threads that were measured. */
double pace_host_measured_threads(const pace_host *host);
