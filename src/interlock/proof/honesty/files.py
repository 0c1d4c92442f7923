"""Files: which files contain tests, and which contain the rules that code is checked by."""

from __future__ import annotations

from functools import lru_cache

from ...core import late_pattern

_TEST = late_pattern(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e|cypress)/.*\.(?:py|[cm]?[jt]sx?|go|rs|java|kt|rb|php|cs|swift|exs?|"
    r"scala|c|cc|cpp)$"
    r"|(?:^|/)(?:test_[^/]*|[^/]*_tests?|conftest|tests?)\.py$|[._-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?$|"
    r"_test\.(?:go|exs|dart)$"
    r"|(?:Test|Tests|IT|Spec)\.(?:java|kt|cs|scala|groovy|swift)$|_(?:spec|test)\.rb$|Test\.php$|\.t$",
)
_SNAPSHOT = late_pattern(
    r"\.snap$|(?:^|/)(?:__snapshots__|snapshots|golden|goldens|testdata/golden)/|\.golden$|\.ambr$"
)
_RULES = late_pattern(
    r"(?:^|/)(?:pytest\.ini|tox\.ini|setup\.cfg|pyproject\.toml|\.coveragerc|noxfile\.py|mypy\.ini|\.?ruff\.toml|"
    r"\.flake8"
    r"|\.pylintrc|pyrightconfig\.json|package\.json|tsconfig[\w.-]*\.json|\.eslintrc[\w.]*|eslint\.config\.[cm]?[jt]s"
    r"|\.eslintignore|biome\.jsonc?|(?:jest|vitest|playwright|cypress|karma|vite)\.config\.[cm]?[jt]s|\.mocharc[\w.]*"
    r"|\.nycrc[\w.]*|codecov\.ya?ml|\.codecov\.ya?ml|\.golangci\.ya?ml|clippy\.toml|Makefile|pom\.xml|"
    r"build\.gradle(?:\.kts)?"
    r"|\.pre-commit-config\.yaml|\.gitlab-ci\.yml|Jenkinsfile|azure-pipelines\.yml|\.travis\.yml|"
    r"sonar-project\.properties)$"
    r"|(?:^|/)\.github/workflows/[^/]+\.ya?ml$|(?:^|/)\.circleci/config\.yml$"
)
_PYTHON = late_pattern(r"\.pyi?$")
_JAVASCRIPT = late_pattern(r"\.([cm]?[jt]sx?)$")
_LEFT = late_pattern(r"(?:^|/)(?:node_modules|\.venv|venv|site-packages|\.git|dist|build|target)/")


REMEMBERED = 1024
"""Paths whose kind is cached."""


@lru_cache(REMEMBERED)
def is_test(path: str) -> bool:
    return _TEST.search(path) is not None and _LEFT.search(path) is None


@lru_cache(REMEMBERED)
def is_snapshot(path: str) -> bool:
    return _SNAPSHOT.search(path) is not None and _LEFT.search(path) is None


@lru_cache(REMEMBERED)
def is_rule(path: str) -> bool:
    return _RULES.search(path) is not None and _LEFT.search(path) is None


@lru_cache(REMEMBERED)
def is_source(path: str) -> bool:
    """Whether a file contains code that tests are about."""
    return (_PYTHON.search(path) or _JAVASCRIPT.search(path)) is not None and _LEFT.search(path) is None


@lru_cache(REMEMBERED)
def is_checked_by(path: str) -> bool:
    """Whether changing a file may change the result of checks: tests, rules, and code that may contain suppressions."""
    return is_test(path) or is_snapshot(path) or is_rule(path) or is_source(path)


@lru_cache(REMEMBERED)
def language_of(path: str) -> str:
    """python, javascript (TypeScript too), or empty."""
    return "python" if _PYTHON.search(path) else "javascript" if _JAVASCRIPT.search(path) else ""
