import type { BatonError } from '../core/baton-error.ts';
import { harmlessLines } from '../core/text/harmless-line.ts';
import type { Surroundings } from '../daemon/surroundings.ts';
import type { WorkplaceFlags } from '../daemon/workplace.ts';
import { jsonLine } from './json-line.ts';
import { commandsHere } from './place-flags.ts';

/** Reports an error to the caller of a command: for people on stderr, with `--json` as an envelope on stdout. */
export function reportError(
  error: BatonError,
  options: { json: boolean; surroundings: Surroundings; place?: WorkplaceFlags },
): void {
  const { json, surroundings, place = {} } = options;
  if (json) {
    surroundings.stdout.write(jsonLine({ error }));
    return;
  }
  const { workflow } = error.details;
  const file = typeof workflow === 'string' ? `  file: ${harmlessLines(workflow)}\n` : '';
  const here = commandsHere(place, surroundings);
  const [message, next] = [error.message, error.nextStep].map((text) => here(harmlessLines(text)));
  surroundings.stderr.write(`baton: ${message}\n  code: ${error.code}\n${file}  next: ${next}\n`);
  if (error.code === 'internal_error') surroundings.stderr.write(`${error.stack}\n`);
}
