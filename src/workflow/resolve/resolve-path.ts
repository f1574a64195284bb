import { isAbsolute, join, normalize, resolve } from 'node:path';
import type { Surroundings } from '../surroundings.ts';

/** `~` and `~/x` start at the home directory; what is not absolute starts beside the workflow file. */
export function resolvePath(value: string, workflowDir: string, { homeDir }: Surroundings): string {
  if (value === '~' || value.startsWith('~/')) return join(homeDir, value.slice(1));
  return isAbsolute(value) ? normalize(value) : resolve(workflowDir, value);
}
