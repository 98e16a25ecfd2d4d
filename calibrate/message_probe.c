#include "message_probe.h"

#include "base/print.h"
#include "host_clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct pace_message_probe {
    size_t bytes;
    int near, far; /* ends of the connection */
    char *sent, *received;
    pthread_t thread;
    bool runs;
};

static bool read_all(int end, char *to, size_t bytes) {
    while (bytes > 0) {
        ssize_t got = read(end, to, bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        to += got;
        bytes -= (size_t)got;
    }
    return true;
}

static bool write_all(int end, const char *from, size_t bytes) {
    while (bytes > 0) {
        ssize_t put = send(end, from, bytes, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        from += put;
        bytes -= (size_t)put;
    }
    return true;
}

static void *answer(void *context) {
    pace_message_probe *p = context;
    while (read_all(p->far, p->received, p->bytes) && write_all(p->far, p->received, 1)) {}
    return NULL;
}

static bool join_ends(pace_message_probe *p) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof at;
    int waiting = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    bool good = waiting >= 0 && bind(waiting, (struct sockaddr *)&at, sizeof at) == 0 && listen(waiting, 1) == 0 &&
                getsockname(waiting, (struct sockaddr *)&at, &size) == 0;
    if (good) p->near = socket(AF_INET, SOCK_STREAM, 0);
    good = good && p->near >= 0 && connect(p->near, (struct sockaddr *)&at, sizeof at) == 0;
    if (good) p->far = accept(waiting, NULL, NULL);
    if (waiting >= 0) close(waiting);
    if (!good || p->far < 0) return false;
    setsockopt(p->near, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    setsockopt(p->far, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return true;
}

pace_message_probe *pace_message_probe_make(size_t bytes, char *message) {
    pace_message_probe *p = calloc(1, sizeof *p);
    if (p) {
        *p = (pace_message_probe){.bytes = bytes, .near = -1, .far = -1};
        p->sent = calloc(bytes, 1);
        p->received = calloc(bytes, 1);
        if (p->sent && p->received && join_ends(p)) p->runs = pthread_create(&p->thread, NULL, answer, p) == 0;
        if (p->runs) return p;
        pace_message_probe_free(p);
    }
    pace_snprintf(message, PACE_BACKEND_MESSAGE, "no TCP connection inside this host: %s", strerror(errno));
    return NULL;
}

void pace_message_probe_free(pace_message_probe *p) {
    if (p->near >= 0) close(p->near);
    if (p->runs) pthread_join(p->thread, NULL);
    if (p->far >= 0) close(p->far);
    free(p->sent);
    free(p->received);
    free(p);
}

pace_probe_status pace_message_probe_time(double *seconds, void *probe, unsigned runs, char *message) {
    pace_message_probe *p = probe;
    double start = pace_host_clock_s(2);
    char byte;
    for (unsigned i = 0; i < runs; i++)
        if (!write_all(p->near, p->sent, p->bytes) || !read_all(p->near, &byte, 1)) {
            pace_snprintf(message, PACE_BACKEND_MESSAGE, "a connection inside this host broke: %s", strerror(errno));
            return PACE_PROBE_FAILED;
        }
    *seconds = pace_host_clock_s(2) - start;
    return PACE_PROBE_OK;
}
