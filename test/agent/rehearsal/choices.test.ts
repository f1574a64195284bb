import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chosenScript, whatNext } from '../../../src/agent/rehearsal/choices.ts';
import { parseScript } from '../../../src/agent/rehearsal/script.ts';
import { answersText } from '../../../src/core/command/answer-text.ts';

const fields = [{ name: 'answer', label: 'Answer', options: [], allowsOther: true, isSecret: false }];
const question = { kind: 'input', text: whatNext, detail: '', fields } as const;
const answered = (answer: string): string =>
  answersText([{ question, answer: { decision: 'accept', values: { answer } } }]);

/** What a person may answer, as the question names it. */
const named = [...whatNext.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

describe('what the stand-in asks when it has no script', () => {
  it('names what it knows, and knows everything that it names', () => {
    expect(named).toHaveLength(3);
    expect(named).toContain('fail');
    for (const name of named) {
      const script = chosenScript(answered(name), 'T-1');
      expect(parseScript(script ?? '')[0]?.length, name).toBeGreaterThan(0);
      expect(chosenScript(answered(`\`${name.toUpperCase()}\`.`), 'T-1')).toBe(script);
    }
  });

  it('is at most as long as a question may be, and one line', () => {
    expect(whatNext.length).toBeLessThanOrEqual(500);
    expect(whatNext).not.toContain('\n');
  });

  it('takes the last of two answers', () => {
    const [first = ''] = named;
    expect(chosenScript(`${answered(first)}\n\n${answered('fail')}`, 'T-1')).toMatch(/^fail /);
  });

  it('makes no script of any other answer, nor of a prompt without one', () => {
    expect(chosenScript('A ticket that says: fail', 'T-1')).toBeNull();
    fc.assert(
      fc.property(fc.string(), (text) => {
        const known = named.some((name) => text.toLowerCase().includes(name));
        return known || chosenScript(answered(text), 'T-1') === null;
      }),
    );
    expect(chosenScript(answered('constructor'), 'T-1')).toBeNull();
  });
});
