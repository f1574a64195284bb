import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { systemChance } from '../../src/clock/system-chance.ts';
import { systemClock } from '../../src/clock/system-clock.ts';
import { runToEnd } from '../../src/process/run-to-end.ts';
import { describeWithEachContainment } from '../process/real-children.ts';

/** Programs that a hostile repository or an agent puts where a relative PATH element leads. */
const planted = ['git', 'sh', 'setpriv', 'unshare'];

describeWithEachContainment('a relative PATH', (containment) => {
  for (const element of ['', '.', './node_modules/.bin', 'node_modules/.bin']) {
    it(`never runs a program of the workspace (element "${element}")`, async () => {
      const cwd = workspaceWithPrograms(element);
      const env = { PATH: `${element}:${process.env.PATH}:${element}` };
      const options = { clock: systemClock, containment, daemonId: systemChance.id() };
      const run = async (command: string, args: readonly string[]): Promise<number | null> => {
        const request = { command, args, cwd, env, runId: systemChance.id(), timeoutMs: 20_000 };
        return (await runToEnd(request, options)).code;
      };
      // The second one searches the PATH that the child was given.
      expect(await run('git', ['--version'])).toBe(0);
      expect(await run('/bin/sh', ['-c', 'git --version && sh -c true'])).toBe(0);
      expect(existsSync(path.join(cwd, 'was-run'))).toBe(false);
    });
  }
});

function workspaceWithPrograms(element: string): string {
  const cwd = mkdtempSync(path.join(tmpdir(), 'baton-relative-path-'));
  const folder = path.join(cwd, element);
  mkdirSync(folder, { recursive: true });
  for (const name of planted) {
    const file = path.join(folder, name);
    writeFileSync(file, `#!/bin/sh\necho ${name} >> '${cwd}/was-run'\n`);
    chmodSync(file, 0o755);
  }
  return cwd;
}
