# The service in a container; compose.yaml says how it is run. One image for machines with and without a card: torch's wheels bring CUDA.
FROM node:20-bookworm-slim AS package
WORKDIR /imprint
COPY . .
RUN npm ci && npm run build && npm run package -- /package

FROM node:20-bookworm-slim
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# git names the repository of a session, and bubblewrap keeps the agents of tasks apart. Debian keeps no older versions to pin.
# hadolint ignore=DL3008
RUN apt-get update \
  && apt-get install --yes --no-install-recommends python3 python3-venv git bubblewrap ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && install --directory --owner=node /data
# The image's user node, by its number: what starts containers can tell that it is not root.
USER 1000
WORKDIR /home/node
ENV NPM_CONFIG_PREFIX=/home/node/.local PATH=/home/node/.local/bin:$PATH IMPRINT_DATA_DIR=/data
COPY --from=package --chown=1000 /package /tmp/package
RUN npm install --global /tmp/package/*.tgz && imprint setup && rm -rf /tmp/package
VOLUME /data
EXPOSE 7878
HEALTHCHECK --start-period=30s CMD ["node", "-e", "fetch('http://127.0.0.1:7878/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["imprint"]
CMD ["serve", "--host", "0.0.0.0"]
