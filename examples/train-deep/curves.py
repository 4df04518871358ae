"""Loss curves of training logs as one picture.

usage: curves.py PICTURE.svg NAME=LOG.jsonl ...
"""
import json
import math
import sys

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 640, 400, 50, 20, 110, 40
COLOURS = ["#c0392b", "#2471a3", "#1e8449", "#b9770e", "#6c3483", "#34495e"]


def read(path):
    with open(path) as file:
        lines = [json.loads(line) for line in file]
    return [(line["step"], line["loss"]) for line in lines if "loss" in line]


def main():
    curves = [(name, read(path)) for name, path in
              (argument.split("=", 1) for argument in sys.argv[2:])]
    last = max(step for _, points in curves for step, _ in points)
    most = max(loss for _, points in curves for _, loss in points
               if math.isfinite(loss))
    least = math.floor(min(loss for _, points in curves for _, loss in points))

    def place(step, loss):
        across = (WIDTH - LEFT - RIGHT) * step / last
        down = (HEIGHT - TOP - BOTTOM) * (most - loss) / (most - least)
        return LEFT + across, TOP + down

    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" '
             'font-family="sans-serif" font-size="12">' % (WIDTH, HEIGHT),
             '<rect width="100%" height="100%" fill="white"/>']
    for number in range(least, math.ceil(most) + 1):
        if number > most:
            continue
        x, y = place(0, number)
        parts.append('<path d="M%.1f %.1fH%d" stroke="#ddd"/><text x="%.1f" '
                     'y="%.1f" text-anchor="end">%d</text>'
                     % (x, y, WIDTH - RIGHT, x - 6, y + 4, number))
    for step in (0, last // 2, last):
        x, y = place(step, least)
        parts.append('<text x="%.1f" y="%.1f" text-anchor="middle">%d</text>'
                     % (x, y + 18, step))
    parts.append('<text x="%d" y="%d" text-anchor="middle">step</text>'
                 % ((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 4))
    taken = []
    for number, (name, points) in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        line = " ".join("%.1f,%.1f" % place(*point) for point in points)
        x, y = place(*points[-1])
        while any(abs(y - other) < 13 for other in taken):
            y += 1
        taken.append(y)
        parts.append('<polyline points="%s" fill="none" stroke="%s" '
                     'stroke-width="1.5"/><text x="%.1f" y="%.1f" fill="%s">%s'
                     '</text>' % (line, colour, x + 6, y + 4, colour, name))
    with open(sys.argv[1], "w") as file:
        file.write("\n".join(parts + ["</svg>"]) + "\n")


main()
