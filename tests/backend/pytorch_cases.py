#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints the numbers that reference.cpp compares with, computed by PyTorch (Debian's python3-torch, 1.13.1).

Inputs and weights are small multiples of 1/8, made by the same formula on both sides.
"""
import torch
import torch.nn.functional as F


def made(seed, *shape):
    count = torch.Size(shape).numel()
    i = torch.arange(count, dtype=torch.int64)
    return (((i * 7 + seed * 5 + i // 3) % 23 - 11).float() / 8).reshape(shape)


def show(name, value):
    flat = value.flatten().tolist()
    print(f"{name}: " + ", ".join(f"{v:.9g}" for v in flat))


image = made(1, 1, 2, 5, 6)
show("conv2d padding 1", F.conv2d(image, made(2, 3, 2, 3, 3), made(3, 3), padding=1))
show("conv2d stride 2 1, padding 0 2", F.conv2d(image, made(2, 2, 2, 2, 3), None, stride=(2, 1), padding=(0, 2)))
show("conv2d dilation 2", F.conv2d(image, made(2, 2, 2, 2, 2), made(3, 2), dilation=2))
show("conv2d groups 2", F.conv2d(image, made(2, 4, 1, 3, 3), made(3, 4), groups=2))
show("max_pool2d 3/2 padding 1", F.max_pool2d(image, 3, 2, 1))
show("avg_pool2d 3/2 padding 1", F.avg_pool2d(image, 3, 2, 1, count_include_pad=False))
show("dense", F.linear(made(1, 12), made(2, 4, 12), made(3, 4)))
show("softmax", F.softmax(made(1, 2, 5), -1))
show("relu", F.relu(made(1, 7)))
values, indices = torch.topk(torch.tensor([0.5, -1.0, 4.0, 2.5, 3.0, -7.0]), 3)
show("top_k values", values)
show("top_k indices", indices)
show("resize bilinear up", F.interpolate(image[:, :1], (7, 8), mode="bilinear", align_corners=False))
show("resize bilinear down", F.interpolate(image[:, :1], (3, 4), mode="bilinear", align_corners=False))
show("resize nearest", F.interpolate(image[:, :1], (3, 10), mode="nearest-exact"))
