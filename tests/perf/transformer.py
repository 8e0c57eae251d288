# SPDX-License-Identifier: Apache-2.0
"""A training of a transformer in bfloat16 that does the same in each step, for beside_ncu.py: transformer.py [STEPS [LAST]].
What a profiler is to see begins with the LAST steps (cudaProfilerStart), all by default. The loss of the last step is printed."""
import sys

import torch
from torch import nn
from torch.nn import functional

LAYERS, WIDTH, HEADS, TOKENS, BATCH, WORDS = 6, 1024, 16, 512, 8, 8192


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(WIDTH) for _ in range(2))
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        heads = self.qkv(self.norms[0](x)).view(BATCH, TOKENS, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(*heads, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(BATCH, TOKENS, WIDTH))
        return x + self.down(functional.gelu(self.up(self.norms[1](x))))


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    last = int(sys.argv[2]) if len(sys.argv) > 2 else steps
    torch.manual_seed(1)
    model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH),
                          nn.Linear(WIDTH, WORDS)).to("cuda", torch.bfloat16)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    words = torch.randint(WORDS, (BATCH, TOKENS), device="cuda")
    torch.cuda.synchronize()
    for step in range(steps):
        if step == steps - last:
            torch.cuda.synchronize()
            torch.cuda.profiler.start()
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(words).flatten(0, 1), words.roll(-1, 1).flatten())
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    print(float(loss.detach()).hex())


main()
