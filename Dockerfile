# The service without a database: gunicorn as process 1, DATABASE_URL from outside.
# No feature of one particular builder is used, and nothing is compiled, so there is one stage.
FROM python:3.13.13-slim-trixie

LABEL org.opencontainers.image.title="sample-resource" \
      org.opencontainers.image.description="A durable, faithful server for the commercetools family of resource APIs" \
      org.opencontainers.image.licenses="MIT"

WORKDIR /srv/sample-resource

# The dependencies come first and from three files alone, so that a change of the code leaves this layer as it is. An
# editable installation of what is still an empty package brings them, the command and the package's metadata.
COPY setup.cfg pyproject.toml constraints.txt ./
RUN mkdir app \
 && touch app/__init__.py README.md LICENSE \
 && pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore -c constraints.txt -e .

COPY gunicorn.conf.py wsgi.py ./
COPY migrations migrations
COPY app app
# Readable by everyone whatever the umask of the checkout was, and compiled now, since the file system will be read-only.
RUN chmod -R a+rX . && python -m compileall -q app

# A number and not a name, so that an orchestrator can tell that it is not root. The account owns no file.
USER 10001:10001

# The container's own address, whatever it is; which ports are reachable from outside is the engine's matter.
ENV BIND=0.0.0.0 \
    PORT=8000 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
EXPOSE 8000

# Alive, not ready: a database that is away is no reason to replace the container. A host that is not served is
# refused with 400 (TRUSTED_HOSTS), and that is an answer too.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
connection = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']), timeout=4); \
connection.request('GET', '/health/live'); \
sys.exit(connection.getresponse().status >= 500)"]

# The exec form, so that gunicorn itself gets SIGTERM and finishes the requests in flight.
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
