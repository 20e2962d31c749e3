"""Verifies bearer tokens: looks them up in the database, and remembers valid tokens for seconds.

A remembered token costs no statement. No process uses it after :data:`REMEMBERED_FOR_S`, counted from before its
statement was sent, so every process refuses requests that begin 5 seconds after a revocation, as promised.

Requests that wait for a lookup share one statement: while a statement runs, further requests gather for the next one.
So nobody waits for longer than two statements, even during a flood of requests with one token or with invented tokens.
If a statement fails, the gathered requests fail with it. So if the database does not answer, nobody waits for longer
than one statement. One request may wait for two: the one that was to execute the next statement, if a new request takes
the lock before it.
"""

from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager
from threading import Lock
from time import monotonic

from app import errors
from app.clock_and_ids import REAL_CLOCK_AND_IDS, REAL_CLOCKS, Clocks
from app.database.connection import Connection
from app.identity.tokens import TOKEN, TOKEN_LENGTH, AccessToken, digest_of, find_tokens
from app.telemetry.metrics import metrics

REMEMBERED_FOR_S = 4.0
"""A second less than promised, for the time between the check of a token and the effect of its request."""

REMEMBERED_AT_MOST = 4096
"""The most tokens that a process remembers."""

REVOKED = "it has been revoked"
"""The fault of a token that was revoked itself. An extension refuses tokens with it, too."""

_NOT_REMEMBERED = float("-inf"), None


class InvalidToken(Exception):
    """The error for an invalid token: malformed, unknown, expired, revoked, or of a client that is revoked or removed.

    Its text is the fault of the token, for the log and for the client, in ASCII without quotes and without the token.
    """


