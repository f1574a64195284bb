import { describe, expect, it } from 'vitest';
import { givenMemory, problemsIn, refusal } from './given.ts';

const prices = 'prices: {"*": {input: 1, cached_input: 0.1, output: 2}}';

describe('usd_per_day of a role', () => {
  // @conforms budget.1
  it.each([
    ['the agent of the file', 'agent: {backend: codex}\nintake: {usd_per_day: 2}', 'intake'],
    ['a role that is on', 'agent: {backend: codex}\nscanner: {enabled: true, usd_per_day: 2}', 'scanner'],
    [
      'an agent of its own',
      `agents: {other: {backend: command, command: x}}\nsetup: {agent: default, usd_per_day: 2}`,
      'setup',
    ],
    ['every judge', 'agents: {other: {backend: codex}}\njudge: {agents: [default, other], usd_per_day: 2}', 'judge'],
  ])('is refused where %s reports only tokens and has no price', (_whose, text, role) => {
    const refused = refusal(() => givenMemory(text));
    const found = problemsIn(refused).filter(({ key }) => key === `${role}.usd_per_day`);
    expect(found).toMatchObject([{ severity: 'error', details: { problem: 'no_price' } }]);
  });

  // @conforms budget.1
  it.each([
    ['the file has a price', `agent: {backend: codex, ${prices}}\nintake: {usd_per_day: 2}`],
    ['the program may report a cost', 'agent: {backend: command, command: x}\nintake: {usd_per_day: 2}'],
    ['one of the agents has a price', `agents: {other: {${prices}}}\nintake: {usd_per_day: 2}`],
    ['only runs are limited', 'agent: {backend: codex}\nintake: {runs_per_day: 2}'],
    ['the role is off', 'agent: {backend: codex}\nscanner: {usd_per_day: 2}'],
    ['there is no judge', 'agent: {backend: codex}\njudge: {usd_per_day: 2}'],
  ])('is taken where %s', (_why, text) => {
    expect(givenMemory(text).warnings).toEqual([]);
  });
});
