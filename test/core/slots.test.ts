import { expect, it } from 'vitest';
import { whyNoSlot } from '../../src/core/slots.ts';
import { settings } from '../fake/settings.ts';

const { agent } = settings({ agent: { maxConcurrentAgents: 3, maxConcurrentAgentsByState: { todo: 1 } } });

it('there is a slot below both limits', () => {
  expect(whyNoSlot('Todo', ['In Progress', 'In Progress'], agent)).toBeNull();
});

it('the global limit holds for every state', () => {
  expect(whyNoSlot('In Progress', ['a', 'b', 'c'], agent)?.text).toBe('no slot (3 of 3)');
});

it('a limit by state counts only that state, whatever its case', () => {
  expect(whyNoSlot('TODO', [' todo '], agent)?.text).toBe('no slot in state "TODO" (1 of 1)');
  expect(whyNoSlot('In Progress', ['Todo'], agent)).toBeNull();
});

it.each(['constructor', '__proto__', 'toString'])('a state called %s has only the limit it was given', (state) => {
  expect(whyNoSlot(state, [state, state], agent)).toBeNull();
});

it('a limit of zero lets nothing start', () => {
  const none = settings({ agent: { maxConcurrentAgents: 0 } }).agent;
  expect(whyNoSlot('Todo', [], none)?.text).toBe('no slot (0 of 0)');
  const noneInState = settings({ agent: { maxConcurrentAgentsByState: { todo: 0 } } }).agent;
  expect(whyNoSlot('Todo', [], noneInState)?.text).toBe('no slot in state "Todo" (0 of 0)');
});
