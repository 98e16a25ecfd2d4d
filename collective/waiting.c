#include "waiting.h"
#include "base/clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SPINS = 4000, SPINS_CROWDED = 20, YIELDS = 100, SLEEP_NS = 1000000, LOOK_NS = 50000000 };

static bool heavy_barriers(void) {
#ifdef SYS_membarrier
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
#else
    return false;
#endif
}

void pace_waiter_init(pace_waiter *waiter, pace_seat *seats, int seat, int count, bool crowded, uint32_t spin) {
    uint32_t most = spin ? spin : crowded ? SPINS_CROWDED : SPINS;
    *waiter = (pace_waiter){.seats = seats, .seat = seat, .count = count, .spin_now = most, .spin_most = most};
    waiter->fence = !heavy_barriers();
    atomic_store(&seats[seat].pid, (int32_t)getpid());
}

/* --- who is still there ------------------------------------------------------------------------------------------- */

/* A process that has ended, though nobody has waited for it yet, is readable; a number that the system does not know is
 * gone; of other refusals nothing follows. */
static bool has_ended(int32_t pid) {
#ifdef SYS_pidfd_open
    int file = (int)syscall(SYS_pidfd_open, pid, 0);
    if (file < 0 && errno != ENOSYS) return errno == ESRCH;
    if (file >= 0) {
        struct pollfd poll_of = {.fd = file, .events = POLLIN};
        bool ended = poll(&poll_of, 1, 0) == 1;
        close(file);
        return ended;
    }
#endif
    return kill(pid, 0) != 0 && errno == ESRCH;
}

static pace_status look_for_others(const pace_waiter *w) {
    for (int i = 0; i < w->count; i++) {
        int32_t pid = atomic_load(&w->seats[i].pid);
        if (i == w->seat) continue;
        if (atomic_load(&w->seats[i].gone))
            return pace_fail(PACE_E_IO, "local rank %d has left the exchange after an error", i);
        if (pid && has_ended(pid))
            return pace_fail(PACE_E_IO, "local rank %d (process %d) ended during an exchange", i, (int)pid);
    }
    return PACE_OK;
}

void pace_waiter_leave(pace_waiter *waiter) {
    atomic_store(&waiter->seats[waiter->seat].gone, 1);
    pace_wake_all(waiter);
}

/* --- waiting ------------------------------------------------------------------------------------------------------ */

void pace_wake_up(pace_seat *seat) {
    atomic_fetch_add(&seat->bell, 1);
    syscall(SYS_futex, &seat->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Says that it sleeps; the caller looks once more at what it waits for before it does. */
static void arm(pace_wait *wait, pace_waiter *w) {
    pace_seat *seat = &w->seats[w->seat];
    wait->bell = atomic_load(&seat->bell);
    wait->armed = true;
    atomic_store(&seat->sleeping, 1);
#ifdef SYS_membarrier
    if (!w->fence) syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
#endif
}

static void disarm(pace_wait *wait, pace_waiter *w) {
    atomic_store(&w->seats[w->seat].sleeping, 0);
    wait->armed = false;
}

static void sleep_until_woken(pace_wait *wait, pace_waiter *w) {
    struct timespec most = {.tv_nsec = SLEEP_NS};
    syscall(SYS_futex, &w->seats[w->seat].bell, FUTEX_WAIT, wait->bell, &most, NULL, 0);
    w->sleeps++;
    disarm(wait, w);
}

static pace_status look(pace_wait *wait, const pace_waiter *w) {
    int64_t now = pace_clock_ns();
    if (!wait->since_ns) wait->since_ns = wait->looked_ns = now;
    if (now - wait->looked_ns < LOOK_NS) return PACE_OK;
    wait->looked_ns = now;
    if (w->patience_s > 0 && (double)(now - wait->since_ns) > w->patience_s * 1e9)
        return pace_fail(PACE_E_IO, "waited %.0f s for another rank", w->patience_s);
    return look_for_others(w);
}

pace_status pace_wait_turn(pace_wait *wait, pace_waiter *w) {
    uint32_t beyond = wait->turns++ - w->spin_now;
    if (w->progress) w->progress(w->context);
    if (beyond < YIELDS) {
        w->yields++;
        sched_yield();
        return PACE_OK;
    }
    PACE_TRY(look(wait, w));
    if (wait->armed) sleep_until_woken(wait, w);
    else arm(wait, w);
    return PACE_OK;
}

pace_status pace_wait_awake(pace_wait *wait, pace_waiter *w) {
    w->yields++;
    sched_yield();
    return look(wait, w);
}

/* Spinning that was in vain is halved; where it was not, it is tried for longer. */
void pace_wait_end(pace_wait *wait, pace_waiter *w) {
    if (wait->armed) disarm(wait, w);
    bool in_vain = wait->turns > w->spin_now;
    w->spins += in_vain ? w->spin_now : wait->turns;
    if (in_vain) w->spin_now = w->spin_now / 2 > SPINS_CROWDED ? w->spin_now / 2 : w->spin_now;
    else if (w->spin_now < w->spin_most) w->spin_now += w->spin_now / 16 + 1;
}
