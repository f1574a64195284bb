/** One event as a line of a transcript. */
export interface TranscriptEntry {
  /** The number of the event, the same as in the store's index. */
  readonly seq: number;
  readonly at: number;
  readonly run: string;
  readonly name: string;
  readonly pid?: number | null;
  readonly summary: string;
  readonly usage?: unknown;
  /** The whole event, as JSON data. */
  readonly payload?: unknown;
}

/** A longer line is cut: it is too long to read, and a few of them would push out everything else. */
const longestLine = 256 * 1024;
/** Characters that stay of a payload that is cut. Escaped, and in UTF-8, they are at most three times as long. */
const keptOfPayload = 64 * 1024;
/** A summary is one short line for people; this limit is for the exceptions. */
const longestSummary = 4_096;
/** Usage is a handful of numbers. */
const longestUsage = 4_096;

/**
 * The JSON text of an event, on one line and at most 256 KB long. `seq` stands first, so that a line is found by it without
 * parsing. A payload that is too large is replaced by `payload_cut`: its size in bytes and its beginning.
 */
export function transcriptLine(entry: TranscriptEntry): string {
  const { seq, at, run, name, pid, payload } = entry;
  const usage = jsonText(entry.usage);
  const plain = JSON.stringify({ seq, at, run, name, pid, summary: entry.summary.slice(0, longestSummary) });
  const head = usage === null || usage.length > longestUsage ? plain : withMember(plain, `"usage":${usage}`);
  if (payload === undefined) return head;
  const text = jsonText(payload);
  if (text === null) return withMember(head, '"payload_cut":{"unreadable":true}');
  const bytes = Buffer.byteLength(text);
  if (bytes + Buffer.byteLength(head) + 16 <= longestLine) return withMember(head, `"payload":${text}`);
  return withMember(head, `"payload_cut":${JSON.stringify({ bytes, begins: text.slice(0, keptOfPayload) })}`);
}

/** Null for a value that is not JSON data: circular, a BigInt, a function. */
function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

function withMember(head: string, member: string): string {
  return `${head.slice(0, -1)},${member}}`;
}
