import { isAbsolute, join, normalize, resolve } from 'node:path';
import type { Problem } from '../../core/problem.ts';
import type { Surroundings } from '../workflow-context.ts';
import { errorAt, warningAt } from '../workflow-problems.ts';

/**
 * The name of the variable, if the whole value is `$NAME` and nothing else. `$HOME/x`, `${NAME}` and `$1X` are plain
 * text: a reference is all or nothing (reference implementation, section 1.3).
 */
export function variableNamed(value: string): string | null {
  return /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1] ?? null;
}

/** Resolves a value of the file: itself, or the value of the variable that it names. Blank where that is not set. */
export function dereference(value: string, { env }: Surroundings): Reference {
  const written = value.trim();
  const variable = variableNamed(written);
  if (variable === null) return { text: written, variable, origin: 'file' };
  return { text: lookUp(env, variable)?.trim() ?? '', variable, origin: `file, via $${variable}` };
}

interface Reference {
  readonly text: string;
  readonly variable: string | null;
  readonly origin: string;
}

export function notSet(key: string, variable: string | null): Problem {
  return errorAt(key, `${key} names $${variable}, which is not set`, { problem: 'not_set', variable });
}

export function takenLiterally(key: string): Problem {
  const message = `${key} is used as written: Baton reads a variable only if it is the whole value, as in $NAME`;
  return warningAt(key, message, { code: 'doubtful_reference' });
}

export function literalSecret(key: string, what: 'password' | 'secret' = 'secret'): Problem {
  const message = `${key} contains a ${what} in plain text; write $NAME and export NAME instead`;
  return warningAt(key, message, { code: 'literal_secret' });
}

/** Whether a value was probably meant as a reference but is not one. */
export function resemblesReference(value: string): boolean {
  return variableNamed(value) === null && (value.startsWith('$') || /\/\$\{?[A-Za-z_]/.test(value));
}

/** The variable's value, or undefined. The environment may be any object, so only its own entries count. */
export function lookUp(env: Surroundings['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** `~` and `~/x` start at the home directory; any other relative path starts in the directory of the workflow file. */
export function resolvePath(value: string, workflowDir: string, { homeDir }: Surroundings): string {
  if (value === '~' || value.startsWith('~/')) return join(homeDir, value.slice(1));
  return isAbsolute(value) ? normalize(value) : resolve(workflowDir, value);
}
