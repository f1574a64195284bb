import { expect, it } from 'vitest';
import { soundsDamaged } from '../../../src/workspace/git/source/source-errors.ts';

it.each([
  ['fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights', false],
  [
    'ssh: connect to host git.example port 22: Connection refused\nfatal: Could not read from remote repository.',
    false,
  ],
  ['remote: fatal: bad object HEAD\nfatal: the remote end hung up unexpectedly', false],
  ['error: packfile ./objects/pack/pack-1.pack is truncated', true],
  ['fatal: bad object HEAD', true],
])('%j says whether the cache is damaged, and does not count problems of another machine', (text, expected) => {
  expect(soundsDamaged(text)).toBe(expected);
});
