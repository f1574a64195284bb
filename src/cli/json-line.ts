import { escapeInvisible } from '../telemetry/harmless-text.ts';

/** A value as one line of JSON for programs. Texts in it cannot control a terminal that shows the line. */
export function jsonLine(value: unknown): string {
  return `${escapeInvisible(JSON.stringify(value))}\n`;
}
