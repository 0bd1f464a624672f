import type { ToolDefinition } from "@imprint/contracts";
import { arrayOrEmpty, isObject, isString, parseJson } from "./json.js";

function toolDefinition(value: unknown): ToolDefinition | null {
  if (!isObject(value)) return null;
  const tool = isObject(value.function) ? value.function : value;
  const name = tool.name ?? tool.title;
  if (!isString(name) || name === "") return null;
  const parameters = tool.parameters ?? tool.input_schema ?? tool.inputSchema;
  return {
    name,
    ...(isString(tool.description) ? { description: tool.description } : {}),
    ...(isObject(parameters) ? { parameters } : {}),
  };
}

/** Tool definitions in any of the usual shapes: a list or its JSON text, wrapped in `function` or not. */
export function toolDefinitions(value: unknown): ToolDefinition[] {
  const list = isString(value) ? parseJson(value) : value;
  return arrayOrEmpty(list)
    .map(toolDefinition)
    .filter((tool) => tool !== null);
}

/** The definitions of `known` with those of `latest`, which win where a name stands in both. */
export function mergeTools(known: readonly ToolDefinition[], latest: readonly ToolDefinition[]): ToolDefinition[] {
  return [...new Map([...known, ...latest].map((tool) => [tool.name, tool])).values()];
}
