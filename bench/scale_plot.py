#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Table and log-log plot of what scale_bench measured: scale_plot.py TABLE.md PLOT.svg RESULT.json...

Needs nothing but Python.
"""

import json
import math
import sys

COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2", "#7f7f7f",
           "#111111", "#bcbd22"]
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 560, 400, 60, 40, 130, 50


def read(paths):
    """{(agents, policy): {gpus: row}}"""
    curves = {}
    for row in [row for path in paths for row in json.load(open(path))["benchmarks"]]:
        parts = row["name"].split("/")
        if parts[0] != "event":
            continue
        arguments = dict(part.split(":") for part in parts if part.startswith(("gpus:", "agents:")))
        policy = parts[1] + (", full physics" if parts[2] == "full" else "")
        curves.setdefault((int(arguments["agents"]), policy), {})[int(arguments["gpus"])] = row
    return curves


def table(curves):
    sizes = sorted({gpus for curve in curves.values() for gpus in curve})
    lines = ["| agents | policy | " + " | ".join(f"{gpus:,} GPUs" for gpus in sizes) +
             " | largest / smallest | waiting, smallest to largest |",
             "| ---: | --- |" + " ---: |" * (len(sizes) + 2)]
    for (agents, policy), curve in sorted(curves.items(), key=lambda item: item[0][0]):
        cells = [f"{curve[gpus]['real_time']:.2f}" if gpus in curve else "" for gpus in sizes]
        ratio = curve[max(curve)]["real_time"] / curve[min(curve)]["real_time"]
        waiting = " ".join(f"{curve[gpus]['waiting']:.0f}" for gpus in sorted(curve))
        lines.append(f"| {agents} | {policy} | " + " | ".join(cells) + f" | **{ratio:.1f}** | {waiting} |")
    return "\n".join(lines) + "\n"


def panel(curves, agents, x0):
    """Axes and curves of one number of agents, as SVG."""
    mine = {policy: curve for (a, policy), curve in curves.items() if a == agents}
    sizes = sorted({gpus for curve in mine.values() for gpus in curve})
    times = [row["real_time"] for curve in curves.values() for row in curve.values()]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    left, right = math.log10(sizes[0]), math.log10(sizes[-1])

    def x(gpus):
        return x0 + LEFT + (math.log10(gpus) - left) / (right - left) * (WIDTH - LEFT - RIGHT)

    def y(time):
        return TOP + (high - math.log10(time)) / (high - low) * (HEIGHT - TOP - BOTTOM)

    out = [f'<text x="{x0 + LEFT}" y="{TOP - 16}" font-weight="bold">{agents} agent{"s" if agents > 1 else ""}: '
           'µs of CPU per event against GPUs</text>']
    for gpus in sizes:
        out.append(f'<path d="M{x(gpus):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>'
                   f'<text x="{x(gpus):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{gpus:,}</text>')
    for power in range(low, high + 1):
        for step in (1, 2, 5):
            time = step * 10.0 ** power
            if math.log10(time) > high:
                continue
            out.append(f'<path d="M{x0 + LEFT} {y(time):.1f}H{x0 + WIDTH - RIGHT}" stroke="#ddd"/>'
                       f'<text x="{x0 + LEFT - 6}" y="{y(time) + 4:.1f}" text-anchor="end">{time:g}</text>')
    labels = sorted(mine, key=lambda policy: -mine[policy][max(mine[policy])]["real_time"])
    last = TOP - 20
    for policy in labels:
        colour = COLOURS[sorted({p for _, p in curves}).index(policy) % len(COLOURS)]
        points = [(x(gpus), y(row["real_time"])) for gpus, row in sorted(mine[policy].items())]
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in points)
        last = max(points[-1][1] + 4, last + 13)
        out.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in points]
        out.append(f'<text x="{points[-1][0] + 8:.1f}" y="{last:.1f}" fill="{colour}">{policy}</text>')
    return "\n".join(out)


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    curves = read(sys.argv[3:])
    open(sys.argv[1], "w").write(table(curves))
    agents = sorted({a for a, _ in curves})
    panels = "\n".join(panel(curves, a, i * WIDTH) for i, a in enumerate(agents))
    open(sys.argv[2], "w").write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH * len(agents)} {HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n{panels}\n</svg>\n')


if __name__ == "__main__":
    main()
