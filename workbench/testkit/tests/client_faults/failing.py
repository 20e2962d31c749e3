"""Faults in what is raised."""

from typing import Any

from client_faults.planting import around, planted


def errors(change: Any) -> Any:
    """Change what is shown of an error of HTTP."""

    def plant(adapter: Any) -> None:
        def changed(former: Any, response: Any) -> Any:
            made = former(response)
            made.shown = change(made.shown, response)
            return made

        around(adapter, "error_of", changed)

    return plant


def without(*names: str) -> Any:
    return errors(lambda shown, _: {name: item for name, item in shown.items() if name not in names})


# Errors that are none


def swallowed(when: Any, result: Any = None) -> Any:
    """Return a value in place of an error of HTTP."""

    def plant(adapter: Any) -> None:
        former = adapter.Client.call

        async def call(self: Any, operation: str, arguments: Any, body: Any) -> Any:
            try:
                return await former(self, operation, arguments, body)
            except adapter.Failure as failure:
                if when(failure.shown, operation):
                    return result, {}
                raise

        adapter.Client.call = call

    return plant


# Kinds


def kinds(**others: str) -> Any:
    def plant(adapter: Any) -> None:
        former = adapter.Failure.__init__

        def init(self: Any, kind: str, **shown: Any) -> None:
            former(self, others.get(kind, kind), **shown)

        adapter.Failure.__init__ = init

    return plant


planted(
    ("C-err-2", "the entries of errors are not shown",
     without("errors")),
    ("C-err-9", "currentVersion is cut to 32 bits",
     errors(lambda shown, _: ({**shown, "currentVersion": (shown["currentVersion"] + 2**31) % 2**32 - 2**31} if "currentVersion" in shown else shown))),
    ("C-err-4..9 C-err-11 C-err-14 C-err-19 C-err-21 C-err-22 C-err-27 C-err-29 C-err-61 C-err-63 C-do-7 C-do-10 C-do-13 C-do-14 C-do-30 C-do-37 C-do-58", "the status of an error is that of its class",
     errors(lambda shown, _: {**shown, "status": shown["status"] // 100 * 100})),
    ("C-err-37 C-err-41 C-err-42 C-err-46 C-err-63", "errors of decoding return null",
     swallowed(lambda shown, _: shown["kind"] == "decoding")),
    ("C-err-47 C-err-49 C-err-52..54 C-err-65 C-err-66 C-do-40 C-do-41", "errors of the network return null",
     swallowed(lambda shown, _: shown["kind"] == "network")),
    ("C-err-58", "a POST that ran into its time limit is a success",
     swallowed(lambda shown, operation: shown["kind"] == "timeout" and operation == "createOrUpdateResource")),
    ("C-do-40", "an update whose answer was lost is a success",
     swallowed(lambda shown, operation: shown["kind"] == "network" and operation == "updateResourceById")),
    ("C-err-13 C-err-22", "a resource with the status 500 is a success",
     swallowed(lambda shown, _: shown.get("status") == 500 and "message" not in shown and "code" not in shown)),
    ("C-err-55 C-err-58 C-err-67 C-err-70", "time limits are errors of the network",
     kinds(timeout="network")),
    ("C-err-1 C-err-3 C-err-6 C-err-8 C-err-9 C-err-11 C-err-12 C-err-14 C-err-19 C-err-29", "codes are shown in small letters",
     errors(lambda found, _: {**found, "code": found["code"].lower()} if found.get("code") else found)),
)  # fmt: skip
