import { expect, it } from 'vitest';
import { whyNoSlot } from '../../../src/core/dispatch/slots.ts';
import { settings } from '../../fake/settings.ts';
import { telling } from '../../telling.ts';

const { agent } = settings({ agent: { maxConcurrentAgents: 3, maxConcurrentAgentsByState: { todo: 1 } } });

it('allows a start below both limits', () => {
  expect(whyNoSlot('Todo', ['In Progress', 'In Progress'], agent)).toBeNull();
});

// @conforms 2.5
it('applies the global limit to every state', () => {
  expect(whyNoSlot('In Progress', ['a', 'b', 'c'], agent)).toEqual({ code: 'no_slot', text: telling(3) });
  expect(whyNoSlot('In Progress', ['a', 'b', 'c', 'd'], agent)).toEqual({ code: 'no_slot', text: telling(4, 3) });
});

// @conforms 2.6
it('counts only its own state for a limit by state, in any case', () => {
  expect(whyNoSlot('TODO', [' todo ', 'Todo'], agent)).toEqual({
    code: 'no_slot_in_state',
    text: telling('"TODO"', 2, 1),
  });
  expect(whyNoSlot('In Progress', ['Todo'], agent)).toBeNull();
});

it.each(['constructor', '__proto__', 'toString'])('a state called %s has only its own limit', (state) => {
  expect(whyNoSlot(state, [state, state], agent)).toBeNull();
});

it('starts nothing with a limit of zero', () => {
  const none = settings({ agent: { maxConcurrentAgents: 0 } }).agent;
  expect(whyNoSlot('Todo', [], none)).toEqual({ code: 'no_slot', text: telling(0) });
  const noneInState = settings({ agent: { maxConcurrentAgentsByState: { todo: 0 } } }).agent;
  expect(whyNoSlot('Todo', [], noneInState)).toEqual({ code: 'no_slot_in_state', text: telling('"Todo"', 0) });
});
