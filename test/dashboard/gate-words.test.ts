import { describe, expect, it } from 'vitest';
import { gateWords, reasonWords } from '../../dashboard/data/text/gate-words.ts';

describe('a reason of the daemon on a page', () => {
  it('has no command, no setting and no code, because the page has a button for it', () => {
    const held =
      'The last 3 runs failed, the last one with agent_turn_failed: it broke (agent.max_retries). To continue: baton issue retry BAT-1';
    expect(reasonWords(held)).toBe('The last 3 runs failed: it broke.');
    expect(reasonWords('No one answered in time. To answer it: baton ask list')).toBe('No one answered in time.');
    const two = 'It ended. To see what it did: baton runs log BAT-1; to try again: baton issue retry BAT-1';
    expect(reasonWords(two)).toBe('It ended.');
    expect(reasonWords('A person has it by hand. To hand it back: baton handback BAT-1')).toBe(
      'A person has it by hand.',
    );
  });

  it('names states as people read them', () => {
    expect(reasonWords('it waits for BAT-2 (in_progress)')).toBe('it waits for BAT-2 (in progress)');
    expect(reasonWords('its state "in_progress" is not active')).toBe('its state "in progress" is not active');
  });

  it('keeps the words of an agent, also those that look like a command or a name', () => {
    for (const said of ['To continue: baton issue retry BAT-1 is what I tried. Then read_file failed', 'a_b c_d', ''])
      expect(reasonWords(said)).toBe(said);
  });

  it('has a name for each start condition, also for one that the page does not know', () => {
    expect(gateWords('free_here')).not.toContain('_');
    expect(gateWords('some_new_gate')).toBe('some new gate');
  });
});
