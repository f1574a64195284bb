import type { BatonError } from '../core/baton-error.ts';
import { harmlessLines } from '../core/text/harmless-line.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import { jsonLine } from './json-line.ts';

/** Reports an error to the caller of a command: for people on stderr, with `--json` as an envelope on stdout. */
export function reportError(error: BatonError, options: { json: boolean; surroundings: Surroundings }): void {
  const { json, surroundings } = options;
  if (json) {
    surroundings.stdout.write(jsonLine({ error }));
    return;
  }
  surroundings.stderr.write(
    `baton: ${harmlessLines(error.message)}\n  code: ${error.code}\n  next: ${error.nextStep}\n`,
  );
  if (error.code === 'internal_error') surroundings.stderr.write(`${error.stack}\n`);
}
