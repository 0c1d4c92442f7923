"""The locks of requirements install with the oldest Python that pyproject.toml allows (Debian 12 has 3.11.2)."""

from importlib.metadata import distributions

from packaging.specifiers import SpecifierSet

OLDEST = "3.11.0"


def test_every_installed_package_admits_the_oldest_python() -> None:
    """A package that asks for 3.11.5 is installed here and breaks `make setup` with the Python of Debian 12."""
    asked = {each.name: each.metadata.get("Requires-Python") for each in distributions()}
    assert len(asked) > 50
    assert [name for name, text in asked.items() if text and OLDEST not in SpecifierSet(text)] == []
