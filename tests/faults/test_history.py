"""The checker of histories finds each kind of history that cannot have happened, and no fault in one that can."""

from dataclasses import replace

import pytest

from tests.faults.history import Call, Outcome, State, faults

DONE, ABSENT, REFUSED, UNKNOWN = Outcome


def state(version: int, number: int, text: str | None = None, of: str = "a1") -> State:
    """A state of a resource, whose id begins with its key; each version is dated by itself."""
    return State(of, of[0], version, number, text, f"{version:04}")


def put(began: float, ended: float, shown: State, expected: int | None = None) -> Call:
    return Call("PUT", began, ended, DONE, key=shown.key, sent=shown.number, expected=expected, states=(shown,))


def act(began: float, ended: float, shown: State) -> Call:
    expected = shown.version - 1
    return Call("POST", began, ended, DONE, id=shown.id, sent=shown.text, expected=expected, states=(shown,))


def get(began: float, ended: float, shown: State) -> Call:
    return Call("GET", began, ended, DONE, key=shown.key, states=(shown,))


def absent(began: float, ended: float, key: str = "a") -> Call:
    return Call("GET", began, ended, ABSENT, key=key)


def absent_id(began: float, ended: float, of: str = "a1") -> Call:
    return Call("GET", began, ended, ABSENT, id=of)


def delete(began: float, ended: float, shown: State) -> Call:
    return Call("DELETE", began, ended, DONE, id=shown.id, states=(shown,))


def listing(began: float, ended: float, *shown: State) -> Call:
    return Call("GET", began, ended, DONE, states=shown, keys=("a", "b"))


def unknown_put(began: float, ended: float, number: int, key: str = "a") -> Call:
    return Call("PUT", began, ended, UNKNOWN, key=key, sent=number)


def conflict(began: float, ended: float, number: int, expected: int, current: int) -> Call:
    return Call("PATCH", began, ended, REFUSED, id="a1", sent=number, expected=expected, current=current)


FIRST = put(1, 2, state(1, 11))
SECOND = put(3, 4, state(2, 12), expected=1)
THIRD = act(5, 6, state(3, 12, "x"))

POSSIBLE: dict[str, list[Call]] = {
    "nothing": [],
    "one after the other": [
        absent(0, 0.5),
        FIRST,
        get(2.1, 2.2, state(1, 11)),
        SECOND,
        conflict(4.1, 4.2, 99, 1, 2),
        THIRD,
        delete(7, 8, state(3, 12, "x")),
        absent(9, 10),
        absent_id(9, 10),
        put(11, 12, state(1, 13, of="a2")),
    ],
    "a read beside a write sees either": [
        FIRST,
        put(3, 9, state(2, 12)),
        get(4, 5, state(1, 11)),
        get(6, 7, state(2, 12)),
    ],
    "two writes beside one another, in either order": [FIRST, put(3, 9, state(3, 13)), put(4, 5, state(2, 12))],
    "a write without an answer that happened much later": [
        FIRST,
        unknown_put(2.5, 2.6, 12),
        get(3, 4, state(1, 11)),
        get(5, 6, state(2, 12)),
    ],
    "a write without an answer that did not happen": [FIRST, unknown_put(2.5, 2.6, 99), SECOND],
    "reads without an answer": [
        FIRST,
        replace(listing(3, 4), outcome=UNKNOWN),
        replace(absent(3, 4), outcome=UNKNOWN),
        get(5, 6, state(1, 11)),
    ],
    "versions that nobody has seen": [FIRST, unknown_put(2, 3, 12), unknown_put(2, 3, 13), get(5, 6, state(3, 13))],
    "a deletion without an answer that happened": [
        FIRST,
        Call("DELETE", 3, 4, UNKNOWN, id="a1"),
        absent(5, 6),
        put(7, 8, state(1, 12, of="a2")),
    ],
    "lives whose order is not known": [
        put(1, 9, state(1, 11)),
        delete(1.5, 9.5, state(1, 11)),
        put(2, 8, state(1, 12, of="a2")),
        delete(2.5, 8.5, state(1, 12, of="a2")),
    ],
    "a new life while the deletion waits for its answer": [
        FIRST,
        delete(3, 9, state(1, 11)),
        put(4, 5, state(1, 12, of="a2")),
    ],
    "lists of one moment": [
        FIRST,
        listing(2.1, 2.2, state(1, 11)),
        put(2.5, 9, state(1, 21, of="b1")),
        put(3, 8, state(2, 12)),
        listing(4, 5, state(2, 12)),
        listing(6, 7, state(2, 12), state(1, 21, of="b1")),
    ],
}


@pytest.mark.parametrize("history", POSSIBLE.values(), ids=POSSIBLE)
def test_what_can_have_happened_has_no_fault(history: list[Call]) -> None:
    assert (faults(history), faults(history[::-1])) == ([], [])


