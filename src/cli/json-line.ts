import { escapeInvisible } from '../telemetry/harmless-text.ts';

/** A value as one line of JSON for programs. Somebody's words in it cannot steer a terminal that shows the line. */
export function jsonLine(value: unknown): string {
  return `${escapeInvisible(JSON.stringify(value))}\n`;
}
