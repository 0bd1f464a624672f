import { spawn } from "node:child_process";
import path from "node:path";
import { createInterface } from "node:readline";
import { installAgent } from "../agents/install.mjs";

const PROGRAM = ["packages", "server", "test", "llama-cpp", "llama_server.py"];

/** llama.cpp's own server, installed into the cache; `args` are its model, the name for it, and a LoRA file. Resolves with its address. */
export async function startLlamaServer({ root, env, signal, args }) {
  const programs = await installAgent({ name: "llama-server", root, env, signal });
  const program = path.join(root, ...PROGRAM);
  const child = spawn(path.join(programs, "python"), [program, ...args], { stdio: ["pipe", "pipe", "ignore"], signal });
  child.on("error", () => {}); // its output ends
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith("http")) return { url: line, close: () => child.stdin.end() };
  throw new Error("llama-server ended before it answered");
}
