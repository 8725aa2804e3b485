#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exports a network of PyTorch as docs/onnx.md says, and writes an input and what PyTorch computes of it.

from_torch.py picture|sequence|layers NAME      writes NAME.onnx, NAME.x and NAME.y, of float32
"""

import sys

import torch
from torch import nn


class Block(nn.Module):
    """A separable convolution with a squeeze-excite gate, around which the input goes where the extents allow it."""

    def __init__(self, planes, filters, stride):
        super().__init__()
        self.deep = nn.Sequential(
            nn.Conv2d(planes, planes, 3, stride, 1, groups=planes, bias=False), nn.BatchNorm2d(planes), nn.SiLU(),
            nn.Conv2d(planes, filters, 1, bias=False), nn.BatchNorm2d(filters), nn.SiLU())  # fmt: skip
        self.gate = nn.Sequential(nn.Linear(filters, filters // 4), nn.ReLU(), nn.Linear(filters // 4, filters),
                                  nn.Sigmoid())  # fmt: skip
        self.around = planes == filters and stride == 1

    def forward(self, x):
        y = self.deep(x)
        y = y * self.gate(y.mean((2, 3)))[:, :, None, None]
        return x + y if self.around else y


class Picture(nn.Module):
    """Convolutions, then a layer of a transformer over the places of the picture."""

    example = torch.Size([1, 3, 64, 64])

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.Hardswish())
        self.blocks = nn.Sequential(Block(16, 24, 2), Block(24, 24, 1), Block(24, 40, 2))
        self.places = nn.TransformerEncoderLayer(40, 4, 80, batch_first=True, activation="gelu")
        self.head = nn.Linear(40, 10)

    def forward(self, x):
        y = self.blocks(self.stem(x)).flatten(2).transpose(1, 2)
        return torch.softmax(self.head(self.places(y).mean(1)), -1)


class Sequence(nn.Module):
    """Two recurrent layers, each in both directions."""

    example = torch.Size([1, 9, 12])

    def __init__(self):
        super().__init__()
        self.recurrent = nn.LSTM(12, 20, 2, batch_first=True, bidirectional=True)
        self.head = nn.Linear(40, 5)

    def forward(self, x):
        return self.head(self.recurrent(x)[0][:, -1])


class Layers(nn.Module):
    """A decoder, whose steps see those before them, over what an encoder gives: equal layers, which become a function
    each."""

    example = torch.Size([1, 10, 24])

    def __init__(self):
        super().__init__()
        layer = {"d_model": 24, "nhead": 3, "dim_feedforward": 48, "dropout": 0.0, "batch_first": True}
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**layer), 4)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**layer), 3)
        self.register_buffer("behind", nn.Transformer.generate_square_subsequent_mask(self.example[1]))
        for p in self.parameters():  # the layers are copies of one
            nn.init.normal_(p, 0.1, 0.2)

    def forward(self, x):
        return self.decoder(x, self.encoder(x), tgt_mask=self.behind)


if __name__ == "__main__":
    torch.manual_seed(1)
    kind, name = sys.argv[1:]
    network = {"picture": Picture, "sequence": Sequence, "layers": Layers}[kind]().eval()
    x = torch.rand(network.example)
    torch.onnx.export(network, x, name + ".onnx", input_names=["x"], output_names=["y"], opset_version=16)
    x.numpy().tofile(name + ".x")
    network(x).detach().numpy().tofile(name + ".y")
