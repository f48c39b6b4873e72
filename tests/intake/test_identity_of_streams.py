"""Who wrote each stream, from labels, paths and launcher lines; and when it cannot be known."""

from __future__ import annotations

from pathlib import Path

import pytest

from assistant.intake.identity import one_process, resolve
from assistant.intake.models import Source, Stream, WriterKind
from assistant.intake.topology import Topology

Fact = dict[str, str]


class Job:
    """A job put together by hand: sources, streams and facts."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self.streams: list[Stream] = []
        self.facts: list[Fact] = []

    def stream(self, name: str, key: str = "") -> int:
        known = {source.name: source.id for source in self.sources}
        if name not in known:
            self.sources.append(Source(len(self.sources), name, Path(name), group=name))
        source = known.get(name, len(self.sources) - 1)
        self.streams.append(Stream(len(self.streams), name, key, first_source=source))
        return len(self.streams) - 1

    def fact(self, stream: int, dialect: str, **groups: str) -> None:
        line = str(len(self.facts) + 1)
        self.facts.append({**groups, "stream": str(stream), "source": "0", "line": line, "dialect": dialect})

    def resolve(self, **sizes: int) -> tuple[Stream, ...]:
        shape = Topology(**sizes) if sizes else None  # type: ignore[arg-type]
        return resolve(self.streams, self.sources, self.facts, topology=shape)


def alone(name: str, key: str = "") -> Stream:
    job = Job()
    job.stream(name, key)
    return job.resolve()[0]


@pytest.mark.parametrize(
    ("name", "node", "rank", "local", "device"),
    [
        ("rank-7.err", None, 7, None, None),
        ("logs/rank_7.log", None, 7, None, None),
        ("rank7/stderr.txt", None, 7, None, None),
        ("run/abc/attempt_0/3/stderr.log", None, None, 3, None),
        ("local_rank_3.log", None, None, 3, None),
        ("node3/rank-12.err", "node3", 12, None, None),
        ("log.node-17", "node-17", None, None, None),
        ("llm-worker-3.log", "llm-worker-3", None, None, None),
        ("job-proc-rank-0-device-0.txt", None, 0, None, "0"),
        ("logs.tar.gz!n04/rank-3.log", "n04", 3, None, None),
        ("job.log", None, None, None, None),
        ("7.log", None, None, None, None),
    ],
)
def test_a_path_says_who_wrote_it(
    name: str, node: str | None, rank: int | None, local: int | None, device: str | None
) -> None:
    stream = alone(name)
    assert (stream.node, stream.rank, stream.local_rank, stream.device) == (node, rank, local, device)


def test_how_is_told_in_words() -> None:
    assert alone("node3/rank-12.err").how == "rank from the path; node from the path"
    assert "no rank" in alone("run/abc/attempt_0/3/stderr.log").how
    assert alone("job.log").how == "nothing names its writer"


def test_folders_that_differ_in_a_number_alone_are_hosts() -> None:
    job = Job()
    for host in ("xa101", "xa102"):
        job.stream(f"{host}/train.log")
    assert [stream.node for stream in job.resolve()] == ["xa101", "xa102"]


def test_folders_of_runs_and_attempts_are_no_hosts() -> None:
    job = Job()
    for name in ("run1/a.log", "run2/a.log", "epoch_1/b.log", "epoch_2/b.log"):
        job.stream(name)
    assert {stream.node for stream in job.resolve()} == {None}


def test_kernel_logs_belong_to_their_node() -> None:
    stream = alone("gpu-node-17/dmesg.log")
    assert (stream.kind, stream.node) == (WriterKind.KERNEL, "gpu-node-17")


def test_a_path_that_names_one_process_says_so() -> None:
    assert one_process(Source(0, "rank-7.err", Path("x")))
    assert not one_process(Source(0, "node3.log", Path("x")))


def test_local_ranks_become_ranks_through_the_rendezvous_result_of_their_own_launcher() -> None:
    job = Job()
    for host, ranks in (("n01", "[0, 1]"), ("n02", "[2, 3]")):
        launcher = job.stream(f"{host}/launcher.log")
        job.fact(launcher, "torchrun", restart_count="0")
        job.fact(launcher, "torchrun", local_ranks="[0, 1]")
        job.fact(launcher, "torchrun", global_ranks=ranks)
        for local in (0, 1):
            job.stream(f"{host}/torchrun/x_1/attempt_0/{local}/stderr.log")
    workers = [stream for stream in job.resolve() if stream.local_rank is not None]
    assert [(w.node, w.rank) for w in workers] == [("n01", 0), ("n01", 1), ("n02", 2), ("n02", 3)]


def test_each_attempt_has_its_own_rendezvous_result() -> None:
    job = Job()
    launcher = job.stream("launcher.log")
    for restart, ranks in (("0", "[0, 1]"), ("1", "[2, 3]")):
        job.fact(launcher, "torchrun", restart_count=restart)
        job.fact(launcher, "torchrun", local_ranks="[0, 1]")
        job.fact(launcher, "torchrun", global_ranks=ranks)
    job.stream("x_1/attempt_0/1/stderr.log")
    job.stream("x_1/attempt_1/1/stderr.log")
    assert [(s.rank, s.attempt) for s in job.resolve()[1:]] == [(1, 0), (3, 1)]


def test_one_known_worker_tells_the_ranks_of_its_fellows() -> None:
    job = Job()
    job.stream("n02/x_1/attempt_0/0/stderr.log")
    job.stream("n02/x_1/attempt_0/1/stderr.log", "rank=9")
    assert [stream.rank for stream in job.resolve()] == [8, 9]


def test_the_failure_block_tells_the_ranks_and_the_host_of_its_launcher() -> None:
    job = Job()
    launcher = job.stream("a/launcher.log")
    job.fact(launcher, "torchrun", host="n03")
    job.fact(launcher, "torchrun", rank="5", local_rank="1")
    job.stream("a/x_1/attempt_0/0/stderr.log")
    worker = job.resolve()[1]
    assert (worker.rank, worker.node) == (4, "n03")


def test_the_last_worker_without_a_rank_has_the_rank_that_is_left() -> None:
    job = Job()
    for host, key in (("n01", "rank=0"), ("n02", "rank=1"), ("n03", "")):
        job.stream(f"{host}/x_1/attempt_0/0/stderr.log", key)
    assert [stream.rank for stream in job.resolve()] == [0, 1, 2]


def test_two_workers_without_a_rank_stay_unknown() -> None:
    job = Job()
    for host, key in (("n01", "rank=0"), ("n02", ""), ("n03", "")):
        job.stream(f"{host}/x_1/attempt_0/0/stderr.log", key)
    assert [stream.rank for stream in job.resolve()] == [0, None, None]


def test_console_labels_of_local_ranks_are_no_ranks_by_themselves() -> None:
    job = Job()
    job.stream("console.log", "local=3")
    stream = job.resolve()[0]
    assert (stream.rank, stream.local_rank) == (None, 3)
    assert "no line of its launcher" in stream.how


def test_in_a_job_of_one_node_local_ranks_are_ranks() -> None:
    job = Job()
    job.stream("console.log", "local=3")
    assert job.resolve(nodes=1)[0].rank == 3


def test_tasks_are_ranks_where_there_are_as_many() -> None:
    job = Job()
    for task in range(4):
        job.stream("job.log", f"task={task}")
    assert [stream.rank for stream in job.resolve(world_size=4)] == [0, 1, 2, 3]


def test_tasks_that_run_launchers_are_nodes_and_their_workers_ranks() -> None:
    job = Job()
    first = job.stream("job.log", "task=0")
    second = job.stream("job.log", "task=1")
    for task, launcher, ranks in ((0, first, "[0, 1]"), (1, second, "[2, 3]")):
        job.fact(launcher, "torchrun", local_ranks="[0, 1]")
        job.fact(launcher, "torchrun", global_ranks=ranks)
        for local in (0, 1):
            job.stream("job.log", f"task={task};local={local}")
    job.fact(first, "slurm", node="n07", tasks="0")
    found = job.resolve(world_size=4, nodes=2)
    assert [stream.kind for stream in found[:2]] == [WriterKind.LAUNCHER] * 2
    assert [(s.rank, s.node) for s in found[2:]] == [(0, "n07"), (1, "n07"), (2, None), (3, None)]


def test_srun_errors_place_tasks_and_the_ranks_of_their_block() -> None:
    job = Job()
    launcher = job.stream("job.log")
    for task in range(4):
        job.stream("job.log", f"task={task}")
    job.fact(launcher, "slurm", node="n07", tasks="2")
    found = job.resolve(world_size=4, nodes=2, ranks_per_node=2)
    assert [stream.node for stream in found[1:]] == [None, None, "n07", "n07"]


def test_a_host_list_places_tasks_unless_srun_says_otherwise() -> None:
    job = Job()
    launcher = job.stream("job.log")
    for task in range(4):
        job.stream("job.log", f"task={task}")
    job.fact(launcher, "slurm", nodelist="n[1-2]")
    job.fact(launcher, "slurm", tasks_per_node="2")
    assert [stream.node for stream in job.resolve()[1:]] == ["n1", "n1", "n2", "n2"]
    job.fact(launcher, "slurm", node="n2", tasks="1")
    assert job.resolve()[1].node != "n1"


def test_nccl_processes_get_their_rank_from_the_communicator_of_the_whole_job() -> None:
    job = Job()
    for host, pid, rank in (("n01", 10, 0), ("n02", 20, 1)):
        stream = job.stream("job.log", f"nccl={host}/{pid}")
        job.fact(stream, "nccl", comm_rank="0", comm_size="1", device="0")
        job.fact(stream, "nccl", comm_rank=str(rank), comm_size="2", device="0")
    assert [(s.node, s.rank, s.device) for s in job.resolve()] == [("n01", 0, "0"), ("n02", 1, "0")]


def test_a_communicator_of_part_of_the_job_gives_no_rank() -> None:
    job = Job()
    stream = job.stream("job.log", "nccl=n01/10")
    job.fact(stream, "nccl", comm_rank="0", comm_size="4", device="0")
    assert job.resolve(world_size=16)[0].rank is None


def test_files_of_one_process_share_its_rank() -> None:
    job = Job()
    job.stream("worker-1/debug/plog-4242_20261129173646123.log")
    told = job.stream("worker-1/run/plog-4242_20261129170000000.log")
    job.fact(told, "ascend", pid="4242", comm_rank="10", comm_size="16", device="2")
    found = job.resolve()
    assert [(s.node, s.rank, s.device) for s in found] == [("worker-1", 10, "2")] * 2


def test_a_node_listed_by_the_launcher_is_known_by_its_file_and_its_host_is_told() -> None:
    job = Job()
    stream = job.stream("node1.data")
    listing = '[{"name": "manager", "hostname": "gpu-a"}, {"name": "node1", "hostname": "gpu-b"}]'
    job.fact(stream, "voir", nodes_json=listing)
    found = job.resolve()[0]
    assert found.node == "node1"
    assert "gpu-b" in found.how


def test_the_only_node_of_a_job_is_the_node_of_all_its_ranks() -> None:
    job = Job()
    launcher = job.stream("job.log")
    job.fact(launcher, "mlperf", job="1", nnodes="1", nodelist="n03")
    for task in range(2):
        job.stream("job.log", f"task={task}")
    assert {stream.node for stream in job.resolve()} == {"n03"}


def test_a_mixed_console_has_no_rank() -> None:
    job = Job()
    stream = job.stream("console.log")
    job.fact(stream, "lightning", rank="0", world_size="2")
    job.fact(stream, "lightning", rank="1", world_size="2")
    found = job.resolve()[0]
    assert (found.rank, found.kind) == (None, WriterKind.MIXED)


def test_bare_numbers_are_ranks_only_where_there_are_as_many_files_as_ranks() -> None:
    job = Job()
    for number in range(2):
        job.stream(f"{number}.log")
    assert [stream.rank for stream in job.resolve(world_size=2)] == [0, 1]
    assert [stream.rank for stream in job.resolve(world_size=8)] == [None, None]


def test_ids_and_order_stay_and_the_same_input_gives_the_same_streams() -> None:
    job = Job()
    for name in ("b.log", "a.log"):
        job.stream(name)
    assert [stream.id for stream in job.resolve()] == [0, 1]
    assert job.resolve() == job.resolve()
