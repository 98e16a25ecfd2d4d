"""Runs of 16 ranks that share a step in three ways at once, two stages of two replicas of four tensor-parallel ranks, with one cause
planted in one of them. Written as planted_habits.py is; its expected answer was written before the report was seen.
"""
from planted_habits import POINTWISE, backward_pass, fused_update, gradient, linear, reads_loss
from planted_meshes import exchange
from planted_systems import message, nested

STAGES, REPLICAS, SPLIT = 2, 2, 4
PER_STAGE = REPLICAS * SPLIT


def groups_of(run, stage):
    """The tensor-parallel groups of a stage."""
    first = stage * PER_STAGE
    return [run.ranks[first + SPLIT * number:first + SPLIT * (number + 1)] for number in range(REPLICAS)]


def one_way(run, stage, us, split_us, forward):
    """Two layers of a stage, each with its all-reduces; then messages to the next stage."""
    for group in groups_of(run, stage):
        for _ in range(2):
            for rank in group:
                if forward:
                    linear(rank, us(rank))
                else:
                    with backward_pass(rank):
                        gradient(rank, 2 * us(rank))
            exchange(run, split_us(group), ranks=group)
        target = stage + 1 if forward else stage - 1
        for rank in group if 0 <= target < STAGES else []:
            message(run, rank.rank, rank.rank + PER_STAGE * (target - stage), 25)


def share(run, us=lambda rank: 300, split_us=lambda group: 40, replica_us=lambda ranks: 400, before=None, after=None, micro=4, count=4):
    def body(number):
        for rank in run.ranks if before else []:
            before(rank, number)
        for _ in range(micro):
            for stage in range(STAGES):
                one_way(run, stage, us, split_us, True)
            for stage in reversed(range(STAGES)):
                one_way(run, stage, us, split_us, False)
        for stage in range(STAGES):
            for pair in zip(*groups_of(run, stage)):
                exchange(run, replica_us([rank.rank for rank in pair]), ranks=list(pair))
        for rank in run.ranks:
            fused_update(rank)
            reads_loss(rank)
            if after:
                after(rank, number)
    run.steps(count, body)


# --- the programs: each takes a Run of 16 ranks ------------------------------------------------------------------------

def cube_slow_device(run):
    """The products of rank 9 take 1.7 times as long."""
    share(run, us=lambda rank: 510 if rank.rank == 9 else 300)


def cube_slow_loader(run):
    """The loader of rank 2 takes 30 ms, the others' 0.1."""
    def load(rank, _):
        if rank.rank < PER_STAGE:
            with rank.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
                rank.work(30000 if rank.rank == 2 else 100)
    share(run, before=load)


def cube_logs(run):
    """Rank 13 writes logs for 25 ms in each step, behind the loss."""
    share(run, after=lambda rank, _: nested(rank, ["logs.py(14): flush"], 25000) if rank.rank == 13 else None)


def cube_slow_replicas(run):
    """Gradients of ranks 1 and 5 are summed for 20 ms, those of the other pairs for 0.4."""
    share(run, replica_us=lambda ranks: 20000 if 1 in ranks else 400)


def cube_slow_split(run):
    """All-reduces within the layers take 900 us everywhere, products 300."""
    share(run, split_us=lambda group: 900)


def cube_slow_group(run):
    """The all-reduces of one tensor-parallel group take 1.2 ms, those of the others 40 us."""
    share(run, split_us=lambda group: 1200 if group[0].rank == 12 else 40)


def cube_pauses(run):
    """Each step the host of another rank pauses for 16 ms in the collector."""
    def pause(rank, number):
        if rank.rank == (5 * number) % run.world:
            nested(rank, ["Python GC"], 16000)
    share(run, before=pause, count=6)


def cube_small_work(run):
    """Rank 6 runs 700 small kernels more, 45 us of host each."""
    def more(rank, _):
        for _ in range(700 if rank.rank == 6 else 0):
            rank.kernel("aten::mul", 3, host_us=41, name=POINTWISE)
    share(run, before=more)


def cube_products(run):
    """Many micro-batches: products and the bubbles of two stages are all there is."""
    share(run, split_us=lambda group: 20, replica_us=lambda ranks: 100)
