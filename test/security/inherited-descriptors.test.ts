import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const program = path.join(import.meta.dirname, '..', 'process', 'fixtures', 'list-descriptors.ts');
/** Above those that Node itself keeps from its children. */
const inherited = 30;

/** The descriptors of a child of Baton, where the shell that started Baton had one open. */
function descriptorsOfChild(...args: string[]): readonly string[] {
  const secret = openSync(program, 'r');
  const stdio = ['ignore', 'pipe', 'pipe', ...Array(inherited - 3).fill('ignore'), secret];
  const { stdout, stderr } = spawnSync(process.execPath, [program, ...args], { stdio, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n').filter(Boolean);
}

it('a child has no descriptor of the program that started Baton', () => {
  expect(descriptorsOfChild()).toContain(String(inherited));
  // The fourth one is the folder that `ls` reads.
  expect(descriptorsOfChild('--close')).toEqual(['0', '1', '2', '3']);
});
