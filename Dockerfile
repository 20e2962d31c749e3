# The service without a database: gunicorn is process 1, and DATABASE_URL names the database.
# There is one stage, since nothing is compiled. Every builder can build it: it uses no features of BuildKit.
FROM python:3.13.13-slim-trixie

LABEL org.opencontainers.image.title="sample-resource" \
      org.opencontainers.image.description="A durable, faithful server for the commercetools family of resource APIs" \
      org.opencontainers.image.licenses="MIT"

WORKDIR /srv/sample-resource

# This layer depends on three files only, so a change of the code does not install the dependencies again. An editable
# installation of an empty package installs the dependencies, the command and the metadata of the package.
COPY setup.cfg pyproject.toml constraints.txt ./
RUN mkdir app \
 && touch app/__init__.py README.md LICENSE \
 && pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore -c constraints.txt -e .

COPY gunicorn.conf.py wsgi.py ./
COPY migrations migrations
COPY app app
# Readable for every account, whatever the umask of the checkout was; compiled now, since the root will be read-only.
RUN chmod -R a+rX . && python -m compileall -q app

# A number, so that an orchestrator can check that the account is not root. The account owns no files.
USER 10001:10001

# All addresses of the container. The container engine decides which ports are published.
ENV BIND=0.0.0.0 \
    PORT=8000 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
EXPOSE 8000

# Liveness, not readiness: an outage of the database is no reason to replace the container. With TRUSTED_HOSTS the answer
# is 400 for this host, which counts as alive.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
connection = http.client.HTTPConnection('127.0.0.1', int(os.environ['PORT']), timeout=4); \
connection.request('GET', '/health/live'); \
sys.exit(connection.getresponse().status >= 500)"]

# In the exec form gunicorn gets SIGTERM, and finishes the requests in flight.
CMD ["gunicorn", "-c", "gunicorn.conf.py", "wsgi:app"]
