import { expect, test } from "vitest";
import { parsePipConfig, uvSettings } from "../../lib/setup/pip-settings.mjs";
import { uvProgress } from "../../lib/setup/uv-progress.mjs";

const CONFIG = `:env:.find-links='/wheels /more'
global.cert='/etc/ca.pem'
global.find-links='/other'
global.index-url='first'
install.index-url='second'
global.extra-index-url='\\none\\ntwo'
list.format='json'
`;

test("the environment wins over a command's section, and that over the global one", () => {
  expect(parsePipConfig(CONFIG)).toEqual({
    "find-links": "/wheels /more",
    cert: "/etc/ca.pem",
    "index-url": "second",
    "extra-index-url": "\none\ntwo",
  });
});

test("uv is told what pip is set to", () => {
  expect(
    uvSettings({ pip: { ...parsePipConfig(CONFIG), "no-index": "true", "trusted-host": "a b", proxy: "p" }, env: {} }),
  ).toEqual({
    UV_DEFAULT_INDEX: "second",
    UV_INDEX: "one two",
    UV_INDEX_STRATEGY: "unsafe-best-match",
    UV_FIND_LINKS: "/wheels,/more",
    UV_NO_INDEX: "1",
    UV_INSECURE_HOST: "a b",
    SSL_CERT_FILE: "/etc/ca.pem",
    ALL_PROXY: "p",
  });
});

test("uv's own settings win, and its own index keeps both of pip's out", () => {
  const env = { UV_DEFAULT_INDEX: "mine", SSL_CERT_FILE: "/mine.pem", UV_FIND_LINKS: "/mine" };
  expect(uvSettings({ pip: parsePipConfig(CONFIG), env })).toEqual({});
});

test("pip without settings leaves uv alone", () => {
  expect(uvSettings({ pip: parsePipConfig(""), env: {} })).toEqual({});
});

test("uv's lines become how far it is", () => {
  const say = uvProgress();
  const said = [
    "Resolved 66 packages in 1s",
    "Downloading torch (500.0MiB)",
    "Downloading nccl (200.0MiB)",
    " Downloaded nccl",
    " Downloaded torch",
  ];
  expect(said.map(say)).toEqual([
    "resolved 66 packages",
    "resolved 66 packages, 0 large files fetched, 1 under way (torch 500.0MiB)",
    "resolved 66 packages, 0 large files fetched, 2 under way (nccl 200.0MiB)",
    "resolved 66 packages, 1 large files fetched, 1 under way (torch 500.0MiB)",
    "resolved 66 packages",
  ]);
});
