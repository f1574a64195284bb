import { describe, expect, it } from 'vitest';
import { wordsInPrompt } from '../../../src/agent/rehearsal/words-in-prompt.ts';
import type { Message } from '../../../src/core/command/message.ts';
import { messageText } from '../../../src/core/command/message-text.ts';

const message = (more: Partial<Message>): string =>
  messageText(
    {
      id: '1',
      at: 0,
      kind: 'note',
      author: { kind: 'person', name: 'Ada' },
      body: 'Louder, please.',
      path: null,
      line: null,
      commit: 'abcdef',
      ...more,
    },
    'a-mark-of-16-letters',
  );

describe('the words of people in a prompt', () => {
  it('are found with their place, and nothing else is', () => {
    const prompt = [
      'The work continues.',
      '```rehearsal\nsay A person says to you (x):\n\nnot this\n```',
      message({}),
      message({ kind: 'review_comment', path: 'src/a b.js', line: 7, body: 'Not like\u001b that.' }),
      message({ kind: 'check', author: { kind: 'orchestrator' }, body: 'red' }),
      'Your work so far is on the branch x.',
    ].join('\n\n');
    expect(wordsInPrompt(prompt)).toEqual(['Louder, please.', 'src/a b.js:7: Not like␛ that.']);
    expect(wordsInPrompt('Nothing was said.')).toEqual([]);
  });
});
