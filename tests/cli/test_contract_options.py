"""The contract of a run on the command line: what is wrong is said before anything starts, naming where."""

from __future__ import annotations

from pathlib import Path

import pytest

from interlock.cli.contract_options import read_options, with_hosts
from interlock.config import Config, examine
from interlock.config.schema import Contain
from interlock.config.schema import Contract as ContractConfig
from interlock.contract import agree
from interlock.core import BadInput, Context
from interlock.report.contract_words import contract_lines


def test_options_become_clauses_with_their_source(tmp_path: Path) -> None:
    contract = read_options({"protect": ["tests/**"], "done_when": ["true"]}, None, tmp_path, Config())
    assert [str(clause) for clause in contract.clauses] == [
        "protect tests/** (--protect)",
        "done_when true (--done-when)",
    ]
    assert contract_lines(contract) == ["protected: tests/** (--protect)", "done when: true (--done-when)"]


@pytest.mark.parametrize(
    ("option", "value", "where"),
    [
        ("protect", "tests/[", "--protect: the glob"),
        ("may_change", "", "--may-change: is empty"),
        ("may_change", "../other/**", "--may-change: the glob"),
        ("done_when", "no-such-program -q", "--done-when: 'no-such-program -q': there is no command 'no-such-program'"),
        ("done_when", "./missing.sh", "--done-when"),
    ],
)
def test_what_cannot_hold_is_bad_input(option: str, value: str, where: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as raised:
        read_options({option: [value]}, None, tmp_path, Config())
    assert where in str(raised.value)
    assert raised.value.exit_status == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("contract:\n  protect: ['tests/[']\n", "c.yaml:2: contract.protect: the glob"),
        ("contract:\n  protct: [a]\n", "c.yaml:2: contract.protct: unknown key"),
        (
            "contract:\n  protect: [a]\nlimits:\n  max_steps: 3\n",
            "limits: a contract file has only the section contract",
        ),
        ("contract:\n  max_returns: 5\n", "contract.max_returns: belongs in the configuration"),
        ("contract:\n  done_when: [nothing-here]\n", "c.yaml:2: 'nothing-here'"),
        ("{}\n", "the contract is empty"),
        ("contract: [\n", "c.yaml"),
    ],
)
def test_a_bad_contract_file_is_named_with_key_and_line(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text(text)
    with pytest.raises(BadInput) as raised:
        read_options({}, file, tmp_path, Config())
    assert said in str(raised.value)


def test_a_missing_contract_file_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the file does not exist"):
        read_options({}, tmp_path / "none.yaml", tmp_path, Config())


def test_an_agent_must_not_rewrite_the_files_that_hold_its_contract(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("contract:\n  may_change: ['**']\n  done_when: ['true']\n")
    (tmp_path / "interlock.yaml").write_text("{}\n")
    contract = read_options({}, file, tmp_path, Config())
    assert contract.protect == ("c.yaml", "interlock.yaml")


def test_an_option_stands_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    file.write_text("contract:\n  may_change: ['docs/**']\n  protect: [a]\n")
    contract = read_options({"may_change": ["src/**"], "protect": ["b"]}, file, tmp_path, Config())
    assert contract.may_change == ("src/**",)
    assert contract.protect[:2] == ("a", "b")


def test_seed_gap_13_constraints_and_goals_come_from_options(tmp_path: Path) -> None:
    options = {"constraints": ["keep the public API"], "goals": ["fix it"]}
    contract = read_options(options, None, tmp_path, Config())
    context = agree(Context(contract=contract), Config().contract)
    assert "keep the public API" in context.constraints
    assert context.goals[0].text == "fix it"


def test_a_fence_lets_through_no_more_than_the_contract(tmp_path: Path) -> None:
    config = Config(contain=Contain(hosts=("api.example.com", "*.example.org")), contract=ContractConfig(
        hosts=("*.example.com", "docs.example.org", "evil.example.net")
    ))  # fmt: skip
    assert with_hosts(config, read_options({}, None, tmp_path, config)).contain.hosts == (
        "docs.example.org",
        "api.example.com",
    )


class TestTrust:
    """What a workspace's own file may say: it only tightens, and runs nothing, until a person agrees."""

    def config(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str, workspace: str) -> object:
        monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
        (tmp_path / "config" / "interlock").mkdir(parents=True)
        (tmp_path / "config" / "interlock" / "interlock.yaml").write_text(user)
        (tmp_path / "w").mkdir()
        (tmp_path / "w" / "interlock.yaml").write_text(workspace)
        return examine(None, {}, tmp_path / "w")

    def test_it_adds_protection(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.config(tmp_path, monkeypatch, "contract: {protect: [a]}\n", "contract: {protect: [b]}\n")
        assert found.config.contract.protect == ("a", "b")  # type: ignore[attr-defined]
        assert found.ignored == ()  # type: ignore[attr-defined]

    def test_it_does_not_widen_what_may_change(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.config(
            tmp_path, monkeypatch, "contract: {may_change: ['src/**']}\n", "contract: {may_change: ['**']}\n"
        )
        assert found.config.contract.may_change == ("src/**",)  # type: ignore[attr-defined]
        assert found.ignored == ("contract.may_change",)  # type: ignore[attr-defined]

    def test_its_commands_run_only_after_trust(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        found = self.config(tmp_path, monkeypatch, "{}\n", "contract: {done_when: ['touch pwned']}\n")
        assert found.config.contract.done_when == ()  # type: ignore[attr-defined]
        assert found.ignored == ("contract.done_when",)  # type: ignore[attr-defined]

    def test_it_does_not_switch_off_the_words_of_the_task(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = self.config(tmp_path, monkeypatch, "{}\n", "contract: {task: false}\n")
        assert found.config.contract.task  # type: ignore[attr-defined]


def test_a_bad_glob_in_the_configuration_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "interlock.yaml"
    file.write_text("limits: {max_steps: 3}\ncontract:\n  protect:\n    - 'a['\n")
    (problem,) = examine(file, {}).errors
    assert "contract.protect" in str(problem)
    assert f"{file}:" in str(problem)
