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
