import { expect, it } from 'vitest';
import { pullHosts } from '../../src/pulls/hosts.ts';

it('has each host once, by a name that a workflow file can say', () => {
  const names = pullHosts.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z]+$/.test(name))).toEqual([]);
});
