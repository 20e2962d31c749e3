"""The WSGI entry point of a checkout: ``gunicorn wsgi:app``, which reads ``gunicorn.conf.py``."""

from app import create_app

app = create_app()
