/* Parameter servers and BytePS in closed form. */
#include "base/numbers.h"
#include "exchange/approaches.h"

static double over(double bytes, double rate) { return rate > 0 ? bytes / rate : 0; }

double pace_parameter_server_s(const pace_server_terms *t) {
    double even = t->bytes / t->servers, fullest = pace_most(even, t->largest_bytes);
    double senders = t->workers, sent = t->bytes;
    if (t->colocated) { /* what a worker sends to itself crosses no wire */
        senders -= 1;
        sent -= even;
    }
    double phase = pace_most(over(sent, t->worker_rate), over(senders * fullest, t->server_rate));
    if (senders > 0) phase = pace_most(phase, over(fullest, t->stream_rate));
    double added = over(t->workers * fullest, t->add_rate);
    return (t->overlapped ? phase : 2 * phase) + added;
}

double pace_byteps_s(double bytes, int hosts, int spare, double rate) {
    double n = hosts, k = spare > hosts ? hosts : spare; /* more spare hosts than hosts add nothing */
    if (hosts < 2) return 0;
    return 2 * n * (n - 1) * bytes / ((n * n + k * n - 2 * k) * rate);
}
