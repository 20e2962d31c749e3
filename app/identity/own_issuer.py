"""The service as an issuer: each process keeps a snapshot of the public keys and of the recent revocations.

Requests refresh the snapshot from the database when it is :data:`REFRESH_AFTER_S` old, by one statement for all
requests of the process. So a revocation takes effect in every process within :data:`SNAPSHOT_AGE_AT_MOST_S`, and a new
key is known long before it signs. The snapshot has the revocations of the last two minutes. Older revocations are
looked up by one statement for each token that the process has not seen within :data:`LOOKED_UP_AGAIN_AFTER_S`. Neither
statement becomes slower with many revocations.

If the database cannot be read, the snapshot is used until it is :data:`SNAPSHOT_AGE_AT_MOST_S` old; then every request
with a token gets 503. So a revoked token stops working in time even then. This refuses hardly any request that could
otherwise be served, because almost all requests need the database.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from threading import Lock

from joserfc import jws
from joserfc.jwk import ECKey

from app import errors
from app.database.connection import Connection
from app.identity import issued_tokens
from app.identity.issued_tokens import RECENT_S, TrustRecords
from app.identity.token_profile import ALGORITHM, TOKEN_TYPE
from app.identity.verification import VerifiedToken

REFRESH_AFTER_S = 2.0
SNAPSHOT_AGE_AT_MOST_S = 4.5
"""The largest age of a snapshot, counted from before its statement was sent. It is a little less than the promised 5
seconds."""
LOOKED_UP_AGAIN_AFTER_S = RECENT_S - 60.0
"""The time after which the revocation of a token is looked up again. It is a minute less than the snapshot covers,
because revocations may be committed late and clocks differ."""
_RETRY_AFTER_S = 0.5
_SLOW_FAILURE_S = 1.0
"""If a refresh fails after more than this time, the request that has refreshed gets 503, because the statement of this
request would probably wait as long again."""

_log = logging.getLogger("app.identity")


@dataclass(frozen=True, slots=True)
class TrustSnapshot:
    """The public keys and the recent revocations in the database at one moment."""

    loaded_at: float = float("-inf")
    """The time before the database was read, by the monotonic clock."""
    records: TrustRecords = TrustRecords((), frozenset(), frozenset())
    keys: Mapping[str, ECKey] = field(default_factory=dict[str, ECKey])


class OwnIssuer:
    """The :class:`~app.identity.verification.TrustedIssuer` of the tokens that the service itself has signed.

    :param connect: checks out a connection to the database; it may raise an ApiError.
    """

    registry = jws.JWSRegistry(algorithms=[ALGORITHM])
    types: frozenset[str] = frozenset((TOKEN_TYPE,))
    further_claims: tuple[str, ...] = ("client_id", "scope", "jti", "iat")
    """The claims that RFC 9068, section 2.2 requires of every access token."""
    client_claims: tuple[str, ...] = ("client_id",)

    def __init__(self, issuer: str, connect: Callable[[], AbstractContextManager[Connection]]) -> None:
        self.name = self.audience = issuer  # the service issues tokens for itself
        self._connect = connect
        self._snapshot = TrustSnapshot()
        self._failed_at = float("-inf")
        self._lock = Lock()

    def find_key(self, kid: str | None, *, look_again: bool) -> ECKey | None:
        """The key with this id; None if there is none."""
        if kid is None:
            return None
        key = self.snapshot().keys.get(kid)
        if key is None and look_again:
            self.refresh()
            key = self._snapshot.keys.get(kid)
        return key

    def is_still_trusted(self, token: VerifiedToken) -> bool:
        """Whether neither the token nor its client is revoked, and its key still verifies."""
        snapshot, client_id = self.snapshot(), token.principal.client_id
        if (
            token.kid not in snapshot.keys
            or token.token_id in snapshot.records.revoked_tokens
            or client_id in snapshot.records.revoked_clients
        ):
            return False
        if snapshot.loaded_at - token.checked_at > LOOKED_UP_AGAIN_AFTER_S:
            with self._connect() as connection:
                if issued_tokens.is_revoked(connection, str(token.token_id), client_id):
                    return False
        token.checked_at = snapshot.loaded_at
        return True

    def snapshot(self) -> TrustSnapshot:
        """The current snapshot, refreshed if it is old.

        :raises ApiError: 503 if the snapshot is older than :data:`SNAPSHOT_AGE_AT_MOST_S` and the database cannot be
            read.
        """
        snapshot = self._snapshot
        age = time.monotonic() - snapshot.loaded_at
        if age < REFRESH_AFTER_S:
            return snapshot
        if age < SNAPSHOT_AGE_AT_MOST_S:
            # One request refreshes the snapshot, while the others use the old one. If the refresh fails, the next
            # request tries.
            if self._lock.acquire(blocking=False):
                began = time.monotonic()
                try:
                    self._refresh()
                except errors.ApiError:
                    if time.monotonic() - began > _SLOW_FAILURE_S:
                        raise
                finally:
                    self._lock.release()
            return self._snapshot
        self.refresh()
        return self._snapshot

    def refresh(self) -> None:
        """Refresh the snapshot, unless another request has begun to do so after this call and has finished.

        :raises ApiError: 503 if the database cannot be read.
        """
        called_at = time.monotonic()
        with self._lock:
            if self._snapshot.loaded_at <= called_at:
                self._refresh()

    def _refresh(self) -> None:
        if time.monotonic() - self._failed_at < _RETRY_AFTER_S:
            raise errors.over_capacity("Nobody can tell at the moment whether the access token is valid.")
        began = time.monotonic()
        try:
            with self._connect() as connection:
                records = issued_tokens.load_trust(connection)
        except errors.ApiError:
            self._failed_at = time.monotonic()
            age_s = round(self._failed_at - self._snapshot.loaded_at, 1)
            _log.warning("keys and revocations could not be read", extra={"fields": {"age_s": age_s}})
            raise
        keys = [ECKey.import_key(json.loads(text)) for text in records.public_jwks]
        self._snapshot = TrustSnapshot(began, records, {key.kid: key for key in keys if key.kid is not None})
