// What a program in TypeScript does with the wire types. It is compiled, not run: `cargo xtask ci
// bindings`. A line after `@ts-expect-error` must be refused.

import { PROTOCOL_VERSION } from "../overspill";
import type {
  Content,
  HistoryItem,
  LiveEvent,
  OutputDeclaration,
  PageRecord,
  SavedEvent,
  StreamRecord,
  ToolResult,
} from "../overspill";

const version: 1 = PROTOCOL_VERSION;

/** What the model is shown of a result. */
export function modelText(result: ToolResult): string {
  return result.content.map((content) => (content.type === "text" ? content.text : "")).join("");
}

/** The arguments of `overspill` that go on where the preview of a stream stops. */
export function readOn(stream: StreamRecord): string[] {
  if (!stream.truncated || stream.artifact === null || stream.nextOffset === null) return [];
  const offset: number = stream.nextOffset + 0;
  return ["read", stream.artifact, "--offset", String(offset), "--json"];
}

export function pageBytes(page: PageRecord, decode: (base64: string) => Uint8Array): number {
  return "text" in page ? page.text.length : decode(page.base64).length;
}

export function describe(event: LiveEvent): string {
  switch (event.type) {
    case "call_started":
      return `${event.sessionId}/${event.callId}: ${event.tool}`;
    case "display":
      return event.text;
    case "call_finished":
      return event.result.exit && "code" in event.result.exit
        ? `exit code ${event.result.exit.code}`
        : event.result.status;
    case "gap":
      return `${event.missed} events missed`;
  }
}

/** A reader of saved logs: it passes over the kinds it does not know. */
export function results(log: string): ToolResult[] {
  return log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as SavedEvent)
    .flatMap((event) => (event.type === "call_finished" ? [event.result] : []));
}

export const declaration: OutputDeclaration = { kind: "named", streams: ["stdout", "stderr"] };

export const said: HistoryItem = {
  type: "message",
  role: "user",
  content: [{ type: "text", text: "hello", annotations: { priority: 1, for: ["me", null] } }],
};

export const attached: Content = { type: "attachment", mediaType: "image/png", bytes: 7 };

// @ts-expect-error a status is one of a few words
export const status: ToolResult["status"] = "done";
// @ts-expect-error 64-bit integers are numbers, as JSON.parse makes them
export const bytes: StreamRecord["bytes"] = 1n;
// @ts-expect-error a tool never speaks as the assistant
export const emitted: NonNullable<ToolResult["emitted"]> = [{ role: "assistant", text: "" }];
// @ts-expect-error a page has text or base64
export const page: PageRecord = {
  uri: "artifact://",
  offset: 0,
  byteOffset: 0,
  lines: 0,
  bytes: 0,
  nextOffset: null,
  nextByteOffset: null,
  totalLines: 0,
  totalBytes: 0,
};
export const checked: 1 = version;
