"""What runs that end well print must not look like a root cause."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from assistant.faults.check import check_library
from assistant.faults.library import load_library
from assistant.faults.matcher import Matcher
from assistant.faults.models import FaultRole

LIBRARY = load_library()
MATCHER = Matcher(LIBRARY)

HEALTHY = """\
using world size: 16, data-parallel size: 2, context-parallel size: 1, tensor-model-parallel size: 4
WARNING: overriding default arguments for tokenizer_type:None with tokenizer_type:GPT2BPETokenizer
accumulate and all-reduce gradients in fp32 for bfloat16 data type.
  check_for_nan_in_loss_and_grad .................. True
  distributed_timeout_minutes ..................... 10
  error_injection_rate ............................ 0
  exit_signal_handler ............................. False
  loss_scale_window ............................... 1000
  no_load_optim ................................... None
  overlap_grad_reduce ............................. True
 > padded vocab (size: 50257) with 431 dummy tokens (new size: 50688)
> initializing torch distributed ...
> initialized tensor model parallel with size 4
> setting random seeds to 1234 ...
make: Entering directory '/opt/megatron/core/datasets'
make: Nothing to be done for 'default'.
>>> done with compiling and loading fused kernels. Compilation time: 2.113 seconds
time to initialize megatron (seconds): 21.402
[after megatron is initialized] datetime: 2025-03-11 09:12:44
building GPT model ...
 > number of parameters on (tensor, pipeline) model parallel rank (0, 0): 1717223424
INFO:megatron.core.optimizer:Setting up optimizer with config OptimizerConfig(optimizer='adam', clip_grad=1.0)
 loading checkpoint from /ckpt/run1 at iteration 500
 checkpoint version 3.0
  successfully loaded checkpoint from /ckpt/run1 [ t 0, p 0 ] at iteration 500
 > dataset split: train: document indices in [0, 949) total of 949 documents
 > WARNING: could not find index map files, building the indices on rank 0 ...
 > loading shuffle-idx mapping from /data/corpus/cache/3f2a-shuffle_index.npy
[before the start of training step] datetime: 2025-03-11 09:15:02
 iteration      510/    1000 | consumed samples:  8160 | elapsed time per iteration (ms): 2101.3 | lm loss: 5.12E+00 |
 iteration      520/    1000 | loss scale: 1.0 | grad norm: 1.204 | number of nan iterations: 0 |
[Rank 0] (after 510 iterations) memory (MB) | allocated: 31201.1 | max allocated: 40112.7 | reserved: 44020.0
saving checkpoint at iteration 600 to /ckpt/run1 in torch_dist format
  successfully saved checkpoint from iteration 600 to /ckpt/run1 [ t 1/4, p 1/2 ]
 validation loss at iteration 600 | lm loss value: 4.90E+00 | lm loss PPL: 1.34E+02 |
{'loss': 2.3144, 'grad_norm': 1.77, 'learning_rate': 9.1e-06, 'epoch': 0.12}
{'loss': 2.2871, 'grad_norm': inf, 'learning_rate': 9.0e-06, 'epoch': 0.13}
 41%|████      | 410/1000 [06:11<08:55,  1.10it/s]
Loading checkpoint shards: 100%|██████████| 4/4 [00:09<00:00,  2.33s/it]
Generating train split: 100%|██████████| 51760/51760 [00:01<00:00, 40112.31 examples/s]
trainable params: 8,388,608 || all params: 6,746,804,224 || trainable%: 0.1243
[INFO|trainer.py:2134] ***** Running training *****
Saving model checkpoint to /out/checkpoint-500
Training completed. Do not forget to share your model on huggingface.co/models =)
[2025-03-11 10:00:01,104] [INFO] [config.py:997:print]   fp16_auto_cast ............... None
[2025-03-11 10:00:01,104] [INFO] [config.py:997:print]   zero_allow_untested_optimizer  False
[2025-03-11 10:00:09,330] [INFO] [logging.py:96:log_dist] [Rank 0] step=10, skipped=0, lr=[1e-05], mom=[(0.9, 0.999)]
[deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768
[2025-03-11 10:05:30,910] [INFO] [launch.py:351:main] Process 9120 exits successfully.
GPU available: True (cuda), used: True
LOCAL_RANK: 3 - CUDA_VISIBLE_DEVICES: [0,1,2,3,4,5,6,7]
Epoch 0:  12%|█▏        | 120/1000 [01:02<07:36, 1.93it/s, v_num=7, loss=1.93]
`Trainer.fit` stopped: `max_steps=1000` reached.
[titan] 2025-03-11 10:02:11,220 - root - INFO - step: 20  loss: 7.8814  memory: 41.20GiB(52.08%)  tps: 7,201  mfu: 41.1%
[titan] 2025-03-11 10:02:15,001 - root - INFO - Finished saving the checkpoint in 4.12 seconds
node-3:4411:4520 [3] NCCL INFO Bootstrap : Using bond0:10.0.3.3<0>
node-3:4411:4520 [3] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.
node-3:4411:4520 [3] NCCL INFO Channel 00/24 :    0   1   2   3   4   5   6   7
node-3:4411:4520 [3] NCCL INFO comm 0x55d rank 27 nranks 64 cudaDev 3 nvmlDev 3 busId 9b000 commId 0x1f - Init COMPLETE
:::MLLOG {"namespace": "", "time_ms": 1741687000123, "key": "run_stop", "metadata": {"status": "success"}}
W0311 09:11:58.118000 71 torch/distributed/run.py:793] *****************************************
NVIDIA-SMI 550.90.07    Driver Version: 550.90.07    CUDA Version: 12.4
| N/A   41C    P0             72W /  700W |      0MiB /  81559MiB |      0%      Default |
2025-03-11 10:20:00 INFO evaluation finished, word error rate 0.081, 0 failures
2025-03-11 10:20:01 INFO retry policy: attempts=5, timeout=30s, backoff=exponential
2025-03-11 10:20:02 INFO uploaded 12 files to s3://bucket/run1 (0 errors)
2025-03-11 10:20:02 INFO no errors detected, exiting with code 0
wandb: Run summary: train/loss 2.28
wandb: Find logs at: ./wandb/run-20250311/logs
""".splitlines()


def test_healthy_lines_stand_for_no_root_cause() -> None:
    assert len(HEALTHY) >= 60
    assert check_library(LIBRARY, healthy_lines=HEALTHY) == []


@pytest.mark.parametrize("line", HEALTHY)
def test_a_healthy_line_matches_noise_at_most(line: str) -> None:
    assert {LIBRARY[fault].role for fault in MATCHER.match(line)} <= {FaultRole.BENIGN}


def real_logs() -> Path:
    named = os.environ.get("ROOTRANK_REAL_LOGS")
    return Path(named) if named else Path(__file__).resolve().parents[3] / "shared" / "logs"


def real_healthy_runs() -> list[Path]:
    return sorted(real_logs().glob("*/baseline/*.log"))


@pytest.mark.skipif(not real_healthy_runs(), reason="real logs are not here; name their folder in ROOTRANK_REAL_LOGS")
@pytest.mark.parametrize("path", real_healthy_runs(), ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_real_run_that_ended_well_shows_no_root_cause(path: Path) -> None:
    distinct = dict.fromkeys(path.read_text(encoding="utf-8", errors="replace").splitlines())
    found = {fault for line in distinct for fault in MATCHER.match(line[:4096].lstrip("0123456789: "))}
    assert {LIBRARY[fault].role for fault in found} <= {FaultRole.BENIGN}
