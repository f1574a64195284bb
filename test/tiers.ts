import { readFileSync } from 'node:fs';

/**
 * Which tests a run takes in, by tags. `full`: a test that starts a daemon, a browser or a real agent, walks a long
 * list of cases, or tests a fake or the rules themselves. `smoke`: the few of those that run all the same before every commit,
 * and then not again in CI, unless they are `first`.
 * `one-way`, for whole files of attacks: the further ways of scripts/attack-ways.mjs leave them out.
 * A whole file gets a tag with `// @module-tag full` at its top, a single test with `{ tags: ['smoke'] }`.
 */
export const tags = [
  { name: 'first', description: 'A smoke test on which later tests of its file build: runs with them too.' },
  { name: 'full', description: 'Runs with `npm run test:all` and in CI, not with `npm test`.' },
  {
    name: 'one-way',
    description: 'An attack that depends neither on the user nor on namespaces, or that tries every user itself.',
  },
  { name: 'smoke', description: 'Runs with `npm test` too, although its file is tagged `full`.' },
];

/** `quick` is `npm test`, `rest` is the full tier that CI runs after it, `all` is both, `attacks` is for the further ways. */
export type Tier = 'quick' | 'rest' | 'all' | 'attacks';

export function tierOf(name: string | undefined): Tier {
  if (name === undefined || name === 'all') return 'all';
  if (name === 'quick' || name === 'rest' || name === 'attacks') return name;
  throw new Error(`BATON_TEST_TIER is "${name}"; it may be quick, rest, all or attacks`);
}

/**
 * Whether a tier has to load this file at all. A file of the quick tier has tests of the full one if it runs them on
 * both engines of the store: those on PostgreSQL.
 */
export function isInTier(file: string, tier: Tier): boolean {
  if (tier === 'all') return true;
  const text = readFileSync(file, 'utf8');
  if (tier === 'attacks') return !/^\/\/ @module-tag one-way$/m.test(text);
  const isFull = /^\/\/ @module-tag full$/m.test(text);
  if (tier === 'quick') return !isFull || text.includes("'smoke'");
  return isFull || /\/engines\.ts';/.test(text);
}
