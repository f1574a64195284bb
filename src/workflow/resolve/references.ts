import { isAbsolute, join, normalize, resolve } from 'node:path';
import type { Surroundings } from '../workflow-context.ts';

/**
 * The name of the variable, if the whole value is `$NAME` and nothing else. `$HOME/x`, `${NAME}` and `$1X` are plain
 * text: a reference is all or nothing (reference implementation, section 1.3).
 */
export function variableNamed(value: string): string | null {
  return /^\$([A-Za-z_][A-Za-z0-9_]*)$/.exec(value)?.[1] ?? null;
}

/** Whether a value was probably meant as a reference but is none. */
export function resemblesReference(value: string): boolean {
  return variableNamed(value) === null && (value.startsWith('$') || /\/\$\{?[A-Za-z_]/.test(value));
}

/** The variable's value, or undefined. The environment may be any object, so only its own entries count. */
export function lookUp(env: Surroundings['env'], name: string): string | undefined {
  return Object.hasOwn(env, name) ? env[name] : undefined;
}

/** `~` and `~/x` start at the home directory; what is not absolute starts in the directory of the workflow file. */
export function resolvePath(value: string, workflowDir: string, { homeDir }: Surroundings): string {
  if (value === '~' || value.startsWith('~/')) return join(homeDir, value.slice(1));
  return isAbsolute(value) ? normalize(value) : resolve(workflowDir, value);
}
