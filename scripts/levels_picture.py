"""Draws the three levels of containment for the documentation: docs/images/levels.svg."""

from __future__ import annotations

from pathlib import Path

IMAGE = Path(__file__).parents[1] / "docs" / "images" / "levels.svg"
WIDTH, HEIGHT, GAP = 300, 330, 20
ROWS = ("Interlock's processes and sockets", "checkpoints, journal, tokens", "start-up files, cron, systemd",
        "your other files", "your keys and secrets", "the network", "the model's key")  # fmt: skip
LEVELS = (
    ("off", "as you run it", (0, 0, 0, 0, 0, 0, 0)),
    ("guard", "the default", (2, 2, 2, 0, 0, 0, 0)),
    ("fence", "for the night", (2, 2, 2, 1, 2, 1, 2)),
)
MARKS = (("#c2410c", "reachable"), ("#a16207", "read-only or allow-list"), ("#15803d", "out of reach"))


def draw() -> str:
    """The picture: one panel for each level, one line for each thing that an agent could reach."""
    whole = len(LEVELS) * (WIDTH + GAP) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole} {HEIGHT + 60}" role="img"'
        ' font-family="system-ui, sans-serif" font-size="14">',
        "<title>What an agent can reach at the levels off, guard and fence</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
    ]
    for number, (name, note, marks) in enumerate(LEVELS):
        x = GAP + number * (WIDTH + GAP)
        stroke = (1, 3, 6)[number]
        dash = ' stroke-dasharray="4 4"' if number == 0 else ""
        parts.append(
            f'<rect x="{x}" y="20" width="{WIDTH}" height="{HEIGHT - 20}" rx="10" fill="#f8fafc" stroke="#334155"'
            f' stroke-width="{stroke}"{dash}/>'
        )
        parts.append(f'<text x="{x + 20}" y="58" font-size="22" font-weight="700" fill="#0f172a">{name}</text>')
        parts.append(f'<text x="{x + WIDTH - 20}" y="58" text-anchor="end" fill="#475569">{note}</text>')
        for row, (what, mark) in enumerate(zip(ROWS, marks, strict=True)):
            y = 92 + row * 34
            parts.append(f'<circle cx="{x + 28}" cy="{y - 5}" r="7" fill="{MARKS[mark][0]}"/>')
            parts.append(f'<text x="{x + 46}" y="{y}" fill="#0f172a">{what}</text>')
    for number, (colour, words) in enumerate(MARKS):
        x = GAP + 8 + number * 220
        parts.append(f'<circle cx="{x}" cy="{HEIGHT + 30}" r="7" fill="{colour}"/>')
        parts.append(f'<text x="{x + 16}" y="{HEIGHT + 35}" fill="#334155">{words}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    IMAGE.write_text(draw())
