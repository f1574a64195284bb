import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { type IsolationPlan, isHiddenBy, ruleFor } from './isolation-plan.ts';

/** Words for a path that is not there, or may not be written. */
const missing = /no such file or directory|not found|cannot find|enoent/i;
const readOnly = /read-only file system|erofs/i;

/** How many lines of hints an error output gets. */
const mostHints = 3;

/**
 * Adds hints to the error output of an isolated program: the paths that it names, that exist on the machine, and that
 * its isolation keeps from it. Only a guess, since the program may not have needed them.
 */
export function withHiddenPathHints(stderr: string, plan: IsolationPlan | null): string {
  if (plan === null) return stderr;
  const hints = stderr.split('\n').flatMap((line) => {
    const isMissing = missing.test(line);
    if (!isMissing && !readOnly.test(line)) return [];
    return pathsIn(line).flatMap((path) => hintFor(path, isMissing, plan) ?? []);
  });
  const shown = [...new Set(hints)].slice(0, mostHints);
  return shown.length === 0 ? stderr : `${stderr.replace(/\n?$/, '\n')}${shown.join('\n')}\n`;
}

function pathsIn(line: string): readonly string[] {
  return line.match(/\/[^\s'"`:;,()<>]+/g) ?? [];
}

function hintFor(path: string, isMissing: boolean, plan: IsolationPlan): string | null {
  const setting = settingFor(path, isMissing, plan);
  // A file that could not be made does not exist; its folder does.
  const known = isMissing ? path : dirname(path);
  if (setting === null || !existsSync(known)) return null;
  return `baton: the isolation of this program ${isMissing ? 'hides' : 'does not let it write'} ${path}; ${setting} allows it`;
}

function settingFor(path: string, isMissing: boolean, plan: IsolationPlan): string | null {
  if (isMissing) return isHiddenBy(plan, path) ? 'agent.isolation_read' : null;
  return ruleFor(plan.rules, path)?.access === 'write' ? null : 'agent.isolation_write';
}
