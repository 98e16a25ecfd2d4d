/*
 * How long one message takes: piecewise linear in its size, one piece per protocol of the library (eager, rendezvous,
 * …). One piece is Hockney's model (alpha + beta m); LogGP and PLogP have the same form.
 */
#pragma once

enum { PACE_MESSAGE_PIECES = 4 };

typedef struct {
    double from_bytes, alpha_s, s_per_byte;
} pace_message_piece;

typedef struct {
    int count; /* pieces, by from_bytes; the first starts at 0 */
    pace_message_piece pieces[PACE_MESSAGE_PIECES];
} pace_message_model;

/** Hockney 1994: alpha + m beta. */
static inline pace_message_model pace_message_hockney(double alpha_s, double s_per_byte) {
    return (pace_message_model){1, {{0, alpha_s, s_per_byte}}};
}

static inline double pace_message_s(const pace_message_model *model, double bytes) {
    const pace_message_piece *piece = model->pieces;
    for (int i = 1; i < model->count && bytes >= model->pieces[i].from_bytes; i++) piece = &model->pieces[i];
    return piece->alpha_s + bytes * piece->s_per_byte;
}
