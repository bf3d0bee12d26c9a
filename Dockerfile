# The app in a container:
#   docker build -t crane-workbench .
#   docker run --rm -p 127.0.0.1:8501:8501 -v crane-data:/data crane-workbench app --no-login
# It answers to localhost; for browsers elsewhere leave --no-login out, and add -e CRANE_HOSTS=name.of.this.server and a
# login: -e CRANE_PASSWORD=..., or -v roles.toml:/app/roles.toml -e CRANE_ROLES=roles.toml (see docs/admin/server.md).
# The base is pinned by version tag; a digest can be added wherever a registry is at hand to ask for it.
FROM python:3.11.14-slim-bookworm

ENV PYTHONUNBUFFERED=1 \
    CRANE_DATA=/data \
    CRANE_ADDRESS=0.0.0.0

WORKDIR /app

# Libraries first: this layer is rebuilt only when a pin changes.
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes -r requirements.txt

RUN useradd --create-home --uid 10001 crane && install -d -o crane -g crane /data

COPY README.md LICENSE app.py ./
COPY .streamlit .streamlit
COPY pages pages
COPY crane_core crane_core
COPY docs docs
COPY data data

USER crane
VOLUME /data
EXPOSE 8501

HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]

ENTRYPOINT ["python", "-m", "crane_core"]
CMD ["app", "--port", "8501"]
