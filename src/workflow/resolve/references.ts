import { existsSync, readFileSync, statSync } from 'node:fs';
import { isAbsolute, join, normalize, resolve } from 'node:path';
import { BatonError } from '../../core/baton-error.ts';
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

/** No key or address is longer; a device without an end is not read. */
const longestSecret = 64 * 1024;

/**
 * The value of a variable: its own; else the content of the file that `<NAME>_FILE` names; else of the systemd credential
 * of that name. Undefined without any of them. A secret in a file is in no process's environment, and a new one is read
 * with the next reload. The environment may be any object, so only its own entries count.
 */
export function lookUp(env: Surroundings['env'], name: string): string | undefined {
  const own = ownEntry(env, name);
  if (own !== undefined) return own;
  const file = ownEntry(env, `${name}_FILE`);
  if (file !== undefined) return readSecret(file, name);
  const credentials = ownEntry(env, 'CREDENTIALS_DIRECTORY');
  const credential = credentials === undefined ? null : join(credentials, name);
  return credential !== null && existsSync(credential) ? readSecret(credential, name) : undefined;
}

function ownEntry(env: Surroundings['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

function readSecret(file: string, variable: string): string {
  try {
    const { size } = statSync(file);
    if (size <= longestSecret) return readFileSync(file, 'utf8').slice(0, longestSecret);
    throw new Error(`it has ${size} bytes, more than ${longestSecret}`);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `The file ${file} with the value of ${variable} cannot be read: ${reason}.`;
    throw new BatonError('secret_file_unreadable', message, { cause, details: { file, variable } });
  }
}

/** `~` and `~/x` start at the home directory; any other relative path starts in the directory of the workflow file. */
export function resolvePath(value: string, workflowDir: string, { homeDir }: Surroundings): string {
  if (value === '~' || value.startsWith('~/')) return join(homeDir, value.slice(1));
  return isAbsolute(value) ? normalize(value) : resolve(workflowDir, value);
}
