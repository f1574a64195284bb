import { inspect } from 'node:util';
import { expect, it } from 'vitest';
import { Secret } from '../../../src/core/text/secret.ts';

it('a secret prints as [secret] in every conversion to text', () => {
  const secret = new Secret('hunter2');
  const texts = [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret),
    inspect({ deep: [secret] }),
    ['', secret].join(''),
  ];
  for (const text of texts) {
    expect(text).toContain('[secret]');
    expect(text).not.toContain('hunter2');
  }
  expect(secret.reveal()).toBe('hunter2');
  expect(Object.keys(secret)).toEqual([]);
});
