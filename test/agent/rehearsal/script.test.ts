import { describe, expect, it } from 'vitest';
import { findScript, parseScript, type Step, stepsOf, withoutScript } from '../../../src/agent/rehearsal/script.ts';

const prompt = (...lines: string[]): string =>
  ['Ticket text.', '```rehearsal', ...lines, '```', 'More text.'].join('\n');
const parsed = (...lines: string[]): Step[][] => parseScript(findScript(prompt(...lines)) ?? '');

describe('a rehearsal script', () => {
  it('is a fenced block with one step per line, content behind bars, and turns', () => {
    expect(
      parsed('say hi', 'write a/b.txt', '| one', '|', '|  two', 'first fail never', 'next turn', 'wait 5'),
    ).toEqual([
      [
        { verb: 'say', text: 'hi', firstRunOnly: false },
        { verb: 'write', file: 'a/b.txt', content: 'one\n\n two\n', firstRunOnly: false },
        { verb: 'fail', text: 'never', firstRunOnly: true },
      ],
      [{ verb: 'wait', amount: 5, firstRunOnly: false }],
    ]);
  });

  it('has questions with options behind bars, and several ways to end a turn', () => {
    expect(
      parsed('ask Which?', '| red', '| blue', 'ask Why?', 'first quota 3000', 'quota 5 2', 'context', 'context token'),
    ).toEqual([
      [
        { verb: 'ask', text: 'Which?', options: ['red', 'blue'], firstRunOnly: false },
        { verb: 'ask', text: 'Why?', options: [], firstRunOnly: false },
        { verb: 'quota', backAfterMs: 3000, times: 1, firstRunOnly: true },
        { verb: 'quota', backAfterMs: 5, times: 2, firstRunOnly: false },
        { verb: 'context', kind: 'context', firstRunOnly: false },
        { verb: 'context', kind: 'token', firstRunOnly: false },
      ],
    ]);
  });

  it('has steps that may fail, and steps that listen', () => {
    expect(parsed('try move Done', 'first try commit It', 'listen 5', 'listen 60 docs/a b.md')).toEqual([
      [
        { verb: 'move', text: 'Done', firstRunOnly: false, isTried: true },
        { verb: 'commit', text: 'It', firstRunOnly: true, isTried: true },
        { verb: 'listen', amount: 5, file: null, firstRunOnly: false },
        { verb: 'listen', amount: 60, file: 'docs/a b.md', firstRunOnly: false },
      ],
    ]);
  });

  it('proposes a change with a title, and a description behind bars', () => {
    expect(parsed('propose Greet the user', '| Why: asked.', '|', '| How: in one file.', 'propose It')).toEqual([
      [
        { verb: 'propose', title: 'Greet the user', body: 'Why: asked.\n\nHow: in one file.', firstRunOnly: false },
        { verb: 'propose', title: 'It', body: '', firstRunOnly: false },
      ],
    ]);
  });

  it('repeats its last part in all later turns where it says so', () => {
    const once = 'say one\nnext turn\nsay two';
    const often = 'say one\nevery turn\nquote notes.md';
    const verbs = (script: string): unknown[] =>
      [0, 1, 2, 9].map((turn) => stepsOf(script, turn)?.map(({ verb }) => verb));
    expect(verbs(once)).toEqual([['say'], ['say'], undefined, undefined]);
    expect(verbs(often)).toEqual([['say'], ['quote'], ['quote'], ['quote']]);
  });

  it('may be absent, and may have Windows line ends', () => {
    expect(findScript('Just text')).toBeNull();
    expect(parseScript(findScript(prompt('push').replaceAll('\n', '\r\n')) ?? '')).toEqual([
      [{ verb: 'push', text: '', firstRunOnly: false }],
    ]);
  });

  it('can be removed from a prompt', () => {
    expect(withoutScript(prompt('say hi'))).toBe('Ticket text.\n\nMore text.');
  });

  it.each([
    'dance wildly',
    'wait long',
    'wait',
    'ask',
    'quota',
    'quota soon',
    'quota 5 2 1',
    'listen',
    'listen long',
    'try',
    'context window',
  ])('rejects an unknown step and names its line: %s', (line) => {
    expect(() => parsed(line)).toThrow(line);
  });
});
