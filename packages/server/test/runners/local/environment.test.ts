import { expect, test } from "vitest";
import { workerEnvironment } from "../../../src/runners/local/environment.js";

test("the allow-list passes what a trainer needs, and no secret", () => {
  const needed = { PATH: "/bin", HOME: "/home/me", LC_ALL: "C", CUDA_VISIBLE_DEVICES: "1", HF_HOME: "/hf", SSL_CERT_FILE: "/ca" };
  const secrets = {
    HF_TOKEN: "x",
    HUGGING_FACE_HUB_TOKEN: "x",
    AWS_SECRET_ACCESS_KEY: "x",
    GITHUB_TOKEN: "x",
    IMPRINT_TOKEN: "x",
    HTTPS_PROXY: "http://me:secret@proxy",
    LD_PRELOAD: "x",
    PYTHONPATH: "x",
    PYTHONSTARTUP: "x",
  };
  const environment = workerEnvironment({ source: { ...needed, ...secrets }, allowDownloads: false });
  expect(environment).toMatchObject(needed);
  expect(Object.keys(environment).filter((name) => name in secrets)).toEqual([]);
});

test("the hub is out of reach unless downloads are allowed", () => {
  const source = { IMPRINT_ALLOW_DOWNLOADS: "1", HTTPS_PROXY: "http://proxy" };
  const refused = workerEnvironment({ source, allowDownloads: false });
  expect(refused).toMatchObject({ HF_HUB_OFFLINE: "1", TRANSFORMERS_OFFLINE: "1", HF_HUB_DISABLE_TELEMETRY: "1" });
  expect(refused).not.toHaveProperty("IMPRINT_ALLOW_DOWNLOADS");
  expect(refused).not.toHaveProperty("HTTPS_PROXY");
  const allowed = workerEnvironment({ source: { HTTPS_PROXY: "http://proxy" }, allowDownloads: true });
  expect(allowed).toMatchObject({ IMPRINT_ALLOW_DOWNLOADS: "1", HTTPS_PROXY: "http://proxy", HF_HUB_DISABLE_TELEMETRY: "1" });
  expect(allowed).not.toHaveProperty("HF_HUB_OFFLINE");
});

test("a tracker gets its own variables, and no other's", () => {
  const source = { WANDB_API_KEY: "mine", MLFLOW_TRACKING_TOKEN: "x", HTTPS_PROXY: "http://proxy", HF_TOKEN: "x" };
  const told = workerEnvironment({ source, allowDownloads: false, tracker: "wandb" });
  expect(told).toMatchObject({ WANDB_API_KEY: "mine", HTTPS_PROXY: "http://proxy", HF_HUB_OFFLINE: "1" });
  expect(told).not.toHaveProperty("MLFLOW_TRACKING_TOKEN");
  expect(told).not.toHaveProperty("HF_TOKEN");
});

test("what the command sets goes over everything", () => {
  expect(
    workerEnvironment({ source: { PATH: "/bin" }, allowDownloads: false, extra: { PATH: "/other", PYTHONPATH: "src" } }),
  ).toMatchObject({ PATH: "/other", PYTHONPATH: "src" });
});
