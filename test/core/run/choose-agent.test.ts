import { describe, expect, it } from 'vitest';
import { type AgentWish, type ChosenAgent, chooseAgent } from '../../../src/core/run/choose-agent.ts';
import type { Settings } from '../../../src/core/settings.ts';
import { givenMemory } from '../../workflow/given.ts';

const { settings } = givenMemory(
  [
    'agent: {backend: codex, stand_in: cheap, by_state: {"In Progress": careful}}',
    'agents:',
    '  careful: {backend: codex, stand_in: other}',
    '  cheap: {backend: rehearsal, stand_in: careful}',
    '  other: {backend: command, command: run-it, stand_in: careful}',
  ].join('\n'),
);

const names = new Map([
  [settings, 'default'],
  ...Object.entries(settings.agents).map(([name, each]) => [each.settings, name] as const),
]);

/** The name and the reason, with these agents not ready. */
function chosen(
  wish: Partial<AgentWish> & { labels?: string[]; state?: string } = {},
  notReady: string[] = [],
  of: Settings = settings,
) {
  const { labels = [], state = 'Todo', ...more } = wish;
  const found = chooseAgent(
    of,
    { issue: { labels, state }, chosen: null, failures: 0, ...more },
    (each) => !notReady.includes(names.get(each) ?? ''),
  );
  return 'unknown' in found ? ['unknown', found.unknown] : [(found as ChosenAgent).name, found.because];
}

describe('the agent of an issue', () => {
  it.each([
    [{}, ['default', 'default']],
    [{ state: 'in progress' }, ['careful', 'state']],
    [{ state: 'in progress', labels: ['bug', 'Agent: Other'] }, ['other', 'label']],
    [{ labels: ['agent:other', 'agent:cheap'] }, ['cheap', 'label']],
    [{ labels: ['agent:default'], state: 'In Progress' }, ['default', 'label']],
    [{ labels: ['agent:other'], chosen: 'cheap' }, ['cheap', 'person']],
    [{ chosen: 'default', labels: ['agent:other'] }, ['default', 'person']],
    [{ labels: ['agent:gone'] }, ['unknown', 'gone']],
    [{ labels: ['agent:__proto__'] }, ['unknown', '__proto__']],
    [{ chosen: 'gone' }, ['unknown', 'gone']],
  ])('with %j is %j', (wish, expected) => {
    expect(chosen(wish)).toEqual(expected);
  });

  it('is the only one of a file without named agents, whatever the labels say', () => {
    const alone = givenMemory('agent: {backend: codex}').settings;
    expect(chosen({ labels: ['agent:opus'], chosen: 'opus' }, [], alone)).toEqual(['default', 'default']);
  });

  it('has its stand-in while it cannot start, and the stand-in of that one', () => {
    expect(chosen({}, ['default'])).toEqual(['cheap', 'stand_in']);
    expect(chosen({}, ['default', 'cheap'])).toEqual(['careful', 'stand_in']);
    expect(chosen({}, ['default', 'cheap', 'careful'])).toEqual(['other', 'stand_in']);
    expect(chosen({ chosen: 'careful' }, ['careful'])).toEqual(['other', 'stand_in']);
  });

  it('is waited for when no stand-in can start either, even in a circle', () => {
    expect(chosen({}, ['default', 'cheap', 'careful', 'other'])).toEqual(['default', 'default']);
    expect(chosen({ labels: ['agent:careful'] }, ['careful', 'other'])).toEqual(['careful', 'label']);
  });

  it('has its stand-in after two failures in a row, unless that cannot start', () => {
    expect(chosen({ failures: 1 })).toEqual(['default', 'default']);
    expect(chosen({ failures: 2 })).toEqual(['cheap', 'stand_in']);
    expect(chosen({ failures: 2 }, ['cheap'])).toEqual(['careful', 'stand_in']);
    expect(chosen({ failures: 2 }, ['cheap', 'careful', 'other'])).toEqual(['default', 'default']);
  });
});
