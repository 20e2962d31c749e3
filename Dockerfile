# Two images. `docker build .` makes the lean one: gunicorn is process 1, and DATABASE_URL names the database.
# `docker build --target all-in-one .` adds the embedded PostgreSQL: the supervisor is process 1, data are in /data.
# `make image` makes both, and lists what is in them.
#
# What is installed has the versions and the hashes of ops/image (make generate ARGS=lock). Every builder can build it: it uses no
# features of BuildKit, which would skip the stages that are not needed.
#
# Each layer of the images is a folder that an earlier stage has filled, and in which ops/image/layer has set all times. So
# two builds of a commit make the same layers, and two versions with the same dependencies share the layers of these.
#
# Python 3.13: with 3.14 requests take 0.98 to 1.02 of its processor time, and a worker 8 MiB more (Debian's builds, in turns).

# The wheels of service and sandbox, as `make dist` builds them.
FROM python:3.13.13-slim-trixie AS wheel
COPY ops/image/build.txt /build.txt
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --require-hashes -r /build.txt
COPY . /source/
RUN pip wheel --no-cache-dir --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir /wheels \
        /source /source/workbench/sandbox

# Changes with the dependencies only, so a change of the code does not install them again.
FROM python:3.13.13-slim-trixie AS dependencies
COPY ops/image/layer ops/image/lean.txt /
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --no-compile --require-hashes \
        --root /dependencies -r /lean.txt \
 && sh /layer /dependencies

FROM dependencies AS service
COPY --from=wheel /wheels /wheels
# Browsers tell the pages of two versions apart by the times of their files, so these are those of the commit.
ARG SOURCE_DATE_EPOCH
# The version is that of the one wheel of this name, so pip is not told it.
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --no-compile --no-index --no-deps \
        --root /service --find-links /wheels sample-resource \
 && sh /layer /service "${SOURCE_DATE_EPOCH:-$(date +%s)}"

# Debian and Python, without what installs further packages: no image needs it, and scanners find faults in it.
# PostgreSQL needs a name for its account.
FROM python:3.13.13-slim-trixie AS system
COPY ops/image/layer /layer
RUN pip uninstall --yes --root-user-action=ignore pip \
 && rm -r /usr/local/lib/python3*/ensurepip \
 && echo sample-resource:x:10001: >> /etc/group \
 && echo sample-resource:x:10001:10001::/data:/usr/sbin/nologin >> /etc/passwd \
 && mkdir /srv/sample-resource \
 && sh /layer /usr/local \
 && rm /layer \
 && touch --date=@0 /etc /etc/group /etc/passwd /srv /srv/sample-resource /tmp

# Not from the image of Python itself, whose layers have pip: so the whole system is copied.
FROM scratch AS lean
# hadolint ignore=DL3067
COPY --from=system / /
COPY --from=dependencies /dependencies/ /
COPY --from=service /service/ /

LABEL org.opencontainers.image.title="sample-resource" \
      org.opencontainers.image.description="A durable server of one sample resource with the conventions of commercetools' HTTP API" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="docker.io/library/python:3.13.13-slim-trixie"

# A number, so that an orchestrator can check that the account is not root. The account owns no files.
USER 10001:10001
# Empty, and not writable: gunicorn adds its working directory to the path of modules.
WORKDIR /srv/sample-resource

# All addresses of the container. The container engine decides which ports are published.
ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin \
    BIND=0.0.0.0 \
    PORT=8000 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1
EXPOSE 8000

# Liveness, not readiness: an outage of the database is no reason to replace the container.
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
connection = http.client.HTTPConnection('127.0.0.1', os.environ['PORT'], timeout=4); \
connection.request('GET', '/health/live'); \
sys.exit(connection.getresponse().status >= 500)"]

# In the exec form gunicorn gets SIGTERM, and finishes the requests in flight.
CMD ["gunicorn", "-c", "python:app.serving.gunicorn_settings", "app:create_app()"]

# What the all-in-one image has more: the embedded PostgreSQL, and the sandbox. The empty folder of the data belongs to the account of the image.
FROM dependencies AS embedded
COPY ops/image/all-in-one.txt /
RUN PYTHONPATH="$(echo /dependencies/usr/local/lib/python3*/site-packages)" \
    pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --no-compile --require-hashes \
        --root /embedded -r /all-in-one.txt \
 && sh /layer /embedded \
 && install --directory --mode 0700 /volume/data \
 && sh /layer /volume

FROM dependencies AS sandbox
COPY --from=wheel /wheels /wheels
ARG SOURCE_DATE_EPOCH
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --disable-pip-version-check --root-user-action=ignore --no-compile --no-index --no-deps \
        --root /sandbox --find-links /wheels sample-resource-sandbox \
 && sh /layer /sandbox "${SOURCE_DATE_EPOCH:-$(date +%s)}"

FROM lean AS all-in-one
COPY --from=embedded /embedded/ /
COPY --from=sandbox /sandbox/ /
COPY --from=embedded --chown=10001:10001 /volume/ /

LABEL org.opencontainers.image.title="sample-resource, all in one" \
      org.opencontainers.image.description="sample-resource with its sandbox and a PostgreSQL of its own, for trying it out and for tests"

ENV DATA_DIR=/data
VOLUME /data

# Often, so that it counts as healthy as soon as it is ready: tests wait for that.
HEALTHCHECK --interval=2s --timeout=5s --start-period=30s --retries=3 CMD ["python", "-c", "\
import http.client, os, sys; \
connection = http.client.HTTPConnection('127.0.0.1', os.environ['PORT'], timeout=4); \
connection.request('GET', '/health/ready'); \
sys.exit(connection.getresponse().status >= 500)"]

# In the exec form the supervisor gets SIGTERM, and stops gunicorn and PostgreSQL in this order.
CMD ["sample-resource", "serve"]

# What is in the all-in-one image, the superset of both, in CycloneDX's format: packages of Python and of Debian. The tools
# have a Python environment of their own, so that they do not list themselves.
FROM python:3.13.13-slim-trixie AS tools
COPY ops/image/sbom.txt /sbom.txt
RUN python -m venv /tools \
 && /tools/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r /sbom.txt

FROM all-in-one AS sbom
# It writes the list, and nothing is served from it.
# hadolint ignore=DL3002
USER 0:0
COPY --from=tools /tools /tools
COPY ops/image/merge /merge
RUN mkdir /sbom \
 && /tools/bin/cyclonedx-py environment --output-reproducible --output-format JSON --output-file /python.json /usr/local/bin/python \
 && /tools/bin/debsbom generate --sbom-type cdx --cdx-schema-version 1.6 --no-recommends-deps --root / --out /debian \
 && python /merge /python.json /debian.cdx.json > /sbom/all-in-one.cdx.json
CMD ["cat", "/sbom/all-in-one.cdx.json"]

# The last stage is what a build without a target makes.
FROM lean
