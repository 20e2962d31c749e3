"""The processes of the service: ``serve`` and what it starts, the embedded PostgreSQL, and gunicorn's worker.

Imports run down only, in this order: ``supervisor``; ``gunicorn_process`` and ``embedded``; ``leftovers``;
``socket_folder``; ``data_folder``; ``server_programs``; ``processes``; ``errors``. ``gunicorn_settings`` and
``worker`` stand apart: gunicorn loads them in its own processes, and nothing here imports them.
"""
