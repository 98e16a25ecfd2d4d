/*
 * A link that delays: what one network interface receives leaves by the other so much later, both ways.
 *     paceline-delay NANOSECONDS INTERFACE INTERFACE
 * It stands between the ends of two virtual links, for kernels that have no delaying queue of their own. Frames keep
 * their offloads (PACKET_VNET_HDR), so that segments of 64 KiB pass whole. It runs until a signal ends it. Frames
 * beyond 512 wait in the sockets, and are dropped where those are full. Exit status: 2 for wrong arguments, 4 where it
 * is not permitted.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MOST_BYTES = 65536 + 256, MOST_FRAMES = 512 };

/* Frames on their way from one interface to the other, in order; a ring. */
typedef struct {
    int from, to; /* sockets */
    int64_t due_ns[MOST_FRAMES];
    size_t bytes[MOST_FRAMES];
    unsigned char *frames; /* MOST_FRAMES times MOST_BYTES */
    unsigned first, count;
} direction;

static int64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* A socket of all frames that an interface receives, -1 and a message if there is none. */
static int open_interface(const char *name) {
    int one = 1, room = 8 << 20, at = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
    address.sll_ifindex = (int)if_nametoindex(name);
    if (at < 0 || !address.sll_ifindex || setsockopt(at, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one) != 0 ||
        setsockopt(at, SOL_PACKET, PACKET_IGNORE_OUTGOING, &one, sizeof one) != 0 ||
        bind(at, (struct sockaddr *)&address, sizeof address) != 0) {
        fprintf(stderr, "paceline-delay: %s: %s\n", name, strerror(errno));
        if (at >= 0) close(at);
        return -1;
    }
    setsockopt(at, SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    setsockopt(at, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room);
    return at;
}

static void take(direction *d, int64_t delay_ns) {
    while (d->count < MOST_FRAMES) {
        unsigned slot = (d->first + d->count) % MOST_FRAMES;
        ssize_t got = recv(d->from, d->frames + (size_t)slot * MOST_BYTES, MOST_BYTES, 0);
        if (got <= 0) return;
        d->bytes[slot] = (size_t)got;
        d->due_ns[slot] = now_ns() + delay_ns;
        d->count++;
    }
}

/* Sends what is due. */
static void pass(direction *d) {
    while (d->count > 0 && d->due_ns[d->first] <= now_ns()) {
        ssize_t sent = send(d->to, d->frames + (size_t)d->first * MOST_BYTES, d->bytes[d->first], 0);
        if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS)) return;
        d->first = (d->first + 1) % MOST_FRAMES;
        d->count--;
    }
}

/* Waits for the next frame, or until one is due. */
static void wait_for(const direction *both) {
    struct pollfd ends[2] = {{.fd = both[0].from, .events = POLLIN}, {.fd = both[1].from, .events = POLLIN}};
    struct timespec rest = {1, 0};
    for (int i = 0; i < 2; i++) {
        if (both[i].count == 0) continue;
        int64_t left = both[i].due_ns[both[i].first] - now_ns();
        if (left < 0) left = 0;
        if (left < (int64_t)rest.tv_sec * 1000000000 + rest.tv_nsec)
            rest = (struct timespec){left / 1000000000, left % 1000000000};
        if (both[i].count == MOST_FRAMES) ends[i].fd = -1;
    }
    (void)ppoll(ends, 2, &rest, NULL);
}

int main(int count, char **words) {
    char *end = NULL;
    long nanoseconds = count == 4 ? strtol(words[1], &end, 10) : -1;
    if (!end || *end || nanoseconds < 0 || nanoseconds > 10000000000) {
        fputs("usage: paceline-delay NANOSECONDS INTERFACE INTERFACE\n", stderr);
        return 2;
    }
    static direction both[2];
    int ends[2] = {open_interface(words[2]), open_interface(words[3])};
    if (ends[0] < 0 || ends[1] < 0) return 4;
    for (int i = 0; i < 2; i++) {
        both[i].from = ends[i], both[i].to = ends[!i];
        both[i].frames = malloc((size_t)MOST_FRAMES * MOST_BYTES);
        if (!both[i].frames) return 4;
    }
    /* Ranks that spin shall not hold frames up longer than the link does. */
    (void)sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1});
    for (;;) {
        wait_for(both);
        for (int i = 0; i < 2; i++) {
            take(&both[i], nanoseconds);
            pass(&both[i]);
        }
    }
}
