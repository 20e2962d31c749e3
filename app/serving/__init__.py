"""The processes of the service: ``serve`` and what it starts, the embedded PostgreSQL, and gunicorn's worker.

Imports run down only, in this order: ``supervisor``; ``gunicorn_process`` and ``embedded``; ``leftovers``;
``socket_folder``; ``data_folder``; ``server_programs``; ``processes``; ``errors``. gunicorn loads
``supervised_settings``, ``gunicorn_settings``, ``private_ports`` and ``worker`` in its own processes; nothing else
imports them.
"""
