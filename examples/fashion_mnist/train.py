#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the demo's network on Fashion-MNIST and writes weights.safetensors beside this file.

Needs Debian's python3-torch and dataset-fashion-mnist; neither is needed to run the demo, whose weights are committed.
The network is the seed network of the Collage RFC (Apache TVM RFC 62):
  1x28x28 -> conv 8@5x5, pad 2 -> relu -> max pool 2/2 -> conv 16@5x5, pad 2 -> relu -> max pool 3/3 -> dense 10

Usage: train.py [--epochs N] [--output FILE]     (40 epochs: about six minutes on one core)
"""
import argparse
import gzip
import json
import pathlib
import struct
import subprocess

import numpy
import torch
from torch import nn


def data_folder() -> pathlib.Path:
    files = subprocess.run(["dpkg", "-L", "dataset-fashion-mnist"], check=True, capture_output=True, text=True).stdout
    return next(pathlib.Path(f).parent for f in files.splitlines() if f.endswith("train-images-idx3-ubyte.gz"))


def read_idx(path: pathlib.Path) -> numpy.ndarray:
    """Gzipped IDX: two zero bytes, a type byte (8 = u8), the rank, big-endian extents, then the data."""
    raw = gzip.open(path).read()
    zero, kind, rank = struct.unpack(">HBB", raw[:4])
    assert (zero, kind) == (0, 8), f"{path}: not an IDX file of bytes"
    shape = struct.unpack(f">{rank}I", raw[4 : 4 + 4 * rank])
    return numpy.frombuffer(raw, numpy.uint8, offset=4 + 4 * rank).reshape(shape)


class Seed(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 5, padding=2)
        self.conv2 = nn.Conv2d(8, 16, 5, padding=2)
        self.dense = nn.Linear(256, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(self.conv1(x).relu(), 2, 2)
        x = nn.functional.max_pool2d(self.conv2(x).relu(), 3, 3)
        return self.dense(x.flatten(1))


def augment(pictures: torch.Tensor) -> torch.Tensor:
    """Each picture is mirrored with probability 1/2 and the batch moves by at most one pixel."""
    mirrored = torch.rand(len(pictures)) < 0.5
    pictures = torch.where(mirrored[:, None, None, None], pictures.flip(3), pictures)
    dy, dx = (int(v) for v in torch.randint(-1, 2, (2,)))
    return torch.roll(pictures, (dy, dx), (2, 3))


def accuracy(model: nn.Module, pictures: torch.Tensor, labels: torch.Tensor) -> float:
    with torch.no_grad():
        return float((model(pictures).argmax(1) == labels).float().mean())


def write_safetensors(path: pathlib.Path, tensors: dict) -> None:
    """The safetensors format: u64 little-endian header size, JSON header padded with spaces to 8, raw data."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        raw = tensor.detach().contiguous().numpy().astype("<f4").tobytes()
        header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--epochs", type=int, default=40)
    arguments.add_argument("--output", type=pathlib.Path,
                           default=pathlib.Path(__file__).with_name("weights.safetensors"))
    options = arguments.parse_args()

    folder = data_folder()
    def split(name):
        pictures = torch.from_numpy(read_idx(folder / f"{name}-images-idx3-ubyte.gz").copy())
        labels = torch.from_numpy(read_idx(folder / f"{name}-labels-idx1-ubyte.gz").copy()).long()
        return pictures[:, None].float() / 255.0, labels
    pictures, labels = split("train")
    test_pictures, test_labels = split("t10k")

    torch.manual_seed(1)
    model, batch = Seed(), 128
    averaged = torch.optim.swa_utils.AveragedModel(model, avg_fn=lambda mean, now, _: mean + (now - mean) * 0.002)
    optimiser = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=1e-4)
    steps = options.epochs * (len(labels) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 6e-3, total_steps=steps, pct_start=0.1)
    for epoch in range(options.epochs):
        model.train()
        for chosen in torch.randperm(len(labels))[: len(labels) // batch * batch].split(batch):
            optimiser.zero_grad()
            nn.functional.cross_entropy(model(augment(pictures[chosen])), labels[chosen]).backward()
            optimiser.step()
            schedule.step()
            averaged.update_parameters(model)
        write_safetensors(options.output, averaged.module.state_dict())
        # The last averaged weights are kept, whatever the test set says: nothing is selected on it.
        print(f"epoch {epoch + 1}: test accuracy {accuracy(averaged.module, test_pictures, test_labels):.4f}",
              flush=True)


if __name__ == "__main__":
    main()
