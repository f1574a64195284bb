import { toBatonError } from './baton-error.ts';
import { harmlessLine } from './text/harmless-line.ts';

/** One result of `baton doctor`. Checks of Baton are in `cli/doctor/`, those of an adapter in its folder. */
export interface Finding {
  /** The name of the check, as a stable word for programs, such as `codex_login`. */
  readonly check: string;
  /** `warning`: it works, but is perhaps not what the user wants. */
  readonly status: 'ok' | 'warning' | 'failed';
  /** The result, as a stable word: `ok`, one of the check's own, or the code of an error. */
  readonly code: string;
  /** The same for people. */
  readonly message: string;
  /** The command or the act that fixes it; null when there is nothing to fix. */
  readonly nextStep: string | null;
  /** Facts for programs. Never a secret. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The code of a finding, and its details. */
type Facts = Finding['details'] & { readonly code?: string };

export function passed(check: string, message: string, { code = 'ok', ...details }: Facts = {}): Finding {
  return { check, status: 'ok', code, message, nextStep: null, details };
}

export function warned(check: string, message: string, nextStep: string, facts: Facts & { code: string }): Finding {
  return { ...failed(check, message, nextStep, facts), status: 'warning' };
}

export function failed(
  check: string,
  message: string,
  nextStep: string,
  { code, ...details }: Facts & { code: string },
): Finding {
  return { check, status: 'failed', code, message, nextStep, details };
}

/** Turns a thrown value into a finding; `prefix` adds a name that the error lacks. */
export function failedBy(check: string, thrown: unknown, prefix = ''): Finding {
  const { code, message, nextStep, details } = toBatonError(thrown);
  return failed(check, harmlessLine(`${prefix}${message}`), nextStep, { ...details, code });
}
