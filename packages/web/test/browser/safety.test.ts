import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { makeNative } from "../../../server/test/support/native.js";
import { expectNoFaults, openPage, provideBrowser, TEST_MS } from "./support/browser.js";
import { dropFile } from "./support/drop.js";
import { makeFolder, makeSession, putSession, startLora, startService, startTrained } from "./support/stage.js";

provideBrowser();

const EVIL = `<img src="x" onerror="window.owned = true">`;

test(
  "markup in names, metadata, logs, errors, previews and answers is shown as text",
  async () => {
    const dataDir = makeFolder();
    putSession(
      dataDir,
      "s1",
      makeSession("s1", {
        steps: [
          { source: "user", text: `${EVIL} task` },
          { source: "agent", text: EVIL },
        ],
      }),
    );
    const behaviour = {
      stderr: `\u001b[31mred\u001b[0m ${EVIL} log\n`,
      proof: { remarks: [`${EVIL} remark`] },
      preview: [{ text: `${EVIL} learned`, supervised: true, tokens: 9 }],
    };
    const service = await startService({ dataDir, behaviour });
    const jobId = await startLora(service, { session_id: "s1", adapter_id: "evil", metadata: { note: `${EVIL} note` } });
    await service.ended(jobId);

    const page = await openPage(`${service.url}/#/jobs/${jobId}`);
    const shows = async (text: string): Promise<void> => page.getByText(`${EVIL} ${text}`).first().waitFor();
    await shows("log");
    expect(await page.locator(".log").textContent()).toContain(`red ${EVIL} log`);
    await shows("remark");
    await shows("note");
    await page.getByRole("button", { name: "Show what it learns" }).click();
    await shows("learned");

    await page.goto(`${service.url}/#/sessions`);
    await shows("task");
    await dropFile(page, ".drop", { name: `${EVIL} name`, content: makeNative("another") });
    await shows("name");
    await page.goto(`${service.url}/#/adapters/evil`);
    await shows("note");
    await page.goto(`${service.url}/#/playground?adapter=evil`);
    await page.getByLabel("Prompt").fill(`${EVIL} prompt`);
    await page.getByRole("button", { name: "Ask both" }).click();
    await page.getByText(`adapter: ${EVIL} prompt`).waitFor();

    expect(await page.locator("img").count()).toBe(0);
    expect(await page.evaluate("window.owned")).toBeUndefined();
    expectNoFaults(page);
  },
  TEST_MS,
);

test(
  "a page of another origin can neither read nor change anything, nor frame the dashboard",
  async () => {
    const service = await startTrained();
    const foreign = createServer((_request, response) => response.setHeader("content-type", "text/html").end("<h1>Foreign</h1>"));
    await new Promise<void>((resolve) => foreign.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void foreign.close());
    const page = await openPage(`http://127.0.0.1:${(foreign.address() as AddressInfo).port}/`);
    const outcome = (script: string): Promise<unknown> =>
      page.evaluate(`(async () => { try { ${script} } catch { return "refused"; } })()`);

    const read = (path: string): Promise<unknown> => outcome(`return await (await fetch("${service.url}${path}")).text()`);
    for (const path of ["/jobs", "/sessions", "/adapters", "/", "/openapi.json"]) expect(await read(path), path).toBe("refused");

    const body = JSON.stringify({ session_id: "adds-two-numbers" });
    const post = (options: string): Promise<unknown> =>
      outcome(
        `return (await fetch("${service.url}/train/lora", { method: "POST", body: ${JSON.stringify(body)}, ${options} })).status`,
      );
    expect(await post(`headers: { "content-type": "application/json" }`)).toBe("refused");
    expect(await post(`headers: { "content-type": "text/plain" }`)).toBe("refused");
    expect(await post(`mode: "no-cors"`)).toBe("refused");
    expect(
      await outcome(`return await new Promise((resolve, reject) => {
      const source = new EventSource("${service.url}/jobs/events");
      source.onmessage = resolve;
      source.addEventListener("snapshot", () => resolve("read"));
      source.onerror = reject;
    })`),
    ).toBe("refused");
    expect(service.jobs.counts()).toMatchObject({ completed: 2, queued: 0, running: 0 });

    await page.evaluate(`document.body.innerHTML = '<iframe src="${service.url}/"></iframe>'`);
    await page.locator("iframe").waitFor();
    await expect.poll(() => page.frames()[1]?.url(), { timeout: 30_000 }).toMatch(/^chrome-error:/);
  },
  TEST_MS,
);

test(
  "a service with a token asks for it once; the browser keeps a cookie that no script can read",
  async () => {
    const token = "a-token-of-more-than-22-characters";
    const service = await startService({ flags: { token } });
    putSession(service.dataDir, "s1");
    const page = await openPage(`${service.url}/#/jobs`);
    await page.getByLabel("Token").fill("not-the-token-of-this-service");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("That is not the service's token.").waitFor();
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Live", { exact: true }).waitFor();
    expect(await page.evaluate("document.cookie")).toBe("");
    const [cookie] = await page.context().cookies();
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Strict" });
    expect(cookie?.value).not.toContain(token);

    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    await page.goto(`${service.url}/#/sessions`);
    await page.getByRole("link", { name: "s1" }).waitFor();
  },
  TEST_MS,
);

/** A reverse proxy that serves the service under `/imprint/`, and nothing else. */
const startProxy = async (url: string): Promise<string> => {
  const { hostname, port } = new URL(url);
  const proxy = createServer((incoming, response) => {
    const { url: path = "", method, headers } = incoming;
    if (!path.startsWith("/imprint/")) return void response.writeHead(404).end();
    const onward = { hostname, port, path: path.slice("/imprint".length), method, headers };
    incoming.pipe(request(onward, (answer) => answer.pipe(response.writeHead(answer.statusCode ?? 500, answer.headers))));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/imprint/`;
};

test(
  "under a path of a proxy it loads, stores what is dropped, follows jobs, and leads to the API's page",
  async () => {
    const service = await startService();
    const url = await startProxy(service.url);
    const stream = await fetch(`${url}jobs/events`);
    expect(stream.headers.get("x-accel-buffering")).toBe("no");
    await stream.body?.cancel();

    const page = await openPage(`${url}#/sessions`);
    await dropFile(page, ".drop", { name: "one.json", content: makeNative("dropped-here") });
    await page.getByText("dropped-here").first().waitFor();
    await page.goto(`${url}#/jobs`);
    const id = await startLora(service, { session_id: "dropped-here", adapter_id: "made-here" });
    await page.getByText(id).or(page.getByText("made-here")).first().waitFor();
    await page.getByRole("link", { name: "API" }).click();
    await page.getByText("/train/lora").first().waitFor();
    expectNoFaults(page);
  },
  TEST_MS,
);
