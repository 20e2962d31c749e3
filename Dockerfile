# Two images. `docker build .` makes the lean one: gunicorn is process 1, and DATABASE_URL names the database.
# `docker build --target all-in-one .` adds the embedded PostgreSQL: the supervisor is process 1, data are in /data.
# `make image` makes both, and lists what is in them.
#
# What is installed has the versions and the hashes of ops/image (make lock). Every builder can build it: it uses no
# features of BuildKit, which would skip the stages that are not needed.

# The wheel, as `make dist` builds it.
FROM python:3.13.13-slim-trixie AS wheel
COPY ops/image/build.txt /build.txt
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --require-hashes -r /build.txt
COPY . /source/
RUN python /source/.ci/guide \
 && pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir /wheels /source

FROM python:3.13.13-slim-trixie AS lean

LABEL org.opencontainers.image.title="sample-resource" \
      org.opencontainers.image.description="A durable, faithful server for the commercetools family of resource APIs" \
      org.opencontainers.image.licenses="MIT"

# Changes with the dependencies only, so a change of the code does not install them again.
COPY ops/image/lean.txt /tmp/lean.txt
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --require-hashes -r /tmp/lean.txt \
 && rm /tmp/lean.txt
COPY --from=wheel /wheels /wheels
# pip compiles the modules, since the root will be read-only.
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --no-index --no-deps /wheels/*.whl \
 && rm -r /wheels

# A number, so that an orchestrator can check that the account is not root. The account owns no files.
USER 10001:10001
# Empty, and not writable: gunicorn adds its working directory to the path of modules.
WORKDIR /srv/sample-resource

# All addresses of the container. The container engine decides which ports are published. Health checks come from inside;
# an orchestrator that probes over the network needs 0.0.0.0:8009.
ENV BIND=0.0.0.0 \
    PORT=8000 \
    HEALTH_BIND=127.0.0.1:8009 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
EXPOSE 8000

# Liveness, not readiness: an outage of the database is no reason to replace the container. With an empty HEALTH_BIND the
# public port is asked; with TRUSTED_HOSTS its answer is 400 for this host, which counts as alive.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
address = os.environ.get('HEALTH_BIND') or '127.0.0.1:' + os.environ['PORT']; \
connection = http.client.HTTPConnection(address, timeout=4); \
connection.request('GET', '/health/live'); \
sys.exit(connection.getresponse().status >= 500)"]

# In the exec form gunicorn gets SIGTERM, and finishes the requests in flight.
CMD ["gunicorn", "-c", "python:app.serving.gunicorn_settings", "app:create_app()"]

FROM lean AS all-in-one

LABEL org.opencontainers.image.title="sample-resource, all in one" \
      org.opencontainers.image.description="sample-resource with a PostgreSQL of its own, for trying it out and for tests"

# PostgreSQL needs a name for its account, and a folder that it owns.
# hadolint ignore=DL3002
USER 0:0
COPY ops/image/all-in-one.txt /tmp/all-in-one.txt
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --require-hashes \
        -r /tmp/all-in-one.txt \
 && rm /tmp/all-in-one.txt \
 && groupadd --gid 10001 sample-resource \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin sample-resource \
 && install --directory --mode 0700 --owner 10001 --group 10001 /data
USER 10001:10001

ENV DATA_DIR=/data
VOLUME /data

# Often, so that it counts as healthy as soon as it is ready: tests wait for that.
HEALTHCHECK --interval=2s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
address = os.environ.get('HEALTH_BIND') or '127.0.0.1:' + os.environ['PORT']; \
connection = http.client.HTTPConnection(address, timeout=4); \
connection.request('GET', '/health/ready'); \
sys.exit(connection.getresponse().status >= 500)"]

# In the exec form the supervisor gets SIGTERM, and stops gunicorn and PostgreSQL in this order.
CMD ["sample-resource", "serve"]

# What is installed in the all-in-one image, the superset of both, in CycloneDX's format. The tool has a Python
# environment of its own, so that it does not list itself.
FROM all-in-one AS sbom
# hadolint ignore=DL3002
USER 0:0
COPY ops/image/sbom.txt /sbom.txt
RUN python -m venv /tool \
 && /tool/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /sbom.txt \
 && mkdir /sbom \
 && /tool/bin/cyclonedx-py environment --output-reproducible --output-format JSON --output-file /sbom/all-in-one.cdx.json \
        /usr/local/bin/python
CMD ["cat", "/sbom/all-in-one.cdx.json"]

# The last stage is what a build without a target makes.
FROM lean