IMPOSSIBLE: dict[str, tuple[str, list[Call]]] = {
    "a version is acknowledged twice": (
        "a version was acknowledged twice",
        [FIRST, SECOND, put(3, 4, state(2, 13), expected=1)],
    ),
    "a version shows two contents": ("one version has two contents", [FIRST, SECOND, get(5, 6, state(2, 99))]),
    "what was never sent is seen": ("seen and never sent: 99", [FIRST, get(3, 4, state(2, 99))]),
    "what was refused is seen": (
        "refused, and seen nevertheless",
        [FIRST, SECOND, conflict(5, 6, 13, 1, 2), get(7, 8, state(3, 13))],
    ),
    "what is sent later is seen": ("no order", [FIRST, get(3, 4, state(2, 12)), put(5, 6, state(2, 12))]),
    "an answer shows another write": (
        "an answer lacks what was sent",
        [FIRST, replace(SECOND, sent=13), unknown_put(3, 4, 12)],
    ),
    "a read sees less than one before": ("no order", [FIRST, SECOND, get(5, 6, state(1, 11))]),
    "another version than the next follows": (
        "another version followed than the next",
        [FIRST, SECOND, put(5, 6, state(3, 13), expected=1)],
    ),
    "the expected version is refused": ("although the version is the expected one", [FIRST, conflict(3, 4, 12, 1, 1)]),
    "a version skips a write": ("0 writes lie between", [FIRST, get(3, 4, replace(state(2, 11), modified_at="0002"))]),
    "a write happens twice": (
        "one write happened twice",
        [FIRST, SECOND, put(5, 6, state(3, 13)), get(7, 8, state(4, 12))],
    ),
    "a write happens to two resources": (
        "one write happened to two resources",
        [FIRST, get(3, 4, state(1, 11, of="b1"))],
    ),
    "a later version is dated earlier": ("dated before", [FIRST, put(3, 4, replace(state(2, 12), modified_at="0000"))]),
    "a deleted id is seen again": ("no order", [FIRST, delete(3, 4, state(1, 11)), get(5, 6, state(1, 11))]),
    "a deletion happens twice": ("deleted twice", [FIRST, delete(3, 4, state(1, 11)), delete(3, 4.5, state(1, 11))]),
    "an id is absent and nobody deleted it": ("nobody deleted it", [FIRST, absent_id(3, 4)]),
    "a key is absent while it has a life": (
        "was that of a1 all the time",
        [FIRST, absent(3, 4), get(5, 6, state(1, 11))],
    ),
    "a key goes to another resource and nobody deleted the first": (
        "nobody deleted it",
        [FIRST, put(3, 4, state(1, 12, of="a2"))],
    ),
    "a key has two lives at a time": (
        "two lives at a time",
        [
            FIRST,
            put(3, 4, state(1, 12, of="a2")),
            get(5, 6, state(1, 11)),
            get(5, 6, state(1, 12, of="a2")),
            Call("DELETE", 1, 9, UNKNOWN, id="a1"),
        ],
    ),
    "a version that nobody can have written": ("nobody can have written a1@2", [FIRST, conflict(3, 4, 13, 7, 2)]),
    "two lives that nobody ended": ("nobody deleted one", [put(1, 9, state(1, 11)), put(2, 8, state(1, 12, of="a2"))]),
    "a list shows what was gone when it began": ("no order", [FIRST, SECOND, listing(5, 6, state(1, 11))]),
    "a list shows states of two moments": (
        "no order",
        [
            FIRST,
            put(1, 2, state(1, 21, of="b1")),
            put(3.5, 4, state(2, 12)),
            put(5, 6, state(2, 22, of="b1")),
            listing(3, 7, state(1, 11), state(2, 22, of="b1")),
        ],
    ),
    "two lists contradict one another": (
        "no order",
        [
            FIRST,
            put(1, 2, state(1, 21, of="b1")),
            put(3, 9, state(2, 12)),
            put(3, 9, state(2, 22, of="b1")),
            listing(3, 9, state(1, 11), state(2, 22, of="b1")),
            listing(3, 9, state(2, 12), state(1, 21, of="b1")),
        ],
    ),
}


@pytest.mark.parametrize(("says", "history"), IMPOSSIBLE.values(), ids=IMPOSSIBLE)
def test_what_cannot_have_happened_has_a_fault(says: str, history: list[Call]) -> None:
    assert any(says in fault for fault in faults(history)), faults(history)
    assert any(says in fault for fault in faults(history[::-1])), faults(history[::-1])


def test_a_cycle_is_told_by_its_calls() -> None:
    read = get(5, 6, state(1, 11))
    (fault,) = faults([FIRST, SECOND, read, get(7, 8, state(2, 12))])
    assert set(fault.splitlines()[1:]) == {f"  {SECOND}", f"  {read}"}
