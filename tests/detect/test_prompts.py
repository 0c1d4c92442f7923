"""The prompts that real agents send: which of their sentences are orders."""

from pathlib import Path

import pytest
from detecting import Did, steps, watch

from interlock.core import Context
from interlock.detect.orders import read_orders

PROMPTS = Path(__file__).parent.parent / "data" / "prompts"
ORDERS = {
    "mini-swe-agent": [("tests/test_cart.py", True), ("setup.cfg", True), ("setup.py", True), ("src/cart.py", False)],
    "swe-agent": [("tests/test_cart.py", False), ("src/cart.py", False)],
    "openhands": [("tests/test_cart.py", False), ("src/cart.py", False)],
    "claude-code": [("tests/test_cart.py", False), ("README.md", False), ("src/cart.py", False)],
    "codex": [("tests/test_cart.py", False), ("AGENTS.md", False), ("src/cart.py", False)],
    "gemini-cli": [("tests/test_cart.py", True), ("setup.py", True), ("package.json", False), ("src/cart.py", False)],
}
WORK = "/work/shop"


@pytest.mark.parametrize("agent", ORDERS)
def test_only_what_is_an_order_in_so_many_words_forbids_a_file(agent: str) -> None:
    orders = read_orders((PROMPTS / f"{agent}.txt").read_text())
    assert [(path, any(order.forbids(path) for order in orders)) for path, _ in ORDERS[agent]] == ORDERS[agent]


@pytest.mark.parametrize("agent", ORDERS)
def test_ordinary_work_under_these_prompts_raises_nothing(agent: str) -> None:
    calls = [
        Did("bash", "cart.py\ntests", {"command": f"cd {WORK} && ls"}, exit_code=0),
        Did("bash", "def total", {"command": "sed -n '/def total/,/return/p' src/cart.py"}, exit_code=0),
        Did("bash", "90 != 100", {"command": "cat > reproduce.py <<'EOF'\nimport cart\nEOF\npython reproduce.py"}),
        Did("bash", "", {"command": "sed -i 's/price/price * rate/' src/cart.py"}, exit_code=0),
        Did("bash", "4 passed", {"command": "python -m pytest -q tests/test_cart.py"}, exit_code=0),
        Did("bash", "", {"command": "rm reproduce.py && git diff > /tmp/patch.txt"}, exit_code=0),
    ]
    context = Context(original_prompt=(PROMPTS / f"{agent}.txt").read_text(), workspace=WORK)
    assert watch(steps(calls), context=context) == []
