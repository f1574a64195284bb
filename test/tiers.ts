import { readFileSync } from 'node:fs';

/**
 * Which tests a run takes in, by two tags. `full`: a test that starts a daemon, a browser or a real agent, walks a long
 * list of cases, or tests a fake or the rules themselves. `smoke`: the few of those that run all the same before every commit.
 * A whole file gets a tag with `// @module-tag full` at its top, a single test with `{ tags: ['smoke'] }`.
 */
export const tags = [
  { name: 'full', description: 'Runs with `npm run test:all` and in CI, not with `npm test`.' },
  { name: 'smoke', description: 'Runs with `npm test` too, although its file is tagged `full`.' },
];

/** `quick` is `npm test`, `rest` is the full tier that CI runs after it, `all` is both. */
export type Tier = 'quick' | 'rest' | 'all';

export function tierOf(name: string | undefined): Tier {
  if (name === undefined || name === 'all') return 'all';
  if (name === 'quick' || name === 'rest') return name;
  throw new Error(`BATON_TEST_TIER is "${name}"; it may be quick, rest or all`);
}

/**
 * Whether a tier has to load this file at all. A file of the quick tier has tests of the full one if it runs them on
 * both engines of the store: those on PostgreSQL.
 */
export function isInTier(file: string, tier: Tier): boolean {
  if (tier === 'all') return true;
  const text = readFileSync(file, 'utf8');
  const isFull = /^\/\/ @module-tag full$/m.test(text);
  if (tier === 'quick') return !isFull || text.includes("'smoke'");
  return isFull || /\/engines\.ts';/.test(text);
}
