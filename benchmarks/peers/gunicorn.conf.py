"""Gunicorn for the bare Flask app: what shapes throughput is the service's own, its hooks are left out."""

import runpy
from pathlib import Path

_ours = runpy.run_path(str(Path(__file__).resolve().parents[2] / "gunicorn.conf.py"))

for _name in (
    "worker_class",
    "worker_connections",
    "workers",
    "threads",
    "keepalive",
    "backlog",
    "timeout",
    "graceful_timeout",
    "worker_tmp_dir",
    "limit_request_line",
    "limit_request_fields",
    "limit_request_field_size",
    "preload_app",
    "accesslog",
    "loglevel",
    "control_socket_disable",
):
    if _name in _ours:
        globals()[_name] = _ours[_name]
