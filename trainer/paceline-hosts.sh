#!/bin/sh
# Runs a command on several hosts that are network namespaces of this one, each behind a link of its own with a set rate, and
# removes them again:
#     paceline-hosts.sh COUNT BYTES_PER_SECOND[,DELAY_S] COMMAND...
# The command becomes one rank on each host, started by Open MPI. A host has a network interface, a name and /etc/hosts of
# its own; memory, processors and files are shared. A packet from host to host takes DELAY_S besides, half of it on each
# one's link (paceline-delay, beside this file). Exit status: the command's; 4 where namespaces are not permitted.
set -u

fail() {
    echo "paceline train: hosts: $1" >&2
    exit 4
}

# Called by mpirun in place of ssh: HOST COMMAND...
if [ "${1:-}" = --on ]; then
    host=$2
    shift 2
    exec ip netns exec "$host" unshare -u sh -c 'hostname "$0"; exec sh -c "$*"' "$host" "$@"
fi

[ $# -ge 3 ] || fail "expected COUNT BYTES_PER_SECOND[,DELAY_S] COMMAND..."
count=$1
bits=$((${2%,*} * 8))
delay=
case $2 in *,*)
    delay=${2#*,}
    case $delay in "" | . | *[!0-9.]* | *.*.*) fail "expected seconds such as 0.001 behind the comma, found \"$delay\"" ;; esac
    ;;
esac
shift 2
for program in ip tc mpirun unshare; do
    command -v $program >/dev/null || fail "$program is missing (the Debian packages iproute2, openmpi-bin, util-linux)"
done

name=pl$$
net=10.$((200 + $$ / 250 % 50)).$(($$ % 250))
bridge=${name}br
hosts=
lines=
# What passes at once after a pause is no link of that rate: the smallest bucket, of two packets of 64 KiB, or 0.1 ms of bytes, which
# the kernel's timers still tell apart. (Of 10 ms, a MiB passed a link of 1 Gb/s in 1.4 ms, and 16 MiB in 132 ms.)
burst=$((bits / 8 / 10000))
[ $burst -ge 131072 ] || burst=131072

remove() {
    trap '' EXIT INT TERM
    i=0
    [ -z "$lines" ] || kill $lines 2>/dev/null
    while [ $i -lt "$count" ]; do
        ip netns del $name-$i 2>/dev/null
        ip link del ${name}v$i 2>/dev/null
        ip link del ${name}x$i 2>/dev/null
        rm -rf /etc/netns/$name-$i
        i=$((i + 1))
    done
    ip link del $bridge 2>/dev/null
}

shape() {
    "$@" root tbf rate ${bits}bit burst $burst latency 50ms
}

# Joins a host's end to the bridge, by a line that delays where one is asked for.
join() {
    [ -n "$delay" ] || { ip link set ${name}v$1 master $bridge up; return; }
    ip link add ${name}x$1 type veth peer name ${name}y$1 && ip link set ${name}y$1 master $bridge up &&
        ip link set ${name}x$1 up && ip link set ${name}v$1 up
}

make_host() {
    ip netns add $name-$1 && ip link add ${name}v$1 type veth peer name ${name}w$1 &&
        ip link set ${name}w$1 netns $name-$1 name eth0 && join $1 &&
        ip -n $name-$1 addr add $net.$((2 + $1))/24 dev eth0 && ip -n $name-$1 link set eth0 up &&
        ip -n $name-$1 link set lo up && shape tc qdisc add dev ${name}v$1 &&
        shape tc -n $name-$1 qdisc add dev eth0 && mkdir -p /etc/netns/$name-$1
}

trap 'remove' EXIT
trap 'remove; exit 130' INT TERM
{ ip link add $bridge type bridge && ip addr add $net.1/24 dev $bridge && ip link set $bridge up; } 2>/dev/null ||
    fail "network namespaces and bridges are not permitted here (root, or CAP_NET_ADMIN and CAP_SYS_ADMIN)"
i=0
while [ $i -lt "$count" ]; do
    error=$(make_host $i 2>&1) || fail "host $i cannot be made: $error"
    hosts=$hosts${hosts:+,}$name-$i:1
    if [ -n "$delay" ]; then
        half=$(awk -v delay="$delay" 'BEGIN { printf "%.0f", delay * 1e9 / 2 }')
        "${0%/*}/paceline-delay" "$half" ${name}v$i ${name}x$i &
        lines="$lines $!"
    fi
    i=$((i + 1))
done
i=0
while [ $i -lt "$count" ]; do
    k=0
    echo "127.0.0.1 localhost" >/etc/netns/$name-$i/hosts
    while [ $k -lt "$count" ]; do
        echo "$net.$((2 + k)) $name-$k" >>/etc/netns/$name-$i/hosts
        k=$((k + 1))
    done
    i=$((i + 1))
done

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 UCX_TLS=tcp,self UCX_NET_DEVICES=eth0 NO_COLOR=1
mpirun --mca plm_rsh_agent "$0 --on" --mca plm_rsh_no_tree_spawn 1 --mca pml ob1 --mca btl tcp,self \
    --mca btl_tcp_if_include $net.0/24 --mca oob_tcp_if_include $net.0/24 --bind-to none -x UCX_TLS -x UCX_NET_DEVICES -x NO_COLOR \
    --host "$hosts" -n "$count" "$@"
