"""A constant's name stands for one value in the whole package, with few exceptions."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import poise

SOURCE = Path(poise.__file__).parent
FEWER_THAN = 40
"""Names that may stand for several values: conventions such as HOMES, and words that have one sense in each room."""


def constants_of(code: str) -> Iterator[tuple[str, str]]:
    """Names in capitals that a module gives a value, without a leading underscore, and the value's code."""
    for statement in ast.parse(code).body:
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        else:
            continue
        value = statement.value
        for target in targets:
            if not isinstance(target, ast.Tuple):
                pairs = [(target, ast.unparse(value))]
            elif isinstance(value, ast.Tuple):
                pairs = [(t, ast.unparse(v)) for t, v in zip(target.elts, value.elts, strict=True)]
            else:
                pairs = [(t, f"{ast.unparse(value)}[{k}]") for k, t in enumerate(target.elts)]
            for t, text in pairs:
                if isinstance(t, ast.Name) and t.id.isupper():
                    yield t.id.lstrip("_"), text


def test_the_constants_of_a_module_are_found():
    code = "_SHARE = 0.5\nleft, RIGHT = 1, 2\nA, B = range(2)\nRATE: float = 3.0\nfor K in ():\n    IN = 1"
    found = [("SHARE", "0.5"), ("RIGHT", "2"), ("A", "range(2)[0]"), ("B", "range(2)[1]"), ("RATE", "3.0")]
    assert list(constants_of(code)) == found


def test_few_names_of_constants_stand_for_several_values():
    values: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(SOURCE.rglob("*.py")):
        for name, value in constants_of(path.read_text(encoding="utf-8")):
            values[name][value].append(str(path.relative_to(SOURCE)))
    several = {name: places for name, places in sorted(values.items()) if len(places) > 1}
    listing = "\n".join(f"{name}: {dict(places)}" for name, places in several.items())
    assert len(several) < FEWER_THAN, f"{len(several)} names stand for several values:\n{listing}"