class TokenVerifier:
    """Verifies tokens. Invalid tokens are not remembered, because an attacker could displace the valid ones with them.

    :param connect: checks out a connection to the database; it may raise an ApiError.
    :param clocks: the clocks by which the tokens of each client expire.
    """

    def __init__(self, connect: Callable[[], AbstractContextManager[Connection]], clocks: Clocks = REAL_CLOCKS) -> None:
        self._connect = connect
        self._clock_of = clocks.of_client
        self._remembered: dict[str, tuple[float, AccessToken]] = {}
        """The remembered tokens, each with the time of its lookup by the monotonic clock, roughly the oldest first.

        An entry older than :data:`REMEMBERED_FOR_S` is no longer used. It stays in the dict until a new lookup replaces
        it, :meth:`forget` removes it, or the dict is full and the entry is the first."""
        self._waiting: dict[bytes, Future[tuple[float, AccessToken | None]]] = {}
        """The lookups for the next statement, by the digests of their tokens."""
        self._changing = Lock()
        """Held while ``_remembered`` or ``_waiting`` is changed."""
        self._looking_up = Lock()
        """Held while a statement runs, so that only one statement runs at a time."""

    def verify(self, token: str) -> AccessToken:
        """Verify a token.

        :raises InvalidToken: if it is not valid.
        :raises ApiError: 503 if it cannot be looked up.
        """
        looked_up_at, remembered = self._remembered.get(token, _NOT_REMEMBERED)
        try:
            if remembered is not None and monotonic() - looked_up_at < REMEMBERED_FOR_S:
                valid, result = self.check(remembered), "cached"
            else:
                valid, result = self._verify_anew(token), "verified"
        except InvalidToken:
            metrics.token_checks.labels("refused").inc()
            raise
        metrics.token_checks.labels(result).inc()
        return valid

    def check(self, found: AccessToken | None) -> AccessToken:
        """Return the row of a token, if the token is valid: neither the token nor its client is revoked, the client is
        not removed, and the token has not expired. The expiry is compared with the client's clock, because an extension
        may give a client another clock than the real one (:mod:`app.clock_and_ids`).

        :param found: the row of the token; None if the token has no row.
        :raises InvalidToken: if the token has no row, or is not valid.
        """
        if found is None:
            raise InvalidToken("it is unknown")
        if found.is_revoked:
            raise InvalidToken(REVOKED)
        if found.is_client_revoked:
            raise InvalidToken("its client has been revoked or removed")
        if found.expires_at <= self._clock_of(found.client_id).time():
            raise InvalidToken("it has expired")
        return found

    def forget(self, token: str) -> None:
        """Forget a token that has been revoked, so that the next request with it looks it up.

        A lookup that is under way may have read the token before the revocation. Its result is then remembered after
        all, and the token accepted, at most until :data:`REMEMBERED_FOR_S` after the beginning of that lookup's
        statement.
        """
        with self._changing:
            self._remembered.pop(token, None)

    def _verify_anew(self, token: str) -> AccessToken:
        """Verify a token by a lookup, and remember it if it is valid."""
        if TOKEN.fullmatch(token) is None:
            raise InvalidToken(f"it is malformed, a token has {TOKEN_LENGTH} characters of base64url")
        looked_up_at, found = self._look_up(digest_of(token))
        valid = self.check(found)
        # Only clients of tests have another clock (app.clock_and_ids). Their tokens are not remembered, so that a
        # revocation is in force at once.
        if self._clock_of(valid.client_id) is REAL_CLOCK_AND_IDS:
            with self._changing:
                self._remembered.pop(token, None)  # so that it is added at the end, as the newest
                while len(self._remembered) >= REMEMBERED_AT_MOST:
                    del self._remembered[next(iter(self._remembered))]
                self._remembered[token] = looked_up_at, valid
        return valid

    def _look_up(self, digest: bytes) -> tuple[float, AccessToken | None]:
        """Look a token up.

        One statement looks up the tokens of several requests, and only one statement runs at a time. While it runs, new
        lookups gather in ``_waiting``. The request that came first among them waits for the end of the statement, and
        then executes the next statement for all that have gathered. The other requests wait for the result. A new
        lookup never joins the running statement, which may have read the row before the token was revoked.

        :return: a time before the statement was sent, from which :data:`REMEMBERED_FOR_S` is counted; and the row of
            the token, or None if the token has no row.
        """
        with self._changing:
            is_first = not self._waiting
            own = self._waiting.setdefault(digest, Future())
        if is_first:
            self._look_up_together(own)
        # Waits, unless this request has executed the statement itself.
        if (error := own.exception()) is not None:
            raise error.with_traceback(None)  # else each request that raises it would add to its trace
        return own.result()

    def _look_up_together(self, own: Future[tuple[float, AccessToken | None]]) -> None:
        """Wait until no statement runs, take all lookups from ``_waiting``, execute one statement for them, and set
        their results.

        If an error is raised, the lookups that were taken fail with it. So do those that are in ``_waiting`` by then,
        because the next statement would probably fail, too, and they would wait for it in vain.

        :param own: the lookup of this request, which :meth:`_look_up` has added to ``_waiting``.
        """
        # The lookups that this request has taken: none until it holds the lock. If an error ends its wait for the lock,
        # its own lookup is among those in ``_waiting``, to which ``except`` gives the error.
        taken: dict[bytes, Future[tuple[float, AccessToken | None]]] = {}
        try:
            with self._looking_up:
                if own.done():
                    return  # the statement of another request failed, and its ``except`` below has set the error
                with self._changing:
                    taken, self._waiting = self._waiting, {}
                began = monotonic()
                with self._connect() as connection:
                    found = find_tokens(connection, taken)
                for digest, each in taken.items():
                    each.set_result((began, found.get(digest)))
        except BaseException as error:
            # What interrupts this request, such as the end of a greenlet, must not interrupt the others.
            shared = error if isinstance(error, Exception) else errors.over_capacity("The lookup was interrupted.")
            with self._changing:
                still_waiting, self._waiting = self._waiting, {}
            for each in (*taken.values(), *still_waiting.values()):
                each.set_exception(shared)
            raise
