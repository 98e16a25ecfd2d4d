"""A program for mpi4py: every collective of the shim, on whole numbers whose results are known. Run by test_mpi4py.py."""
import array
import sys

from mpi4py import MPI

failures = 0


def expect(good, *what):
    global failures
    if not good:
        failures += 1
        print("rank", MPI.COMM_WORLD.Get_rank(), *what, flush=True)


def vectors(comm, kind, mpi_type, count):
    """Element i of rank r is r + 1 + i % 7: small whole numbers, whose sums are exact in every type."""
    rank, ranks = comm.Get_rank(), comm.Get_size()

    def mine(of):
        return array.array(kind, [of + 1 + i % 7 for i in range(count)])

    summed = array.array(kind, [ranks * (ranks + 1) // 2 + ranks * (i % 7) for i in range(count)])
    got = array.array(kind, bytes(len(summed) * summed.itemsize))
    comm.Allreduce([mine(rank), mpi_type], [got, mpi_type], MPI.SUM)
    expect(got == summed, "allreduce", kind, count)
    got = mine(rank)
    comm.Allreduce(MPI.IN_PLACE, [got, mpi_type], MPI.MAX)
    expect(got == mine(ranks - 1), "allreduce in place", kind, count)
    got = mine(rank)
    comm.Bcast([got, mpi_type], ranks - 1)
    expect(got == mine(ranks - 1), "bcast", kind, count)
    got = array.array(kind, bytes(len(summed) * summed.itemsize))
    comm.Reduce([mine(rank), mpi_type], [got, mpi_type], MPI.SUM, ranks - 1)
    expect(rank != ranks - 1 or got == summed, "reduce", kind, count)
    got = array.array(kind, bytes(len(summed) * summed.itemsize * ranks))
    comm.Allgather([mine(rank), mpi_type], [got, mpi_type])
    expect(got == sum((mine(of) for of in range(ranks)), array.array(kind)), "allgather", kind, count)
    got = array.array(kind, bytes(len(summed) * summed.itemsize))
    comm.Reduce_scatter_block([mine(rank) * ranks, mpi_type], [got, mpi_type], MPI.SUM)
    expect(got == summed, "reduce-scatter", kind, count)


def main():
    world = MPI.COMM_WORLD
    for kind, mpi_type in (("f", MPI.FLOAT), ("d", MPI.DOUBLE), ("i", MPI.INT), ("q", MPI.INT64_T)):
        for count in (1, 7, 1000, 70001):
            vectors(world, kind, mpi_type, count)
    expect(world.allreduce(world.Get_rank() + 1) == world.Get_size() * (world.Get_size() + 1) // 2, "pickled allreduce")
    expect(world.bcast({"a": [1, "two"]} if world.Get_rank() == 0 else None) == {"a": [1, "two"]}, "pickled bcast")
    part = world.Split(world.Get_rank() % 2, -world.Get_rank())  # derived, in the other order
    vectors(part, "f", MPI.FLOAT, 333)
    part.Free()
    world.Barrier()
    failed = world.reduce(failures)
    if world.Get_rank() == 0:
        print(failed, "failures with", MPI.Get_library_version().split(",")[0])


main()
sys.exit(bool(failures))
